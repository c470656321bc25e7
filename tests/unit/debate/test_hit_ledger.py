"""The hit ledger: rows, claims and concessions computed from turns."""

from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from alphaagent.debate.convergence import convergence
from alphaagent.debate.hit_ledger import ledger
from alphaagent.debate.rows import Concession, Ledger, LedgerRow
from alphaagent.domain.argument import Answer, PointFault, Turn
from alphaagent.errors import DebateFault
from tests.unit.debate.debate_scenes import (
    ATTACK,
    OPENINGS,
    assertion,
    carried,
    claim,
    conceded,
    conclusion,
    ev,
    objection,
    opening,
    rebuttal,
    rebutted,
    retort,
    ruling,
    turn,
    words,
)

QUIET_BULL, QUIET_BEAR = turn(2, "bull", retort()), turn(2, "bear", retort())


def told(*turns: Turn) -> Ledger:
    return ledger((*OPENINGS, *ATTACK, *turns))


def row(book: Ledger, id: str) -> LedgerRow:
    return next(row for row in book.rows if row.id == id)


def states(book: Ledger) -> list[tuple[str, str, str | None]]:
    return [(row.id, row.status, row.closed_by) for row in book.rows]


def fault(part: Any, index: int | None, code: str, subject: str = "") -> PointFault:
    return PointFault(part=part, index=index, subject=subject, code=code, message="")


def test_before_anybody_answers_everything_is_open() -> None:
    book = told()
    assert states(book) == [("o_bear_1", "open", None), ("o_bear_2", "open", None)]
    assert [row.id for row in book.outstanding("bull")] == ["o_bear_1", "o_bear_2"]
    assert book.outstanding("bear") == ()
    assert len(book.claims) == 13


def test_an_objection_at_fault_gets_neither_a_row_nor_a_number() -> None:
    attack = turn(1, "bear", rebuttal(objection("c_bull_9"), objection("c_bull_1")), fault("objections", 0, "BAD_TARGET"))
    assert [(placed.id, placed.objection.target_claim_id) for placed in ledger((*OPENINGS, attack)).objections] == [("o_bear_1", "c_bull_1")]


def test_numbers_go_on_over_the_rounds() -> None:
    book = told(turn(2, "bull", retort(carried("o_bear_1"), carried("o_bear_2", 3))), QUIET_BEAR, turn(3, "bear", rebuttal(objection("c_bull_1", 5))))
    assert [row.id for row in book.rows] == ["o_bear_1", "o_bear_2", "o_bear_3"]


def test_a_full_concession_closes_the_row_and_the_claim() -> None:
    book = told(turn(2, "bull", retort(conceded("o_bear_1", evidence_ids=(ev(2),)), carried("o_bear_2"), p_up="0.55")))
    assert states(book)[0] == ("o_bear_1", "conceded", "concession")
    claim = book.claim("c_bull_1")
    assert claim is not None
    assert [(step.status, step.version, step.objection_id) for step in claim.transitions] == [("open", 1, None), ("conceded", 1, "o_bear_1")]
    assert all(other.status == "open" for other in book.claims if other.id != "c_bull_1")
    [given] = book.concessions
    assert given == Concession(
        id="k_bull_1",
        objection_id="o_bear_1",
        claim_id="c_bull_1",
        by="bull",
        round=3,
        scope="full",
        reason=words(0),
        evidence_ids=(ev(2),),
        p_before=Decimal("0.70"),
        p_after=Decimal("0.55"),
    )


def test_concessions_are_numbered_by_side() -> None:
    attack = (turn(1, "bull", rebuttal(objection("c_bear_1"))), ATTACK[1])
    replies = (turn(2, "bull", retort(conceded("o_bear_1"), conceded("o_bear_2", 4))), turn(2, "bear", retort(conceded("o_bull_1", 5))))
    assert [given.id for given in ledger((*OPENINGS, *attack, *replies)).concessions] == ["k_bull_1", "k_bull_2", "k_bear_1"]


