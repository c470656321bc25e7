"""Each hard invariant broken: no verdict, the fault on record, and a transcript of it kept that can be read back.

What holds by construction is broken by a debate that changes its own record at the end. I5 is A2 of the loop; I6 and I11 are of the wire.
"""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from alphaagent.debate.events import Events
from alphaagent.debate.invariants import require_sound, seams
from alphaagent.debate.metrics import Metrics
from alphaagent.debate.orchestrate import Debate, Held
from alphaagent.debate.record import DebateRecord, Setup, Skipped, Transcript, read_transcript
from alphaagent.debate.revelation import GateEvent
from alphaagent.domain.argument import Opening, PointFault, Rebuttal, Retort, Turn
from alphaagent.domain.base import canonical, fingerprint
from alphaagent.domain.evidence import EvidencePack
from alphaagent.engines.crew.engine import Debated, _debated
from alphaagent.errors import BooksUnsound, SeamLoss, UsageFault
from alphaagent.guard.intake import parse_proposal
from alphaagent.llm.trace import Trace
from tests.fake_room import PACK, FakeRoom, bear_case, bull_case, hold, id_of, phase, setup, spoken
from tests.pack_builder import AS_OF
from tests.unit.debate.debate_scenes import claim, conceded, conclusion, objection, opening, rebuttal, rebutted, retort, ruling

Change = Callable[[DebateRecord], DebateRecord]


def room() -> FakeRoom:
    """Both attack, the bull rebuts, the bear concedes and accepts."""
    attack = (
        rebuttal(objection("c_bear_1", 0, id_of("volatility")), p_up="0.68"),
        rebuttal(objection("c_bull_1", 1, id_of("volatility")), p_up="0.42", steelman=["c_bull_1"]),
    )
    reply = retort(rebutted("o_bear_1", 2, id_of("trend")), p_up="0.66"), retort(conceded("o_bull_1", 3), p_up="0.50")
    end = conclusion(p_up="0.65"), conclusion(p_up="0.55", rulings=[ruling("o_bear_1", "ACCEPT", 4)])
    return FakeRoom(spoken((bull_case(), bear_case()), attack, reply, end))


class Changed(Debate):
    """A debate whose record comes out other than it was said."""

    def __init__(self, change: Change, of: Setup, evidence: EvidencePack = PACK) -> None:
        super().__init__(evidence, of, room(), lambda raw, ticker: parse_proposal(raw, ticker=ticker), Events())
        self._change = change

    def _record(self) -> DebateRecord:
        return self._change(super()._record())


def broken(change: Change, of: Setup | None = None, evidence: EvidencePack = PACK) -> Held:
    return Changed(change, of or setup(), evidence).hold()


def with_turn(record: DebateRecord, place: int, **fields: Any) -> DebateRecord:
    """The record with one turn changed."""
    turns = tuple(turn.model_copy(update=fields) if number == place else turn for number, turn in enumerate(record.turns))
    return record.model_copy(update={"turns": turns})


def with_answer(record: DebateRecord, place: int, **fields: Any) -> DebateRecord:
    return with_turn(record, place, answer=record.turns[place].answer.model_copy(update=fields))


def with_ledger(record: DebateRecord, **fields: Any) -> DebateRecord:
    assert isinstance(record.metrics, Metrics)
    book = record.metrics.ledger.model_copy(update=fields)
    return record.model_copy(update={"metrics": record.metrics.model_copy(update={"ledger": book})})


def cites(record: DebateRecord, id: str) -> DebateRecord:
    """The bull's objection cites something else."""
    rebuttal_ = record.turns[2].answer
    assert isinstance(rebuttal_, Rebuttal)
    return with_answer(record, 2, objections=(rebuttal_.objections[0].model_copy(update={"evidence_ids": (id,)}),))


def other_opening(record: DebateRecord) -> DebateRecord:
    return with_answer(record, 0, claims=(claim("Said afterwards", id_of("momentum")),))


def without_a_cause(record: DebateRecord) -> DebateRecord:
    assert isinstance(record.metrics, Metrics)
    first, *rest = record.metrics.ledger.rows
    return with_ledger(record, rows=(first.model_copy(update={"closed_by": None}), *rest))


def answers_nothing_that_was_asked(record: DebateRecord) -> DebateRecord:
    retort_ = record.turns[4].answer
    assert isinstance(retort_, Retort)
    return with_answer(record, 4, moves=(*retort_.moves, rebutted("o_bear_9", 5, id_of("trend"))))


