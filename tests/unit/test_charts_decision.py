"""The figures of a decision: what stands in them, in which marks, and the same in words."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from alphaagent.operations.price_path import PricePath
from dashboard.charts_decision import gap_chart, gap_rows, gap_text, parts_chart, parts_text, price_chart, price_text
from dashboard.charts_running import rounds_chart, rounds_text

ROUNDS = [
    {"round": 1, "bull": "0.66", "bear": "0.45", "gap": "0.21", "mid": "0.555"},
    {"round": 2, "bull": "0.6", "bear": "0.56", "gap": "0.04", "mid": "0.58"},
]
PARTS: list[dict[str, Any]] = [
    {"factor": "momentum", "contribution": Decimal("0.27"), "made of": "+1.00 x 0.275", "status": "ok", "detail": "up"},
    {"factor": "news (lost)", "contribution": Decimal("-0.15"), "made of": "weight 0.150", "status": "lost", "detail": "broken"},
]
PATH = PricePath("USD", date(2020, 3, 17), ((date(2020, 3, 16), Decimal(100)), (date(2020, 3, 17), Decimal("104.5"))), (), date(2020, 4, 14), None)


def texts(figure: Any) -> str:
    return str(figure.to_dict())


def test_the_gap_has_every_number_at_its_step() -> None:
    rows = gap_rows(ROUNDS, "0.62", "0.58", 0.68)
    assert [(row["step"], row["who"], row["p"]) for row in rows] == [
        ("before", "base rate", 0.62),
        ("round 1", "the bull", 0.66),
        ("round 1", "the short seller", 0.45),
        ("round 1", "the middle", 0.555),
        ("round 2", "the bull", 0.6),
        ("round 2", "the short seller", 0.56),
        ("round 2", "the middle", 0.58),
        ("verdict", "where the debate ended", 0.58),
        ("verdict", "the CIO", 0.68),
    ]


def test_a_number_that_nobody_gave_is_left_out() -> None:
    assert {row["who"] for row in gap_rows(ROUNDS[:1], None, "0.555", None)} == {"the bull", "the short seller", "the middle", "where the debate ended"}


@pytest.mark.parametrize("rounds", [ROUNDS, ROUNDS[:1], []])
def test_the_gap_is_drawn_whatever_the_number_of_rounds_with_a_mark_for_each_side(rounds: list[dict[str, Any]]) -> None:
    drawn = texts(gap_chart(gap_rows(rounds, "0.62", "0.58", 0.68), rounds))
    assert "p(up in 20 sessions)" in drawn
    assert "triangle-up" in drawn
    assert "triangle-down" in drawn
    assert ("'low': 0.45" in drawn) == bool(rounds)


def test_the_gap_in_words_says_what_the_figure_says() -> None:
    assert gap_text(ROUNDS, "0.62", "0.58", 0.68) == (
        "Probability that the price is higher in 20 sessions. base rate 0.62 before the debate; round 1: bull 0.66, short seller 0.45, gap 0.21; "
        "round 2: bull 0.60, short seller 0.56, gap 0.04; the debate ended at 0.58; the CIO said 0.68."
    )


def test_the_parts_of_a_score_are_signed_and_labelled() -> None:
    drawn = texts(parts_chart(PARTS))
    assert "'pull': 'pulls down'" in drawn
    assert "'shown': '-0.150'" in drawn
    assert "contribution to the score (value x weight)" in drawn
    assert parts_text(PARTS, "0.12") == "Score +0.120, made of: momentum +0.270; news (lost) -0.150."


def test_a_score_without_parts_is_drawn_too() -> None:
    assert texts(parts_chart([]))


def test_the_closes_are_drawn_with_both_lines_and_told() -> None:
    drawn = texts(price_chart(PATH))
    assert "close (USD)" in drawn
    assert "'what': 'decided'" in drawn
    assert "'what': 'horizon ends'" in drawn
    assert price_text(PATH) == (
        "Closes from 2020-03-16 (100.00) to 2020-03-17 (104.50) in USD; decided after 2020-03-17 at 104.50; the horizon ends with 2020-04-14."
    )


def test_the_rounds_of_a_running_debate_are_drawn_and_told() -> None:
    rounds = [("1", Decimal("0.66"), Decimal("0.45"))]
    assert "triangle-down" in texts(rounds_chart(rounds))
    assert rounds_text(rounds) == "round 1: bull 0.66, short seller 0.45."
