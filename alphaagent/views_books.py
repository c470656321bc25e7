"""What the books hold becomes documents and rows: lots, gains, imports, corporate actions, the list of decisions. Pure, like views.py."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from alphaagent.domain.base import decimal_text, instant_text
from alphaagent.domain.lots import Gain, Lot, is_long_term
from alphaagent.domain.spend import SpendLine, SpendTotal
from alphaagent.domain.text import inert
from alphaagent.execution.settlement import Acted, Unsettled
from alphaagent.views import Document, audit_document, decision_document, settled_document, settled_line

if TYPE_CHECKING:
    from datetime import date, datetime

    from alphaagent.domain.record import DecisionRecord
    from alphaagent.estimating import Estimate
    from alphaagent.operations.holdings_file import RowFault
    from alphaagent.operations.importing import ImportPlan, PlacedRow
    from alphaagent.ports import AuditRef, StoredDecision
    from alphaagent.settling import Happened

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""The last four are the first four in full width, which some spreadsheets read alike."""
TEXT_COLUMNS = ("portfolio", "ticker")


def happened_document(done: "Happened") -> Document:
    """One thing that settlement did, or could not do."""
    match done:
        case Acted():
            return acted_document(done)
        case Unsettled():
            fault = done.fault
            error = {"code": type(fault).__name__, "message": fault.message, "fix": fault.fix}
            return {"event": "unsettled", "portfolio": done.portfolio, "ticker": done.symbol, "error": error}
    return settled_document(done.order, done.ruling, done.reason, done.audit)


def happened_line(done: "Happened") -> str:
    """The same in words."""
    match done:
        case Acted():
            return acted_line(done)
        case Unsettled():
            return f"unsettled  {done.symbol} in {done.portfolio}: {done.fault.message}; it waits for the next settlement"
    return settled_line(done.order, done.ruling, done.reason)


def acted_document(acted: "Acted") -> Document:
    """What a corporate action did: booked, or frozen because it cannot be."""
    action, booked = acted.action, acted.booked
    return {
        "event": "frozen" if booked.frozen else action.kind,
        "portfolio": acted.portfolio,
        "ticker": acted.instrument.symbol,
        "ex_date": action.ex_date.isoformat(),
        "value": decimal_text(action.value),
        "note": action.note or None,
        "shares": decimal_text(booked.shares),
        "cash": decimal_text(booked.cash),
        "audit": audit_document(booked.audit),
    }


def acted_line(acted: "Acted") -> str:
    """The same in words."""
    action, booked, symbol = acted.action, acted.booked, acted.instrument.symbol
    if booked.frozen:
        return f"frozen  {symbol} in {acted.portfolio}: {action.told()} cannot be booked; no order is taken until `alphaagent portfolio unfreeze`"
    changes = [f"{booked.shares:+f} shares"] if booked.shares else []
    changes += [f"{booked.cash:+f} {acted.instrument.currency}"] if booked.cash else []
    what = f"{action.value:f} for 1" if action.kind == "split" else f"{action.value:f} a share"
    return f"{action.kind}  {symbol} {what}, ex {action.ex_date}: {', '.join(changes)} in {acted.portfolio}"


def lot_document(lot: Lot, mark: Decimal | None, at: "datetime") -> Document:
    """One lot at its mark; `unrealised` is null where there is no mark."""
    value = None if mark is None else round(lot.quantity * mark, 6)
    return {
        "ticker": lot.symbol,
        "acquired": lot.acquired.isoformat(),
        "quantity": decimal_text(lot.quantity),
        "cost": decimal_text(lot.cost),
        "holding_days": (at.date() - lot.acquired).days,
        "term": "long" if is_long_term(lot.acquired, at.date()) else "short",
        "value": None if value is None else decimal_text(value),
        "unrealised": None if value is None else decimal_text(value - lot.cost),
    }


