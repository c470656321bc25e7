"""The gap, what became of it, and whether that is a consensus."""

from collections.abc import Callable
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alphaagent.debate.thresholds import Thresholds
from alphaagent.debate.trajectory import (
    RoundPoint,
    closed_by,
    consensus,
    crossed_rounds,
    drifted,
    exchange_due,
    gap_closure,
    largest_move,
    outcome,
    trajectory,
    worth_running,
)
from alphaagent.domain.argument import Answer, Retort, Turn
from tests.unit.debate.debate_scenes import carried, claim, conceded, conclusion, objection, opening, rebuttal, rebutted, retort, ruling, turn

LIMITS = Thresholds()


def spoken(*pairs: tuple[str, str], reply: Retort | None = None) -> tuple[Turn, ...]:
    """An opening and then as many rounds as there are numbers; bull answers in the third, where bear has objected in the second."""
    answers: list[Callable[[str], Answer]] = [
        lambda p: opening(claim(), p_up=p),
        lambda p: rebuttal(objection("c_bull_1"), p_up=p),
        lambda p: retort(p_up=p),
        lambda p: conclusion(p_up=p),
    ]
    turns: list[Turn] = []
    for phase, (bull, bear) in enumerate(pairs):
        make = answers[min(phase, 3)]
        bulls = rebuttal(p_up=bull) if phase == 1 else make(bull)
        if phase == 2 and reply is not None:
            bulls = reply.model_copy(update={"p_up": Decimal(bull)})
        turns += [turn(phase, "bull", bulls), turn(phase, "bear", make(bear))]
    return tuple(turns)


def points(*pairs: tuple[str, str]) -> tuple[RoundPoint, ...]:
    return trajectory(spoken(*pairs))


def gaps(*values: str) -> tuple[RoundPoint, ...]:
    return points(*((str(Decimal("0.5") + Decimal(gap) / 2), str(Decimal("0.5") - Decimal(gap) / 2)) for gap in values))


def test_A2_the_trajectory_is_what_was_said() -> None:
    found = points(("0.65", "0.25"), ("0.65", "0.28"), ("0.68", "0.28"))
    assert [(str(one.bull), str(one.bear), str(one.gap), str(one.mid)) for one in found] == [
        ("0.65", "0.25", "0.40", "0.45"),
        ("0.65", "0.28", "0.37", "0.465"),
        ("0.68", "0.28", "0.40", "0.48"),
    ]


def test_a_round_with_one_side_has_no_gap() -> None:
    assert len(trajectory(spoken(("0.6", "0.4"), ("0.6", "0.4"))[:-1])) == 1


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (("0.40", "0.37", "0.40"), "held"),
        (("0.40", "0.34"), "closed"),
        (("0.40", "0.35"), "held"),
        (("0.40", "0.349999999"), "closed"),
        (("0.40", "0.3499999999"), "held"),
        (("0.20", "0.30"), "widened"),
        (("0.20", "0.25"), "held"),
        (("0.20", "0.250000001"), "widened"),
        (("0.20", "0.2500000001"), "held"),
        (("0.40", "0.10", "0.40"), "held"),
        (("0.40",), None),
    ],
)
def test_A5_the_outcome_has_strict_margins(values: tuple[str, ...], expected: str | None) -> None:
    assert outcome(gaps(*values), LIMITS) == expected


def test_A5_a_parallel_move_is_drift_and_not_a_change_of_the_gap() -> None:
    together = points(("0.6", "0.4"), ("0.7", "0.5"))
    assert (outcome(together, LIMITS), drifted(together, LIMITS)) == ("held", True)
    assert drifted(points(("0.6", "0.4"), ("0.65", "0.45")), LIMITS)
    assert not drifted(points(("0.6", "0.4"), ("0.64", "0.44")), LIMITS)
    assert not drifted(points(("0.6", "0.4"), ("0.7", "0.6")), LIMITS)


def test_A5_the_books_capture_held_without_drift() -> None:
    captured = points(("0.65", "0.25"), ("0.65", "0.28"), ("0.68", "0.28"))
    assert (outcome(captured, LIMITS), drifted(captured, LIMITS)) == ("held", False)


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        (("0.50", "0.30"), "bull"),
        (("0.70", "0.50"), "bear"),
        (("0.60", "0.40"), "both"),
        (("0.55", "0.35"), "bull"),
        (("0.551", "0.35"), "both"),
        (("0.65", "0.45"), "bear"),
        (("0.65", "0.449"), "both"),
        (("0.40", "0.25"), "bull"),
        (("0.65", "0.30"), None),
    ],
)
def test_who_closed_the_gap_moved_three_quarters_of_it(last: tuple[str, str], expected: str | None) -> None:
    assert closed_by(points(("0.70", "0.30"), last), LIMITS) == expected


