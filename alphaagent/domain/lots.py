"""Lots: shares that came together, and what became of them. Like positions they are derived from postings, never stored."""

from datetime import date
from decimal import Decimal
from typing import Literal

from alphaagent.domain.base import Frozen
from alphaagent.domain.market import Instrument

LotMethod = Literal["fifo", "lifo", "highest_cost"]
"""Which lot a sale takes first: the oldest, the newest, or the dearest per share (of equal ones the oldest)."""


class OpeningLot(Frozen):
    """A holding as it is brought into the books: shares as held now, what they cost in all, and since when they are held."""

    instrument: Instrument
    quantity: Decimal
    cost: Decimal
    acquired: date


class Lot(Frozen):
    """Shares of one name that are still held; `cost` is in total, fees included."""

    instrument_id: str
    symbol: str
    acquired: date
    quantity: Decimal
    cost: Decimal


class Gain(Frozen):
    """A part of a lot that was sold. `proceeds` are net of the sale's fees and `cost` holds the purchase's; `fees` says how much that was in all."""

    instrument_id: str
    symbol: str
    acquired: date
    sold: date
    quantity: Decimal
    proceeds: Decimal
    cost: Decimal
    fees: Decimal

    @property
    def gain(self) -> Decimal:
        return self.proceeds - self.cost

    @property
    def holding_days(self) -> int:
        return (self.sold - self.acquired).days

    @property
    def term(self) -> Literal["short", "long"]:
        return "long" if is_long_term(self.acquired, self.sold) else "short"


def is_long_term(acquired: date, sold: date) -> bool:
    """Whether shares were held for more than one year: sold after the anniversary (28 February for a leap day)."""
    leap_day = (acquired.month, acquired.day) == (2, 29)
    return sold > acquired.replace(year=acquired.year + 1, day=28 if leap_day else acquired.day)