def gain_document(portfolio: str, gain: Gain) -> Document:
    """One lot and sale; proceeds and cost have the fees in them, which `fees` adds up."""
    return {
        "portfolio": portfolio,
        "ticker": gain.symbol,
        "acquired": gain.acquired.isoformat(),
        "sold": gain.sold.isoformat(),
        "quantity": decimal_text(gain.quantity),
        "proceeds": decimal_text(gain.proceeds),
        "cost": decimal_text(gain.cost),
        "fees": decimal_text(gain.fees),
        "gain": decimal_text(gain.gain),
        "holding_days": gain.holding_days,
        "term": gain.term,
    }


GAIN_COLUMNS = ("portfolio", "ticker", "acquired", "sold", "quantity", "proceeds", "cost", "fees", "gain", "holding_days", "term")


def csv_text(columns: Sequence[str], documents: Iterable[Mapping[str, Any]], text_columns: Sequence[str] = TEXT_COLUMNS) -> str:
    """CSV for a spreadsheet: a text cell that would be read as a formula gets a leading apostrophe; numbers stay numbers."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([csv_cell(document[column], is_text=column in text_columns) for column in columns] for document in documents)
    return out.getvalue()


def csv_cell(value: object, *, is_text: bool) -> str:
    """A value as a cell; a text that a spreadsheet would read as a formula gets a leading apostrophe."""
    text = "" if value is None else str(value)
    return f"'{inert(text)}" if is_text and text.startswith(FORMULA_STARTS) else inert(text)


def import_document(plan: "ImportPlan", audit: "AuditRef | None") -> Document:
    """What an import books, or has booked where there is an audit row."""
    return {
        "portfolio": plan.portfolio,
        "at": instant_text(plan.at),
        "creates": plan.creates,
        "rows": [_placed_document(row) for row in plan.rows],
        "cash": decimal_text(plan.cash),
        "cash_before": decimal_text(plan.cash_before),
        "equity": decimal_text(round(plan.equity, 6)),
        "audit": audit_document(audit) if audit else None,
    }


def _placed_document(row: "PlacedRow") -> Document:
    return {
        "line": row.line,
        "ticker": row.ticker,
        "instrument": row.lot.instrument.id,
        "name": row.lot.instrument.name,
        "quantity": decimal_text(row.lot.quantity),
        "cost": decimal_text(row.lot.cost),
        "acquired": row.lot.acquired.isoformat(),
        "mark": decimal_text(row.mark),
        "value": decimal_text(round(row.value, 6)),
    }


def refused_document(message: str, faults: Sequence["RowFault"]) -> Document:
    """Why an import booked nothing, row by row."""
    rows = [{"line": one.line, "column": one.column, "value": one.value, "message": one.message, "fix": one.fix} for one in faults]
    return {"error": {"code": "ImportRefused", "message": message.partition("\n")[0]}, "rows": rows}


SPEND_COLUMNS = ("portfolio", "provider", "model", "calls", "prompt_tokens", "completion_tokens", "spent_usd", "reserved_usd", "unpriced")


def spend_document(
    day: "date", ceiling: Decimal | None, total: SpendTotal, lines: Sequence[SpendLine], budgets: Mapping[str, Decimal] = MappingProxyType({})
) -> Document:
    """What a day's model calls cost, what they went to, the ceiling (null where there is none), and the budgets of single portfolios."""
    listed = [{"portfolio": line.portfolio, "provider": line.provider, "model": line.model, **_spent(line.total)} for line in lines]
    return {
        "day": day.isoformat(),
        "ceiling_usd": None if ceiling is None else decimal_text(ceiling),
        **_spent(total),
        "lines": listed,
        "budgets": _budgets(budgets, lines),
    }


def _budgets(budgets: Mapping[str, Decimal], lines: Sequence[SpendLine]) -> list[Document]:
    """Every portfolio with a budget of its own, and what it has used of it."""
    return [
        {
            "portfolio": name,
            "budget_usd": decimal_text(budget),
            "spent_usd": decimal_text(sum((line.total.booked for line in lines if line.portfolio == name), Decimal(0))),
            "reserved_usd": decimal_text(sum((line.total.reserved for line in lines if line.portfolio == name), Decimal(0))),
        }
        for name, budget in sorted(budgets.items())
    ]