def test_a_concession_is_told_in_the_conceders_own_words() -> None:
    [given] = told(turn(2, "bull", retort(conceded("o_bear_1", reason="I misread the filing, it covers one quarter only"), carried("o_bear_2")))).concessions
    assert given.reason == "I misread the filing, it covers one quarter only"


def test_a_partial_concession_makes_a_new_version_without_the_number() -> None:
    asserted = turn(0, "bull", opening(claim(assertion=assertion())))
    said = turn(2, "bull", retort(conceded("o_bear_1", scope="partial", narrowed_text="Margins rose twice"), carried("o_bear_2")))
    state = ledger((asserted, OPENINGS[1], *ATTACK, said)).claim("c_bull_1")
    assert state is not None
    assert (state.status, state.version, state.claim.text, state.claim.assertion) == ("narrowed", 2, "Margins rose twice", None)


def test_a_rebuttal_waits_and_is_owed_by_nobody() -> None:
    book = told(turn(2, "bull", retort(rebutted("o_bear_1"), carried("o_bear_2"))))
    assert states(book)[0] == ("o_bear_1", "open", None)
    assert [row.id for row in book.pending("bear")] == ["o_bear_1"]
    assert [row.id for row in book.outstanding("bull")] == ["o_bear_2"]


ANSWERED = (turn(2, "bull", retort(rebutted("o_bear_1"), carried("o_bear_2"))), QUIET_BEAR)


@pytest.mark.parametrize(
    ("answer", "faults", "row_now", "claim_now"),
    [
        (rebuttal(rulings=[ruling("o_bear_1")]), (), ("rebutted", "acceptance", False), "upheld"),
        (rebuttal(rulings=[ruling("o_bear_1", "SUSTAIN", 4, ev(6))]), (), ("open", None, False), "open"),
        (rebuttal(), (), ("rebutted", "lapse", False), "standing"),
        (rebuttal(rulings=[ruling("o_bear_1", "SUSTAIN")]), (fault("adjudications", 0, "NO_EVIDENCE"),), ("rebutted", "lapse", False), "standing"),
        (conclusion(), (), ("rebutted", "lapse", False), "standing"),
    ],
    ids=["accept", "sustain", "silence", "invalid", "conclusion"],
)
def test_the_objectors_next_word_decides(answer: Answer, faults: tuple[PointFault, ...], row_now: tuple[str, str | None, bool], claim_now: str) -> None:
    book = told(*ANSWERED, turn(3, "bull", rebuttal()), turn(3, "bear", answer, *faults))
    found, claim = row(book, "o_bear_1"), book.claim("c_bull_1")
    assert (found.status, found.closed_by, found.pending) == row_now
    assert claim is not None
    assert claim.status == claim_now


def test_in_a_simultaneous_phase_nobody_lapses_by_speaking_at_once() -> None:
    assert row(told(*ANSWERED), "o_bear_1").pending


def test_in_an_alternating_phase_the_second_speaker_has_heard_the_first() -> None:
    first = turn(2, "bull", retort(rebutted("o_bear_1"), carried("o_bear_2")), order=0)
    accepts = turn(2, "bear", retort(rulings=[ruling("o_bear_1")]), order=1)
    assert row(told(first, accepts), "o_bear_1").closed_by == "acceptance"
    assert row(told(first, turn(2, "bear", retort(), order=1)), "o_bear_1").closed_by == "lapse"


def test_a_sustained_objection_is_owed_again() -> None:
    sustains = turn(3, "bear", rebuttal(rulings=[ruling("o_bear_1", "SUSTAIN", 4, ev(6))]))
    assert [row.id for row in told(*ANSWERED, turn(3, "bull", rebuttal()), sustains).outstanding("bull")] == ["o_bear_1", "o_bear_2"]


def test_C9_what_is_carried_in_one_round_is_owed_in_every_later_one() -> None:
    book = told(*ANSWERED, turn(3, "bull", rebuttal()), turn(3, "bear", rebuttal(objection("c_bull_1", 5))))
    assert [row.id for row in book.outstanding("bull")] == ["o_bear_2", "o_bear_3"]


