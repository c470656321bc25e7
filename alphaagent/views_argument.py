"""The argument of a debate as a document: each claim with who hit it and how that was answered, what stays open and what would settle it, and
the two probabilities round by round. Pure.
"""

from typing import Any

from alphaagent.debate.blend import blend
from alphaagent.debate.metrics import Metrics
from alphaagent.debate.record import DebateRecord
from alphaagent.debate.rows import ClaimState, Ledger, LedgerRow
from alphaagent.debate.thresholds import Thresholds
from alphaagent.debate.trajectory import worth_running
from alphaagent.domain.base import decimal_text, plain

Document = dict[str, Any]


def argument_document(debate: DebateRecord, thresholds: Thresholds) -> Document | None:
    """What was argued and what it came to; None where no phase was completed."""
    metrics = debate.metrics
    if metrics is None:
        return None
    book = metrics.ledger
    return {
        "claims": [_claim(claim, book, debate.checked.get(claim.id)) for claim in book.claims],
        "open": [plain(point) for point in metrics.unresolved],
        "rounds": [plain(point) for point in metrics.trajectory],
        "base_rate": decimal_text(debate.p0),
        "measures": _measures(metrics) | _final(metrics, thresholds),
        "skipped": plain(debate.skipped),
        "commits": {event.side: event.sha256 for event in debate.gate if event.sha256},
        "concessions": plain(book.concessions),
        "stances": [plain(reading) for reading in metrics.stances if reading.verdict != "ok"],
    }


def _measures(metrics: Metrics) -> Document:
    shares = metrics.convergence
    return {
        "class": metrics.debate_class,
        "outcome": metrics.outcome,
        "closed_by": metrics.closed_by,
        "gap_closure": None if metrics.gap_closure is None else decimal_text(metrics.gap_closure),
        "settled": {"part": shares.settled.part, "of": shares.settled.whole},
        "contested": {"part": shares.contested.part, "of": shares.contested.whole},
        "flags": [plain(flag) for flag in metrics.flags],
    }


def _final(metrics: Metrics, thresholds: Thresholds) -> Document:
    """The final probability with all that it is made of, so that none is shown without the gap. Without a panel it is the middle, unanchored."""
    first, last = metrics.trajectory[0], metrics.trajectory[-1]
    made = blend(None, last.mid, last.gap, metrics.debate_class, thresholds.blend_weight)
    return {
        "p_final": decimal_text(made.p_final),
        "p_mid": decimal_text(made.p_mid),
        "gap": decimal_text(made.gap),
        "anchored": made.anchored,
        "weight": decimal_text(made.weight),
        "weight_used": decimal_text(made.weight_used),
        "worth_running": worth_running(first.gap, metrics.trajectory, thresholds),
    }


def _claim(state: ClaimState, book: Ledger, checked: str | None) -> Document:
    claim = state.claim
    return {
        "id": state.id,
        "by": state.side,
        "status": state.status,
        "text": claim.text,
        "as_first_said": state.transitions[0].text if state.version > 1 else None,
        "kind": claim.kind,
        "direction": claim.direction,
        "severity": claim.severity,
        "evidence_ids": list(claim.evidence_ids),
        "number": checked,
        "assertion": plain(claim.assertion),
        "hits": [_hit(row, book) for row in book.rows if row.claim_id == state.id],
    }


def _hit(row: LedgerRow, book: Ledger) -> Document:
    placed = book.objection(row.id)
    said = placed.objection if placed else None
    return {
        "id": row.id,
        "by": row.by,
        "status": row.status,
        "closed_by": row.closed_by,
        "argument": said.argument if said else "",
        "severity": said.severity if said else None,
        "fallacy": said.fallacy if said else None,
        "evidence_ids": list(said.evidence_ids) if said else [],
        "answers": [plain(event) for event in row.history],
    }
