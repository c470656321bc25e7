"""The debate itself: both openings at once and apart, then the verdict. What a turn needs is here; how a model is reached is the room's.

An answer is heard, checked by code, and sent back with what is wrong with it as often as its side may repair. What stays wrong in a
citation is recorded beside the claim; what stays unreadable ends the debate, because an unreadable answer is no opinion.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from alphaagent.debate.answers import answer_schema, read_opening
from alphaagent.debate.citations import kept_opening, opening_faults
from alphaagent.debate.prompts import ON_REQUEST, Prompt, fill, json_line, question, render
from alphaagent.debate.thresholds import Thresholds
from alphaagent.domain.argument import Claim, Opening
from alphaagent.domain.evidence import EvidenceItem, EvidencePack, Side
from alphaagent.domain.proposal import TradeProposal
from alphaagent.domain.transcript import Fault, PhaseKind, Repair, Setup, SideSetup, TurnRecord
from alphaagent.errors import AnswerRefused, IntakeRefused

DEBATERS: tuple[Side, ...] = ("bull", "bear")

ReadProposal = Callable[[str, str], TradeProposal]
"""The strict parser: raw text and the ticker that was asked for. Raises IntakeRefused."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One turn as the room is asked for it. `check` says what is wrong with an answer, or None."""

    phase: PhaseKind
    round: int
    side: Side
    description: str
    expected_output: str
    check: Callable[[str], Repair | None]
    is_proposal: bool = False


class Room(Protocol):
    """Where the models speak."""

    def together(self, asked: Sequence[Asked]) -> tuple[str | Fault, ...]:
        """Everybody at once, each alone; per turn the answer that passed its check, or what ended it."""
        ...


@dataclass(frozen=True, slots=True)
class Opened:
    """An opening as it stands: what is left of it after its citations were checked, with a note on each claim that lost some of them."""

    side: Side
    opening: Opening
    notes: tuple[tuple[str, ...], ...]

    def claims(self) -> tuple[tuple[str, Claim, tuple[str, ...]], ...]:
        """Id, claim and notes of each."""
        numbered = enumerate(zip(self.opening.claims, self.notes, strict=True), start=1)
        return tuple((claim_id(self.side, number), claim, notes) for number, (claim, notes) in numbered)


@dataclass(frozen=True, slots=True)
class Heard:
    """What came of a debate: both openings and the verdict as they were accepted, as far as it came."""

    turns: tuple[TurnRecord, ...]
    bull: Opened | None = None
    bear: Opened | None = None
    verdict: str | None = None
    fault: Fault | None = None


@dataclass(slots=True)
class _Turn:
    """One turn while it is taken: the prompt, the answers that were sent back, the one that was accepted."""

    phase: PhaseKind
    round: int
    who: SideSetup
    prompt: Prompt
    repairs: list[Repair] = field(default_factory=list)
    codes: tuple[str, ...] = ()

    @property
    def may_repair(self) -> bool:
        return len(self.repairs) < self.who.repairs

    def back(self, codes: Sequence[str], messages: Sequence[str]) -> Repair:
        repair = Repair(codes=tuple(dict.fromkeys(codes)), message=" ".join(messages))
        self.repairs.append(repair)
        return repair

    def record(self, outcome: str | Fault) -> TurnRecord:
        answer = None if isinstance(outcome, Fault) else outcome
        return TurnRecord(
            phase=self.phase, round=self.round, side=self.who.side, answer=answer, repairs=tuple(self.repairs), faults=self.codes, cut=self.prompt.cut
        )


@dataclass(slots=True)
class _Opener:
    """A side's opening, checked against the evidence that this side may see."""

    turn: _Turn
    pack: EvidencePack
    thresholds: Thresholds
    opened: Opened | None = None

    def check(self, raw: str) -> Repair | None:
        try:
            opening = read_opening(raw)
        except AnswerRefused as refused:
            return self.turn.back((refused.code,), (refused.message,))
        visible = {item.id: item for item in self.pack.visible_to(self.turn.who.side)}
        faults = opening_faults(opening, visible, {item.id: item for item in self.pack.items}, self.pack.as_of, self.thresholds)
        if faults and self.turn.may_repair:
            return self.turn.back([fault.code for fault in faults], [fault.message for fault in faults])
        kept = kept_opening(opening, faults)
        standing = [index for index in range(len(opening.claims)) if index not in kept.removed]
        notes = tuple(tuple(fault.message for fault in faults if fault.index == index) for index in standing)
        self.opened = Opened(self.turn.who.side, kept.opening, notes)
        self.turn.codes = tuple(fault.code for fault in faults)
        return None


