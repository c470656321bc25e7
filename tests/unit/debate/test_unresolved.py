"""What stays open, in both sides' words, and what would settle it."""

from datetime import date

import pytest

from alphaagent.debate.unresolved import Unresolved, settle, unresolved
from alphaagent.domain.argument import PointFault, PointResolution
from tests.unit.debate.debate_scenes import (
    ATTACK,
    OPENINGS,
    WAITING,
    carried,
    conceded,
    conclusion,
    condition,
    ev,
    item,
    objection,
    resolution,
    retort,
    ruling,
    turn,
    words,
)

TOLD = (*OPENINGS, *WAITING)
SUSTAIN = ruling("o_bear_1", "SUSTAIN", 4, ev(3))
OPEN_1, OPEN_2 = condition("o_bear_1", threshold="5"), condition("o_bear_2", threshold="7")


def ended(*given: PointResolution, faults: tuple[PointFault, ...] = ()) -> tuple[Unresolved, ...]:
    return unresolved((*TOLD, turn(3, "bull", conclusion()), turn(3, "bear", conclusion(*given, rulings=[SUSTAIN]), *faults)))


def test_C15_every_open_row_has_its_own_condition() -> None:
    first, second = ended(OPEN_1, OPEN_2)
    assert (first.objection_id, first.conditions) == ("o_bear_1", (resolution("5"),))
    assert (second.objection_id, second.conditions) == ("o_bear_2", (resolution(), resolution("7")))


def test_of_two_carries_the_last_condition_holds() -> None:
    told = (*OPENINGS, *ATTACK)
    for phase, threshold in ((2, "8"), (3, "9")):
        moves = [carried("o_bear_2", phase, would_resolve_if=resolution(threshold)), *([conceded("o_bear_1")] if phase == 2 else [])]
        told = (*told, turn(phase, "bull", retort(*moves)), turn(phase, "bear", retort()))
    assert [point.conditions for point in unresolved(told)] == [(resolution("9"),)]


def test_positions_are_the_sides_last_words() -> None:
    first, second = ended(OPEN_1, OPEN_2)
    assert (first.bull_position, first.bear_position) == (words(1), words(4))
    assert (second.bull_position, second.bear_position) == (words(2), objection("c_bull_1", 1).argument)


def test_before_an_answer_the_position_is_the_claim() -> None:
    first = unresolved((*OPENINGS, *ATTACK))[0]
    assert (first.bull_position, first.severity, first.claim_id) == ("Momentum is strong and has been for a year", "med", "c_bull_1")


def test_a_closed_row_is_settled() -> None:
    lapsed = (*TOLD, turn(3, "bull", conclusion()), turn(3, "bear", conclusion(OPEN_2)))
    assert [point.objection_id for point in unresolved(lapsed)] == ["o_bear_2"]
    assert unresolved(OPENINGS) == ()


def test_without_a_condition_none_is_made_up() -> None:
    fault = PointFault(part="would_resolve_if", index=0, subject="o_bear_1", code="NO_RESOLUTION_CONDITION", message="")
    for first in (ended()[0], ended(OPEN_1, faults=(fault,))[0]):
        assert first.without_condition
    assert not ended(OPEN_1)[0].without_condition


@pytest.mark.parametrize(
    ("value", "on", "expected"),
    [
        ("2.1", date(2024, 5, 1), "met"),
        ("2.1", date(2024, 6, 1), "met"),
        ("2.0", date(2024, 6, 1), "open"),
        (None, date(2024, 6, 1), "open"),
        ("2.0", date(2024, 6, 2), "missed"),
        ("2.1", date(2024, 6, 2), "missed"),
    ],
)
def test_C15_later_data_settles_a_condition_by_its_day(value: str | None, on: date, expected: str) -> None:
    later = [] if value is None else [item(1, payload={"value": value})]
    assert settle(resolution("2"), later, on) == expected
