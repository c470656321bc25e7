"""What the guard is told of the bars: on the share basis of the instant, and only of what was known by then."""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from alphaagent.domain.market import Bar, CorporateAction, Instrument
from alphaagent.execution.trading import Trading, trading

D = Decimal
ACME = Instrument(id="XNAS:ACME", symbol="ACME", name="Acme", mic="XNAS", currency="USD", kind="common")
START = datetime(2020, 1, 1, 21, tzinfo=UTC)


def bar(day: int, close: str = "100", volume: int = 1000) -> Bar:
    at = START + timedelta(days=day)
    return Bar(session=at.date(), open=D(close), high=D(close), low=D(close), close=D(close), volume=volume, known_at=at)


@dataclass
class Market:
    known: list[Bar]
    done: list[CorporateAction] = field(default_factory=list)

    def bars(self, instrument: Instrument, as_of: datetime, count: int) -> tuple[Bar, ...]:
        return tuple(bar for bar in self.known if bar.known_at < as_of)[-count:]

    def actions(self, instrument: Instrument, after: date, upto: date) -> tuple[CorporateAction, ...]:
        return tuple(action for action in self.done if after < action.ex_date <= upto)


def measured(market: Any, day: int, fill: Bar | None = None) -> Trading:
    return trading(market, ACME, START + timedelta(days=day, seconds=1), fill)


def split(day: int, ratio: str) -> CorporateAction:
    at = START + timedelta(days=day) - timedelta(hours=7)
    return CorporateAction("split", at.date(), D(ratio), at)


def test_medians_are_of_the_last_twenty_sessions() -> None:
    market = Market([bar(day, volume=100 * day) for day in range(30)])
    seen = measured(market, 29)
    assert (seen.median_volume, seen.median_dollar_volume) == (D(1950), D(195_000))
    assert (seen.prior_close, seen.bar_volume, seen.flat_bars) == (D(100), 2900, 0)


@pytest.mark.parametrize(("bars", "known"), [(19, False), (20, True), (21, True)])
def test_fewer_than_twenty_sessions_are_no_record(bars: int, known: bool) -> None:
    seen = measured(Market([bar(day) for day in range(bars)]), bars)
    assert (seen.median_volume is not None, seen.median_dollar_volume is not None) == (known, known)


def test_no_bars_and_one_bar() -> None:
    assert measured(Market([]), 5) == Trading(None, None, None, None, None)
    assert measured(Market([bar(0)]), 0) == Trading(None, 1000, 0, None, None)


def test_a_split_moves_the_basis_and_not_the_value() -> None:
    market = Market([*(bar(day, "400", 1000) for day in range(29)), bar(29, "100", 4000)], [split(29, "4")])
    seen = measured(market, 29)
    assert (seen.prior_close, seen.median_volume, seen.median_dollar_volume) == (D(100), D(4000), D(400_000))


def test_at_settlement_the_close_before_is_the_last_known_one() -> None:
    market = Market([bar(day, str(100 + day)) for day in range(30)], [split(30, "2")])
    morning = START + timedelta(days=30) - timedelta(hours=6)
    seen = trading(market, ACME, morning, bar(30, "64", 777))  # type: ignore[arg-type]
    assert (seen.prior_close, seen.bar_volume, seen.median_volume) == (D("64.5"), 777, D(2000))


def test_flat_bars_are_identical_and_without_volume() -> None:
    lively = [bar(day) for day in range(25)]
    assert measured(Market([*lively, bar(25, volume=0), bar(26, volume=0)]), 26).flat_bars == 2
    assert measured(Market([*lively, bar(25, "99", 0), bar(26, volume=0)]), 26).flat_bars == 1
    assert measured(Market([*lively, bar(25, volume=0), bar(26)]), 26).flat_bars == 0
