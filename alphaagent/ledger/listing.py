"""The books as a reader sees them: transactions with their postings in plain decimals, and the list of decisions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any

from sqlalchemy import ColumnElement
from sqlmodel import Session, col, func, or_, select

from alphaagent.domain.base import decimal_text, instant_text
from alphaagent.errors import UsageFault
from alphaagent.ledger.schema import AuditLogRow, DecisionRow, InstrumentRow, LedgerAccountRow, OrderRow, PortfolioRow, PostingRow, SymbolAliasRow, TxnRow
from alphaagent.ledger.units import from_micros, from_units, to_micros


def transactions(session: Session, portfolio: str, limit: int) -> Sequence[dict[str, Any]]:
    """The newest transactions of a portfolio, oldest first. Raises UsageFault where there is no such portfolio."""
    owner = session.exec(select(PortfolioRow).where(PortfolioRow.name == portfolio)).first()
    if owner is None:
        raise UsageFault(f"there is no portfolio {portfolio!r}", fix="`alphaagent doctor` lists the portfolios there are")
    newest = session.exec(select(TxnRow).where(TxnRow.portfolio_id == owner.id).order_by(col(TxnRow.id).desc()).limit(limit)).all()
    symbols = {row.id: row.symbol for row in session.exec(select(InstrumentRow)).all()}
    return [_transaction(session, txn, symbols) for txn in reversed(newest)]


@dataclass(frozen=True, slots=True)
class DecisionFilter:
    """Which decisions are asked for; None lets everything through."""

    ticker: str | None = None
    """A symbol, an alias, or the ticker as it was asked for."""
    since: date | None = None
    engine: str | None = None
    outcome: str | None = None
    """The guard's outcome, or its code."""
    portfolio: str | None = None


def decisions(session: Session, wanted: DecisionFilter, limit: int) -> Sequence[dict[str, Any]]:
    """The decisions recorded last, newest first, from their columns alone: no record is opened."""
    query = (
        select(DecisionRow, PortfolioRow.name, OrderRow, AuditLogRow.seq)
        .join(AuditLogRow, col(AuditLogRow.decision_id) == col(DecisionRow.id))
        .join(PortfolioRow, col(PortfolioRow.id) == col(DecisionRow.portfolio_id))
        .outerjoin(OrderRow, col(OrderRow.decision_id) == col(DecisionRow.id))
        .where(AuditLogRow.kind == "decision", *_conditions(wanted))
        .order_by(col(AuditLogRow.seq).desc())
        .limit(limit)
    )
    return [_decision(row, portfolio, order, seq) for row, portfolio, order, seq in session.exec(query).all()]


def _conditions(wanted: DecisionFilter) -> Iterator[ColumnElement[bool]]:
    if wanted.ticker is not None:
        ticker = wanted.ticker.upper()
        aliased = select(SymbolAliasRow.instrument_id).where(SymbolAliasRow.alias == ticker)
        named = select(InstrumentRow.id).where(or_(col(InstrumentRow.symbol) == ticker, col(InstrumentRow.id).in_(aliased)))
        yield or_(func.upper(DecisionRow.ticker) == ticker, col(DecisionRow.instrument_id).in_(named))
    if wanted.since is not None:
        yield col(DecisionRow.as_of) >= to_micros(datetime.combine(wanted.since, time.min, UTC))
    if wanted.engine is not None:
        yield col(DecisionRow.engine) == wanted.engine
    if wanted.outcome is not None:
        yield or_(col(DecisionRow.outcome) == wanted.outcome, col(DecisionRow.code) == wanted.outcome)
    if wanted.portfolio is not None:
        yield col(PortfolioRow.name) == wanted.portfolio


def _decision(row: DecisionRow, portfolio: str, order: OrderRow | None, seq: int) -> dict[str, Any]:
    return {
        "decision_id": row.id,
        "as_of": instant_text(from_micros(row.as_of)),
        "ticker": row.ticker,
        "portfolio": portfolio,
        "slot": row.slot,
        "engine": row.engine,
        "provenance": row.provenance,
        "action": row.action,
        "amount": row.amount_text,
        "outcome": row.outcome,
        "code": row.code,
        "order": order.status if order else None,
        "audit_seq": seq,
    }


def before(session: Session, decision_id: str) -> str | None:
    """The id of the decision on the same instrument in the same portfolio that was recorded last before this one."""
    return _beside(session, decision_id, newer=False)


def after(session: Session, decision_id: str) -> str | None:
    """The id of the decision on the same instrument in the same portfolio that was recorded first after this one."""
    return _beside(session, decision_id, newer=True)


def _beside(session: Session, decision_id: str, *, newer: bool) -> str | None:
    row = session.get(DecisionRow, decision_id)
    seq = session.exec(select(AuditLogRow.seq).where(AuditLogRow.decision_id == decision_id, AuditLogRow.kind == "decision")).first()
    if row is None or seq is None:
        return None
    query = (
        select(DecisionRow.id)
        .join(AuditLogRow, col(AuditLogRow.decision_id) == col(DecisionRow.id))
        .where(DecisionRow.portfolio_id == row.portfolio_id, DecisionRow.instrument_id == row.instrument_id)
        .where(AuditLogRow.kind == "decision", AuditLogRow.seq > seq if newer else AuditLogRow.seq < seq)
    )
    order = col(AuditLogRow.seq)
    return session.exec(query.order_by(order.asc() if newer else order.desc()).limit(1)).first()


def _transaction(session: Session, txn: TxnRow, symbols: dict[str, str]) -> dict[str, Any]:
    query = select(PostingRow, LedgerAccountRow).where(PostingRow.txn_id == txn.id, PostingRow.account_id == LedgerAccountRow.id)
    postings = session.exec(query.order_by(col(PostingRow.n))).all()
    return {
        "txn": txn.id,
        "kind": txn.kind,
        "trade_at": instant_text(from_micros(txn.trade_at)),
        "settle_on": txn.settle_on,
        "decision_id": txn.decision_id,
        "postings": [
            {"account": account.kind, "commodity": symbols.get(posting.commodity, posting.commodity), "amount": decimal_text(from_units(posting.amount))}
            for posting, account in postings
        ],
    }