def budget_lines(document: Document) -> list[str]:
    """The budgets in words."""
    told = "{portfolio}: {spent_usd} USD spent, {reserved_usd} USD reserved; its budget is {budget_usd} USD"
    return [told.format_map(one) for one in document["budgets"]]


def _spent(total: SpendTotal) -> Document:
    return {
        "calls": total.calls,
        "prompt_tokens": total.prompt_tokens,
        "completion_tokens": total.completion_tokens,
        "spent_usd": decimal_text(total.booked),
        "reserved_usd": decimal_text(total.reserved),
        "unpriced": total.unpriced,
        "open": total.open,
    }


def spend_line(document: Document) -> str:
    """The day in one line of words."""
    ceiling = f"the ceiling is {document['ceiling_usd']} USD" if document["ceiling_usd"] is not None else "there is no ceiling"
    unpriced = f"; {document['unpriced']} debates without a known price" if document["unpriced"] else ""
    open_ = f" ({document['open']} under way, or lost when a run was ended)" if document["open"] else ""
    return f"{document['day']} (UTC): {document['spent_usd']} USD spent, {document['reserved_usd']} USD reserved{open_}{unpriced}; {ceiling}"


SUMMARY_COLUMNS = ("ticker", "action", "amount", "guard", "order", "note")
DECISION_COLUMNS = ("decision_id", "as_of", "ticker", "portfolio", "engine", "provenance", "action", "amount", "outcome", "code", "order")


def failed_row(ticker: str, message: str) -> tuple[str, ...]:
    """The same line where nothing was decided."""
    return ticker, "failed", "", "", "none", message


def summary_row(record: "DecisionRecord", stored: "StoredDecision | None") -> tuple[str, ...]:
    """One line of the table that ends a run over several tickers."""
    document = decision_document(record, stored)
    proposal, order = document["proposal"], document.get("order")
    action, amount = (proposal["action"], f"{proposal['amount']:,.2f}" if proposal["amount"] else "") if proposal else ("none", "")
    told = f"{order['side']} {Decimal(order['quantity']):f} {order['status']}" if order else "none"
    note = record.result.hold_kind or record.fallback_reason or ""
    return document["ticker"], action, amount, f"{document['guard']['outcome']} {document['guard']['code']}", told, note


ESTIMATE_COLUMNS = ("ticker", "plan", "calls", "tokens", "usd", "at_most_usd")


def estimate_document(ticker: str, found: "Estimate | None") -> Document:
    """What a debate would cost, as a row; a decision without a model costs nothing."""
    if found is None:
        return {"ticker": ticker, "plan": "none", "calls": "0", "tokens": "0", "usd": "0.0", "at_most_usd": "0.0", "engine": "heuristic"}
    return {
        "ticker": ticker,
        "plan": found.plan,
        "calls": f"{found.calls_usual} ({found.calls_least} to {found.calls_most})",
        "tokens": f"{found.prompt_tokens_usual}+{found.completion_tokens_usual} (at most {found.tokens_most})",
        "usd": "unknown" if found.usd_usual is None else f"{found.usd_usual:.4f}",
        "at_most_usd": "unknown" if found.usd_most is None else f"{found.usd_most:.4f}",
        "engine": "crew",
    }


def estimate_total(documents: "Sequence[Document]", ceiling: Decimal | None) -> str:
    """The sum in one line, beside the day's ceiling."""
    priced = [one for one in documents if one["usd"] != "unknown"]
    usual, most = (sum((Decimal(one[key]) for one in priced), Decimal(0)) for key in ("usd", "at_most_usd"))
    unknown = f", {len(documents) - len(priced)} without a known price" if len(priced) < len(documents) else ""
    limit = "no ceiling" if ceiling is None else f"the ceiling is {ceiling:f} USD a UTC day"
    return f"{len(documents)} decisions: about {usual:.4f} USD, at most {most:.4f} USD{unknown}; {limit}. Estimated; nothing was asked and nothing decided."
