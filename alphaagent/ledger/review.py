"""What a reader asks of many decisions at once: each in a few columns, the guard's rulings counted, the events of the log by the page.

Chosen on purpose: no stored document is opened for any of this, so that a long book costs what its rows cost.
"""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement
from sqlmodel import Session, col, func, select

from alphaagent.ledger.schema import AuditLogRow, DecisionRow, GuardResultRow, ModelSpendRow
from alphaagent.ledger.units import from_micros, from_units, to_micros

AT_ONCE = 2000


class Decided(NamedTuple):
    """One decision in the columns that its outcome is counted by."""

    seq: int
    decision_id: str
    ticker: str
    instrument_id: str
    session: str
    as_of: datetime
    provenance: str
    action: str | None
    debate_class: str | None
    p_up: float | None
    """What the engine gave as the probability of a higher close; None where it gave none."""


class Spent(NamedTuple):
    """What one model was paid for over some days."""

    provider: str
    model: str
    debates: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: Decimal


def decided(session: Session) -> Iterator[Decided]:
    """Every decision, oldest first."""
    columns = (DecisionRow.id, DecisionRow.ticker, DecisionRow.instrument_id, DecisionRow.session, DecisionRow.as_of)
    more = (DecisionRow.provenance, DecisionRow.action, DecisionRow.debate_class)
    joined = col(DecisionRow.id) == col(AuditLogRow.decision_id)
    query: Any = select(AuditLogRow.seq, *columns, *more, AuditLogRow.payload).join(DecisionRow, joined).where(AuditLogRow.kind == "decision")  # type: ignore[call-overload]
    same: dict[Any, Any] = {}
    shared = same.setdefault  # few tickers, sessions and words for many decisions: each is kept once
    for seq, id_, ticker, known, on, as_of, made, action, found, payload in session.exec(
        query.order_by(col(AuditLogRow.seq)).execution_options(yield_per=AT_ONCE)
    ):
        named = (shared(ticker, ticker), shared(known, known), shared(on, on))
        yield Decided(seq, id_, *named, from_micros(as_of), shared(made, made), shared(action, action), shared(found, found), _p_up(payload))


_P_UP = re.compile(r'"p_up":"([0-9.]+)"')
"""In the canonical text of a payload, in which every quotation mark inside a text is escaped, so that no text can look like it."""


def _p_up(payload: str) -> float | None:
    stated = _P_UP.search(payload)
    return float(stated[1]) if stated else None


def rulings(session: Session, since: datetime, until: datetime) -> list[tuple[str, str, str, int]]:
    """The guard's rulings made in [since, until]: stage, outcome, first reason, and how many."""
    kept = (col(GuardResultRow.stage), col(GuardResultRow.outcome), col(GuardResultRow.primary_code))
    made = col(GuardResultRow.evaluated_at).between(to_micros(since), to_micros(until))
    query: Any = select(*kept, func.count()).where(made).group_by(*kept).order_by(*kept)
    return [(stage, outcome, code, count) for stage, outcome, code, count in session.exec(query)]


def events(session: Session, kinds: Collection[str], limit: int, offset: int) -> Sequence[tuple[int, dict[str, Any]]]:
    """The newest events of some kinds, newest first, each with its number in the log."""
    query = select(AuditLogRow.seq, AuditLogRow.payload).where(_of(kinds)).order_by(col(AuditLogRow.seq).desc()).limit(limit).offset(offset)
    return [(seq, json.loads(payload)) for seq, payload in session.exec(query)]


def event_count(session: Session, kinds: Collection[str]) -> int:
    """How many events of some kinds there are."""
    return session.exec(select(func.count()).select_from(AuditLogRow).where(_of(kinds))).one()


def _of(kinds: Collection[str]) -> ColumnElement[bool]:
    return col(AuditLogRow.kind).in_(kinds)


def failures(session: Session) -> dict[str, int]:
    """How often nothing was decided, by code."""
    query = select(AuditLogRow.payload).where(AuditLogRow.kind == "failure")
    found: dict[str, int] = {}
    for payload in session.exec(query):
        for code in json.loads(payload)["codes"]:
            found[code] = found.get(code, 0) + 1
    return found


def spent(session: Session, since: date, until: date) -> list[Spent]:
    """What models were paid for on the UTC days [since, until], by provider and model."""
    model = (col(ModelSpendRow.provider), col(ModelSpendRow.model))
    counted = (ModelSpendRow.calls, ModelSpendRow.prompt_tokens, ModelSpendRow.completion_tokens, ModelSpendRow.cost)
    sums = [func.coalesce(func.sum(column), 0) for column in counted]
    days = col(ModelSpendRow.day).between(since.isoformat(), until.isoformat())
    query: Any = select(*model, func.count(), *sums).where(days, ModelSpendRow.state == "booked").group_by(*model).order_by(*model)
    found = session.exec(query)
    return [Spent(name, one, debates, int(calls), int(read), int(wrote), from_units(int(cost))) for name, one, debates, calls, read, wrote, cost in found]


def newest_transcripts(session: Session, limit: int, among: int) -> list[str]:
    """The hashes of the newest debates' transcripts, looked for among so many of the newest decisions and failures."""
    query = select(AuditLogRow.payload).where(_of(("decision", "failure"))).order_by(col(AuditLogRow.seq).desc()).limit(among)
    found = (json.loads(payload)["detail"].get("transcript") for payload in session.exec(query))
    return [sha256 for sha256 in found if sha256][:limit]


def span(session: Session) -> tuple[datetime, datetime] | None:
    """From the first to the last ruling in book time; None where there is none."""
    first, last = session.exec(select(func.min(GuardResultRow.evaluated_at), func.max(GuardResultRow.evaluated_at))).one()
    return None if first is None else (from_micros(first), from_micros(last))
