"""How an instrument has traded: what the guard asks of the bars before an instant, on the share basis of that instant."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from alphaagent.domain.market import Bar, CorporateAction, Instrument
from alphaagent.execution.marks import effective
from alphaagent.ports import MarketData

MEDIAN_SESSIONS = 20
_MICRO = Decimal("0.000001")


@dataclass(frozen=True, slots=True)
class Trading:
    """Measures of the bar that a price comes from and of the bars before it; None where there are too few."""

    prior_close: Decimal | None
    bar_volume: int | None
    flat_bars: int | None
    median_volume: Decimal | None
    median_dollar_volume: Decimal | None


def trading(market: MarketData, instrument: Instrument, at: datetime, fill: Bar | None = None) -> Trading:
    """Of the last bars known before `at`; with `fill`, the price is that bar's open and all of them lie before it."""
    known = market.bars(instrument, at, MEDIAN_SESSIONS + 1)
    splits = [action for action in effective(market, instrument, known[0].known_at, at) if action.kind == "split"] if known else []
    before = known if fill else known[:-1]
    last = known[-MEDIAN_SESSIONS:]
    measurable = len(last) == MEDIAN_SESSIONS
    return Trading(
        prior_close=(before[-1].close / _ratio(before[-1], splits)).quantize(_MICRO) if before else None,
        bar_volume=fill.volume if fill else known[-1].volume if known else None,
        flat_bars=_flat(known) if known else None,
        median_volume=_median([bar.volume * _ratio(bar, splits) for bar in last]) if measurable else None,
        median_dollar_volume=_median([bar.volume * bar.close for bar in last]) if measurable else None,
    )


def _ratio(bar: Bar, splits: Sequence[CorporateAction]) -> Decimal:
    """New shares per share of a bar's own basis."""
    ratio = Decimal(1)
    for split in splits:
        if split.known_at > bar.known_at:
            ratio *= split.value
    return ratio


def _flat(bars: Sequence[Bar]) -> int:
    """How many of the last bars in a row are identical and without volume."""
    last, count = bars[-1], 0
    for bar in reversed(bars):
        if bar.volume or (bar.open, bar.high, bar.low, bar.close) != (last.open, last.high, last.low, last.close):
            break
        count += 1
    return count


def _median(values: Sequence[Decimal]) -> Decimal:
    ordered, half = sorted(values), len(values) // 2
    return ((ordered[half - 1] + ordered[half]) / 2).quantize(_MICRO)
