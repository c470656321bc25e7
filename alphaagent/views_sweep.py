"""What a pass came to, as documents, lines and cells. Pure, like views.py."""

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from alphaagent.domain.base import decimal_text, instant_text
from alphaagent.operations.sweep_report import summary
from alphaagent.views import Document, audit_document, decision_document, failure_document
from alphaagent.views_books import summary_row

if TYPE_CHECKING:
    from alphaagent.debate.record import Transcript
    from alphaagent.operations.sweep_report import PortfolioReport, SweepReport, SweepRow

SWEEP_COLUMNS = ("portfolio", "ticker", "state", "action", "amount", "guard", "order", "note")


def row_document(report: "PortfolioReport", row: "SweepRow", transcript: "Transcript | None") -> Document:
    """One name: the decision as `decide --json` prints it, or the error, with what the pass made of it."""
    told = {"portfolio": report.portfolio, "state": row.state, "reason": row.reason, "reduce_only": row.reduce_only, "screened": row.screened}
    if row.record is not None:
        return told | decision_document(row.record, row.stored, repeated=row.state == "repeated", transcript=transcript)
    as_of = instant_text(report.as_of) if report.as_of else ""
    return told | failure_document(row.ticker, as_of, row.fault or "", row.reason or "", row.fix)


def report_document(report: "SweepReport") -> Document:
    """The last line of `sweep --json`: every portfolio with its counts, rows, settlements and spend."""
    portfolios = [{**summary(one), "audit": audit_document(one.audit) if one.audit else None} for one in report.portfolios]
    return {"summary": {"exit_code": report.exit_code, "portfolios": portfolios}}


def row_cells(portfolio: str, row: "SweepRow") -> Document:
    """One name's line in a portfolio's table; why something was left undone stands in full at its end."""
    said = (("held, not on the list" if row.reduce_only else None), row.screened and f"screen: {row.screened}", row.reason)
    note = "; ".join(part for part in said if part) or None
    if row.record is None:
        return dict.fromkeys(SWEEP_COLUMNS) | {"portfolio": portfolio, "ticker": row.ticker, "state": row.state, "note": note}
    ticker, action, amount, guard, order, _ = summary_row(row.record, row.stored)
    cells = (portfolio, ticker, row.state, action, amount, guard, order, note)
    return {column: cell or None for column, cell in zip(SWEEP_COLUMNS, cells, strict=True)}


def notes(report: "PortfolioReport") -> list[str]:
    """What stands under a portfolio's table: the counts, what the money did not reach, and where all of it is written."""
    found, name = report.counts(), report.portfolio
    counts = ", ".join(f"{count} {state}" for state, count in found.items())
    idle = "; nothing was decided again" if found["repeated"] and not found["decided"] else ""
    when = f"as of {instant_text(report.as_of)}: " if report.as_of else ""
    lines = [f"{name}: {when}{counts}; {report.settled_count} settled{idle}"]
    spend = report.spend
    if spend.refused:
        lines.append(f"{name}: the money did not reach {len(spend.refused)} debates: {', '.join(spend.refused)}")
    if spend.spent or spend.reserved:
        budget = "" if spend.budget is None else f", of a budget of {spend.budget:f} USD"
        lines.append(f"{name}: {spend.spent:f} USD spent today, {spend.reserved:f} USD reserved{budget}")
    if report.unrecorded:
        return [*lines, f"{name}: this pass is not on record: {report.unrecorded.message}"]
    return [*lines, f"{name}: audit row {report.audit.seq}" if report.audit else f"{name}: no audit row, for nothing is new"]


def budget_line(portfolio: str, budget: Decimal, documents: Sequence[Document]) -> str:
    """What a portfolio's debates would cost beside its own budget."""
    usual, most = (sum((Decimal(one[key]) for one in documents if one[key] != "unknown"), Decimal(0)) for key in ("usd", "at_most_usd"))
    return f"{portfolio}: about {usual:.4f} USD, at most {most:.4f} USD; its budget is {decimal_text(budget)} USD a UTC day"
