"""What happened between two instants of book time, from the audit trail and the orders."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlmodel import Session, col, select

from alphaagent.domain.portfolio import Order, Portfolio
from alphaagent.ledger import rows
from alphaagent.ledger.schema import AuditLogRow, OrderRow, TxnRow
from alphaagent.ledger.units import from_micros, to_micros


def events(session: Session, kinds: Collection[str], since: datetime, until: datetime) -> Sequence[dict[str, Any]]:
    """The payloads of the audit rows of some kinds with book time in [since, until], in the order in which they were written."""
    query = select(AuditLogRow.payload).where(col(AuditLogRow.at).between(to_micros(since), to_micros(until)), col(AuditLogRow.kind).in_(kinds))
    return [json.loads(payload) for payload in session.exec(query.order_by(col(AuditLogRow.seq)))]


@dataclass(frozen=True, slots=True)
class Filled:
    """An order that was filled, with its transaction."""

    txn_id: int
    at: datetime
    order: Order


def fills(session: Session, portfolio: Portfolio) -> tuple[Filled, ...]:
    """Every fill of a portfolio, oldest first."""
    query = (
        select(TxnRow.id, TxnRow.trade_at, OrderRow)
        .join(OrderRow, col(OrderRow.decision_id) == col(TxnRow.decision_id))
        .where(TxnRow.portfolio_id == portfolio.id, TxnRow.kind == "trade")
        .order_by(col(TxnRow.trade_at), col(TxnRow.id))
    )
    return tuple(Filled(id_ or 0, from_micros(at), rows.order(row)) for id_, at, row in session.exec(query))


def ended_orders(session: Session, portfolio: Portfolio, since: datetime, until: datetime) -> tuple[Order, ...]:
    """The orders of a portfolio that were filled or ended otherwise in [since, until], oldest first."""
    ended = col(OrderRow.closed_at).between(to_micros(since), to_micros(until))
    query = select(OrderRow).where(OrderRow.portfolio_id == portfolio.id, ended).order_by(col(OrderRow.closed_at), col(OrderRow.id))
    return tuple(rows.order(row) for row in session.exec(query))
