"""Decisions, rulings and events as rows of the dashboard's tables and as words. Pure, like views.py."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from alphaagent.domain.base import decimal_text
from alphaagent.views_books import csv_text

if TYPE_CHECKING:
    from alphaagent.operations.review import ModelHealth

Row = dict[str, Any]
EXPORTED = (
    *("decision_id", "as_of", "ticker", "portfolio", "slot", "engine", "provenance", "debate_class", "action", "amount", "outcome", "code", "order"),
    "audit_seq",
)
FOREIGN = tuple(column for column in EXPORTED if column not in ("amount", "audit_seq"))
"""Columns that are text in a spreadsheet, whatever stands in them."""

ENGINES = {"crew": "a debate of models", "heuristic": "the rule engine"}
PROVENANCES = {
    "crew": "a debate of models",
    "heuristic": "the rule engine, as asked for",
    "fallback": "the rule engine, because no model could speak",
    "repaired": "a debate whose answer had to be mended",
}
CLASSES = {
    "earned": "the gap closed because somebody gave way or was answered, on evidence",
    "mixed": "some of everything, none of it clear",
    "stubborn": "both defended themselves and conceded nothing",
    "stagnant": "everything was put off, and nobody moved",
    "hollow": "the sides came together without anybody giving way",
    "capitulated": "a side gave in without defending itself",
    "theater": "objections were raised, and no valid answer came",
    "no_debate": "nobody answered anybody",
    "none": "no debate, or one without an exchange",
}


def decisions_csv(rows: Iterable[Row]) -> str:
    """The rows for a spreadsheet, which can be tricked by none of them."""
    return csv_text(EXPORTED, rows, FOREIGN)


def counted(found: Sequence[tuple[str, str, str, int]], meanings: Mapping[str, str], outcome: str) -> list[Row]:
    """Rulings of one outcome by their first reason, the most frequent first: `found` are (stage, outcome, code, count)."""
    whole = sum(count for *_, count in found)
    codes: dict[str, dict[str, int]] = {}
    for stage, ruled, code, count in found:
        if ruled == outcome:
            codes.setdefault(code, {})[stage] = count
    rows = [
        {
            "code": code,
            "count": sum(stages.values()),
            "share": sum(stages.values()) / whole,
            "at_decision": stages.get("decide", 0),
            "at_settlement": sum(stages.values()) - stages.get("decide", 0),
            "meaning": meanings.get(code, "a rule of another release"),
        }
        for code, stages in codes.items()
    ]
    return sorted(rows, key=lambda row: (-row["count"], row["code"]))


def event_row(seq: int, event: Mapping[str, Any]) -> Row:
    """One event of the audit trail in a line."""
    return {
        "seq": seq,
        "at": event["at"],
        "kind": event["kind"],
        "portfolio": event["portfolio"] or "",
        "ticker": event["ticker"] or ", ".join(event["detail"].get("tickers", ()))[:200],
        "what": _what(event),
    }


def _what(event: Mapping[str, Any]) -> str:
    detail = event["detail"]
    match event["kind"]:
        case "sweep":
            return _pass(detail)
        case "failure":
            return f"nothing was decided: {', '.join(event['codes'])}"
        case "notification_dead":
            return f"{detail['topic']} never reached {detail['target']} in {detail['attempts']} tries"
        case "control_changed":
            return f"{detail['state']}: {detail.get('reason', '')}"
        case _:
            return ", ".join(event["codes"]) or event["outcome"] or ""


def _pass(detail: Mapping[str, Any]) -> str:
    undone = ", ".join(f"{ticker} {how}" for ticker, how in sorted(detail["undone"].items()))
    told = f"{len(detail['decided'])} decided, {len(detail['repeated'])} decided before, {len(detail['undone'])} not decided"
    return f"{told}: {undone}" if undone else told


def amount(text: str | None) -> str:
    """An amount of a decision as a person reads it; nothing where there is none."""
    return "" if text is None or not Decimal(text) else f"{Decimal(text):,.2f}"


def provider_rows(health: "Sequence[ModelHealth]") -> list[Row]:
    """One row a model: what was paid for, and how the calls of the newest transcripts went."""
    return [
        {
            "provider": one.provider,
            "model": one.model,
            "debates": one.debates,
            "calls": one.calls,
            "tokens read": one.prompt_tokens,
            "tokens written": one.completion_tokens,
            "USD": decimal_text(round(one.cost, 4)),
            "calls looked at": one.looked_at,
            "median": _seconds(one.median_ms),
            "slowest twentieth": _seconds(one.p95_ms),
            "failed": ", ".join(f"{kind} {count}" for kind, count in sorted(one.failed.items())) or "none",
        }
        for one in health
    ]


def _seconds(milliseconds: int | None) -> str:
    return "–" if milliseconds is None else f"{milliseconds / 1000:.1f} s"