def revealed_first(record: DebateRecord) -> DebateRecord:
    return record.model_copy(update={"gate": (GateEvent(side="bull", state="revealed"), *record.gate)})


TAKEN_ALL_THE_SAME = Skipped(after_round=3, reason="consensus", phases=(3,))

BROKEN: Mapping[str, tuple[Change, str]] = {
    "I1 a side without a turn": (lambda record: record.model_copy(update={"turns": record.turns[:-1]}), "PHASE_FAILED"),
    "I1 a phase without its turns": (lambda record: record.model_copy(update={"turns": record.turns[:-2]}), "PHASE_FAILED"),
    "I2 a turn twice": (lambda record: record.model_copy(update={"turns": (*record.turns, record.turns[-1])}), "PHASE_FAILED"),
    "I2 two rounds in one phase": (lambda record: with_turn(record, 3, round=7), "PHASE_FAILED"),
    "I3 an opening changed after its commitment": (other_opening, "ISOLATION_VIOLATION"),
    "I3 revealed before the commitment": (revealed_first, "ISOLATION_VIOLATION"),
    "I4 evidence of the other side": (lambda record: cites(record, id_of("test.margin")), "ISOLATION_VIOLATION"),
    "I7 evidence that is none": (lambda record: cites(record, "ev_ffffffffffff"), "UNKNOWN_REFERENCE"),
    "I9 a row too few": (lambda record: with_ledger(record, rows=()), "LEDGER_MISMATCH"),
    "I9 closed without a cause": (without_a_cause, "LEDGER_MISMATCH"),
    "I9 an answer to what was never asked": (answers_nothing_that_was_asked, "LEDGER_MISMATCH"),
    "I10 a phase both taken and left out": (lambda record: record.model_copy(update={"skipped": TAKEN_ALL_THE_SAME}), "SEAM_LOSS"),
}


def debated(held: Held) -> Debated:
    """What the engine makes of it."""
    return _debated(PACK, setup(), datetime(2020, 3, 16, 21, 0, tzinfo=UTC), held, Trace())


def transcript_of(held: Held) -> Transcript:
    return debated(held).transcript


@pytest.mark.parametrize("name", BROKEN)
def test_an_invariant_that_breaks_leaves_no_verdict_and_a_failed_transcript(name: str) -> None:
    change, code = BROKEN[name]
    held = broken(change)
    assert held.verdict is None
    assert held.fault is not None
    assert (held.fault.kind, held.fault.message.partition(":")[0]) == ("isolation" if code == "ISOLATION_VIOLATION" else "internal", code)
    assert [turn.phase for turn in held.turns].count("verdict") == 0, "the CIO was never asked"
    made = debated(held)
    assert made.result is None
    kept = read_transcript(canonical(made.transcript))
    assert (kept.status, kept.fault, len(kept.debate.turns)) == ("failed", held.fault, 8)


def test_the_debate_that_they_are_broken_in_is_sound() -> None:
    held = broken(lambda record: record)
    assert (held.fault, held.verdict is not None) == (None, True)


def test_I8_evidence_from_after_the_decision_ends_it() -> None:
    late = tuple(item.model_copy(update={"known_at": AS_OF + timedelta(days=1)}) if item.kind == "volatility" else item for item in PACK.items)
    held = hold(room())
    with pytest.raises(Exception, match="was not known yet") as fault:
        require_sound(held.debate, setup(), PACK.model_copy(update={"items": late}))
    assert getattr(fault.value, "code", None) == "AFTER_CUTOFF"


def test_I10_a_lost_phase_is_a_lost_key() -> None:
    held = hold(room())
    short = held.debate.model_copy(update={"executed": held.debate.executed[:-1]})
    with pytest.raises(SeamLoss, match="phases: lost 3"):
        seams(short, setup())


def test_I12_turns_and_concessions_can_only_be_added() -> None:
    held = hold(room())
    assert held.debate.metrics is not None
    (concession,) = held.debate.metrics.ledger.concessions
    for record, field in ((held.debate, "turns"), (held.debate.turns[0], "answer"), (concession, "reason"), (held.debate.metrics.ledger.rows[0], "history")):
        with pytest.raises(ValidationError, match="frozen"):
            setattr(record, field, ())


