"""Settles pending orders: each at the open of its own session, through the guard again, after what happened to the shares since.

Whenever this runs, an order fills at the first session after its decision or not at all; a run weeks later books the same fill. The
book is always brought up to date in the order in which things happened: what companies did to their shares first, then the fill.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import ROUND_FLOOR, Decimal
from typing import Literal

from alphaagent.domain.lots import LotMethod
from alphaagent.domain.market import Bar, CorporateAction, Instrument
from alphaagent.domain.portfolio import Order, OrderStatus, Portfolio
from alphaagent.domain.record import DecisionRecord
from alphaagent.domain.ruling import GuardSnapshot, Outcome, Ruling
from alphaagent.errors import AlphaAgentError, SourceFault
from alphaagent.execution.marks import effective, equity, mark, rolled_forward, split_ratio
from alphaagent.execution.snapshots import BookState, Subject, settle_snapshot
from alphaagent.execution.trading import trading
from alphaagent.ports import ActionBooked, AuditRef, Books, Broker, Calendar, Control, MarketData

IndexChange = Callable[[DecisionRecord, Instrument, date], Decimal | None]
MICRO_SHARE = Decimal("0.000001")
Judge = Callable[[DecisionRecord, GuardSnapshot, datetime], Ruling]


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of one order."""

    order: Order
    ruling: Ruling | None
    reason: str
    audit: AuditRef


@dataclass(frozen=True, slots=True)
class Acted:
    """What a corporate action did to a portfolio."""

    portfolio: str
    instrument: Instrument
    action: CorporateAction
    booked: ActionBooked


@dataclass(frozen=True, slots=True)
class Unsettled:
    """A name of which something may be due that could not be read: it waits for the next settlement, and holds up nothing else."""

    portfolio: str
    symbol: str
    fault: AlphaAgentError


