"""What a run of bookings leaves: cash, settled cash, and lots first in first out. Pure; nothing here is stored.

Cash that has not settled counts when it leaves and not when it comes: a purchase lowers the settled cash at once, the proceeds of a sale
raise it on their settlement date. Otherwise the same dollar could be spent twice on one day.
"""

from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date

from alphaagent.ledger.units import half_even


@dataclass(frozen=True, slots=True)
class Booking:
    """One transaction as far as a holder sees it: its cash, and the shares that it moved."""

    kind: str
    cash: int
    settle_on: date
    instrument: str | None = None
    shares: int = 0


@dataclass(slots=True)
class Lot:
    """Shares bought together, and what they cost in all, fees included."""

    quantity: int
    cost: int


@dataclass(slots=True)
class Holdings:
    """Cash and lots after some bookings, in millionths."""

    cash: int = 0
    unsettled: int = 0
    """Inflows that settle after the date in question."""
    lots: defaultdict[str, deque[Lot]] = field(default_factory=lambda: defaultdict(deque))

    @property
    def settled(self) -> int:
        return self.cash - self.unsettled

    def quantity(self, instrument: str) -> int:
        return sum(lot.quantity for lot in self.lots.get(instrument, ()))

    def cost(self, instrument: str) -> int:
        return sum(lot.cost for lot in self.lots.get(instrument, ()))

    def apply(self, booking: Booking, on: date) -> None:
        """Adds one booking; `on` is the date at which cash counts as settled."""
        self.cash += booking.cash
        if booking.cash > 0 and booking.settle_on > on:
            self.unsettled += booking.cash
        if booking.instrument is None or not booking.shares:
            return
        lots = self.lots[booking.instrument]
        if booking.kind == "split":
            _rescale(lots, booking.shares)
        elif booking.shares > 0:
            lots.append(Lot(booking.shares, -booking.cash))
        else:
            _consume(lots, -booking.shares)
        if not lots:
            del self.lots[booking.instrument]


def held(bookings: Iterable[Booking], on: date) -> Holdings:
    """The holdings after bookings in order."""
    state = Holdings()
    for booking in bookings:
        state.apply(booking, on)
    return state


def _consume(lots: deque[Lot], quantity: int) -> None:
    """Takes shares from the oldest lots; a part of a lot takes its part of the cost."""
    while quantity and lots:
        lot = lots[0]
        taken = min(quantity, lot.quantity)
        part = half_even(lot.cost * taken, lot.quantity)
        lot.quantity, lot.cost = lot.quantity - taken, lot.cost - part
        quantity -= taken
        if not lot.quantity:
            lots.popleft()


def _rescale(lots: deque[Lot], change: int) -> None:
    """Spreads a split over the lots by their size; the sum is exact, and no cost moves."""
    before = sum(lot.quantity for lot in lots)
    seen = placed = 0
    for lot in lots:
        seen += lot.quantity
        upto = seen * (before + change) // before
        lot.quantity, placed = upto - placed, upto
    _merge_empty(lots)


def _merge_empty(lots: deque[Lot]) -> None:
    """A reverse split can leave a lot of no shares; its cost goes to a neighbour, so that the total cost stays."""
    orphaned = sum(lot.cost for lot in lots if not lot.quantity)
    kept = [lot for lot in lots if lot.quantity]
    lots.clear()
    lots.extend(kept)
    if lots:
        lots[0].cost += orphaned
