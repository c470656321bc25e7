"""The derived state of a portfolio: every number here is computed from postings and orders when it is asked for."""

from collections.abc import Iterable, Iterator
from datetime import date, datetime
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from sqlalchemy import ColumnElement, func, select
from sqlmodel import Session, and_, col, or_
from sqlmodel import select as select_rows

from alphaagent.domain.lots import Gain, Lot, LotMethod
from alphaagent.domain.portfolio import Account, Order, Portfolio, Position
from alphaagent.ledger import holdings as of_holdings
from alphaagent.ledger import rows
from alphaagent.ledger.holdings import Booking, Holdings, held
from alphaagent.ledger.schema import (
    DecisionRow,
    InstrumentRow,
    LedgerAccountRow,
    LotChoiceRow,
    OpeningLotRow,
    OrderRow,
    PostingRow,
    TxnRow,
)
from alphaagent.ledger.units import from_micros, from_units, to_micros


class _Leg(NamedTuple):
    txn_id: int
    txn_kind: str
    account: str
    commodity: str
    amount: int
    settle_on: str
    trade_at: int
    n: int


class _Choices(NamedTuple):
    """What stands beside the postings: how trades chose their lots, and the lots of imports by (txn, n)."""

    methods: dict[int, LotMethod]
    opened: dict[tuple[int, int], tuple[str, int]]


OPEN = ("pending", "pending_approval")


def account(session: Session, portfolio: Portfolio, at: datetime | None) -> Account:
    """The state now, or the one that was made up to an instant."""
    until = None if at is None else to_micros(at)
    book_time = _book_time(session, portfolio, until)
    state = holdings(session, portfolio.id, until, on=(at or book_time).date())
    return Account(
        portfolio=portfolio,
        book_time=book_time,
        cash=from_units(state.cash),
        settled_cash=from_units(state.settled),
        positions=_positions(session, state),
        pending=tuple(rows.order_as_pending(row) for row in _open_orders(session, portfolio.id, until)),
    )


def lots(session: Session, portfolio: Portfolio, at: datetime | None) -> tuple[Lot, ...]:
    """What is held, lot by lot, now or at an instant: by symbol, in the order in which first in first out would sell."""
    state = holdings(session, portfolio.id, None if at is None else to_micros(at), on=date.max)
    symbols = _symbols(session, state.lots)
    found = [
        Lot(instrument_id=id_, symbol=symbols[id_], acquired=lot.acquired, quantity=from_units(lot.quantity), cost=from_units(lot.cost))
        for id_ in state.lots
        for lot in state.lots[id_]
    ]
    return tuple(sorted(found, key=lambda lot: lot.symbol))


def gains(session: Session, portfolio: Portfolio) -> tuple[Gain, ...]:
    """What was realised, one entry per lot and sale, in the order of the sales."""
    state = holdings(session, portfolio.id, None, on=date.max)
    symbols = _symbols(session, {part.instrument for part in state.realised})
    return tuple(
        Gain(
            instrument_id=part.instrument,
            symbol=symbols[part.instrument],
            acquired=part.acquired,
            sold=part.sold,
            quantity=from_units(part.quantity),
            proceeds=from_units(part.proceeds),
            cost=from_units(part.cost),
            fees=from_units(part.fees),
        )
        for part in state.realised
    )


def holdings(session: Session, portfolio_id: int, until: int | None, *, on: date) -> Holdings:
    """Cash and lots from the bookings with trade_at <= until."""
    return held(_bookings(session, portfolio_id, None if until is None else col(TxnRow.trade_at) <= until), on)


def holdings_before_open(session: Session, portfolio_id: int, opens: int, *, on: date) -> Holdings:
    """What is held when a session opens: without that open's trades, but on the share basis that its splits have made."""
    split = and_(col(TxnRow.trade_at) == opens, col(TxnRow.kind) == "split")
    return held(_bookings(session, portfolio_id, or_(col(TxnRow.trade_at) < opens, split)), on)


def waiting(session: Session, portfolio: Portfolio) -> tuple[datetime, tuple[Order, ...]]:
    """The book time, and the orders that wait; no posting is read."""
    return _book_time(session, portfolio, None), tuple(rows.order_as_pending(row) for row in _open_orders(session, portfolio.id, None))


class Booked(NamedTuple):
    """One booking with its transaction and its instant."""

    txn_id: int
    at: datetime
    booking: Booking


def booked(session: Session, portfolio: Portfolio) -> tuple[Booked, ...]:
    """Everything that was ever booked in a portfolio, in the order in which it counts."""
    return tuple(_booked(session, portfolio.id, None))


def _bookings(session: Session, portfolio_id: int, which: ColumnElement[bool] | None) -> Iterator[Booking]:
    return (one.booking for one in _booked(session, portfolio_id, which))


