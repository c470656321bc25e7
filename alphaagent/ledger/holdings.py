"""What a run of bookings leaves: cash, settled cash, lots, and what was realised on the lots that are gone. Pure; nothing here is stored.

Cash that has not settled counts when it leaves and not when it comes: a purchase lowers the settled cash at once, the proceeds of a sale
raise it on their settlement date. Otherwise the same dollar could be spent twice on one day. Every division keeps the remainder in the
lot or in the sale that it belongs to, so that cost, fees and proceeds add up exactly whatever was sold in whatever parts.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction

from alphaagent.domain.lots import LotMethod
from alphaagent.ledger.units import half_even


@dataclass(slots=True)
class Lot:
    """Shares that came together, and what they cost in all, fees included."""

    quantity: int
    cost: int
    acquired: date
    fees: int = 0


@dataclass(frozen=True, slots=True)
class Realised:
    """A part of a lot that is gone, and what came for it."""

    instrument: str
    acquired: date
    sold: date
    quantity: int
    proceeds: int
    cost: int
    fees: int


@dataclass(frozen=True, slots=True)
class Booking:
    """One transaction as far as a holder sees it: its cash, and the shares that it moved."""

    kind: str
    cash: int
    settle_on: date
    instrument: str | None = None
    shares: int = 0
    day: date = date.min
    """When it happened; holding periods count from and to it."""
    fees: int = 0
    method: LotMethod = "fifo"
    """How a sale chose its lots, as recorded with it."""
    opening: tuple[tuple[str, Lot], ...] = ()
    """Lots that were brought in, by instrument."""


@dataclass(slots=True)
class Holdings:
    """Cash and lots after some bookings, in millionths."""

    cash: int = 0
    unsettled: int = 0
    """Inflows that settle after the date in question."""
    lots: defaultdict[str, list[Lot]] = field(default_factory=lambda: defaultdict(list))
    realised: list[Realised] = field(default_factory=list)

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
        for instrument, lot in sorted(booking.opening, key=lambda brought: brought[1].acquired):
            self.lots[instrument].append(Lot(lot.quantity, lot.cost, lot.acquired, lot.fees))
        if booking.instrument is not None and booking.shares:
            self._move(booking, booking.instrument)

    def _move(self, booking: Booking, instrument: str) -> None:
        lots = self.lots[instrument]
        if booking.kind == "split":
            self.realised += _rescale(lots, booking, instrument)
        elif booking.shares > 0:
            lots.append(Lot(booking.shares, -booking.cash, booking.day, booking.fees))
        else:
            self.realised += _consume(lots, booking, instrument)
        if not lots:
            del self.lots[instrument]


def held(bookings: Iterable[Booking], on: date) -> Holdings:
    """The holdings after bookings in order."""
    state = Holdings()
    for booking in bookings:
        state.apply(booking, on)
    return state


def _consume(lots: list[Lot], booking: Booking, instrument: str) -> list[Realised]:
    """Takes shares from the lots in the order of the booking's method; a part of a lot takes its part of the cost, the proceeds and the fees."""
    gone, total = [], -booking.shares
    left = total
    while left and lots:
        place = _first(lots, booking.method)
        lot = lots[place]
        taken = min(left, lot.quantity)
        cost, fees = half_even(lot.cost * taken, lot.quantity), half_even(lot.fees * taken, lot.quantity)
        lot.quantity, lot.cost, lot.fees = lot.quantity - taken, lot.cost - cost, lot.fees - fees
        proceeds, charged = (_part(amount, total - left, total - left + taken, total) for amount in (booking.cash, booking.fees))
        gone.append(Realised(instrument, lot.acquired, booking.day, taken, proceeds, cost, fees + charged))
        left -= taken
        if not lot.quantity:
            del lots[place]
    return gone


def _first(lots: list[Lot], method: LotMethod) -> int:
    """The place of the lot that a sale takes next."""
    match method:
        case "fifo":
            return 0
        case "lifo":
            return len(lots) - 1
        case "highest_cost":
            return max(range(len(lots)), key=lambda place: (Fraction(lots[place].cost, lots[place].quantity), -place))


def _part(amount: int, begin: int, end: int, total: int) -> int:
    """What falls on the shares from `begin` to `end` out of `total`; the parts of a whole add up to it."""
    return amount * end // total - amount * begin // total


def _rescale(lots: list[Lot], booking: Booking, instrument: str) -> list[Realised]:
    """Spreads a split over the lots by their size; the sum is exact, and no cost moves."""
    before = sum(lot.quantity for lot in lots)
    seen = placed = 0
    for lot in lots:
        seen += lot.quantity
        upto = seen * (before + booking.shares) // before
        lot.quantity, placed = upto - placed, upto
    return _merge_empty(lots, booking, instrument)


def _merge_empty(lots: list[Lot], booking: Booking, instrument: str) -> list[Realised]:
    """A reverse split can leave a lot of no shares: its cost goes to a neighbour, so that the total stays, or is lost with the last lot."""
    empty = [lot for lot in lots if not lot.quantity]
    lots[:] = [lot for lot in lots if lot.quantity]
    if lots:
        lots[0].cost += sum(lot.cost for lot in empty)
        lots[0].fees += sum(lot.fees for lot in empty)
        return []
    return [Realised(instrument, lot.acquired, booking.day, 0, 0, lot.cost, lot.fees) for lot in empty]
