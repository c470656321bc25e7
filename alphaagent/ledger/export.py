"""Every posting of a portfolio, oldest first, one flat row each, for whoever wants the books in a program of their own. One query, read as a stream."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from sqlmodel import Session, col, select

from alphaagent.errors import UsageFault
from alphaagent.ledger.schema import InstrumentRow, LedgerAccountRow, PortfolioRow, PostingRow, TxnRow
from alphaagent.ledger.units import from_micros, from_units

AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class ExportedPosting:
    """One posting. `commodity` is a currency or an instrument's id; `symbol` is what people call it."""

    txn: int
    n: int
    kind: str
    reverses: int | None
    decision_id: str | None
    trade_at: datetime
    settle_on: date
    account: str
    commodity: str
    symbol: str
    name: str | None
    """The company's name; None for a currency."""
    amount: Decimal


def postings(session: Session, portfolio: str) -> Iterator[ExportedPosting]:
    """All of them. Raises UsageFault where there is no such portfolio."""
    owner = session.exec(select(PortfolioRow).where(PortfolioRow.name == portfolio)).first()
    if owner is None:
        raise UsageFault(f"there is no portfolio {portfolio!r}", fix="`alphaagent doctor` lists the portfolios there are")
    query = (
        select(PostingRow, TxnRow, LedgerAccountRow, InstrumentRow)
        .join(TxnRow, col(TxnRow.id) == col(PostingRow.txn_id))
        .join(LedgerAccountRow, col(LedgerAccountRow.id) == col(PostingRow.account_id))
        .outerjoin(InstrumentRow, col(InstrumentRow.id) == col(PostingRow.commodity))
        .where(TxnRow.portfolio_id == owner.id)
        .order_by(col(TxnRow.id), col(PostingRow.n))
        .execution_options(yield_per=AT_ONCE)
    )
    for posting, txn, account, instrument in session.exec(query):
        traded: InstrumentRow | None = instrument  # an outer join: a currency has none
        yield ExportedPosting(
            txn=posting.txn_id,
            n=posting.n,
            kind=txn.kind,
            reverses=txn.reverses,
            decision_id=txn.decision_id,
            trade_at=from_micros(txn.trade_at),
            settle_on=date.fromisoformat(posting.settle_on),
            account=account.kind,
            commodity=posting.commodity,
            symbol=traded.symbol if traded else posting.commodity,
            name=traded.name if traded else None,
            amount=from_units(posting.amount),
        )
