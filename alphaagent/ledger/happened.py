"""What happened between two instants of book time, from the audit trail and the orders."""

import json
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlmodel import Session, col, select

from alphaagent.domain.portfolio import Order, Portfolio
from alphaagent.ledger import rows
from alphaagent.ledger.schema import AuditLogRow, OrderRow
from alphaagent.ledger.units import to_micros


def events(session: Session, kinds: Collection[str], since: datetime, until: datetime) -> Sequence[dict[str, Any]]:
    """The payloads of the audit rows of some kinds with book time in [since, until], in the order in which they were written."""
    query = select(AuditLogRow.payload).where(col(AuditLogRow.at).between(to_micros(since), to_micros(until)), col(AuditLogRow.kind).in_(kinds))
    return [json.loads(payload) for payload in session.exec(query.order_by(col(AuditLogRow.seq)))]


def ended_orders(session: Session, portfolio: Portfolio, since: datetime, until: datetime) -> tuple[Order, ...]:
    """The orders of a portfolio that were filled or ended otherwise in [since, until], oldest first."""
    ended = col(OrderRow.closed_at).between(to_micros(since), to_micros(until))
    query = select(OrderRow).where(OrderRow.portfolio_id == portfolio.id, ended).order_by(col(OrderRow.closed_at), col(OrderRow.id))
    return tuple(rows.order(row) for row in session.exec(query))
