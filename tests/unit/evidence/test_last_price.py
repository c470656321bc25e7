"""The last trade: later than the last close or not shown at all, set against it on one share basis, and never a price to trade on."""

from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal as D
from typing import Any

import pytest

from alphaagent.domain.evidence import EvidenceItem, Status
from alphaagent.domain.market import LastPrice
from alphaagent.evidence.gathered import Gathered
from alphaagent.evidence.price_tool import market_items
from tests.unit.evidence.measure_builders import bars_of, closes_at, gathered, opens, split

FRIDAY, MONDAY = date(2011, 3, 4), date(2011, 3, 7)
BARS = bars_of([float(n) for n in range(1, 301)], last=FRIDAY)
CLOSE = closes_at(FRIDAY)
"""Of 300.00."""


def trade(price: str, traded_at: datetime, known_at: datetime | None = None) -> LastPrice:
    return LastPrice(D(price), traded_at, known_at or traded_at + timedelta(seconds=5))


def with_trades(*trades: LastPrice, as_of: datetime | None = None, **more: Any) -> Gathered:
    g = gathered(BARS, last_prices=trades, **more)
    return g if as_of is None else replace(g, as_of=as_of)


def last(g: Gathered) -> EvidenceItem | None:
    return next((item for item in market_items(g) if item.kind == "last_price"), None)


def test_it_says_when_it_was_made_how_old_it_is_and_that_it_is_no_close() -> None:
    at = CLOSE + timedelta(minutes=20)
    found = last(with_trades(trade("303", at)))

    assert found is not None
    assert (found.tool, found.sides, found.status, found.source) == ("get_market_price", ("cio",), Status.OK, "prices-test")
    assert (found.as_of, found.known_at) == (at, at + timedelta(seconds=5))
    assert found.payload == {
        "price": "303.0",
        "traded_at": "2011-03-04T21:20:00Z",
        "age_seconds": 2400,
        "currency": "USD",
        "session": "2011-03-04",
        "close": "300.0",
        "split_ratio": None,
        "change": "0.01",
    }
    assert found.summary == (
        "USD 303.00 last traded at 2011-03-04T21:20:00Z, 2400 seconds before the decision, +1.0% against the close of 2011-03-04; "
        "this is no close, and no order is priced on it"
    )


@pytest.mark.parametrize(("seconds", "shown"), [(-1, False), (0, False), (1, True)])
def test_it_is_shown_only_where_it_is_later_than_the_last_close(seconds: int, shown: bool) -> None:
    assert (last(with_trades(trade("303", CLOSE + timedelta(seconds=seconds)))) is not None) is shown


@pytest.mark.parametrize(("traded", "known"), [(3600, 3600), (3601, 3602), (10, 3600), (10, 3700)])
def test_what_is_not_known_or_not_made_before_the_decision_is_not_shown(traded: int, known: int) -> None:
    """The decision is made an hour after the close."""
    assert last(with_trades(trade("303", CLOSE + timedelta(seconds=traded), CLOSE + timedelta(seconds=known)))) is None


def test_of_several_the_newest_counts() -> None:
    newer, older = trade("303", CLOSE + timedelta(minutes=9)), trade("310", CLOSE + timedelta(minutes=8), CLOSE + timedelta(minutes=40))
    found = last(with_trades(newer, older))

    assert found is not None
    assert found.payload["price"] == "303.0"


def split_on_monday(*ratios: str) -> Gathered:
    """303 on the shares of Friday, traded an hour into a Monday on which splits take effect."""
    value = D(303)
    for ratio in ratios:
        value /= D(ratio)
    at = opens(MONDAY) + timedelta(hours=1)
    actions = tuple(split(MONDAY, ratio) for ratio in ratios)
    return with_trades(LastPrice(value, at, at), as_of=at + timedelta(minutes=1), actions=actions)


@pytest.mark.parametrize(("ratios", "close", "words"), [(("4",), "75.0", "4"), (("0.05",), "6000.0", "0.05"), (("4", "2.5"), "30.0", "10")])
def test_a_split_in_between_is_reckoned_with(ratios: tuple[str, ...], close: str, words: str) -> None:
    found = last(split_on_monday(*ratios))

    assert found is not None
    assert (found.payload["close"], found.payload["change"], found.payload["split_ratio"]) == (close, "0.01", f"{D(words):.1f}" if D(words) > 1 else words)
    assert f"+1.0% against the close of 2011-03-04 on the shares after a split of {words};" in found.summary


def test_a_split_that_takes_effect_after_the_trade_changes_nothing() -> None:
    g = with_trades(trade("303", opens(MONDAY) - timedelta(minutes=1)), as_of=opens(MONDAY) + timedelta(hours=1), actions=(split(MONDAY, "4"),))
    found = last(g)

    assert found is not None
    assert (found.payload["split_ratio"], found.payload["change"]) == (None, "0.01")


@pytest.mark.parametrize("status", [Status.STALE, Status.CONFLICT])
def test_it_stands_as_the_prices_stand(status: Status) -> None:
    found = last(with_trades(trade("303", CLOSE + timedelta(minutes=5)), prices=status, note="fetched nine days ago"))

    assert found is not None
    assert (found.status, found.summary.startswith("fetched nine days ago: USD 303.00 last traded")) == (status, True)


def test_without_a_trade_there_is_no_item() -> None:
    assert [item.kind for item in market_items(gathered(BARS))] == ["quote"]
