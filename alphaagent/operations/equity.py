"""What a portfolio was worth from its opening on: NAV at every session's close, from postings, orders and recorded closes. Nothing is written.

Chosen on purpose: the postings are gone over once, and every instrument's prices are read once. A holding is valued as `portfolio show` values it: at
the last close that was known, on the share basis of the instant; where there is none, that session has no NAV, and the reason is told.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

from alphaagent.bootstrap import Workplace
from alphaagent.desk import Desk
from alphaagent.domain.market import CorporateAction, Instrument
from alphaagent.domain.performance import NOTHING, Growth, Point
from alphaagent.domain.portfolio import Account, Order, Portfolio, Position
from alphaagent.errors import AlphaAgentError
from alphaagent.ledger.accounts import Booked
from alphaagent.ledger.happened import Filled
from alphaagent.ledger.holdings import Booking, Holdings
from alphaagent.ledger.settlement import would_book
from alphaagent.ledger.units import from_units
from alphaagent.operations.portfolios import JUST_AFTER, named

PAYMENTS = ("deposit", "withdrawal", "import")
"""Bookings by which the owner's own money and shares come and go."""
SPARE_SESSIONS = 30
"""How far before the first instant a close is looked for, of a share that did not trade then."""


@dataclass(frozen=True, slots=True)
class Prices:
    """One instrument's closes and actions, as they were read once."""

    known: tuple[datetime, ...] = ()
    closes: tuple[Decimal, ...] = ()
    actions: tuple[CorporateAction, ...] = ()
    splits: tuple[CorporateAction, ...] = ()
    """Those of the actions."""
    fault: str | None = None
    """Why nothing could be read."""

    def mark(self, at: datetime) -> Decimal | None:
        """The last close known before an instant, divided by the splits since; None where there is none."""
        place = bisect_left(self.known, at) - 1
        if place < 0:
            return None
        price, since = self.closes[place], self.known[place]
        for split in self.splits:
            if since < split.known_at <= at:
                price /= split.value
        return price


@dataclass(frozen=True, slots=True)
class Trade:
    """A fill, and what a sale made."""

    at: datetime
    order: Order
    fee: Decimal
    gain: Decimal | None
    """Realised, fees included; None for a purchase."""


@dataclass(frozen=True, slots=True)
class Sums:
    """What it all came to since the opening, in the portfolio's currency."""

    realised: Decimal
    """On shares that are gone, fees included."""
    dividends: Decimal
    fees: Decimal
    """Part of what was realised and of the cost of what is held; for information."""
    brought_in: Decimal
    """By how much shares that were imported were worth more than they had cost: earned before the opening."""


@dataclass(frozen=True, slots=True)
class Course:
    """A portfolio from an instant on."""

    portfolio: Portfolio
    at: datetime
    """Where it ends: book time, or now where the data are live."""
    account: Account
    """As it stands at the end."""
    points: tuple[Point, ...]
    prices: Mapping[str, Prices]
    instruments: Mapping[str, Instrument]
    """Everything that was ever held, and what is ordered, by id."""
    trades: tuple[Trade, ...]
    sums: Sums

    @property
    def faults(self) -> dict[str, str]:
        """Of what has no price: by symbol, why."""
        missing = {one.symbol: self.prices[id_] for id_, one in self.instruments.items() if not self.prices[id_].closes}
        return {symbol: prices.fault or "no close is recorded" for symbol, prices in missing.items()}

    def mark(self, instrument_id: str) -> Decimal | None:
        """What a share is worth at the end."""
        return self.prices[instrument_id].mark(self.at)


