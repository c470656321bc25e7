"""What a debate looked like, flag by flag, and the one class that decides what it may be used for.

Chosen on purpose: engagement is a valid move, never a text that merely exists, so that theatre can be seen; shares are counted per side,
so that one side giving in cannot hide behind the other; and holding one's ground with evidence is no fault.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from alphaagent.debate.assertions import verdict
from alphaagent.debate.convergence import convergence
from alphaagent.debate.hit_ledger import ledger
from alphaagent.debate.rows import Concession, Ledger, RowEvent
from alphaagent.debate.thresholds import Thresholds
from alphaagent.debate.trajectory import RoundPoint, consensus, crossed_rounds, drifted, largest_move, outcome, trajectory
from alphaagent.debate.turns import DEBATERS
from alphaagent.debate.zombies import zombie_claims
from alphaagent.domain.argument import Debater, Opening, Rebuttal, Turn
from alphaagent.domain.base import Frozen
from alphaagent.domain.evidence import EvidenceItem

FlagName = Literal[
    "theater",
    "stagnant",
    "stubborn",
    "capitulation",
    "zombie_claim",
    "costless_concession",
    "loop_on_point",
    "asymmetric_effort",
    "shared_hallucination",
    "degraded",
    "hollow_consensus",
    "crossed",
    "drift",
]
DebateClass = Literal["no_debate", "theater", "capitulated", "hollow", "stagnant", "earned", "stubborn", "mixed"]


class Flag(Frozen):
    """Something to know about a debate; `subject` is the claim, id or sign that it is about."""

    name: FlagName
    side: Debater | None = None
    round: int | None = None
    subject: str = ""


@dataclass(frozen=True, slots=True)
class _Debate:
    turns: Sequence[Turn]
    known: Mapping[str, EvidenceItem]
    thresholds: Thresholds
    book: Ledger
    points: tuple[RoundPoint, ...]

    def moves(self) -> list[RowEvent]:
        """Every valid move."""
        return [event for row in self.book.rows for event in row.moves()]

    def asked(self) -> bool:
        """Whether an objection was ever put to the side that it is against."""
        return any(event.side == row.against for row in self.book.rows for event in row.history)


def flags(turns: Sequence[Turn], known: Mapping[str, EvidenceItem], thresholds: Thresholds) -> tuple[Flag, ...]:
    """Every flag of a debate, in the order of `FlagName`."""
    debate = _Debate(turns, known, thresholds, ledger(turns), trajectory(turns))
    return tuple(flag for detect in _DETECTORS for flag in detect(debate))


def debate_class(turns: Sequence[Turn], known: Mapping[str, EvidenceItem], thresholds: Thresholds) -> DebateClass:
    """The first class that fits. Without a claim or without a rebuttal phase there was no debate, and so nothing that converged."""
    book = ledger(turns)
    if not book.claims or not any(isinstance(turn.answer, Rebuttal) for turn in turns):
        return "no_debate"
    raised = {flag.name for flag in flags(turns, known, thresholds)}
    in_order: tuple[tuple[DebateClass, bool], ...] = (
        ("theater", "theater" in raised),
        ("capitulated", "capitulation" in raised),
        ("hollow", "hollow_consensus" in raised),
        ("stagnant", "stagnant" in raised),
        ("earned", _earned(turns, book, thresholds)),
        ("stubborn", "stubborn" in raised),
    )
    return next((name for name, fits in in_order if fits), "mixed")


def _earned(turns: Sequence[Turn], book: Ledger, thresholds: Thresholds) -> bool:
    settled = convergence(book).settled.value
    if settled is None or settled < thresholds.earned_convergence or outcome(trajectory(turns), thresholds) != "closed":
        return False
    return any(row.closed_by == "acceptance" for row in book.rows) or any(_bears_evidence(concession, book) for concession in book.concessions)


def _bears_evidence(concession: Concession, book: Ledger) -> bool:
    objections = (placed.objection for placed in book.objections if placed.id == concession.objection_id)
    return any((*concession.evidence_ids, *(id for objection in objections for id in objection.evidence_ids)))


def _theater(debate: _Debate) -> Iterator[Flag]:
    if debate.asked() and not debate.moves():
        yield Flag(name="theater")


def _stagnant(debate: _Debate) -> Iterator[Flag]:
    moves = debate.moves()
    if moves and all(move.what == "CARRIED" for move in moves) and largest_move(debate.points) <= debate.thresholds.p_up_step:
        yield Flag(name="stagnant")


def _stubborn(debate: _Debate) -> Iterator[Flag]:
    if any(move.what == "REBUTTED" for move in debate.moves()) and not debate.book.concessions:
        yield Flag(name="stubborn")


def _capitulation(debate: _Debate) -> Iterator[Flag]:
    limits = debate.thresholds
    for side in DEBATERS:
        first = next((turn for turn in debate.turns if turn.side == side and turn.kind == "retort"), None)
        answers = [] if first is None else _answers(debate.book, first)
        conceded = sum("CONCEDED" in valid for valid in answers)
        rebutted = any("REBUTTED" in valid for valid in answers)
        if first and len(answers) >= limits.min_addressed and not rebutted and conceded >= limits.capitulation * len(answers):
            yield Flag(name="capitulation", side=side, round=first.round)


def _answers(book: Ledger, retort: Turn) -> list[set[str]]:
    """For each objection that was put to a retort, the valid moves on it."""
    put = [[event for event in row.history if event.side == row.against and event.phase == retort.phase] for row in book.rows if row.against == retort.side]
    return [{event.what for event in events if event.valid} for events in put if events]


def _zombie_claim(debate: _Debate) -> Iterator[Flag]:
    for zombie in zombie_claims(debate.turns, debate.book, debate.thresholds):
        yield Flag(name="zombie_claim", side=zombie.side, round=zombie.round, subject=zombie.claim_id)


def _costless_concession(debate: _Debate) -> Iterator[Flag]:
    for concession in debate.book.concessions:
        claim = debate.book.claim(concession.claim_id)
        dear = claim is not None and claim.claim.severity == "high" and concession.scope == "full"
        if dear and abs(concession.p_after - concession.p_before) < debate.thresholds.p_up_step:
            yield Flag(name="costless_concession", side=concession.by, round=concession.round, subject=concession.claim_id)


def _loop_on_point(debate: _Debate) -> Iterator[Flag]:
    times = Counter({claim.id: sum(len(row.moves()) for row in debate.book.rows if row.claim_id == claim.id) for claim in debate.book.claims})
    for claim_id, moves in times.most_common(1):
        if moves >= debate.thresholds.loop_moves and moves > debate.thresholds.loop_share * times.total():
            yield Flag(name="loop_on_point", subject=claim_id)


def _asymmetric_effort(debate: _Debate) -> Iterator[Flag]:
    """A side that says that it has no case has made its effort."""
    cases = [len(turn.answer.claims) for turn in debate.turns if isinstance(turn.answer, Opening) and turn.answer.no_case is None]
    if len(cases) == len(DEBATERS) and max(cases) > debate.thresholds.effort_ratio * max(1, min(cases)):
        yield Flag(name="asymmetric_effort")


def _shared_hallucination(debate: _Debate) -> Iterator[Flag]:
    bull, bear = (_unknown_ids(debate, side) | _false_values(debate, side) for side in DEBATERS)
    yield from (Flag(name="shared_hallucination", subject=subject) for subject in sorted(bull & bear))


def _unknown_ids(debate: _Debate, side: Debater) -> set[str]:
    return {fault.subject for turn in debate.turns if turn.side == side for fault in turn.faults if fault.code == "UNKNOWN_EVIDENCE"}


def _false_values(debate: _Debate, side: Debater) -> set[str]:
    openings = [turn.answer for turn in debate.turns if turn.side == side and isinstance(turn.answer, Opening)]
    made = [claim.assertion for opening in openings for claim in opening.claims if claim.assertion]
    return {f"{said.evidence_id} {said.path} {said.op} {said.value.normalize():f}" for said in made if verdict(said, debate.known) == "contradicted"}


def _degraded(debate: _Debate) -> Iterator[Flag]:
    for turn in debate.turns:
        yield from (Flag(name="degraded", side=turn.side, round=turn.round, subject=sign) for sign in turn.degraded)


def _hollow_consensus(debate: _Debate) -> Iterator[Flag]:
    if consensus(debate.turns, debate.thresholds) == "hollow":
        yield Flag(name="hollow_consensus", round=debate.points[-1].round)


def _crossed(debate: _Debate) -> Iterator[Flag]:
    yield from (Flag(name="crossed", round=number) for number in crossed_rounds(debate.points))


def _drift(debate: _Debate) -> Iterator[Flag]:
    if drifted(debate.points, debate.thresholds):
        yield Flag(name="drift")


_DETECTORS: tuple[Callable[[_Debate], Iterator[Flag]], ...] = (
    *(_theater, _stagnant, _stubborn, _capitulation, _zombie_claim, _costless_concession, _loop_on_point),
    *(_asymmetric_effort, _shared_hallucination, _degraded, _hollow_consensus, _crossed, _drift),
)
