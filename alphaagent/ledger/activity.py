"""What a portfolio has decided and ordered: counts and sums over decisions and orders, by session key and never by date."""

from datetime import date, datetime
from typing import Any

from sqlalchemy import ColumnElement, func, select
from sqlmodel import Session, and_, col, or_

from alphaagent.domain.portfolio import Activity, Asked, OrderStatus
from alphaagent.domain.record import is_scheduled
from alphaagent.ledger.accounts import OPEN
from alphaagent.ledger.schema import DecisionRow, GuardResultRow, OrderRow
from alphaagent.ledger.units import from_micros, from_units, to_micros

RECENT_ORDERS = 20


def activity(session: Session, portfolio_id: int, instrument_id: str, on: date, at: datetime) -> Activity:
    """The activity of one session as it stood at an instant, with what is needed to judge an order of one instrument."""
    until = to_micros(at)
    orders = _session_orders(session, portfolio_id, on, until)
    opening = [row for row in orders if row.side == "BUY"]
    bought = _latest(session, portfolio_id, instrument_id, "BUY", until)
    sold = _latest(session, portfolio_id, instrument_id, "SELL", until)
    return Activity(
        opening_orders=len(opening),
        reducing_orders=len(orders) - len(opening),
        turnover=sum((_notional(row) for row in opening), start=from_units(0)),
        ticker_orders=tuple(
            Asked(side=row.side, asked=from_units(row.quantity_in), ordered=from_units(row.quantity)) for row in orders if row.instrument_id == instrument_id
        ),
        ticker_proposals=_proposals(session, portfolio_id, instrument_id, on, until),
        last_buy_at=from_micros(bought.decided_at) if bought else None,
        last_sell_session=date.fromisoformat(sold.session) if sold else None,
        recent_notionals=_recent_notionals(session, portfolio_id, until),
    )


def _live(until: int) -> ColumnElement[bool]:
    """Orders that wait or were filled; one that ended otherwise counts up to its end."""
    alive = col(OrderRow.status).in_((*OPEN, OrderStatus.FILLED.value))
    return and_(col(OrderRow.decided_at) <= until, or_(alive, col(OrderRow.closed_at) > until))


def _in_session(portfolio_id: int, on: date, until: int) -> ColumnElement[bool]:
    """The decisions of a session; they are made after its close, so that the index over as_of finds them."""
    start = to_micros(datetime.fromisoformat(f"{on.isoformat()}T00:00:00+00:00"))
    as_of = col(DecisionRow.as_of)
    return and_(col(DecisionRow.portfolio_id) == portfolio_id, as_of >= start, as_of <= until, col(DecisionRow.session) == on.isoformat())


def _session_orders(session: Session, portfolio_id: int, on: date, until: int) -> list[Any]:
    judged = and_(col(GuardResultRow.decision_id) == col(DecisionRow.id), col(GuardResultRow.stage) == "decide")
    query = (
        select(col(OrderRow.instrument_id), col(OrderRow.side), col(OrderRow.quantity), col(OrderRow.decision_price), col(GuardResultRow.quantity_in))
        .join(DecisionRow, col(DecisionRow.id) == col(OrderRow.decision_id))
        .join(GuardResultRow, judged)
        .where(_in_session(portfolio_id, on, until), _live(until))
        .order_by(col(OrderRow.decided_at), col(OrderRow.id))
    )
    return list(session.connection().execute(query))


def _proposals(session: Session, portfolio_id: int, instrument_id: str, on: date, until: int) -> int:
    query = select(col(DecisionRow.slot), func.count()).where(_in_session(portfolio_id, on, until), col(DecisionRow.instrument_id) == instrument_id)
    return sum(count for slot, count in session.connection().execute(query.group_by(col(DecisionRow.slot))) if not is_scheduled(slot))


def _latest(session: Session, portfolio_id: int, instrument_id: str, side: str, until: int) -> Any:
    """The last order of one side of an instrument, with its session."""
    query = (
        select(col(OrderRow.decided_at), col(DecisionRow.session))
        .join(DecisionRow, col(DecisionRow.id) == col(OrderRow.decision_id))
        .where(col(OrderRow.portfolio_id) == portfolio_id, col(OrderRow.instrument_id) == instrument_id, col(OrderRow.side) == side, _live(until))
        .order_by(col(OrderRow.decided_at).desc())
        .limit(1)
    )
    return session.connection().execute(query).first()


def _recent_notionals(session: Session, portfolio_id: int, until: int) -> tuple[Any, ...]:
    query = (
        select(col(OrderRow.quantity), col(OrderRow.decision_price))
        .where(col(OrderRow.portfolio_id) == portfolio_id, col(OrderRow.side) == "BUY", _live(until))
        .order_by(col(OrderRow.decided_at).desc(), col(OrderRow.id).desc())
        .limit(RECENT_ORDERS)
    )
    return tuple(_notional(row) for row in session.connection().execute(query))


def _notional(row: Any) -> Any:
    return from_units(row.quantity) * from_units(row.decision_price)
