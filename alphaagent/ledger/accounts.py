"""The derived state of a portfolio: every number here is computed from postings and orders when it is asked for."""

from collections.abc import Iterator
from datetime import date, datetime
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from sqlalchemy import func, select
from sqlmodel import Session, col, or_
from sqlmodel import select as select_rows

from alphaagent.domain.portfolio import Account, Portfolio, Position
from alphaagent.ledger import rows
from alphaagent.ledger.holdings import Booking, Holdings, held
from alphaagent.ledger.schema import DecisionRow, InstrumentRow, LedgerAccountRow, OrderRow, PostingRow, TxnRow
from alphaagent.ledger.units import from_micros, from_units, to_micros


class _Leg(NamedTuple):
    txn_id: int
    txn_kind: str
    account: str
    commodity: str
    amount: int
    settle_on: str


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


def holdings(session: Session, portfolio_id: int, until: int | None, *, on: date) -> Holdings:
    """Cash and lots from the bookings with trade_at <= until."""
    return held(_bookings(session, portfolio_id, until), on)


def _bookings(session: Session, portfolio_id: int, until: int | None) -> Iterator[Booking]:
    """The bookings in order of trade time; a split stands before the trades of its instant, for it is effective before the open."""
    query = (
        select(col(TxnRow.id), col(TxnRow.kind), col(LedgerAccountRow.kind), col(PostingRow.commodity), col(PostingRow.amount), col(PostingRow.settle_on))
        .join(PostingRow, col(PostingRow.txn_id) == col(TxnRow.id))
        .join(LedgerAccountRow, col(LedgerAccountRow.id) == col(PostingRow.account_id))
        .where(col(TxnRow.portfolio_id) == portfolio_id, col(LedgerAccountRow.kind).in_(("cash", "position")))
        .order_by(col(TxnRow.trade_at), col(TxnRow.kind) != "split", col(TxnRow.id), col(PostingRow.n))
    )
    if until is not None:
        query = query.where(col(TxnRow.trade_at) <= until)
    for _, group in groupby(session.connection().execute(query), key=itemgetter(0)):
        yield _booking([_Leg._make(row) for row in group])


def _booking(legs: list[_Leg]) -> Booking:
    cash = sum(leg.amount for leg in legs if leg.account == "cash")
    moved = next((leg for leg in legs if leg.account == "position"), None)
    settle_on = date.fromisoformat(legs[0].settle_on)
    return Booking(legs[0].txn_kind, cash, settle_on, moved.commodity if moved else None, moved.amount if moved else 0)


def _positions(session: Session, state: Holdings) -> tuple[Position, ...]:
    if not state.lots:
        return ()
    named = session.exec(select_rows(InstrumentRow.id, InstrumentRow.symbol).where(col(InstrumentRow.id).in_(list(state.lots))))
    symbols = dict(named.all())
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
