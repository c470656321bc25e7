"""The debate itself: the phases of a plan in order, then the verdict. What a turn needs is here; how a model is reached is the room's.

Chosen on purpose: the loop knows no phase by its number; what a phase may do follows from its kind. An answer is checked by code and sent back
with what is wrong with it as often as its side may repair. What stays wrong in a point is recorded and the point does not count; an answer
that stays unreadable ends the debate, because an unreadable answer is no opinion. The openings are written in isolation, committed to by hash,
and only then shown.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Literal, Protocol

from alphaagent.debate.answers import answer_schema, read_answer
from alphaagent.debate.assertions import Verdict, verdict
from alphaagent.debate.citations import kept_opening
from alphaagent.debate.degradation import degradation
from alphaagent.debate.events import Events
from alphaagent.debate.faults import answer_faults
from alphaagent.debate.floor import Floor, floor
from alphaagent.debate.hit_ledger import ledger
from alphaagent.debate.invariants import require_sound, seams
from alphaagent.debate.metrics import Metrics, measure
from alphaagent.debate.plan import SENTENCES, Length
from alphaagent.debate.prompts import ON_REQUEST, Prompt, fill, question, render
from alphaagent.debate.record import Bounds, DebateRecord, PhaseSetup, Repair, Setup, Skipped, TurnRecord
from alphaagent.debate.revelation import Gate
from alphaagent.debate.telling import duty, told
from alphaagent.debate.trajectory import consensus, exchange_due, trajectory
from alphaagent.debate.turns import DEBATERS, appended
from alphaagent.debate.verdict import Decider
from alphaagent.domain.argument import AnswerKind, Debater, Degradation, Opening, PointFault, Turn, opponent
from alphaagent.domain.evidence import EvidenceItem, EvidencePack, Side
from alphaagent.domain.proposal import TradeProposal
from alphaagent.domain.transcript import Fault, PhaseKind
from alphaagent.errors import AnswerRefused, DebateFault

ReadProposal = Callable[[str, str], TradeProposal]
"""The strict parser: raw text and the ticker that was asked for. Raises IntakeRefused."""
EVEN_ODDS = Decimal("0.5")
SPEAKS: dict[Debater, str] = {"bull": "for the case that the stock rises (the bull)", "bear": "for the case against the stock (the bear)"}


@dataclass(frozen=True, slots=True)
class Asked:
    """One turn as the room is asked for it. `check` hears an answer and whether it used up its tokens, and says what is wrong with it, or None.

    `broken` is the fault of a debate that must not go on, once `check` has found one.
    """

    phase: PhaseKind
    round: int
    side: Side
    bounds: Bounds
    description: str
    expected_output: str
    check: Callable[[str, bool], Repair | None]
    broken: Callable[[], Fault | None] = lambda: None
    has_tools: bool = False
    is_proposal: bool = False


class Room(Protocol):
    """Where the models speak."""

    def together(self, asked: Sequence[Asked]) -> tuple[str | Fault, ...]:
        """Everybody at once, each alone; per turn the answer that passed its check, or what ended it."""
        ...


@dataclass(frozen=True, slots=True)
class Held:
    """What came of a debate: everything that was said, and the verdict as it was accepted, or what ended it."""

    turns: tuple[TurnRecord, ...]
    debate: DebateRecord
    verdict: str | None = None
    fault: Fault | None = None


@dataclass(slots=True)
class _Speaker:
    """One debater's turn while it is taken."""

    place: int
    round: int
    kind: AnswerKind
    side: Debater
    order: Literal[0, 1] | None
    length: Length
    bounds: Bounds
    prompt: Prompt
    floor: Floor
    tell: Events
    repairs: list[Repair] = field(default_factory=list)
    signs: list[Degradation] = field(default_factory=list)
    turn: Turn | None = None
    fault: Fault | None = None

    def check(self, raw: str, hit_budget: bool) -> Repair | None:
        """Accepts the answer as a Turn, or says what is wrong with it."""
        self.signs += degradation(raw, hit_budget=hit_budget, thresholds=self.floor.thresholds)
        try:
            answer = read_answer(self.kind, raw)
            faults = answer_faults(answer, self.floor)
        except AnswerRefused as refused:
            return self._back((refused.code,), (refused.message,))
        except DebateFault as fault:
            self.fault = _as_fault(fault)
            raise
        if faults and len(self.repairs) < self.bounds.repairs:
            return self._back([fault.code for fault in faults], [fault.message for fault in faults])
        self.turn = Turn(
            phase=self.place,
            round=self.round,
            kind=self.kind,
            side=self.side,
            order=self.order,
            answer=kept_opening(answer, faults).opening if isinstance(answer, Opening) else answer,
            attempts=len(self.repairs) + 1,
            faults=faults,
            degraded=tuple(dict.fromkeys(self.signs)),
        )
        return None

    def _back(self, codes: Sequence[str], messages: Sequence[str]) -> Repair:
        repair = Repair(codes=tuple(dict.fromkeys(codes)), message=" ".join(messages))
        self.repairs.append(repair)
        self.tell("move_rejected", round=self.round, side=self.side, codes=repair.codes)
        return repair

    def record(self, outcome: str | Fault) -> TurnRecord:
        faults: tuple[PointFault, ...] = self.turn.faults if self.turn else ()
        return TurnRecord(
            phase=self.kind,
            round=self.round,
            side=self.side,
            order=self.order,
            length=self.length,
            answer=None if isinstance(outcome, Fault) else outcome,
            repairs=tuple(self.repairs),
            faults=tuple(dict.fromkeys(fault.code for fault in faults)),
            cut=self.prompt.cut,
        )