def _booked(session: Session, portfolio_id: int, which: ColumnElement[bool] | None) -> Iterator[Booked]:
    """The bookings in order of trade time; a split stands before the trades of its instant, for it is effective before the open."""
    columns = (col(PostingRow.commodity), col(PostingRow.amount), col(PostingRow.settle_on), col(TxnRow.trade_at), col(PostingRow.n))
    query = (
        select(col(TxnRow.id), col(TxnRow.kind), col(LedgerAccountRow.kind), *columns)
        .join(PostingRow, col(PostingRow.txn_id) == col(TxnRow.id))
        .join(LedgerAccountRow, col(LedgerAccountRow.id) == col(PostingRow.account_id))
        .where(col(TxnRow.portfolio_id) == portfolio_id, col(LedgerAccountRow.kind).in_(("cash", "position", "fee")))
        .order_by(col(TxnRow.trade_at), col(TxnRow.kind) != "split", col(TxnRow.id), col(PostingRow.n))
    )
    if which is not None:
        query = query.where(which)
    choices = _choices(session, portfolio_id)
    for _, group in groupby(session.connection().execute(query), key=itemgetter(0)):
        legs = [_Leg._make(row) for row in group]
        yield Booked(legs[0].txn_id, from_micros(legs[0].trade_at), _booking(legs, choices))


def _choices(session: Session, portfolio_id: int) -> _Choices:
    mine = col(TxnRow.portfolio_id) == portfolio_id
    chosen = session.exec(select_rows(LotChoiceRow).where(col(LotChoiceRow.txn_id) == col(TxnRow.id), mine))
    opened = session.connection().execute(
        select(col(OpeningLotRow.txn_id), col(OpeningLotRow.n), col(OpeningLotRow.acquired_on), col(OpeningLotRow.cost)).where(
            col(OpeningLotRow.txn_id) == col(TxnRow.id), mine
        )
    )
    methods: dict[int, LotMethod] = {row.txn_id: row.method for row in chosen}  # type: ignore[misc]
    return _Choices(methods, {(txn, n): (acquired, cost) for txn, n, acquired, cost in opened})


def _booking(legs: list[_Leg], choices: _Choices) -> Booking:
    first = legs[0]
    moved = [leg for leg in legs if leg.account == "position"]
    imported = first.txn_kind == "import"
    single = moved[0] if moved and not imported else None
    return Booking(
        kind=first.txn_kind,
        cash=sum(leg.amount for leg in legs if leg.account == "cash"),
        settle_on=date.fromisoformat(first.settle_on),
        instrument=single.commodity if single else None,
        shares=single.amount if single else 0,
        day=from_micros(first.trade_at).date(),
        fees=sum(leg.amount for leg in legs if leg.account == "fee"),
        method=choices.methods.get(first.txn_id, "fifo"),
        opening=tuple((leg.commodity, _opened(leg, choices)) for leg in moved) if imported else (),
    )


def _opened(leg: _Leg, choices: _Choices) -> of_holdings.Lot:
    acquired, cost = choices.opened[leg.txn_id, leg.n]
    return of_holdings.Lot(leg.amount, cost, date.fromisoformat(acquired))


def _symbols(session: Session, ids: Iterable[str]) -> dict[str, str]:
    wanted = list(ids)
    if not wanted:
        return {}
    return dict(session.exec(select_rows(InstrumentRow.id, InstrumentRow.symbol).where(col(InstrumentRow.id).in_(wanted))).all())


def _positions(session: Session, state: Holdings) -> tuple[Position, ...]:
    symbols = _symbols(session, state.lots)
    return tuple(
        Position(instrument_id=id_, symbol=symbols[id_], quantity=from_units(state.quantity(id_)), cost=from_units(state.cost(id_)))
        for id_ in sorted(state.lots)
    )


def _open_orders(session: Session, portfolio_id: int, until: int | None) -> Iterator[OrderRow]:
    """Orders that wait, or that waited at an instant: decided by then and closed later or not at all."""
    query = select_rows(OrderRow).where(OrderRow.portfolio_id == portfolio_id)
    if until is None:
        query = query.where(col(OrderRow.status).in_(OPEN))
    else:
        query = query.where(OrderRow.decided_at <= until, or_(col(OrderRow.closed_at).is_(None), col(OrderRow.closed_at) > until))
    yield from session.exec(query.order_by(col(OrderRow.decided_at), col(OrderRow.id)))


def _book_time(session: Session, portfolio: Portfolio, until: int | None) -> datetime:
    """The latest of the opening, the decisions and the bookings."""
    decided = select(func.max(DecisionRow.as_of)).where(col(DecisionRow.portfolio_id) == portfolio.id)
    booked = select(func.max(TxnRow.trade_at)).where(col(TxnRow.portfolio_id) == portfolio.id)
    if until is not None:
        decided, booked = decided.where(col(DecisionRow.as_of) <= until), booked.where(col(TxnRow.trade_at) <= until)
    connection = session.connection()
    latest = (connection.execute(decided).scalar(), connection.execute(booked).scalar(), to_micros(portfolio.opened_at))
    return from_micros(max(moment for moment in latest if moment is not None))
