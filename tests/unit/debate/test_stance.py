"""Whether a side's number says what its words say."""

from decimal import Decimal

import pytest

from alphaagent.debate.stance import StanceReading, leaning, stances
from alphaagent.debate.thresholds import Thresholds
from alphaagent.domain.argument import Move, PointFault, Turn
from tests.unit.debate.debate_scenes import ATTACK, OPENINGS, carried, claim, conceded, conclusion, opening, retort, turn

P0 = Decimal("0.55")
LIMITS = Thresholds()


def reading(*turns: Turn, p0: Decimal = P0) -> StanceReading:
    """The reading of the last turn."""
    return stances(turns, p0, LIMITS)[-1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The stock is undervalued and will rally.", "up"),
        ("I expect it to fall.", "down"),
        ("The market is too low.", "up"),
        ("The price is too high.", "down"),
        ("Debt is high and cash is low.", None),
        ("It will not rise.", "down"),
        ("Neither a fall nor a slump.", "up"),
        ("It is unlikely to fall.", "up"),
        ("It did not in the end rise.", "up"),
        ("It did not in fact rise.", "down"),
        ("low too", None),
        ("It is low.", None),
        ("It doesn't fall.", "up"),
        ("Upside and downside.", None),
        ("Margins were published on Monday.", None),
        ("The fallacy of higherness gains nothing", "up"),
        ("", None),
    ],
)
def test_a_text_leans_by_its_words_of_direction(text: str, expected: str | None) -> None:
    assert leaning(text) == expected


def bullish(p_up: str, *moves: Move) -> Turn:
    return turn(4, "bull", retort(carried("o_bear_2", reason="The market is too low on this name and I see clear upside"), *moves, p_up=p_up))


@pytest.mark.parametrize(("p_up", "expected"), [("0.2", "stance_drift"), ("0.549", "stance_drift"), ("0.55", "ok"), ("0.7", "ok")])
def test_D17_bullish_words_beside_a_low_number_are_drift(p_up: str, expected: str) -> None:
    assert after_two_rounds(bullish(p_up)) == expected


def after_two_rounds(last: Turn) -> str:
    told = (*OPENINGS, *ATTACK, turn(2, "bull", retort(carried("o_bear_1"), carried("o_bear_2", 3))), turn(2, "bear", retort(p_up="0.1")))
    return reading(*told, last).verdict


def test_D17_a_concession_in_the_same_turn_explains_it() -> None:
    assert after_two_rounds(bullish("0.2", conceded("o_bear_1"))) == "honest_concession"


def test_D17_a_concession_at_fault_explains_nothing() -> None:
    fault = PointFault(part="moves", index=1, subject="o_bear_1", code="NO_REASON", message="")
    at_fault = bullish("0.2", conceded("o_bear_1")).model_copy(update={"faults": (fault,)})
    assert after_two_rounds(at_fault) == "stance_drift"


def test_bearish_words_beside_a_high_number_are_drift() -> None:
    found = reading(turn(0, "bear", opening(claim("It will fall"), p_up="0.8", stance="NEUTRAL")))
    assert (found.verdict, found.departures) == ("stance_drift", ("text",))


@pytest.mark.parametrize(
    ("stance", "p_up", "expected"),
    [("BULLISH", "0.3", "stance_drift"), ("BEARISH", "0.8", "stance_drift"), ("NEUTRAL", "0.3", "ok"), ("BULLISH", "0.6", "ok"), ("BEARISH", "0.55", "ok")],
)
def test_what_an_opening_states_must_fit_its_number(stance: str, p_up: str, expected: str) -> None:
    assert reading(turn(0, "bull", opening(claim("Plain facts"), p_up=p_up, stance=stance))).verdict == expected


def test_a_number_against_the_move_is_drift_even_beside_a_concession() -> None:
    fault = PointFault(part="moves", index=0, subject="o_bear_1", code="P_UP_CONTRADICTS_MOVE", message="")
    said = turn(2, "bull", retort(conceded("o_bear_1"), conceded("o_bear_2", 4), p_up="0.75"), fault)
    found = reading(*OPENINGS, *ATTACK, said)
    assert (found.verdict, found.departures) == ("stance_drift", ("move",))


def test_a_zombie_is_drift() -> None:
    given = (turn(2, "bull", retort(conceded("o_bear_1"), carried("o_bear_2"), p_up="0.6")), turn(2, "bear", retort(p_up="0.4")))
    again = turn(3, "bull", conclusion(p_up="0.6", summary="Momentum is strong and has been for a year."))
    assert reading(*OPENINGS, *ATTACK, *given, again).departures == ("zombie",)


def crossing(bull: str, bear: str, *moves: Move) -> dict[str, StanceReading]:
    given = moves or (carried("o_bear_1"), carried("o_bear_2", 3))
    last = (turn(2, "bull", retort(*given, p_up=bull)), turn(2, "bear", retort(p_up=bear)))
    return {found.side: found for found in stances((*OPENINGS, *ATTACK, *last), Decimal("0.1"), LIMITS)[-2:]}


def test_who_went_over_to_the_other_side_departed() -> None:
    found = crossing("0.35", "0.40")
    assert (found["bull"].verdict, found["bull"].departures, found["bear"].departures) == ("stance_drift", ("crossed",), ())
    assert crossing("0.70", "0.75")["bear"].departures == ("crossed",)
    assert crossing("0.45", "0.40")["bull"].verdict == "ok"


def test_a_crossing_with_a_concession_is_honest() -> None:
    assert crossing("0.35", "0.40", conceded("o_bear_1"), carried("o_bear_2"))["bull"].verdict == "honest_concession"


def test_sides_that_open_crossed_have_both_departed() -> None:
    openings = (turn(0, "bull", opening(claim("Plain"), p_up="0.4", stance="NEUTRAL")), turn(0, "bear", opening(claim("Plain"), p_up="0.6", stance="NEUTRAL")))
    assert [found.departures for found in stances(openings, P0, LIMITS)] == [("crossed",), ("crossed",)]