def course(workplace: Workplace, name: str, since: datetime | None = None, until: datetime | None = None) -> Course:
    """A portfolio's course from its opening, or from a later instant on, up to now; with recorded data up to its own book time, or to a later instant.

    Raises UsageFault where there is no such portfolio.
    """
    desk, calendar = workplace.desk, workplace.calendar
    with workplace.required_store().read() as books:
        portfolio = named(books, name)
        (book_time, pending), booked, fills = books.waiting(portfolio), books.booked(portfolio), books.fills(portfolio)
        ids = {id_ for one in booked for id_ in _moved(one.booking)} | {order.instrument_id for order in pending}
        instruments = {one.id: one for one in books.instruments(sorted(ids))}
    live = workplace.settings.data_mode == "live"
    at = max(until or (workplace.clock.now() if live else book_time), book_time + JUST_AFTER)
    first = portfolio.opened_at if since is None else max(since, portfolio.opened_at)
    prices = {id_: read_prices(desk, one, first, at, booked_until=book_time) for id_, one in instruments.items()}
    walk = _Walk(prices, first, at)
    closes = [close + JUST_AFTER for _, _, close in calendar.rows(after=first.date() - timedelta(days=2), upto=at.date() + timedelta(days=1)) if close > first]
    walk.go(_events(booked, instruments, prices, book_time, at), [close for close in closes if close <= at])
    return Course(
        portfolio=portfolio,
        at=at,
        account=walk.account(portfolio, book_time, pending, instruments),
        points=tuple(Point(one.at, calendar.last_completed(one.at), one.nav, one.growth, one.paid_in) for one in walk.points),
        prices=prices,
        instruments=instruments,
        trades=tuple(_trade(one, walk) for one in fills),
        sums=walk.sums(),
    )


def read_prices(desk: Desk, instrument: Instrument, first: datetime, upto: datetime, *, booked_until: datetime) -> Prices:
    """The closes that matter from an instant on, and the actions that matter, which are also those of before it that the books have not seen yet; none, and
    why, where they cannot be read.
    """
    try:
        calendar = desk.calendar_of(instrument)
        count = calendar.sessions_between(first.date(), upto.date()) + SPARE_SESSIONS
        # As in `portfolio show`, a row that cannot be used speaks against all of them, also where it is the last one.
        bars = desk.market.bars_before(instrument, upto, count) if desk.market.quote(instrument, upto) else ()
        if not bars:
            return Prices()
        earliest = min(bars[0].session, booked_until.date() - timedelta(days=1))
        actions = tuple(one for one in desk.market.actions(instrument, earliest, upto.date()) if one.known_at <= upto)
    except AlphaAgentError as fault:
        return Prices(fault=fault.message)
    splits = tuple(one for one in actions if one.kind == "split")
    return Prices(tuple(bar.known_at for bar in bars), tuple(bar.close for bar in bars), actions, splits)


def _moved(booking: Booking) -> Iterator[str]:
    if booking.instrument is not None:
        yield booking.instrument
    yield from (instrument for instrument, _ in booking.opening)


@dataclass(frozen=True, slots=True)
class _Event:
    """A booking, or an action that is still to be booked: deciding and settling do that, looking does not."""

    at: datetime
    booking: Booking | None
    txn_id: int = 0
    due: tuple[Instrument, CorporateAction] | None = None


def _events(booked: Sequence[Booked], instruments: Mapping[str, Instrument], prices: Mapping[str, Prices], book_time: datetime, at: datetime) -> list[_Event]:
    """Everything in the order in which it counts."""
    done = [_Event(one.at, one.booking, one.txn_id) for one in booked if one.at <= at]
    due = [(action, one) for id_, one in instruments.items() for action in prices[id_].actions if book_time < action.known_at <= at]
    ahead = sorted(due, key=lambda pair: (pair[0].known_at, pair[0].kind != "split"))
    return [*done, *(_Event(action.known_at, None, due=(one, action)) for action, one in ahead)]


def _trade(fill: Filled, walk: "_Walk") -> Trade:
    gain = walk.gains.get(fill.txn_id)
    return Trade(fill.at, fill.order, from_units(walk.fees.get(fill.txn_id, 0)), None if gain is None or fill.order.side == "BUY" else from_units(gain))


@dataclass(frozen=True, slots=True)
class _Valued:
    at: datetime
    nav: Decimal | None
    growth: Decimal
    paid_in: Decimal