def test_C4_what_is_not_answered_is_dodged_and_still_owed() -> None:
    book = told(turn(2, "bull", retort(rebutted("o_bear_1")), fault("moves", None, "MISSING_MOVE", "o_bear_2")))
    assert states(book)[1] == ("o_bear_2", "dodged", None)
    assert row(book, "o_bear_2").history[0].what == "MISSING"
    assert [row.id for row in book.outstanding("bull")] == ["o_bear_2"]


def test_a_move_at_fault_is_no_move_and_never_another_one() -> None:
    bad = turn(2, "bull", retort(conceded("o_bear_1", reason="Yes"), rebutted("o_bear_2")), fault("moves", 0, "NO_REASON"))
    book = told(bad)
    assert states(book)[0] == ("o_bear_1", "dodged", None)
    assert (row(book, "o_bear_1").history[0].codes, row(book, "o_bear_1").moves()) == (("NO_REASON",), ())
    claim = book.claim("c_bull_1")
    assert claim is not None
    assert (claim.status, book.concessions) == ("open", ())


def test_a_dodged_objection_can_be_answered_later() -> None:
    told_later = (turn(2, "bull", retort(rebutted("o_bear_1"))), QUIET_BEAR, turn(3, "bull", rebuttal()), turn(3, "bear", rebuttal()))
    book = told(*told_later, turn(4, "bull", retort(carried("o_bear_2"))))
    assert states(book)[1] == ("o_bear_2", "open", None)


def test_two_moves_that_spoil_each_other_leave_it_dodged() -> None:
    both = retort(conceded("o_bear_1"), rebutted("o_bear_1"), carried("o_bear_2"))
    book = told(turn(2, "bull", both, fault("moves", 0, "DUPLICATE_MOVE"), fault("moves", 1, "DUPLICATE_MOVE")))
    assert (states(book)[0], book.concessions) == (("o_bear_1", "dodged", None), ())


def test_a_mixed_reply_counts_each_move_once() -> None:
    attack = turn(1, "bull", rebuttal(*[objection(f"c_bear_{n}", n) for n in range(1, 5)]))
    reply = turn(2, "bear", retort(conceded("o_bull_1"), *[rebutted(f"o_bull_{n}", n, ev(3)) for n in (2, 3, 4)]))
    book = ledger((*OPENINGS, attack, turn(1, "bear", rebuttal()), QUIET_BULL, reply))
    assert len(book.concessions) == 1
    assert [row.pending for row in book.rows] == [False, True, True, True]


def test_what_was_conceded_stays_conceded() -> None:
    both = turn(2, "bull", retort(conceded("o_bear_1"), rebutted("o_bear_2")))
    book = told(both, QUIET_BEAR, turn(3, "bull", rebuttal()), turn(3, "bear", rebuttal(rulings=[ruling("o_bear_2")])))
    claim = book.claim("c_bull_1")
    assert claim is not None
    assert [step.status for step in claim.transitions] == ["open", "conceded"]


def test_C13_records_cannot_be_edited_and_the_last_transition_is_the_status() -> None:
    book = told(turn(2, "bull", retort(conceded("o_bear_1"), carried("o_bear_2"))))
    for record, field in ((book, "rows"), (book.rows[0], "status"), (book.concessions[0], "reason"), (book.claims[0], "transitions")):
        with pytest.raises(ValidationError, match="frozen"):
            setattr(record, field, ())
    assert all(claim.status == claim.transitions[-1].status for claim in book.claims)


def test_C13_more_turns_never_change_what_was_logged() -> None:
    turns = (*OPENINGS, *ATTACK, turn(2, "bull", retort(conceded("o_bear_1"), carried("o_bear_2"))), QUIET_BEAR, turn(3, "bull", rebuttal()))
    books = [ledger(turns[:length]) for length in range(len(turns) + 1)]
    for before, after in pairwise(books):
        assert after.concessions[: len(before.concessions)] == before.concessions
        for one, same in zip(before.claims, after.claims, strict=False):
            assert same.transitions[: len(one.transitions)] == one.transitions


