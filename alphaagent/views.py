"""Stored records become documents and rows, for the command line and the dashboard alike. Pure: nothing here prints or reads."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from alphaagent.debate.record import Transcript
from alphaagent.domain.base import decimal_text, instant_text, plain
from alphaagent.domain.debate import Case
from alphaagent.domain.evidence import EvidenceItem
from alphaagent.domain.portfolio import Account, FrozenName, Order, Position
from alphaagent.domain.record import DecisionRecord
from alphaagent.domain.ruling import Ruling
from alphaagent.domain.text import inert
from alphaagent.ports import AuditRef, StoredDecision
from alphaagent.views_debate import crew_document, debate_document

if TYPE_CHECKING:
    from alphaagent.evidence.snapshot_status import FileStatus
    from alphaagent.ledger.verify import VerifyReport

Document = dict[str, Any]


def decision_document(record: DecisionRecord, stored: StoredDecision | None, *, repeated: bool = False, transcript: Transcript | None = None) -> Document:
    """The public JSON of one decision (`decide --json`). A dry run has neither audit nor order; `transcript` tells who was asked."""
    document: Document = {
        "decision_id": record.decision_id,
        "stored": repeated,
        "ticker": record.request.ticker,
        "as_of": instant_text(record.request.as_of),
        "engine": record.result.engine,
        "provenance": record.provenance,
        "execution_mode": record.execution_mode,
        "fallback_reason": record.fallback_reason,
        "proposal": _proposal(record),
        "abstained": record.result.abstained,
        "bull_case": case_document(record.result.bull_case),
        "bear_case": case_document(record.result.bear_case),
        "debate": debate_document(record.result.debate),
        "crew": crew_document(transcript) if transcript else None,
        "transcript_sha256": record.transcript_sha256,
        "reading": reading_document(record),
        "evidence": {"pack_sha256": record.pack.sha256, "items": [evidence_document(item) for item in record.pack.items]},
        "guard": ruling_document(record.ruling),
        "usage": plain(record.usage),
    }
    return document if stored is None else document | _what_became(stored)


def failure_document(ticker: str, as_of: str, code: str, message: str, fix: str | None) -> Document:
    """The public JSON where nothing was decided."""
    return {"ticker": ticker, "as_of": as_of, "proposal": None, "guard": None, "order": None, "error": {"code": code, "message": message, "fix": fix}}


def _proposal(record: DecisionRecord) -> Document | None:
    return record.proposal.model_dump(mode="json", exclude_none=True) if record.proposal else None


def case_document(case: Case) -> Document:
    """A case; what only a model's case has is left out of another one."""
    return _without_blanks(plain(case), ("p_up", "stance", "counter")) | {
        "lines": [_without_blanks(plain(line), ("claim_id", "severity", "direction", "status", "faults")) for line in case.lines]
    }


def _without_blanks(document: Any, optional: tuple[str, ...]) -> Document:
    return {key: value for key, value in document.items() if key not in optional or value}


def reading_document(record: DecisionRecord) -> Document:
    """The heuristic engine's arithmetic: the score, its parts, and what would turn the action."""
    result = record.result
    return {
        "score": result.score,
        "target_weight": result.target_weight,
        "base_rate": result.base_rate,
        "hold_kind": result.hold_kind,
        "abstain_reason": result.abstain_reason,
        "flip": result.flip,
        "contributions": plain(result.contributions),
    }


def evidence_document(item: EvidenceItem) -> Document:
    document: Document = {
        "id": item.id,
        "tool": item.tool,
        "kind": item.kind,
        "side": list(item.sides),
        "as_of": instant_text(item.as_of),
        "known_at": instant_text(item.known_at),
        "source": item.source,
        "status": item.status.value,
        "summary": item.summary,
        "payload": item.payload,
    }
    return document | ({"published_at": instant_text(item.published_at)} if item.published_at else {})


def ruling_document(ruling: Ruling) -> Document:
    return {
        "stage": ruling.stage,
        "outcome": ruling.outcome.value,
        "code": ruling.code,
        "codes": list(ruling.codes),
        "quantity_in": decimal_text(ruling.quantity_in),
        "quantity_out": decimal_text(ruling.quantity_out),
        "price": decimal_text(ruling.price) if ruling.price is not None else None,
        "rules": [plain(rule) for rule in ruling.rules],
    }


def order_document(order: Order) -> Document:
    document: Document = {
        "id": order.id,
        "decision_id": order.decision_id,
        "ticker": order.symbol,
        "status": order.status.value,
        "side": order.side,
        "quantity": decimal_text(order.quantity),
        "fill_session": order.fill_session.isoformat(),
    }
    return document | ({"price": decimal_text(order.price)} if order.price is not None else {})


def audit_document(audit: AuditRef) -> Document:
    return {"seq": audit.seq, "hash": audit.hash}


def settled_document(order: Order, ruling: Ruling | None, reason: str, audit: AuditRef) -> Document:
    """What settlement did with one order."""
    return {"order": order_document(order), "reason": reason, "guard": ruling_document(ruling) if ruling else None, "audit": audit_document(audit)}


def settled_line(order: Order, ruling: Ruling | None, reason: str) -> str:
    """The same in one line of words."""
    price = f" at {decimal_text(order.price)} on {order.fill_session}" if order.price is not None else f": {reason}"
    clipped = f" (clipped by the guard: {ruling.code})" if ruling and ruling.outcome == "CLIP" else ""
    return f"{order.status.value}  {order.side} {decimal_text(order.quantity)} {order.symbol}{price}{clipped}  decision {order.decision_id}"


