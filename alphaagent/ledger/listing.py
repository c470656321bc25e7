"""The books as a reader sees them: transactions with their postings in plain decimals, and the list of decisions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any, get_args

from sqlalchemy import ColumnElement
from sqlmodel import Session, col, func, or_, select

from alphaagent.domain.base import decimal_text, instant_text
from alphaagent.domain.debate import DebateClass
from alphaagent.domain.proposal import Action
from alphaagent.domain.ruling import Outcome, Provenance
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
    until: date | None = None
    """The last day, UTC."""
    provenance: str | None = None
    action: str | None = None
    debate_class: str | None = None


LISTED = ("id", "as_of", "ticker", "slot", "engine", "provenance", "debate_class", "action", "amount_text", "outcome", "code")
AT_ONCE = 2000
NO_ACTION = "NONE"
"""As an action: decisions of which nothing could be read."""
NO_CLASS = "none"
"""As a debate's class: decisions without a debate, or with one that had no exchange."""


def asked_for(**said: str | None) -> DecisionFilter:
    """A filter from what somebody typed; a name is a field of the filter, an empty text is nothing. Raises UsageFault on what cannot match."""
    given = {name: text.strip() for name, text in said.items() if text and text.strip()}
    days = {name: _day(name, given.pop(name)) for name in ("since", "until") if name in given}
    given |= {name: given[name].upper() for name in ("outcome", "action") if name in given}
    for name, known in KNOWN.items():
        if given.get(name, known[0]) not in known:
            raise UsageFault(f"--{name.removeprefix('debate_')} {given[name][:60]!r} is none that there is", fix=f"use one of: {', '.join(known)}")
    return DecisionFilter(**given, **days)  # type: ignore[arg-type]


KNOWN = {
    "engine": ("crew", "heuristic"),
    "provenance": get_args(Provenance),
    "action": (*Action, NO_ACTION),
    "debate_class": (*get_args(DebateClass), NO_CLASS),
}
"""What a filter can ask for, where that is not free."""


def _day(name: str, text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageFault(f"--{name} {text[:60]!r} is no date", fix="write 2020-03-16") from None


def decisions(session: Session, wanted: DecisionFilter, limit: int, offset: int = 0) -> Iterator[dict[str, Any]]:
    """The decisions recorded last, newest first, from their columns alone: no record is opened, and none is held longer than it is looked at."""
    for found in session.connection().execute(_details(_page(session, wanted, limit, offset)).execution_options(yield_per=AT_ONCE)):
        yield _decision(found)


def count(session: Session, wanted: DecisionFilter) -> int:
    """How many decisions pass a filter."""
    return session.exec(select(func.count()).select_from(DecisionRow).where(*_conditions(session, wanted))).one()


def _page(session: Session, wanted: DecisionFilter, limit: int, offset: int) -> Any:
    """The audit rows of a page. Its details are looked up afterwards, or a deep page would pay for those of every page before it."""
    newest = select(AuditLogRow.seq, AuditLogRow.decision_id).where(AuditLogRow.kind == "decision")
    conditions = list(_conditions(session, wanted))
    if conditions:
        newest = newest.join(DecisionRow, col(DecisionRow.id) == col(AuditLogRow.decision_id)).where(*conditions)
    return newest.order_by(col(AuditLogRow.seq).desc()).limit(limit).offset(offset).subquery()


def _details(page: Any) -> Any:
    decision, order = col(DecisionRow.id), col(OrderRow.status)
    return (
        select(*(getattr(DecisionRow, name) for name in LISTED), col(PortfolioRow.name).label("portfolio"), order.label("order"), page.c.seq)  # type: ignore[call-overload]
        .join(page, page.c.decision_id == decision)
        .join(PortfolioRow, col(PortfolioRow.id) == col(DecisionRow.portfolio_id))
        .outerjoin(OrderRow, col(OrderRow.decision_id) == decision)
        .order_by(page.c.seq.desc())
    )


def _conditions(session: Session, wanted: DecisionFilter) -> Iterator[ColumnElement[bool]]:
    """The filter over the columns of a decision. Names of instruments and portfolios become ids first: there are few, and many decisions."""
    if wanted.ticker is not None:
        yield _named(session, wanted.ticker.upper())
    if wanted.since is not None:
        yield col(DecisionRow.as_of) >= to_micros(datetime.combine(wanted.since, time.min, UTC))
    if wanted.until is not None:
        yield col(DecisionRow.as_of) <= to_micros(datetime.combine(wanted.until, time.max, UTC))
    for name in ("engine", "provenance"):
        if getattr(wanted, name) is not None:
            yield getattr(DecisionRow, name) == getattr(wanted, name)
    if wanted.action is not None:
        yield col(DecisionRow.action).is_(None) if wanted.action == NO_ACTION else col(DecisionRow.action) == wanted.action
    if wanted.debate_class is not None:
        yield col(DecisionRow.debate_class).is_(None) if wanted.debate_class == NO_CLASS else col(DecisionRow.debate_class) == wanted.debate_class
    if wanted.outcome is not None:
        yield col(DecisionRow.outcome if wanted.outcome in tuple(Outcome) else DecisionRow.code) == wanted.outcome
    if wanted.portfolio is not None:
        owner = session.exec(select(PortfolioRow.id).where(PortfolioRow.name == wanted.portfolio)).first()
        yield col(DecisionRow.portfolio_id) == (-1 if owner is None else owner)


def _named(session: Session, ticker: str) -> ColumnElement[bool]:
    aliased = select(SymbolAliasRow.instrument_id).where(SymbolAliasRow.alias == ticker)
    named = session.exec(select(InstrumentRow.id).where(or_(col(InstrumentRow.symbol) == ticker, col(InstrumentRow.id).in_(aliased)))).all()
    return or_(func.upper(DecisionRow.ticker) == ticker, col(DecisionRow.instrument_id).in_(named))


def _decision(row: Any) -> dict[str, Any]:
    return {
        "decision_id": row.id,
        "as_of": instant_text(from_micros(row.as_of)),
        "ticker": row.ticker,
        "portfolio": row.portfolio,
        "slot": row.slot,
        "engine": row.engine,
        "provenance": row.provenance,
        "debate_class": row.debate_class,
        "action": row.action,
        "amount": row.amount_text,
        "outcome": row.outcome,
        "code": row.code,
        "order": row.order,
        "audit_seq": row.seq,
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