@pytest.mark.parametrize(
    "unchecked",
    [
        turn(2, "bull", retort(conceded("o_bear_9"))),
        turn(2, "bull", retort(conceded("o_bear_1"), conceded("o_bear_1", 4), carried("o_bear_2"))),
        turn(2, "bull", retort(conceded("o_bear_1", scope=None), carried("o_bear_2"))),
        turn(2, "bear", rebuttal(objection("c_bear_1"))),
        turn(2, "bear", rebuttal(objection("c_bull_7"))),
        turn(2, "bear", rebuttal(rulings=[ruling("o_bear_1")])),
    ],
    ids=["unknown", "twice", "no scope", "own claim", "no claim", "nothing to rule on"],
)
def test_a_turn_that_was_stored_unchecked_ends_the_debate(unchecked: Turn) -> None:
    with pytest.raises(DebateFault) as raised:
        told(unchecked)
    assert raised.value.code == "LEDGER_MISMATCH"


def test_C3_the_ledger_comes_back_from_its_json_and_takes_no_other_key() -> None:
    book = told(turn(2, "bull", retort(conceded("o_bear_1"), carried("o_bear_2"))))
    assert Ledger.model_validate_json(book.model_dump_json()) == book
    with pytest.raises(ValidationError, match="extra"):
        Ledger.model_validate({"rows": [], "verdict": "converged"})


ANSWERS = st.lists(st.sampled_from(["CONCEDED", "REBUTTED", "CARRIED", "MISSING", "BAD"]), min_size=2, max_size=2)
WORD = st.sampled_from(["ACCEPT", "SUSTAIN", "SILENCE"])


@given(ANSWERS, st.lists(WORD, min_size=2, max_size=2), ANSWERS)
def test_every_debate_keeps_its_accounts(first: list[str], rulings: list[str], second: list[str]) -> None:
    """Rows are the objections, closed rows have a cause and open ones none, and shares stay within bounds."""
    turns: tuple[Turn, ...] = (*OPENINGS, *ATTACK)
    turns = (*turns, _reply(2, first, ledger(turns)), QUIET_BEAR)
    waiting = [row.id for row in ledger(turns).pending("bear")]
    said = [ruling(id, verdict, 4, ev(6)) for id, verdict in zip(waiting, rulings, strict=False) if verdict != "SILENCE"]
    turns = (*turns, turn(3, "bull", rebuttal()), turn(3, "bear", rebuttal(rulings=said)))
    turns = (*turns, _reply(4, second, ledger(turns)), turn(5, "bear", conclusion()))
    book = ledger(turns)
    assert [row.id for row in book.rows] == [placed.id for placed in book.objections] == ["o_bear_1", "o_bear_2"]
    assert all((row.closed_by is None) == (row.status in ("open", "dodged")) for row in book.rows)
    assert len(book.concessions) == sum(row.closed_by == "concession" for row in book.rows)
    assert not any(row.pending for row in book.rows)
    shares = convergence(book)
    for share in (shares.contested, shares.settled, shares.settled_weighted, shares.settled_of_all):
        assert share.value is None or 0 <= share.value <= 1


def _reply(phase: int, answers: list[str], book: Ledger) -> Turn:
    owed = [row.id for row in book.outstanding("bull")]
    make = {"CONCEDED": conceded, "REBUTTED": rebutted, "CARRIED": carried, "BAD": conceded}
    moves = [(make[answer](id), answer == "BAD") for id, answer in zip(owed, answers, strict=False) if answer != "MISSING"]
    faults = [fault("moves", index, "NO_REASON") for index, (_, bad) in enumerate(moves) if bad]
    return turn(phase, "bull", retort(*[move for move, _ in moves]), *faults)