@dataclass(frozen=True, slots=True)
class Settler:
    """The parts that settlement needs; `judge` is the guard, `control` the kill switch with all its sources."""

    market: MarketData
    calendar_of: Callable[[Instrument], Calendar]
    broker: Broker
    judge: Judge
    control: Callable[[Control | None], tuple[Literal["ACTIVE", "REDUCING", "HALTED"], tuple[str, ...]]]
    lot_method: LotMethod = "fifo"
    """Which lot a sale takes first; recorded with each trade."""
    index_change: IndexChange | None = None
    """The market index's change on a session, where the order's mandate asks for it."""
    approved: Callable[[DecisionRecord], str] = lambda record: record.ruling.limits_hash
    """The hash of the limits that an order was approved under."""

    def due(self, books: Books, portfolio: Portfolio | None, as_of: datetime) -> tuple[Order, ...]:
        """Pending orders whose session is here or past on as_of's date, oldest first; `settle` leaves those alone whose session has not opened."""
        return books.due_orders(portfolio, as_of.date())

    def settle(self, books: Books, record: DecisionRecord, portfolio: Portfolio, instrument: Instrument, order: Order, as_of: datetime) -> Settled | None:
        """Fills, refuses or expires one order inside the caller's transaction; None where it has to wait for its session or its bar."""
        calendar = self.calendar_of(instrument)
        at = calendar.opens(order.fill_session)
        if at >= as_of:
            return None
        bar, broken = self._bar(instrument, order, as_of)
        if bar is None:
            reason = broken or f"no bar of {order.symbol} for {order.fill_session} once the following session had closed"
            return self._expired(books, order, as_of, calendar, reason)
        self.bring_up_to(books, portfolio, at, ordered=(instrument,))
        if instrument.id in books.frozen(portfolio):
            return self._expired(books, order, as_of, calendar, f"{order.symbol} was frozen until the session after {order.fill_session} had closed")
        order = self._rebased(instrument, order)
        snapshot = self._snapshot(books, record, portfolio, instrument, order, bar, at)
        ruling = self.judge(record, snapshot, at)
        if ruling.outcome is Outcome.BLOCK:
            reason = f"refused at settlement: {ruling.code}"
            ref = books.record_unfilled(order, OrderStatus.REJECTED, reason, at, snapshot, ruling)
            return Settled(order.model_copy(update={"status": OrderStatus.REJECTED}), ruling, reason, ref)
        return self._filled(books, order, snapshot, ruling, bar.open, calendar)

    def bring_up_to(
        self, books: Books, portfolio: Portfolio, at: datetime, *, ordered: Iterable[Instrument] = (), waiting: Mapping[str, datetime] | None = None
    ) -> tuple[Acted | Unsettled, ...]:
        """Books what the companies whose shares are held, or `ordered`, did up to an instant, and freezes what cannot be booked. A name whose source
        fails is told and left as it is: whoever needs its value for a ruling meets that failure.

        `waiting` says, by instrument id, at which open an order still waits for its bar: what follows must be counted after that fill.
        """
        return tuple(self._actions(books, portfolio, at, tuple(ordered), waiting or {}))

    def book_state(self, books: Books, portfolio: Portfolio, at: datetime, marks: dict[str, Decimal | None]) -> BookState:
        """The book as the guard sees it, every holding at its mark; `marks` overrides single ones."""
        held = books.held_instruments(portfolio)
        account = rolled_forward(self.market, books.account(portfolio, at=at), held, at)
        known = {instrument.id: mark(self.market, instrument, at) for instrument in held if instrument.id not in marks} | marks
        pending = [order.instrument_id for order in account.pending]
        sectors = {instrument.id: instrument.sector for instrument in (*held, *books.instruments(pending))}
        state, sources = self.control(books.control())
        return BookState(
            account=account,
            equity=equity(account, held, known),
            control_state=state,
            control_sources=sources,
            books_fault=books.soundness_fault(),
            limits_on_file=books.limits_on_file(portfolio),
            marks=known,
            sectors=sectors,
            frozen={name.instrument_id: name.reason for name in books.frozen_names(portfolio)},
        )

    def book_to_decide(self, books: Books, portfolio: Portfolio, instrument: Instrument, session: date, at: datetime) -> BookState:
        """The book with what the portfolio has done in the session already."""
        return replace(self.book_state(books, portfolio, at, {}), activity=books.activity(portfolio, instrument.id, session, at))

    def _actions(
        self, books: Books, portfolio: Portfolio, at: datetime, ordered: tuple[Instrument, ...], waiting: Mapping[str, datetime]
    ) -> Iterator[Acted | Unsettled]:
        instruments = {instrument.id: instrument for instrument in (*ordered, *books.held_instruments(portfolio))}
        pending: list[tuple[CorporateAction, Instrument]] = []
        for instrument in instruments.values():
            try:
                found = effective(self.market, instrument, portfolio.opened_at, min(at, waiting.get(instrument.id, at)))
            except SourceFault as fault:
                yield Unsettled(portfolio.name, instrument.symbol, fault)
                continue
            pending += [(action, instrument) for action in found]
        for action, instrument in sorted(pending, key=lambda pair: (pair[0].known_at, pair[1].id, pair[0].kind != "split", pair[0].kind)):
            booked = books.record_action(portfolio, instrument, action, action.known_at)
            if booked is not None:
                yield Acted(portfolio.name, instrument, action, booked)

    def _bar(self, instrument: Instrument, order: Order, as_of: datetime) -> tuple[Bar | None, str | None]:
        """The bar of an order's session. One that cannot be read is a fault to mend while the order may wait, and no bar afterwards: it must
        not hold an exit, and everything behind it, for ever."""
        try:
            return self.market.bar(instrument, order.fill_session), None
        except SourceFault as fault:
            calendar = self.calendar_of(instrument)
            if as_of <= calendar.closes(calendar.next_session(order.fill_session)):
                raise
            return None, f"the bar of {order.symbol} for {order.fill_session} cannot be read: {fault.message}"

    def _rebased(self, instrument: Instrument, order: Order) -> Order:
        """The order on the share basis of its fill session: a split in between changes quantity and price, not value."""
        ratio = split_ratio(self.market, instrument, after=order.decided_at, upto=self.calendar_of(instrument).opens(order.fill_session))
        if ratio == 1:
            return order
        # Cut as the books cut the shares themselves: to a whole millionth, never up.
        quantity = (order.quantity * ratio).quantize(MICRO_SHARE, ROUND_FLOOR)
        return order.model_copy(update={"quantity": quantity, "decision_price": order.decision_price / ratio})

    def _snapshot(
        self, books: Books, record: DecisionRecord, portfolio: Portfolio, instrument: Instrument, order: Order, bar: Bar, at: datetime
    ) -> GuardSnapshot:
        subject = Subject(
            ticker=record.request.ticker,
            candidates=tuple(found.id for found in self.market.resolve(record.request.ticker, order.fill_session)),
            instrument=instrument,
            provenance=record.provenance,
            execution_mode=record.execution_mode,
            base_rate=Decimal(record.result.base_rate) if record.result.base_rate else None,
            rule_driven=record.result.rule_driven,
        )
        # An order settles under the mandate that it was approved under: a mandate changed since must not strand an exit.
        book = replace(self.book_state(books, portfolio, at, {instrument.id: bar.open}), limits_on_file=self.approved(record))
        traded = trading(self.market, instrument, at, bar)
        happened = effective(self.market, instrument, order.decided_at, at)
        calendar = self.calendar_of(instrument)
        index = self.index_change(record, instrument, calendar.previous_session(order.fill_session)) if self.index_change else None
        return settle_snapshot(subject, book, calendar, traded, order, bar_session=bar.session, open_price=bar.open, actions=happened, index_change=index)

    def _filled(self, books: Books, order: Order, snapshot: GuardSnapshot, ruling: Ruling, open_price: Decimal, calendar: Calendar) -> Settled:
        fill = self.broker.fill(order.side, ruling.quantity_out, open_price)
        order = order.model_copy(update={"quantity": ruling.quantity_out})
        at, settle_on = calendar.opens(order.fill_session), calendar.next_session(order.fill_session)
        ref = books.record_fill(order, snapshot, ruling, price=fill.price, fee=fill.fee, at=at, settle_on=settle_on, lot_method=self.lot_method)
        done = order.model_copy(update={"status": OrderStatus.FILLED, "price": fill.price, "reserved": Decimal(0)})
        return Settled(done, ruling, "filled at the open", ref)

    def _expired(self, books: Books, order: Order, as_of: datetime, calendar: Calendar, reason: str) -> Settled | None:
        """The end of an order that could not be filled; None while the following session has not closed yet."""
        deadline = calendar.closes(calendar.next_session(order.fill_session))
        if as_of <= deadline:
            return None
        ref = books.record_unfilled(order, OrderStatus.EXPIRED, reason, deadline, None, None)
        return Settled(order.model_copy(update={"status": OrderStatus.EXPIRED}), None, reason, ref)
