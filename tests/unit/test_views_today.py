"""The rows and words of the first page."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from alphaagent.operations.preview import NOTHING_TO_PAY, Cost, NextName, NextRound
from alphaagent.operations.today import Breaker
from alphaagent.views_today import breaker_text, cost_text, next_rows, price_age, substitutes, sweep_rows, undone_rows, unpaid

AT = datetime(2020, 4, 20, 20, 0, 1, tzinfo=UTC)


def swept(**changes: Any) -> dict[str, Any]:
    row = {"ticker": "AAPL", "state": "failed", "error": "NoEvidence", "reason": "nothing is recorded"}
    done = {"ticker": "MSFT", "state": "decided", "error": None, "reason": None}
    told = {"portfolio": "default", "as_of": "2020-04-20T20:00:01Z", "counts": {"decided": 1, "failed": 1}, "exit_code": 3, "rows": [row, done]}
    return told | {"settled": [{}, {}], "spend": {"unpaid": []}} | changes


def test_a_pass_is_one_row_with_every_state_counted() -> None:
    (row,) = sweep_rows([swept()])
    assert row == {
        "portfolio": "default",
        "as of (UTC)": "2020-04-20 20:00",
        "decided": 1,
        "repeated": 0,
        "skipped": 0,
        "failed": 1,
        "settled": 2,
        "exit code": 3,
    }


def test_what_was_not_done_is_named_with_the_fault_in_words_and_in_its_own() -> None:
    (row,) = undone_rows([swept()])
    assert (row["ticker"], row["what happened"], row["in its own words"]) == ("AAPL", "there is nothing to decide on", "nothing is recorded")
    (other,) = undone_rows([swept(rows=[{"ticker": "X", "state": "skipped", "error": "SomethingNew", "reason": None}])])
    assert (other["what happened"], other["in its own words"]) == ("SomethingNew", "")


def test_a_name_that_the_money_did_not_reach_twice_is_named_once() -> None:
    assert unpaid([swept(spend={"unpaid": ["A", "B"]}), swept(spend={"unpaid": ["B"]})]) == ["A", "B"]


def test_what_is_held_besides_is_marked_and_what_is_decided_is_not_decided_again() -> None:
    names = (NextName("A", False, None, True), NextName("B", True, None, False), NextName("C", False, "dec_1", False))
    rows = next_rows([NextRound("default", AT, None, "auto", "quick", names, NOTHING_TO_PAY, None)])
    assert [row["may be"] for row in rows] == ["bought or sold", "sold only: held, and not on the watchlist", "bought or sold"]
    assert [row["what happens"] for row in rows] == ["a debate, plan quick", "the heuristic engine decides", "nothing: decided before (dec_1)"]


@pytest.mark.parametrize(
    ("cost", "budget", "words"),
    [
        (NOTHING_TO_PAY, None, "nothing: no model will be asked"),
        (Cost(2, Decimal("0.5"), Decimal("0.1")), None, "2 debates: about 0.1000 USD, at most 0.5000 USD"),
        (Cost(40, Decimal("0.5"), None), Decimal(2), "40 debates: at most 0.5000 USD; its budget is 2 USD a UTC day"),
        (Cost(1, None, None), None, "1 debates: an unknown price"),
    ],
)
def test_a_cost_is_told_with_its_bound_and_its_budget(cost: Cost, budget: Decimal | None, words: str) -> None:
    assert cost_text(cost, budget) == words


@pytest.mark.parametrize(
    ("breaker", "words"),
    [
        (None, "not in mandate.yaml"),
        (Breaker("none", Decimal("0.07"), None), "off"),
        (Breaker("SPX", Decimal("0.07"), None), "ON: the change of SPX is not known"),
        (Breaker("SPX", Decimal("0.07"), Decimal("-0.07")), "ON: SPX -7.00%"),
        (Breaker("SPX", Decimal("0.07"), Decimal("-0.0699")), "quiet: SPX -6.99%"),
    ],
)
def test_the_breaker_is_told_as_the_guard_would_rule(breaker: Breaker | None, words: str) -> None:
    assert words in breaker_text(breaker)


def test_prices_that_end_early_are_named() -> None:
    session = date(2020, 4, 20)
    assert price_age(None, session) == "no name needs a price"
    assert price_age(("A", session), session) == "prices to 2020-04-20, the last session"
    assert price_age(("A", date(2020, 4, 17)), session) == "prices of A end on 2020-04-17, before 2020-04-20"
    assert price_age(("A", None), session) == "no prices of A"


def test_substitutes_are_counted_among_all() -> None:
    assert substitutes({"crew": 3, "fallback": 1}) == (1, 4)
    assert substitutes({}) == (0, 0)
