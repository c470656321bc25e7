"""Split-adjusted prices back to what was traded, and the dividends that the adjusted closes imply.

The original's prices stand on the shares of its last day and have four decimals. A price before a split times the later ratios is the
traded price, which then was a whole number of cents; a price without a later split is kept as it stands.
"""

import csv
import gzip
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from itertools import pairwise
from pathlib import Path

Splits = Sequence[tuple[date, Decimal]]
CENT = Decimal("0.01")
LAST_DECIMAL = Decimal("0.0001")
"""Of the originals' prices, and of most of their adjusted closes."""
DIVIDEND_GRIDS = (Decimal("0.05"), Decimal("0.01"), Decimal("0.005"), Decimal("0.0025"))
BOKEH_FILE = "raw/bokeh_stocks_quandl_wiki_2000_2013.csv.gz"


@dataclass(frozen=True)
class Day:
    """One row: open, high, low, close, volume, and the close adjusted for splits and dividends, None where the original has none."""

    session: date
    prices: tuple[Decimal, Decimal, Decimal, Decimal]
    volume: Decimal
    adjusted: Decimal | None

    @property
    def close(self) -> Decimal:
        return self.prices[3]


@dataclass(frozen=True)
class Dividend:
    """Cash per share on the share basis of the ex-date: what was derived, its error bound, and the amount on the grid."""

    ex_date: date
    derived: Decimal
    bound: Decimal
    amount: Decimal


def read_days(path: Path) -> list[Day]:
    """The rows of one original price file, in order."""
    with path.open(encoding="utf-8", newline="") as file:
        return [_day(row) for row in csv.DictReader(file)]


def _day(row: dict[str, str]) -> Day:
    prices = (Decimal(row["open"]), Decimal(row["high"]), Decimal(row["low"]), Decimal(row["close"]))
    return Day(date.fromisoformat(row["date"]), prices, Decimal(row["volume"]), Decimal(row["adj_close"]) if row["adj_close"] else None)


def later_ratio(session: date, splits: Splits) -> Decimal:
    """New shares per share of that session, over every split after it."""
    return math.prod((ratio for effective, ratio in splits if session < effective), start=Decimal(1))


def as_traded(day: Day, splits: Splits) -> Day:
    """The row on the share basis of its own session. ValueError where a volume does not divide by a whole ratio."""
    ratio = later_ratio(day.session, splits)
    if ratio == 1:
        return day
    volume = (day.volume / ratio).quantize(Decimal(1), ROUND_HALF_UP)
    if ratio == int(ratio) and volume * ratio != day.volume:
        raise ValueError(f"{day.session}: volume {day.volume} does not divide by {ratio}")
    first, high, low, close = ((price * ratio).quantize(CENT, ROUND_HALF_UP) for price in day.prices)
    return Day(day.session, (first, high, low, close), volume, day.adjusted)


def dividends(days: Sequence[Day], splits: Splits, unit: Decimal = LAST_DECIMAL) -> list[Dividend]:
    """Every fall of the adjustment factor that rounding cannot explain: previous close x (1 - factor ratio), on the ex-date's shares.

    `unit` is the last decimal of the adjusted closes. Without adjusted closes there is nothing to derive.
    """
    return [found for before, after in pairwise(days) if (found := _dividend(before, after, splits, unit)) is not None]


def _dividend(before: Day, after: Day, splits: Splits, unit: Decimal) -> Dividend | None:
    if before.adjusted is None or after.adjusted is None:
        return None
    ratio = later_ratio(after.session, splits)
    kept = (before.adjusted / before.close) / (after.adjusted / after.close)
    derived = before.close * (1 - kept) * ratio
    bound = before.close * _rounding(before, after, unit) * ratio
    if derived <= bound:
        return None
    return Dividend(after.session, derived, bound, on_grid(derived, bound))


def _rounding(before: Day, after: Day, unit: Decimal) -> Decimal:
    """The relative error that rounding leaves in a ratio of two closes and two adjusted closes."""
    closes = LAST_DECIMAL / before.close + LAST_DECIMAL / after.close
    adjusted = sum((unit / day.adjusted for day in (before, after) if day.adjusted is not None), start=Decimal(0))
    return (closes + adjusted) / 2


def on_grid(derived: Decimal, bound: Decimal) -> Decimal:
    """The amount on the coarsest plausible grid inside the error bound. ValueError where there is none."""
    for grid in DIVIDEND_GRIDS:
        amount = (derived / grid).quantize(Decimal(1), ROUND_HALF_UP) * grid
        if amount > 0 and abs(amount - derived) <= bound:
            return amount
    raise ValueError(f"no plausible dividend within {bound} of {derived}")


def worst_return_gap(days: Sequence[Day], traded: Sequence[Day], splits: Splits, paid: Sequence[Dividend], unit: Decimal = LAST_DECIMAL) -> Decimal:
    """How far a daily total return from traded prices and actions lies from the original's adjusted one, at worst, in units of its rounding bound."""
    ratios, cash = dict(splits), {dividend.ex_date: dividend.amount for dividend in paid}
    return max(_gaps(days, traded, ratios, cash, unit), default=Decimal(0))


def _gaps(days: Sequence[Day], traded: Sequence[Day], ratios: dict[date, Decimal], cash: dict[date, Decimal], unit: Decimal) -> Iterator[Decimal]:
    for (before, after), (earlier, later) in zip(pairwise(days), pairwise(traded), strict=True):
        if before.adjusted is None or after.adjusted is None:
            continue
        base = earlier.close / ratios.get(after.session, Decimal(1))
        ours = later.close / (base - cash.get(after.session, Decimal(0)))
        theirs = after.adjusted / before.adjusted
        yield abs(ours / theirs - 1) / _rounding(before, after, unit)


def unhalved(day: Day, until: date, factor: Decimal) -> Day:
    """The row with its volume before `until` brought back to shares; the original holds hundreds there, and so does the result."""
    if day.session >= until:
        return day
    hundreds = (day.volume * factor / 100).quantize(Decimal(1), ROUND_HALF_UP)
    return replace(day, volume=hundreds * 100)


def worst_bokeh_gap(folder: Path, names: Sequence[str], traded: Sequence[Day]) -> tuple[int, Decimal, Decimal]:
    """Against the public-domain bars as traded: common sessions, largest price gap, largest volume gap; zeros where it lacks the ticker."""
    ours = {day.session: day for day in traded}
    sessions, price_gap, volume_gap = 0, Decimal(0), Decimal(0)
    with gzip.open(folder / BOKEH_FILE, "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            day = ours.get(date.fromisoformat(row["Date"])) if row["Ticker"] in names else None
            if day is not None:
                sessions += 1
                theirs = (Decimal(row[name]) for name in ("Open", "High", "Low", "Close"))
                price_gap = max(price_gap, *(abs(a - b) for a, b in zip(day.prices, theirs, strict=True)))
                volume_gap = max(volume_gap, abs(day.volume - Decimal(row["Volume"])))
    return sessions, price_gap, volume_gap