@dataclass(slots=True)
class _Walk:
    """One pass over everything that happened, with a stop at every close."""

    prices: Mapping[str, Prices]
    first: datetime
    end: datetime
    points: list[_Valued] = field(default_factory=list)
    gains: dict[int, int] = field(default_factory=dict)
    """What each transaction realised."""
    fees: dict[int, int] = field(default_factory=dict)
    _holdings: Holdings = field(default_factory=Holdings)
    _shares: dict[str, Decimal] = field(default_factory=dict)
    """How many shares are held of what, in millionths, kept beside the lots so that a stop has nothing to add up."""
    _growth: Growth = field(default_factory=Growth)
    _paid_in: Decimal = NOTHING
    _dividends: int = 0
    _brought_in: Decimal = NOTHING

    def go(self, events: Sequence[_Event], closes: Sequence[datetime]) -> None:
        """Stops right after the first instant, after every close, and at the end where something happened after the last close."""
        stops, place = [self.first + JUST_AFTER, *closes], 0
        if events and events[-1].at >= stops[-1]:
            stops.append(self.end)
        for stop in stops:
            while place < len(events) and events[place].at < stop:
                self._apply(events[place])
                place += 1
            self._stop(stop)

    def account(self, portfolio: Portfolio, book_time: datetime, pending: tuple[Order, ...], instruments: Mapping[str, Instrument]) -> Account:
        """Where it ended."""
        held = self._holdings
        symbols = {id_: instruments[id_].symbol if id_ in instruments else id_ for id_ in sorted(held.lots)}
        positions = (
            Position(instrument_id=id_, symbol=symbol, quantity=from_units(held.quantity(id_)), cost=from_units(held.cost(id_)))
            for id_, symbol in symbols.items()
        )
        cash, settled = from_units(held.cash), from_units(held.settled)
        return Account(portfolio=portfolio, book_time=book_time, cash=cash, settled_cash=settled, positions=tuple(positions), pending=pending)

    def sums(self) -> Sums:
        return Sums(from_units(sum(self.gains.values())), from_units(self._dividends), from_units(sum(self.fees.values())), self._brought_in)

    def _stop(self, at: datetime) -> None:
        nav = self._nav(at)
        if nav is not None:
            self._growth.valued(nav)
        self.points.append(_Valued(at, nav, self._growth.whole, self._paid_in))

    def _nav(self, at: datetime) -> Decimal | None:
        """Cash and every holding at its mark; None where one has none."""
        total = Decimal(self._holdings.cash)
        for id_, shares in self._shares.items():
            price = self.prices[id_].mark(at) if id_ in self.prices else None
            if price is None:
                return None
            total += shares * price
        return total / 1_000_000

    def _apply(self, event: _Event) -> None:
        booking = event.booking or self._due(event)
        if booking is None:
            return
        if booking.kind in PAYMENTS:
            self._pay(booking, event.at)
        before = len(self._holdings.realised)
        self._holdings.apply(booking, self.end.date())
        self._count(booking)
        parts = self._holdings.realised[before:]
        if parts:
            self.gains[event.txn_id] = self.gains.get(event.txn_id, 0) + sum(part.proceeds - part.cost for part in parts)
        if booking.fees:
            self.fees[event.txn_id] = booking.fees
        self._dividends += booking.cash if booking.kind == "dividend" else 0

    def _count(self, booking: Booking) -> None:
        for id_ in _moved(booking):
            shares = self._holdings.quantity(id_)
            if shares:
                self._shares[id_] = Decimal(shares)
            else:
                self._shares.pop(id_, None)

    def _due(self, event: _Event) -> Booking | None:
        if event.due is None:
            return None
        instrument, action = event.due
        return would_book(self._holdings.quantity(instrument.id), instrument, action)

    def _pay(self, booking: Booking, at: datetime) -> None:
        """The owner's money and shares come or go: what there was before is valued, so that they make no return."""
        nav = self._nav(at) if at > self.first else None
        if nav is not None:
            self._growth.valued(nav)
        lots = [(lot, self.prices[id_].mark(at) if id_ in self.prices else None) for id_, lot in booking.opening]
        worth = sum((Decimal(lot.cost) if price is None else lot.quantity * price for lot, price in lots), NOTHING)
        self._brought_in += (worth - sum(lot.cost for lot, _ in lots)) / 1_000_000
        amount = (booking.cash + worth) / 1_000_000
        self._paid_in += amount
        self._growth.paid(amount, valued=nav is not None)
