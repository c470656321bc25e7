"""Holdings that are brought into the books: one transaction with a lot per posting, as the opening of a portfolio and never later."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from sqlmodel import Session, col, select

from alphaagent.domain.base import Json, decimal_text
from alphaagent.domain.lots import OpeningLot
from alphaagent.domain.portfolio import Portfolio
from alphaagent.errors import UsageFault
from alphaagent.ledger import catalogue, postings
from alphaagent.ledger.facts import fact
from alphaagent.ledger.journal import Journal
from alphaagent.ledger.schema import DecisionRow, OpeningLotRow, TxnRow, insert_rows
from alphaagent.ledger.units import to_units
from alphaagent.ports import AuditRef

FLOWS = ("deposit", "withdrawal")
"""Transactions that may stand before an import."""


def record_import(journal: Journal, portfolio: Portfolio, lots: Sequence[OpeningLot], cash: Decimal, source_sha256: str, at: datetime) -> AuditRef:
    """Lots and cash as the opening of a portfolio. UsageFault where it has a history already, or a lot is in another currency."""
    refuse_history(journal.session, portfolio)
    known = {lot.instrument.id: lot.instrument for lot in lots}
    for instrument in known.values():
        if instrument.currency != portfolio.currency:
            raise UsageFault(f"{instrument.symbol} does not trade in {portfolio.currency}, the currency of portfolio {portfolio.name}")
        catalogue.register(journal.session, instrument)
    parts = [(lot.instrument.id, to_units(lot.quantity), to_units(lot.cost)) for lot in lots]
    if any(quantity <= 0 or cost < 0 for _, quantity, cost in parts) or cash < 0:
        raise UsageFault("a lot has a quantity above zero and a cost of zero or more, and cash is zero or more", fix="correct the holdings")
    booked = journal.book(portfolio, "import", postings.opening(to_units(cash), portfolio.currency, parts, at.date()), at, at.date())
    rows: list[dict[str, str | int]] = [
        {"txn_id": booked.txn.id or 0, "n": n, "acquired_on": lot.acquired.isoformat(), "cost": units}
        for n, (lot, (_, _, units)) in enumerate(zip(lots, parts, strict=True), start=1)
    ]
    insert_rows(journal.session, OpeningLotRow, rows)
    cost = decimal_text(sum((lot.cost for lot in lots), Decimal(0)))
    detail: dict[str, Json] = {"lots": len(lots), "cash": decimal_text(cash), "cost": cost, "source": source_sha256}
    return journal.append("import", at, portfolio=portfolio.name, more=[fact("opening_lot", tuple(row.values())) for row in rows], booked=booked, detail=detail)


def refuse_history(session: Session, portfolio: Portfolio) -> None:
    """UsageFault where a portfolio has a decision, or has held anything: an import must not rewrite what has happened."""
    decided = session.exec(select(DecisionRow.id).where(DecisionRow.portfolio_id == portfolio.id).limit(1)).first()
    moved = session.exec(select(TxnRow.kind).where(TxnRow.portfolio_id == portfolio.id, col(TxnRow.kind).not_in(FLOWS)).limit(1)).first()
    if decided is None and moved is None:
        return
    why = f"a decision, {decided}" if decided else f"a transaction of kind {moved}"
    raise UsageFault(
        f"the portfolio {portfolio.name} has a history already ({why}), and an import can only open a portfolio",
        fix="import into a new portfolio: --portfolio NAME",
    )
