"""What the evidence tools share: how a measure becomes an item, and how a lost supply is said.

A measure that cannot be taken is an `empty` item that says what was missing, never a number. A supply that was lost is one item
with the reason: the case then shows the hole.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from alphaagent.domain.evidence import EvidenceItem, Status, ToolName, evidence_item
from alphaagent.domain.market import Records
from alphaagent.errors import SourceFault
from alphaagent.evidence.gathered import Gathered, Supplied

FAULTS_NAMED = 3
"""How many unusable rows an error message names."""

LOST = frozenset({Status.FAILED, Status.EMPTY, Status.NOT_APPLICABLE})


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure before it is dated and sourced. `missing` says in words why it could not be taken, `pointless` why it says nothing here."""

    kind: str
    payload: dict[str, Any]
    summary: str
    missing: str | None = None
    pointless: str | None = None


def measure_item(
    g: Gathered, tool: ToolName, supplied: Supplied, measure: Measure, *, event_at: datetime, known_at: datetime, stale: str | None = None
) -> EvidenceItem:
    """The item of one measure. Worst news first: a supply in conflict, then `stale`, then what is missing."""
    status, note = _standing(supplied, measure, stale)
    return evidence_item(
        decision_as_of=g.as_of,
        ticker=g.ticker,
        tool=tool,
        kind=measure.kind,
        event_at=event_at,
        known_at=known_at,
        source=supplied.source,
        status=status,
        summary=": ".join(filter(None, (note, measure.pointless or measure.missing or measure.summary))),
        payload=measure.payload,
    )


def _standing(supplied: Supplied, measure: Measure, stale: str | None) -> tuple[Status, str | None]:
    if supplied.status is not Status.OK:
        return supplied.status, why_not_ok(supplied)
    if stale:
        return Status.STALE, stale
    if measure.pointless:
        return Status.NOT_APPLICABLE, None
    return (Status.EMPTY if measure.missing else Status.OK), None


def why_not_ok(supplied: Supplied) -> str:
    """Why a supply is not `ok`, in words."""
    return supplied.note or f"{supplied.source} is {supplied.status.value}"


def lost_item(g: Gathered, tool: ToolName, kind: str, supplied: Supplied, nothing: str) -> EvidenceItem:
    """The one item of a supply that failed, is empty or does not apply; dated at the close of the last completed session."""
    status = supplied.status if supplied.status in LOST else Status.EMPTY
    reason = supplied.note or nothing
    closed = g.calendar.closes(g.session)
    return evidence_item(
        decision_as_of=g.as_of,
        ticker=g.ticker,
        tool=tool,
        kind=kind,
        event_at=closed,
        known_at=closed,
        source=supplied.source,
        status=status,
        summary=f"{kind} {_ENDED[status]}: {reason}",
        payload={"reason": reason},
    )


_ENDED = {Status.FAILED: "lost", Status.EMPTY: "absent", Status.NOT_APPLICABLE: "not applicable"}


def reject_faults(records: Records) -> None:
    """Raises SourceFault naming the first unusable rows: a series with a hole in it is not measured."""
    faults = records.faults
    if not faults:
        return
    named = "; ".join(f"{fault.where}: {fault.message}" for fault in faults[:FAULTS_NAMED])
    more = f"; and {len(faults) - FAULTS_NAMED} more" if len(faults) > FAULTS_NAMED else ""
    raise SourceFault(f"{len(faults)} unusable rows: {named}{more}", fix="correct or remove the rows at the source")


def listed(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
