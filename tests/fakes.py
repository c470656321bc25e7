"""Hand-written doubles of the ports: a clock that stands, a market out of lists, sources that do as they are told."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from alphaagent.clock import SessionTable
from alphaagent.domain.lots import LotMethod
from alphaagent.domain.market import Bar, CorporateAction, Instrument, Quote, Records
from alphaagent.domain.portfolio import Account, FrozenName, Order, OrderStatus, Portfolio, Position
from alphaagent.domain.ruling import GuardSnapshot, Ruling
from alphaagent.errors import SourceFault
from alphaagent.ports import ActionBooked, AuditRef, Calendar, Control, Supply

ACME = Instrument(id="XNAS:ACME", symbol="ACME", name="Acme", mic="XNAS", currency="USD", kind="common")
BETA = Instrument(id="XNYS:BETA", symbol="BETA", name="Beta", mic="XNYS", currency="USD", kind="common")
AUDIT = AuditRef(7, "ab" * 32)
BOOKED = ActionBooked(AUDIT, frozen=False)


def opens(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, 14, 30, tzinfo=UTC)


def closes(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, 21, tzinfo=UTC)


def weekday_calendar(first: date = date(2020, 1, 1), last: date = date(2020, 12, 31)) -> SessionTable:
    days = [first + timedelta(n) for n in range((last - first).days + 1)]
    return SessionTable((day, opens(day), closes(day)) for day in days if day.weekday() < 5)


@dataclass
class FakeClock:
    """A clock that shows one time until it is set to another."""

    at: datetime

    def now(self) -> datetime:
        return self.at


def bar(day: date, close: str, open_: str | None = None) -> Bar:
    price, start = Decimal(close), Decimal(open_ or close)
    return Bar(day, start, max(price, start), min(price, start), price, 1000, closes(day))


def split(day: date, ratio: str) -> CorporateAction:
    return CorporateAction("split", day, Decimal(ratio), opens(day))


def dividend(day: date, cash: str) -> CorporateAction:
    return CorporateAction("dividend", day, Decimal(cash), opens(day))


@dataclass
class FakeMarket:
    """MarketData over lists of bars and actions by instrument id."""

    bars: Mapping[str, Sequence[Bar]] = field(default_factory=dict)
    acts: Mapping[str, Sequence[CorporateAction]] = field(default_factory=dict)
    instruments: tuple[Instrument, ...] = (ACME, BETA)

    def resolve(self, ticker: str, on: date) -> tuple[Instrument, ...]:
        return tuple(one for one in self.instruments if ticker in (one.symbol, one.id, *one.aliases))

    def tickers(self) -> tuple[str, ...]:
        return tuple(one.symbol for one in self.instruments)

    def quote(self, instrument: Instrument, as_of: datetime) -> Quote | None:
        known = [one for one in self.bars.get(instrument.id, ()) if one.known_at < as_of]
        return Quote(price=known[-1].close, session=known[-1].session, known_at=known[-1].known_at, source="fake") if known else None

    def bar(self, instrument: Instrument, session: date) -> Bar | None:
        return next((one for one in self.bars.get(instrument.id, ()) if one.session == session), None)

    def bars_before(self, instrument: Instrument, as_of: datetime, count: int) -> tuple[Bar, ...]:
        return tuple(one for one in self.bars.get(instrument.id, ()) if one.known_at < as_of)[-count:]

    def actions(self, instrument: Instrument, after: date, upto: date) -> tuple[CorporateAction, ...]:
        return tuple(one for one in self.acts.get(instrument.id, ()) if after < one.ex_date <= upto)

    def last_session(self, instrument: Instrument) -> date | None:
        found = self.bars.get(instrument.id, ())
        return found[-1].session if found else None


@dataclass
class FakeSource:
    """A source that hands over its records, has nothing (None), or fails; it may take its time."""

    supplies: Supply
    records: Records | None = None
    fetch_fault: str | None = None
    parse_fault: str | None = None
    seconds: float = 0.0
    done: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"fake-{self.supplies}"

    def fetch(self, instrument: Instrument) -> bytes | None:
        time.sleep(self.seconds)
        self.done.append(self.supplies)
        if self.fetch_fault:
            raise SourceFault(self.fetch_fault)
        return None if self.records is None else b"raw"

    def parse(self, raw: bytes, instrument: Instrument, calendar: Calendar) -> Records:
        if self.parse_fault or self.records is None:
            raise SourceFault(self.parse_fault or "nothing to parse")
        return self.records


PORTFOLIO = Portfolio(id=1, name="default", currency="USD", kind="paper", mandate="default", opened_at=closes(date(2020, 1, 2)))


def account(*positions: Position, cash: str = "100000", book_time: datetime | None = None, pending: tuple[Order, ...] = ()) -> Account:
    money = Decimal(cash)
    at = book_time or PORTFOLIO.opened_at
    return Account(portfolio=PORTFOLIO, book_time=at, cash=money, settled_cash=money, positions=positions, pending=pending)


def position(quantity: str, instrument: Instrument = ACME, cost: str = "1000") -> Position:
    return Position(instrument_id=instrument.id, symbol=instrument.symbol, quantity=Decimal(quantity), cost=Decimal(cost))


def order(**changes: Any) -> Order:
    """A BUY of ten ACME decided after Thursday's close, to fill on Friday."""
    plain: dict[str, Any] = {
        "id": "ord_1",
        "decision_id": "dec_1",
        "portfolio_id": 1,
        "instrument_id": ACME.id,
        "symbol": "ACME",
        "side": "BUY",
        "quantity": Decimal(10),
        "decision_price": Decimal(100),
        "status": OrderStatus.PENDING,
        "decided_at": closes(date(2020, 1, 9)) + timedelta(seconds=1),
        "fill_session": date(2020, 1, 10),
        "reserved": Decimal(1010),
    }
    return Order.model_validate(plain | changes)