class Debate:
    """One debate while it is held. Turns are only ever appended; everything else follows from them."""

    def __init__(self, pack: EvidencePack, setup: Setup, room: Room, read: ReadProposal, tell: Events) -> None:
        self._pack, self._setup, self._room, self._read, self._tell = pack, setup, room, read, tell
        self._known = {item.id: item for item in pack.items}
        self._turns: tuple[Turn, ...] = ()
        self._records: tuple[TurnRecord, ...] = ()
        self._gate = Gate()
        self._executed: tuple[int, ...] = ()
        self._skipped: Skipped | None = None
        self._argued = 0
        """Phases after the openings so far; who opens an alternating one follows from it."""

    def hold(self) -> Held:
        """All phases, then the verdict. Nothing is decided where a turn fails, or where what is on record does not hold together."""
        try:
            fault = self._phases()
            if fault is not None:
                return Held(self._records, self._record(), fault=fault)
            record = self._record()
            require_sound(record, self._setup, self._pack)
            self._gate = self._gate.close()
            record = record.model_copy(update={"seams": seams(record, self._setup), "gate": self._gate.events})
        except DebateFault as broken:
            return Held(self._records, self._unmeasured(), fault=_as_fault(broken))
        return self._verdict(record)

    def _phases(self) -> Fault | None:
        """Every phase of the plan that is not settled before it comes."""
        for place, phase in enumerate(self._setup.phases):
            if self._skipped and place in self._skipped.phases:
                continue
            fault = self._phase(place, phase)
            if fault is not None:
                return fault
            self._skip_what_is_settled(place, phase)
        return None

    def _phase(self, place: int, phase: PhaseSetup) -> Fault | None:
        """One phase: both sides at once, or one after the other."""
        round_ = len(self._executed) + 1
        self._tell("phase_started", phase=phase.kind, round=round_)
        for group in self._speaking(phase):
            speakers = [self._speaker(place, round_, phase, side, order) for side, order in group]
            fault = self._hear(speakers, phase)
            if fault is not None:
                return fault
        self._executed = (*self._executed, place)
        self._argued += not _is_isolated(phase)
        if _is_isolated(phase):
            self._reveal()
        self._tell_measures(round_, phase)
        return None

    def _speaking(self, phase: PhaseSetup) -> list[list[tuple[Debater, Literal[0, 1] | None]]]:
        if phase.turn_order == "simultaneous":
            return [[(side, None) for side in DEBATERS]]
        first = self._setup.first_speaker if self._argued % 2 == 0 else opponent(self._setup.first_speaker)
        return [[(first, 0)], [(opponent(first), 1)]]

    def _hear(self, speakers: Sequence[_Speaker], phase: PhaseSetup) -> Fault | None:
        for one in speakers:
            self._tell("turn_started", phase=one.kind, round=one.round, side=one.side)
        outcomes = self._room.together([self._asked(one, phase) for one in speakers])
        self._records = (*self._records, *(one.record(outcome) for one, outcome in zip(speakers, outcomes, strict=True)))
        fault = next((outcome for outcome in outcomes if isinstance(outcome, Fault)), None)
        if fault is not None:
            return fault
        for one in speakers:
            if one.turn is None:
                return Fault(kind="internal", message="a turn ended without an answer")
            self._turns = appended(self._turns, one.turn)
            self._tell("turn_completed", phase=one.kind, round=one.round, side=one.side, p_up=one.turn.p_up, attempts=one.turn.attempts, answer=one.turn.answer)
        return None

    def _asked(self, speaker: _Speaker, phase: PhaseSetup) -> Asked:
        task = self._setup.tasks[_task_of(speaker.kind, speaker.side)]
        return Asked(
            phase=speaker.kind,
            round=speaker.round,
            side=speaker.side,
            bounds=speaker.bounds,
            description=speaker.prompt.text,
            expected_output=task["expected_output"],
            check=speaker.check,
            broken=lambda: speaker.fault,
            has_tools=_is_isolated(phase),
        )

    def _speaker(self, place: int, round_: int, phase: PhaseSetup, side: Debater, order: Literal[0, 1] | None) -> _Speaker:
        read = () if _is_isolated(phase) else self._turns
        seen = floor(side, read, self._known, self._pack.as_of, self._setup.thresholds)
        prompt = self._prompt(phase, side, seen, read)
        return _Speaker(
            place=place,
            round=round_,
            kind=phase.kind,
            side=side,
            order=order,
            length=phase.length,
            bounds=phase.bounds(side),
            prompt=prompt,
            floor=replace(seen, mentioned=frozenset(id for id in self._known if id in prompt.text)),
            tell=self._tell,
        )

    def _prompt(self, phase: PhaseSetup, side: Debater, seen: Floor, read: Sequence[Turn]) -> Prompt:
        if _is_isolated(phase):
            return opening_prompt(self._pack, self._setup, phase, side)
        debate, shortened = told(read, self._setup.prompt_characters // 2)
        values = _frame(self._pack, self._setup, phase, side) | {"side": SPEAKS[side], "debate": debate, "duty": duty(phase.kind, seen)}
        prompt = render(self._setup.tasks[phase.kind]["description"], values, tuple(seen.sight.visible.values()), self._setup.prompt_characters)
        return Prompt(prompt.text, (*shortened, *prompt.cut))

    def _reveal(self) -> None:
        for side in DEBATERS:
            self._gate = self._gate.commit(side, self._turns)
            self._tell("committed", side=side, sha256=self._gate.commitment(side))
        self._gate = self._gate.reveal(self._turns).gate
        self._tell("revealed")

    def _skip_what_is_settled(self, place: int, phase: PhaseSetup) -> None:
        """An exchange over nothing is not held, and one that is settled is not gone on with; both are recorded."""
        rest = tuple(range(place + 1, len(self._setup.phases)))
        if not rest or self._skipped:
            return
        points = trajectory(self._turns)
        if _is_isolated(phase):
            if not any(isinstance(turn.answer, Opening) and turn.answer.claims for turn in self._turns):
                self._skipped = Skipped(after_round=points[-1].round, reason="no_case", phases=rest)
            elif not exchange_due(points[-1].gap, self._setup.thresholds):
                self._skipped = Skipped(after_round=points[-1].round, reason="openings_agree", phases=rest)
        elif self._setup.consensus_stop and consensus(self._turns, self._setup.thresholds) == "earned":
            early = tuple(one for one in rest if not self._setup.phases[one].always)
            if early:
                self._skipped = Skipped(after_round=points[-1].round, reason="consensus", phases=early)
                self._tell("consensus", round=points[-1].round)

    def _tell_measures(self, round_: int, phase: PhaseSetup) -> None:
        point = trajectory(self._turns)[-1]
        self._tell("gap", round=round_, bull=point.bull, bear=point.bear, gap=point.gap)
        book = ledger(self._turns)
        for row in book.rows:
            for event in row.history:
                if event.round == round_:
                    name = "adjudicated" if event.what in ("ACCEPT", "SUSTAIN", "LAPSE") else "move"
                    self._tell(name, round=round_, side=event.side, objection=row.id, what=event.what, counts=event.valid)
        for placed in book.objections:
            if placed.round == round_:
                self._tell("objection_raised", round=round_, side=placed.side, objection=placed.id, claim=placed.objection.target_claim_id)
        self._tell("phase_completed", phase=phase.kind, round=round_)

    def _p0(self) -> Decimal:
        """The base rate in the evidence; even odds where there is none."""
        item: EvidenceItem | None = next(iter(self._pack.find("get_price_history", "base_rate")), None)
        return Decimal(str(item.payload["p0"])) if item is not None and item.payload.get("p0") else EVEN_ODDS

    def _record(self) -> DebateRecord:
        record = self._unmeasured()
        if not record.turns:
            return record
        metrics = measure(record.turns, self._known, self._p0(), self._setup.thresholds)
        return record.model_copy(update={"metrics": metrics, "checked": _checked(metrics, self._known)})

    def _unmeasured(self) -> DebateRecord:
        """What was said in the phases that were completed, and nothing that follows from it."""
        complete = tuple(turn for turn in self._turns if turn.phase in self._executed)
        return DebateRecord(turns=complete, gate=self._gate.events, executed=self._executed, skipped=self._skipped, p0=self._p0())

    def _verdict(self, record: DebateRecord) -> Held:
        for flag in record.metrics.flags if record.metrics else ():
            self._tell("flag", name=flag.name, side=flag.side, subject=flag.subject)
        try:
            decider = Decider.of(self._pack, self._setup, record, self._read)
        except DebateFault as broken:
            return Held(self._records, record, fault=_as_fault(broken))
        who = self._setup.side("cio")
        asked = Asked(
            phase="verdict",
            round=len(self._executed) + 1,
            side="cio",
            bounds=who.bounds,
            description=decider.prompt.text,
            expected_output=self._setup.tasks["verdict"]["expected_output"],
            check=decider.check,
            has_tools=True,
            is_proposal=True,
        )
        self._tell("turn_started", phase="verdict", round=asked.round, side="cio")
        (outcome,) = self._room.together([asked])
        records = (*self._records, decider.record(asked.round, outcome))
        if isinstance(outcome, Fault):
            return Held(records, record, fault=outcome)
        self._tell("proposal", text=outcome)
        return Held(records, record, verdict=outcome)


def opening_prompt(pack: EvidencePack, setup: Setup, phase: PhaseSetup, side: Debater) -> Prompt:
    """What a side is asked first: it is made from the evidence of that side and from nothing else."""
    values = _frame(pack, setup, phase, side)
    template = setup.tasks[_task_of(phase.kind, side)]["description"]
    if setup.evidence == "on_request":
        return Prompt(fill(template, {**values, "evidence": ON_REQUEST}), ())
    return render(template, values, pack.visible_to(side), setup.prompt_characters)


def _frame(pack: EvidencePack, setup: Setup, phase: PhaseSetup, side: Debater) -> dict[str, str]:
    return {
        "question": question(pack),
        "reference": setup.markers[side],
        "length": f"Write about {SENTENCES[phase.length]} sentences in all.",
        "answer": answer_schema(phase.kind),
    }


def _checked(metrics: Metrics, known: Mapping[str, EvidenceItem]) -> dict[str, Verdict]:
    return {claim.id: verdict(claim.claim.assertion, known) for claim in metrics.ledger.claims if claim.claim.assertion}


def _as_fault(broken: DebateFault) -> Fault:
    """An invariant that broke, as it is recorded."""
    return Fault(kind="isolation" if broken.code == "ISOLATION_VIOLATION" else "internal", message=f"{broken.code}: {broken.message}")


def _is_isolated(phase: PhaseSetup) -> bool:
    return phase.kind == "opening"


def _task_of(kind: AnswerKind, side: Debater) -> str:
    return f"{side}_opening" if kind == "opening" else kind