@dataclass(slots=True)
class _Decider:
    """The verdict: read by the strict parser, and standing on ids that were given."""

    turn: _Turn
    ticker: str
    citable: frozenset[str]
    read: ReadProposal

    def check(self, raw: str) -> Repair | None:
        try:
            proposal = self.read(raw, self.ticker)
        except IntakeRefused as refused:
            return self.turn.back((refused.code,), (refused.message,))
        unknown = [name for name in proposal.relied_on or () if name not in self.citable]
        if unknown:
            return self.turn.back(("UNKNOWN_REFERENCE",), (f'"relied_on" names {unknown[0]}, which is no id that you were given; use those in the text.',))
        if proposal.action.value != "HOLD" and not proposal.relied_on and self.turn.may_repair:
            return self.turn.back(("NO_SUPPORT",), ('Name in "relied_on" the claims and the evidence that the trade stands on.',))
        self.turn.codes = () if proposal.relied_on or proposal.action.value == "HOLD" else ("NO_SUPPORT",)
        return None


def hold(pack: EvidencePack, setup: Setup, thresholds: Thresholds, room: Room, read: ReadProposal) -> Heard:
    """The plan `quick`: two openings in isolation, then the verdict. Nothing is decided where one of them fails."""
    bull, bear = openers = tuple(_opener(pack, setup, thresholds, side) for side in DEBATERS)
    outcomes = room.together([_asked(opener.turn, setup.tasks[f"{opener.turn.who.side}_opening"], opener.check) for opener in openers])
    turns = tuple(opener.turn.record(outcome) for opener, outcome in zip(openers, outcomes, strict=True))
    fault = next((outcome for outcome in outcomes if isinstance(outcome, Fault)), None)
    if fault is not None or bull.opened is None or bear.opened is None:
        return Heard(turns, bull.opened, bear.opened, fault=fault or Fault(kind="internal", message="an opening ended without an answer"))
    decider = _decider(pack, setup, (bull.opened, bear.opened), read)
    (outcome,) = room.together([_asked(decider.turn, setup.tasks["verdict"], decider.check, is_proposal=True)])
    turns = (*turns, decider.turn.record(outcome))
    if isinstance(outcome, Fault):
        return Heard(turns, bull.opened, bear.opened, fault=outcome)
    return Heard(turns, bull.opened, bear.opened, verdict=outcome)


def claim_id(side: Side, number: int) -> str:
    """The id of a claim; numbers count from 1."""
    return f"c_{side}_{number}"


def _asked(turn: _Turn, task: dict[str, str], check: Callable[[str], Repair | None], *, is_proposal: bool = False) -> Asked:
    return Asked(turn.phase, turn.round, turn.who.side, turn.prompt.text, task["expected_output"], check, is_proposal)


def _opener(pack: EvidencePack, setup: Setup, thresholds: Thresholds, side: Side) -> _Opener:
    who = _who(setup, side)
    values = {"question": question(pack), "reference": setup.markers[side], "answer": answer_schema("opening")}
    template = setup.tasks[f"{side}_opening"]["description"]
    return _Opener(_Turn("opening", 1, who, _prompt(setup, template, values, pack.visible_to(side))), pack, thresholds)


def _decider(pack: EvidencePack, setup: Setup, openings: Sequence[Opened], read: ReadProposal) -> _Decider:
    values = {"question": question(pack), "cases": json_line({one.side: shown_case(one) for one in openings}), "answer": answer_schema("proposal")}
    turn = _Turn("verdict", 2, _who(setup, "cio"), _prompt(setup, setup.tasks["verdict"]["description"], values, pack.items))
    claims = {name for one in openings for name, _, _ in one.claims()}
    return _Decider(turn, pack.ticker, frozenset(claims | {item.id for item in pack.items} - set(turn.prompt.cut)), read)


def _prompt(setup: Setup, template: str, values: dict[str, str], items: Sequence[EvidenceItem]) -> Prompt:
    if setup.evidence == "on_request" and "reference" in values:
        return Prompt(fill(template, {**values, "evidence": ON_REQUEST}), ())
    return render(template, values, items, setup.prompt_characters)


def _who(setup: Setup, side: Side) -> SideSetup:
    return next(one for one in setup.sides if one.side == side)


def shown_case(case: Opened) -> dict[str, object]:
    """A case as the CIO reads it: claims under their ids, with what code found wrong beside them."""
    claims = [
        {"id": name} | {key: value for key, value in claim.model_dump().items() if value is not None} | ({"found_by_program": notes} if notes else {})
        for name, claim, notes in case.claims()
    ]
    opening = case.opening
    return {"stance": opening.stance, "p_up": opening.p_up, "no_case": opening.no_case, "claims": claims, "strongest_counter": opening.strongest_counter}