def test_who_closed_the_gap_is_told_of_crossed_sides_too() -> None:
    assert closed_by(points(("0.30", "0.70"), ("0.50", "0.70")), LIMITS) == "bull"
    assert closed_by(points(("0.30", "0.70"), ("0.30", "0.50")), LIMITS) == "bear"


def test_G_is_the_share_of_the_first_gap() -> None:
    assert gap_closure(gaps("0.40", "0.30")) == Decimal("0.25")
    assert gap_closure(gaps("0.20", "0.30")) == Decimal("-0.5")
    assert gap_closure(gaps("0.30", "0.20")) == Decimal("0.333333")
    assert gap_closure(gaps("0.00", "0.30")) is None
    assert gap_closure(()) is None


def test_crossed_sides_are_named_by_round() -> None:
    assert crossed_rounds(points(("0.6", "0.4"), ("0.5", "0.5"), ("0.45", "0.5"))) == (3,)


def test_the_largest_move_is_from_round_to_round() -> None:
    assert largest_move(points(("0.6", "0.4"), ("0.6", "0.45"), ("0.6", "0.4"))) == Decimal("0.05")
    assert largest_move(gaps("0.4")) == 0


NEAR = (("0.60", "0.40"), ("0.60", "0.40"), ("0.52", "0.48"))


@pytest.mark.parametrize(
    ("last", "reply", "expected"),
    [
        (("0.52", "0.48"), retort(conceded("o_bear_1")), "earned"),
        (("0.52", "0.48"), retort(carried("o_bear_1")), "hollow"),
        (("0.52", "0.48"), retort(rebutted("o_bear_1")), "hollow"),
        (("0.525", "0.475"), retort(conceded("o_bear_1")), None),
        (("0.5249", "0.475"), retort(conceded("o_bear_1")), "earned"),
        (("0.50", "0.50"), retort(conceded("o_bear_1")), "earned"),
        (("0.49", "0.50"), retort(conceded("o_bear_1")), None),
    ],
    ids=["conceded", "carried", "rebuttal not accepted", "exactly theta", "just under", "the same", "crossed"],
)
def test_A3_a_consensus_is_a_small_gap_that_was_earned(last: tuple[str, str], reply: Retort, expected: str | None) -> None:
    assert consensus(spoken(("0.60", "0.40"), ("0.60", "0.40"), last, reply=reply), LIMITS) == expected


def test_A3_not_before_its_round() -> None:
    early = spoken(("0.60", "0.40"), ("0.52", "0.48"))
    assert consensus(early, LIMITS) is None
    assert consensus(early, Thresholds(consensus_from_round=1)) == "hollow"
    assert consensus((), LIMITS) is None


def test_A3_an_accepted_rebuttal_is_giving_way_too() -> None:
    turns = spoken(*NEAR, reply=retort(rebutted("o_bear_1")))
    accepts = turn(3, "bear", conclusion(p_up="0.48", rulings=[ruling("o_bear_1")]))
    assert consensus((*turns, turn(3, "bull", conclusion(p_up="0.52")), accepts), LIMITS) == "earned"


@pytest.mark.parametrize(("spread", "due"), [("0.03", False), ("0.0499999999", True), ("0.049999999", False), ("0.05", True), ("0.2", True), ("0", False)])
def test_A6_views_that_lie_close_need_no_exchange(spread: str, due: bool) -> None:
    assert exchange_due(Decimal(spread), LIMITS) is due


def test_A8_a_debate_is_judged_by_its_gap() -> None:
    assert not worth_running(Decimal("0.2"), points(("0.6", "0.4"), ("0.7", "0.5")), LIMITS)
    assert worth_running(Decimal("0.2"), gaps("0.4", "0.3"), LIMITS)
    assert not worth_running(Decimal("0.04"), gaps("0.4", "0.3"), LIMITS)


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 100)), min_size=1, max_size=4))
def test_a_trajectory_adds_up(pairs: list[tuple[int, int]]) -> None:
    found = points(*((str(Decimal(bull) / 100), str(Decimal(bear) / 100)) for bull, bear in pairs))
    assert all(one.gap == abs(one.signed) and one.mid * 2 == one.bull + one.bear for one in found)
    assert (closed_by(found, LIMITS) is not None) == (outcome(found, LIMITS) == "closed")
    assert not (drifted(found, LIMITS) and outcome(found, LIMITS) != "held")


def test_sides_that_crossed_without_giving_way_are_hollow_and_never_earned() -> None:
    crossed = (("0.60", "0.40"), ("0.60", "0.40"), ("0.48", "0.50"))
    assert consensus(spoken(*crossed), LIMITS) == "hollow"
    assert consensus(spoken(*crossed, reply=retort(conceded("o_bear_1"))), LIMITS) is None