def portfolio_document(
    at: datetime, account: Account, marks: Mapping[str, Decimal | None], equity: Decimal, fault: str | None, frozen: Sequence[FrozenName] = ()
) -> Document:
    """Cash, NAV, positions at their marks, pending orders, frozen names; `books_fault` says why none of it can be trusted."""
    return {
        "portfolio": account.portfolio.name,
        "currency": account.portfolio.currency,
        "mandate": account.portfolio.mandate,
        "at": instant_text(at),
        "book_time": instant_text(account.book_time),
        "cash": decimal_text(account.cash),
        "settled_cash": decimal_text(account.settled_cash),
        "reserved_cash": decimal_text(account.reserved()),
        "equity": decimal_text(round(equity, 6)),
        "positions": [_position_document(position, marks[position.instrument_id], equity) for position in account.positions],
        "pending": [order_document(order) for order in account.pending],
        "frozen": [{"ticker": name.symbol, "since": instant_text(name.since), "reason": name.reason} for name in frozen],
        "books_fault": fault,
    }


def _position_document(position: Position, mark: Decimal | None, equity: Decimal) -> Document:
    value = None if mark is None else position.quantity * mark
    return {
        "ticker": position.symbol,
        "quantity": decimal_text(position.quantity),
        "cost": decimal_text(position.cost),
        "mark": decimal_text(mark) if mark is not None else None,
        "value": decimal_text(round(value, 6)) if value is not None else None,
        "weight": decimal_text(round(value / equity, 6)) if value is not None and equity > 0 else None,
        "unrealised": decimal_text(round(value - position.cost, 6)) if value is not None else None,
    }


def file_document(file: "FileStatus") -> Document:
    """One file of the recorded data against its manifest."""
    return dict(plain(asdict(file)))  # type: ignore[arg-type]


def verify_document(report: "VerifyReport") -> Document:
    """What `audit verify` found."""
    return {
        "exit_code": report.exit_code,
        "rows": report.rows,
        "rulings_replayed": report.rulings_replayed,
        "head": audit_document(report.head) if report.head else None,
        "not_anchored": report.not_anchored,
        "findings": [asdict(finding) for finding in report.findings],
    }


def verify_lines(report: "VerifyReport") -> list[str]:
    """The same in words."""
    lines = [f"{finding.code}  {f'row {finding.seq}: ' if finding.seq is not None else ''}{inert(finding.message)}" for finding in report.findings]
    head = f", head {report.head.seq} {report.head.hash[:16]}…" if report.head else ""
    lines.append(f"{report.rows} audit rows read{head}" + (f", {report.rulings_replayed} rulings made again" if report.rulings_replayed else ""))
    if report.not_anchored and report.exit_code in (0, 10):
        lines.append(f"{report.not_anchored} rows are not anchored: cutting or rewriting them would not be seen (`alphaagent audit anchor`)")
    return [*lines, "sound" if report.exit_code in (0, 10) else "NOT SOUND"]


def difference_document(before: DecisionRecord, after: DecisionRecord) -> Document:
    """What changed from one decision on a name to the next: action, score, each contribution, and the evidence by kind."""
    old, new = ({item.kind: item for item in record.pack.items if item.status.value == "ok"} for record in (before, after))
    return {
        "decision_id": before.decision_id,
        "as_of": instant_text(before.request.as_of),
        "action": {"before": _action(before), "after": _action(after)},
        "score": _change(before.result.score, after.result.score),
        "contributions": _contribution_changes(before, after),
        "evidence": {"new": sorted(new.keys() - old.keys()), "gone": sorted(old.keys() - new.keys()), "items": _item_changes(before, after)},
    }


def _action(record: DecisionRecord) -> str | None:
    return record.proposal.action.value if record.proposal else None


def _change(before: str | None, after: str | None) -> Document:
    known = before is not None and after is not None
    return {"before": before, "after": after, "change": decimal_text(Decimal(after or 0) - Decimal(before or 0)) if known else None}


def _contribution_changes(before: DecisionRecord, after: DecisionRecord) -> list[Document]:
    """Every factor of either decision, in the order of the later one; one that a decision does not have counts nothing there."""
    old, new = ({part.factor: part.contribution for part in record.result.contributions} for record in (before, after))
    return [{"factor": factor, **_change(old.get(factor, "0.0"), new.get(factor, "0.0"))} for factor in dict.fromkeys((*new, *old))]


def _item_changes(before: DecisionRecord, after: DecisionRecord) -> dict[str, dict[str, int]]:
    """Of kinds that may have several items, such as headlines: how many are new and how many are gone, told apart by what they say."""
    old, new = ({(item.kind, item.summary) for item in record.pack.items if item.status.value == "ok"} for record in (before, after))
    several = {kind for said in (old, new) for kind, count in Counter(kind for kind, _ in said).items() if count > 1}
    fresh, past = Counter(kind for kind, _ in new - old), Counter(kind for kind, _ in old - new)
    return {kind: {"new": fresh[kind], "gone": past[kind]} for kind in sorted(several) if fresh[kind] or past[kind]}


def _what_became(stored: StoredDecision) -> Document:
    """Order and audit row of a stored decision, and the later rulings on it."""
    later = [ruling_document(ruling) for _, ruling in stored.rulings if ruling.stage != "decide"]
    document: Document = {"order": order_document(stored.order) if stored.order else None, "audit": audit_document(stored.audit)}
    return document | ({"settlement": later[-1]} if later else {})


def evidence_counts(items: Sequence[EvidenceItem]) -> Mapping[str, Mapping[str, int]]:
    """How many items each tool returned, by status."""
    counts: dict[str, dict[str, int]] = {}
    for item in items:
        by_status = counts.setdefault(item.tool, {})
        by_status[item.status.value] = by_status.get(item.status.value, 0) + 1
    return counts
