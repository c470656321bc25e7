"""The journal as a reader sees it: transactions with their postings in plain decimals."""

from collections.abc import Sequence
from typing import Any

from sqlmodel import Session, col, select

from alphaagent.domain.base import decimal_text, instant_text
from alphaagent.errors import UsageFault
from alphaagent.ledger.schema import InstrumentRow, LedgerAccountRow, PortfolioRow, PostingRow, TxnRow
from alphaagent.ledger.units import from_micros, from_units


def transactions(session: Session, portfolio: str, limit: int) -> Sequence[dict[str, Any]]:
    """The newest transactions of a portfolio, oldest first. Raises UsageFault where there is no such portfolio."""
    owner = session.exec(select(PortfolioRow).where(PortfolioRow.name == portfolio)).first()
    if owner is None:
        raise UsageFault(f"there is no portfolio {portfolio!r}", fix="`alphaagent doctor` lists the portfolios there are")
    newest = session.exec(select(TxnRow).where(TxnRow.portfolio_id == owner.id).order_by(col(TxnRow.id).desc()).limit(limit)).all()
    symbols = {row.id: row.symbol for row in session.exec(select(InstrumentRow)).all()}
    return [_transaction(session, txn, symbols) for txn in reversed(newest)]


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