class TestTranscriptsComeBack:
    def test_I14_a_transcript_is_the_same_when_it_is_read_back(self) -> None:
        transcript = transcript_of(hold(room()))
        assert read_transcript(canonical(transcript)) == transcript

    def test_C18_D20_a_newer_schema_is_refused_by_name(self) -> None:
        newer = json.dumps(json.loads(canonical(transcript_of(hold(room())))) | {"schema_version": 2}).encode()
        with pytest.raises(UsageFault, match="schema version 2; this program reads 1"):
            read_transcript(newer)

    @pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"schema_version": 1}', b'{"schema_version": 1, "more": 2}'])
    def test_D20_what_is_no_transcript_is_not_read_as_one(self, content: bytes) -> None:
        with pytest.raises(BooksUnsound, match="cannot be read"):
            read_transcript(content)


def test_I15_two_sides_without_a_case_have_had_no_debate_and_have_not_converged() -> None:
    bull = opening(p_up="0.55", no_case="Nothing that I was given speaks for it.", stance="NEUTRAL")
    bear = opening(p_up="0.55", no_case="Nothing that I was given speaks against it.", stance="NEUTRAL")
    held = hold(FakeRoom(spoken((bull, bear))))
    assert held.fault is None
    assert held.debate.metrics is not None
    assert held.debate.skipped is not None
    assert (held.debate.metrics.debate_class, held.debate.skipped.reason) == ("no_debate", "no_case")
    assert (held.debate.metrics.convergence.settled.value, held.debate.metrics.convergence.converged) == (None, False)


def test_I16_a_side_that_opens_twice_in_a_row_ends_it() -> None:
    phases = (phase("opening"), phase("rebuttal", "alternating"), phase("retort", "alternating"), phase("conclusion"))
    alternating = setup(*phases)
    assert broken(lambda record: record, alternating).fault is None

    def reordered(record: DebateRecord) -> DebateRecord:
        return with_turn(with_turn(record, 4, order=1), 5, order=0)

    held = broken(reordered, alternating)
    assert held.fault is not None
    assert held.fault.message == "PHASE_FAILED: one side opened two alternating phases in a row"


class TestSeams:
    """Every step of a debate accounts for its keys."""

    def test_C20_each_step_is_on_record(self) -> None:
        held = hold(room())
        assert [one.name for one in held.debate.seams] == ["phases", "turns", "objections", "placed", "ledger"]

    @pytest.mark.parametrize(
        ("change", "lost"),
        [
            (lambda record: record.model_copy(update={"executed": record.executed[:-1]}), "phases: lost 3"),
            (lambda record: record.model_copy(update={"executed": (*record.executed, 3)}), "phases: twice out 3"),
            (lambda record: record.model_copy(update={"turns": record.turns[:-1]}), "turns: lost 3:bear"),
            (lambda record: record.model_copy(update={"turns": (*record.turns, record.turns[-1])}), "turns: twice out 3:bear"),
            (
                lambda record: with_turn(record, 2, faults=(PointFault(part="objections", index=5, subject="", code="BAD_TARGET", message="."),)),
                "objections: not given 2:bull:5",
            ),
            (lambda record: with_ledger(record, objections=_ledger(record).objections[1:]), "placed: lost 2:bull#1"),
            (lambda record: with_ledger(record, objections=_ledger(record).objections * 2), "placed: not given 2:bear#2, 2:bull#2"),
            (lambda record: with_ledger(record, rows=_ledger(record).rows[1:]), "ledger: lost o_bull_1"),
            (lambda record: with_ledger(record, rows=(*_ledger(record).rows, _ledger(record).rows[0])), "ledger: twice out o_bull_1"),
        ],
    )
    def test_C20_a_key_that_is_lost_or_comes_twice_is_named(self, change: Change, lost: str) -> None:
        with pytest.raises(SeamLoss) as fault:
            seams(change(hold(room()).debate), setup())
        assert (fault.value.code, fault.value.message.startswith(lost)) == ("SEAM_LOSS", True), fault.value.message


def _ledger(record: DebateRecord) -> Any:
    assert record.metrics is not None
    return record.metrics.ledger


class TestTheGate:
    def test_C2_a_debate_goes_through_the_gate_to_its_end(self) -> None:
        held = hold(room())
        assert [(event.side, event.state) for event in held.debate.gate] == [
            ("bull", "committed"),
            ("bear", "committed"),
            ("bull", "revealed"),
            ("bear", "revealed"),
            ("bull", "closed"),
            ("bear", "closed"),
        ]

    def test_C2_the_commitment_is_the_hash_of_the_opening_on_record(self) -> None:
        held = hold(room())
        openings: list[Turn] = [turn for turn in held.debate.turns if isinstance(turn.answer, Opening)]
        assert [event.sha256 for event in held.debate.gate[:2]] == [fingerprint([turn]) for turn in openings]