@dataclass
class FakeBooks:
    """The ledger as settlement sees it; remembers what it was told, in order."""

    state: Account = field(default_factory=account)
    held: tuple[Instrument, ...] = ()
    orders: tuple[Order, ...] = ()
    fault: str | None = None
    stored_control: Control | None = None
    log: list[tuple[Any, ...]] = field(default_factory=list)
    on_action: Callable[["FakeBooks", CorporateAction], None] | None = None
    frozen_ids: frozenset[str] = frozenset()

    def account(self, portfolio: Portfolio, *, at: datetime | None = None) -> Account:
        return self.state

    def held_instruments(self, portfolio: Portfolio) -> tuple[Instrument, ...]:
        return self.held

    def frozen_names(self, portfolio: Portfolio) -> tuple[FrozenName, ...]:
        return ()

    def instruments(self, ids: Sequence[str]) -> tuple[Instrument, ...]:
        return tuple(one for one in (ACME, BETA) if one.id in ids)

    def control(self) -> Control | None:
        return self.stored_control

    def soundness_fault(self) -> str | None:
        return self.fault

    def limits_on_file(self, portfolio: Portfolio) -> str | None:
        return "limits"

    def due_orders(self, portfolio: Portfolio | None, fill_by: date) -> tuple[Order, ...]:
        return tuple(one for one in self.orders if one.fill_session <= fill_by)

    def frozen(self, portfolio: Portfolio) -> frozenset[str]:
        return self.frozen_ids

    def record_action(self, portfolio: Portfolio, instrument: Instrument, action: CorporateAction, at: datetime) -> ActionBooked | None:
        self.log.append(("action", instrument.symbol, action.kind, at))
        if self.on_action:
            self.on_action(self, action)
        return BOOKED

    def record_fill(
        self,
        order: Order,
        snapshot: GuardSnapshot,
        ruling: Ruling,
        *,
        price: Decimal,
        fee: Decimal,
        at: datetime,
        settle_on: date,
        lot_method: LotMethod = "fifo",
    ) -> AuditRef:
        self.log.append(("fill", order.quantity, price, fee, at, settle_on))
        return AUDIT

    def record_unfilled(self, order: Order, status: OrderStatus, reason: str, at: datetime, snapshot: GuardSnapshot | None, ruling: Ruling | None) -> AuditRef:
        self.log.append(("unfilled", status, reason, at))
        return AUDIT
