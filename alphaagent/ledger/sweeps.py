"""The audit row of a pass over a watchlist: one event, however many names it went over.

A pass that is repeated changes nothing and leaves no row. One that fails in the same way as the pass before leaves none either: whoever
runs it every ten minutes is told once.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlmodel import Session, col, select

from alphaagent.domain.base import Json
from alphaagent.domain.sweep import Swept
from alphaagent.ledger import decisions
from alphaagent.ledger.journal import Journal
from alphaagent.ledger.schema import AuditLogRow
from alphaagent.ports import AuditRef

KIND = "sweep"


def record(journal: Journal, portfolio: str, swept: Swept, at: datetime) -> AuditRef | None:
    """Writes the row, unless there is nothing new to say."""
    if swept.changes_nothing and dict(swept.undone) == _last_undone(journal.session, portfolio):
        return None
    detail: dict[str, Json] = {
        "decided": swept.decided,
        "repeated": swept.repeated,
        "undone": swept.undone,
        "settled": swept.settled,
        "unpaid": swept.unpaid,
        "screened_out": swept.screened_out,
        "reduce_only": swept.reduce_only,
        "report": journal.keep(swept.report),
    }
    return journal.append(KIND, at, portfolio=portfolio, detail=detail)


def newest(session: Session, most: int) -> Sequence[dict[str, Any]]:
    """What the last passes came to, newest first: each in the words of the report that was kept with it."""
    query = select(AuditLogRow.payload).where(AuditLogRow.kind == KIND).order_by(col(AuditLogRow.seq).desc())
    named = [json.loads(payload)["detail"]["report"] for payload in session.exec(query.limit(most))]
    return [json.loads(decisions.blob(session, sha256)) for sha256 in named]


def _last_undone(session: Session, portfolio: str) -> Mapping[str, str]:
    """What the last row of this portfolio left undone; nothing where there is none."""
    for payload in session.exec(select(AuditLogRow.payload).where(AuditLogRow.kind == KIND).order_by(col(AuditLogRow.seq).desc())):
        fields: dict[str, Any] = json.loads(payload)
        if fields["portfolio"] == portfolio:
            return dict(fields["detail"]["undone"])
    return {}
