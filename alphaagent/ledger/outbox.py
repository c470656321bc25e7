"""The outbox: what is to be told, one row per target, written in the transaction of what it tells and sent later by whoever comes by.

Chosen on purpose: a row is claimed for a while by a conditional update, sent, and then marked, so that a sender that dies in between costs a repeat
and never a loss; the receiver has the key. Where nobody is configured nothing is written, and a target that is added later hears of what happens
from then on. The audit trail does not vouch for this table: it holds nothing that is not written elsewhere.
"""

import json
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from sqlalchemy import ColumnElement, and_, func, or_, update
from sqlmodel import Session, col, select

from alphaagent.domain.base import Json
from alphaagent.domain.notice import Claimed, Notice, Routes, Topic
from alphaagent.ledger.journal import Journal
from alphaagent.ledger.schema import OutboxRow
from alphaagent.ledger.telling import post
from alphaagent.ledger.units import from_micros, to_micros
from alphaagent.ports import Clock

GONE = timedelta(days=1)
"""How long something waits for a target that the file does not name any more: it may be named again, and that is no loss."""
MOST_TRIES = 8
"""After so many a notice is a dead letter."""
_OPEN = and_(col(OutboxRow.sent_at).is_(None), col(OutboxRow.dead_at).is_(None))


class SqlOutbox:
    """The outbox of one ledger, in short write transactions of its own."""

    def __init__(
        self,
        writing: Callable[[], AbstractContextManager[Session]],
        reading: Callable[[], AbstractContextManager[Session]],
        clock: Clock,
        routes: Routes,
    ) -> None:
        self._writing = writing
        self._reading = reading
        self._clock = clock
        self._routes = routes

    def announce(self, notice: Notice) -> int:
        """A notice that belongs to no audited act, such as a digest. How many targets will hear of it for the first time."""
        with self._writing() as session:
            return post(session, self._routes, (notice,), self._clock.now())

    def claim(self, targets: Collection[str], topics: Collection[Topic], lease_seconds: float) -> Claimed | None:
        """A notice that may be sent to one of these targets, held for `lease_seconds`; None where there is none.

        The oldest of those that were tried least: one that never arrives holds up nothing.
        """
        now = self._clock.now()
        free = and_(_OPEN, col(OutboxRow.attempts) < MOST_TRIES, _not_held(now))
        wanted = and_(col(OutboxRow.target).in_(targets), col(OutboxRow.topic).in_(topics))
        with self._writing() as session:
            row = session.exec(select(OutboxRow).where(free, wanted).order_by(col(OutboxRow.attempts), col(OutboxRow.id)).limit(1)).first()
            if row is None:
                return None
            token, until = uuid4().hex, to_micros(now + timedelta(seconds=lease_seconds))
            claimed = update(OutboxRow).where(col(OutboxRow.id) == row.id, free)
            taken = session.connection().execute(claimed.values(claimed_until=until, claim_token=token, attempts=row.attempts + 1)).rowcount
            return _claimed(row, token) if taken else None

    def sent(self, claimed: Claimed) -> bool:
        """Marks a notice as sent; False where somebody else holds it by now, or has sent it."""
        return self._close(claimed, {"sent_at": to_micros(self._clock.now()), "last_fault": None})

    def failed(self, claimed: Claimed, pause_seconds: float, why: str) -> bool:
        """Gives a notice back, to be tried again after a pause."""
        return self._close(claimed, {"claimed_until": to_micros(self._clock.now() + timedelta(seconds=pause_seconds)), "claim_token": None, "last_fault": why})

    def bury(self, known: Collection[str]) -> int:
        """Turns into dead letters, each with one audit row, what was tried in vain too often, and what has waited for a day for a target that is not
        among these `known` ones any more. BooksUnsound where the trail cannot be written to."""
        now = self._clock.now()
        gone = and_(col(OutboxRow.target).not_in(known), col(OutboxRow.created_at) <= to_micros(now - GONE))
        hopeless = select(OutboxRow).where(_OPEN, or_(col(OutboxRow.attempts) >= MOST_TRIES, gone), _not_held(now)).order_by(col(OutboxRow.id))
        with self._reading() as session:
            if session.exec(hopeless.limit(1)).first() is None:
                return 0
        with self._writing() as session:
            journal = Journal(session, self._clock)
            dead = session.exec(hopeless).all()
            for row in dead:
                row.dead_at = to_micros(now)
                journal.update(row)
                detail: dict[str, Json] = {"topic": row.topic, "target": row.target, "key": row.dedupe_key, "attempts": row.attempts}
                journal.append("notification_dead", now, detail=detail)
            return len(dead)

    def counts(self) -> dict[str, dict[str, int]]:
        """How many notices of each target wait, were sent, and are dead."""
        columns = (func.count(), func.count(col(OutboxRow.sent_at)), func.count(col(OutboxRow.dead_at)))
        with self._reading() as session:
            rows = session.exec(select(OutboxRow.target, *columns).group_by(col(OutboxRow.target))).all()
        return {target: {"waiting": total - sent - dead, "sent": sent, "dead": dead} for target, total, sent, dead in rows}

    def unsent(self, limit: int) -> Sequence[dict[str, Any]]:
        """The newest notices that have not reached their target, newest first."""
        with self._reading() as session:
            rows = session.exec(select(OutboxRow).where(col(OutboxRow.sent_at).is_(None)).order_by(col(OutboxRow.id).desc()).limit(limit)).all()
            return [_listed(row) for row in rows]

    def _close(self, claimed: Claimed, values: dict[str, Any]) -> bool:
        mine = and_(_OPEN, col(OutboxRow.id) == claimed.id, col(OutboxRow.claim_token) == claimed.token)
        with self._writing() as session:
            return bool(session.connection().execute(update(OutboxRow).where(mine).values(**values)).rowcount)


def _not_held(now: datetime) -> ColumnElement[bool]:
    """Neither being sent by somebody nor resting after a failed try."""
    return or_(col(OutboxRow.claimed_until).is_(None), col(OutboxRow.claimed_until) <= to_micros(now))


def _claimed(row: OutboxRow, token: str) -> Claimed:
    topic: Topic = row.topic  # type: ignore[assignment]
    return Claimed(row.id or 0, token, row.target, Notice(topic, row.dedupe_key, _facts(row.payload)), from_micros(row.created_at), row.attempts + 1)


def _facts(payload: str) -> dict[str, Json]:
    """What was announced; nothing where somebody made the text unreadable, which must not hold up what comes after it."""
    try:
        facts = json.loads(payload)
    except ValueError:
        return {}
    return facts if isinstance(facts, dict) else {}


def _listed(row: OutboxRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "target": row.target,
        "topic": row.topic,
        "key": row.dedupe_key,
        "announced_at": from_micros(row.created_at),
        "tries": row.attempts,
        "next_try_at": from_micros(row.claimed_until) if row.claimed_until is not None and row.dead_at is None else None,
        "dead": row.dead_at is not None,
        "last_fault": row.last_fault,
    }
