"""A second source: two that agree, two that do not, with both values, and why there is only one."""

from dataclasses import replace
from datetime import date
from decimal import Decimal as D
from typing import Any

import pytest

from alphaagent.domain.evidence import EvidenceItem, Status
from alphaagent.evidence.gathered import Gathered, SecondOpinion
from alphaagent.evidence.price_tool import market_items
from alphaagent.evidence.second_source import second_source_items
from tests.unit.evidence.measure_builders import bars_of, closes_at, gathered

FRIDAY = date(2011, 3, 4)
BARS = bars_of([float(n) for n in range(1, 101)], last=FRIDAY)
"""The last close is 100.00."""


def asked(close: str | None, status: Status = Status.OK, **changes: Any) -> Gathered:
    value = None if close is None else D(close)
    plain = SecondOpinion("stooq", FRIDAY if value is not None else None, value, D("0.01"), status)
    return gathered(BARS, second=replace(plain, **changes))


def item(g: Gathered) -> EvidenceItem:
    (found,) = second_source_items(g)
    return found


def test_two_that_agree_are_said_with_both_values() -> None:
    found = item(asked("100.20"))

    assert (found.tool, found.kind, found.sides, found.status, found.source) == ("get_market_price", "second_source", ("cio",), Status.OK, "stooq")
    assert (found.as_of, found.known_at) == (closes_at(FRIDAY), closes_at(FRIDAY))
    assert found.payload == {
        "session": "2011-03-04",
        "first_source": "prices-test",
        "close": "100.0",
        "second_source": "stooq",
        "second_close": "100.2",
        "distance": "0.001997",
        "tolerance": "0.01",
        "currency": "USD",
    }
    assert found.summary == "Two sources agree within 1% on the close of 2011-03-04: prices-test 100.00, stooq 100.20 USD, 0.2% apart"


@pytest.mark.parametrize(("second", "status"), [("99.01", "ok"), ("99", "conflict"), ("101", "ok"), ("101.02", "conflict"), ("100", "ok"), ("7", "conflict")])
def test_the_distance_is_measured_here_and_exactly(second: str, status: str) -> None:
    assert item(asked(second)).status == status


def test_two_that_differ_are_a_conflict_with_both_values_and_the_distance() -> None:
    found = item(asked("98.99"))

    assert found.status is Status.CONFLICT
    assert found.summary == "Two sources disagree: on the close of 2011-03-04: prices-test 100.00, stooq 98.99 USD, 1.03% apart, 1% allowed"


def test_a_conflict_never_reads_like_what_is_allowed() -> None:
    assert "1.01% apart, 1% allowed" in item(asked("99.0099")).summary


def test_a_conflict_that_was_found_elsewhere_stays_one() -> None:
    found = item(asked("100.20", Status.CONFLICT, note="the two differ on 2011-03-02"))

    assert (found.status, found.payload["distance"]) == (Status.CONFLICT, "0.001997")
    assert found.summary.startswith("the two differ on 2011-03-02: on the close")


@pytest.mark.parametrize(
    ("given", "status", "reason"),
    [
        ({"close": None, "status": Status.FAILED, "note": "stooq timed out"}, Status.FAILED, "stooq timed out"),
        ({"close": None, "status": Status.FAILED}, Status.FAILED, "stooq has no close of 2011-03-04"),
        ({"close": "100", "status": Status.FAILED, "note": "stooq timed out"}, Status.FAILED, "stooq timed out"),
        ({"close": None, "status": Status.EMPTY, "note": "stooq does not know ACME"}, Status.EMPTY, "stooq does not know ACME"),
        ({"close": None, "status": Status.OK}, Status.EMPTY, "stooq has no close of 2011-03-04"),
        ({"close": "0", "status": Status.OK}, Status.EMPTY, "stooq has no close of 2011-03-04"),
        ({"close": "100", "status": Status.STALE, "note": "fetched nine days ago"}, Status.EMPTY, "fetched nine days ago"),
        ({"close": "100", "status": Status.OK, "session": date(2011, 3, 3)}, Status.EMPTY, "stooq has no close of 2011-03-04, its last is of 2011-03-03"),
    ],
)
def test_where_there_is_only_one_it_says_why(given: dict[str, Any], status: Status, reason: str) -> None:
    found = item(asked(**given))

    assert (found.status, found.payload, found.source) == (status, {"reason": reason}, "stooq")


def test_it_stands_beside_the_quote_where_it_is_configured() -> None:
    assert [one.kind for one in market_items(asked("100"))] == ["quote", "second_source"]
    assert [one.kind for one in market_items(gathered(BARS))] == ["quote"]


def test_without_a_bar_there_is_nothing_to_compare() -> None:
    assert second_source_items(replace(asked("100"), prices=replace(asked("100").prices, records=gathered(session=FRIDAY).prices.records))) == ()
