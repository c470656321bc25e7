"""`ports.Store` on SQLite: transactions that are taken before anything is read in them, claims, and the way back to a decision."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

from sqlalchemy import Engine
from sqlmodel import Session, func, select

from alphaagent.domain.notice import NOBODY, Routes
from alphaagent.domain.portfolio import Order, Portfolio
from alphaagent.domain.record import Usage
from alphaagent.domain.spend import SpendAsk, SpendLimit, SpendLine, SpendRef, SpendTotal
from alphaagent.errors import ConfigFault
from alphaagent.ledger import audit, database, decisions, export, happened, listing, review, slots, spend, sweeps
from alphaagent.ledger.books import SqlBooks
from alphaagent.ledger.journal import Journal
from alphaagent.ledger.outbox import SqlOutbox
from alphaagent.ledger.schema import AuditLogRow, ControlStateRow
from alphaagent.ports import AuditRef, Claim, Clock, StoredDecision

SCHEDULE = "schedule:"


class SqlStore:
    """A ledger in one SQLite file. Made by `open` or `open_existing`; closed by `close` or by leaving a `with` block."""

    def __init__(self, path: Path, clock: Clock, *, writer: Engine | None, routes: Routes = NOBODY) -> None:
        self.path = path
        self._clock = clock
        self._routes = routes
        self._writer = writer
        self._reader = database.reader(path)

    @classmethod
    def open(cls, url: str, clock: Clock, *, ledger_uuid: str | None = None, routes: Routes = NOBODY) -> Self:
        """Opens the ledger, makes it where there is none, and brings an older schema up to date.

        `ledger_uuid` fixes the identity of a new ledger; by default it is random. `routes` say who is to hear of what. Raises ConfigFault and
        BooksUnsound.
        """
        path = database.database_path(url)
        if not path.exists():
            database.create_file(path)
        stale = database.needs_migration(path)
        store = cls(path, clock, writer=database.writer(path), routes=routes)
        if stale:
            store._migrate(ledger_uuid or str(uuid4()))
        return store

    @classmethod
    def open_existing(cls, url: str, clock: Clock) -> Self | None:
        """Opens a ledger for reading only, beside whoever writes it; None where there is none. Nothing is made or changed."""
        path = database.database_path(url)
        if not path.exists() or database.schema_version(path) is None:
            return None
        if database.needs_migration(path):
            raise ConfigFault(f"the ledger {path} has an older schema", fix="run a command that writes, e.g. `alphaagent settle`, to bring it up to date")
        return cls(path, clock, writer=None)

    def close(self) -> None:
        """Gives every connection back; the store cannot be used afterwards."""
        for engine in (self._writer, self._reader):
            if engine is not None:
                engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @property
    def outbox(self) -> SqlOutbox:
        """What is to be told, and to whom."""
        return SqlOutbox(self._writing, self._reading, self._clock, self._routes)

    @contextmanager
    def write(self) -> Iterator[SqlBooks]:
        with self._writing() as session:
            yield SqlBooks(session, self._clock, self._routes)

    @contextmanager
    def read(self) -> Iterator[SqlBooks]:
        with self._reading() as session:
            yield SqlBooks(session, self._clock)

    def claim(self, key: str, request_hash: str, wait: Callable[[float], None]) -> Claim | StoredDecision:
        """The slot for this run, or the decision that took it; waits while another run holds it.

        Raises UsageFault where a different request took it.
        """
        while True:
            with self._writing() as session:
                taken = slots.try_claim(session, key, request_hash, self._clock.now())
                stored = decisions.find(session, taken) if isinstance(taken, str) else None
            if isinstance(taken, Claim):
                return taken
            if stored is not None:
                return stored
            wait(slots.POLL_SECONDS)

    def decided_in(self, key: str) -> StoredDecision | None:
        with self._reading() as session:
            decision_id = slots.decided(session, key)
            return decisions.find(session, decision_id) if decision_id else None

    def renew(self, claims: Iterable[Claim]) -> None:
        with self._writing() as session:
            slots.renew(session, claims, self._clock.now())

    def release(self, claim: Claim) -> None:
        with self._writing() as session:
            slots.release(session, claim)

    def decision(self, decision_id: str) -> StoredDecision | None:
        with self._reading() as session:
            return decisions.find(session, decision_id)

    def transcript(self, decision_id: str) -> bytes | None:
        with self._reading() as session:
            return decisions.transcript(session, decision_id)

    def decisions(self, *, ticker: str | None = None, portfolio: str | None = None, limit: int = 50) -> Sequence[StoredDecision]:
        with self._reading() as session:
            return decisions.latest(session, ticker, portfolio, limit)

    def transactions(self, portfolio: str, limit: int) -> Sequence[dict[str, Any]]:
        """The newest transactions of a portfolio with their postings, oldest first."""
        with self._reading() as session:
            return listing.transactions(session, portfolio, limit)

    @contextmanager
    def exported(self, portfolio: str) -> Iterator[Iterator[export.ExportedPosting]]:
        """Every posting of a portfolio, oldest first, as one reader sees them however long it takes."""
        with self._reading() as session:
            yield export.postings(session, portfolio)

    def decision_rows(self, wanted: listing.DecisionFilter, limit: int, offset: int = 0) -> Sequence[dict[str, Any]]:
        """The decisions that pass a filter, newest first, one flat row each; `offset` leaves out so many of the newest."""
        return list(self.decision_stream(wanted, limit, offset))

    def decision_stream(self, wanted: listing.DecisionFilter, limit: int, offset: int = 0) -> Iterator[dict[str, Any]]:
        """The same, read as they are asked for."""
        with self._reading() as session:
            yield from listing.decisions(session, wanted, limit, offset)

    def decision_count(self, wanted: listing.DecisionFilter) -> int:
        """How many decisions pass a filter."""
        with self._reading() as session:
            return listing.count(session, wanted)

    def decided(self) -> Iterator[review.Decided]:
        """Every decision in a few columns, oldest first, read as it is asked for."""
        with self._reading() as session:
            yield from review.decided(session)

    @contextmanager
    def review(self) -> Iterator[Session]:
        """One snapshot of the books for the queries of `ledger.review`."""
        with self._reading() as session:
            yield session

    def previous(self, decision_id: str) -> StoredDecision | None:
        """The decision before this one on the same instrument in the same portfolio; None where it was the first."""
        with self._reading() as session:
            found = listing.before(session, decision_id)
            return decisions.find(session, found) if found else None

    def following(self, decision_id: str) -> str | None:
        """The id of the decision after this one on the same instrument in the same portfolio; None where it is the last."""
        with self._reading() as session:
            return listing.after(session, decision_id)

    def head_seq(self) -> int:
        """How many rows the audit trail has."""
        with self._reading() as session:
            return session.exec(select(func.coalesce(func.max(AuditLogRow.seq), 0))).one()

    def events(self, kinds: Collection[str], since: datetime, until: datetime) -> Sequence[dict[str, Any]]:
        """What the audit trail says of some kinds of acts with book time in [since, until]."""
        with self._reading() as session:
            return happened.events(session, kinds, since, until)

    def ended_orders(self, portfolio: Portfolio, since: datetime, until: datetime) -> tuple[Order, ...]:
        """The orders of a portfolio that were filled or ended otherwise in [since, until]."""
        with self._reading() as session:
            return happened.ended_orders(session, portfolio, since, until)

    def sweeps(self, most: int) -> Sequence[dict[str, Any]]:
        """What the last passes over a watchlist came to, newest first, as `sweep_report.summary` says it."""
        with self._reading() as session:
            return sweeps.newest(session, most)

    def reserve_spend(self, ask: SpendAsk, ceiling: Decimal | None, limits: Sequence[SpendLimit] = ()) -> SpendRef:
        with self._writing() as session:
            return spend.reserve(Journal(session, self._clock), ask, ceiling, self._clock.now(), limits)

    def book_spend(self, token: str, usage: Usage, cost: Decimal | None, decision_id: str | None) -> AuditRef:
        with self._writing() as session:
            return spend.book(Journal(session, self._clock), token, usage, cost, decision_id, self._clock.now())

    def release_spend(self, token: str) -> AuditRef:
        return self.book_spend(token, Usage(), Decimal(0), None)

    def spent_on(self, day: date, portfolio: str | None = None) -> SpendTotal:
        with self._reading() as session:
            return spend.total(session, day, portfolio)

    def last_debates(self, portfolio: str) -> dict[str, datetime]:
        with self._reading() as session:
            return spend.last_debates(session, portfolio)

    def spend_lines(self, day: date) -> tuple[SpendLine, ...]:
        """What a day's spend went to, by portfolio, provider and model."""
        with self._reading() as session:
            return spend.lines(session, day)

    def remembered(self, key: str) -> str | None:
        """What the schedule last wrote down under a key."""
        with self._reading() as session:
            row = session.get(ControlStateRow, SCHEDULE + key)
            return row.value if row else None

    def remember(self, key: str, value: str) -> None:
        """Writes down what the schedule has to know after a restart. It stands in the books, so that a restored copy knows what that copy knew."""
        with self._writing() as session:
            row = session.get(ControlStateRow, SCHEDULE + key) or ControlStateRow(key=SCHEDULE + key, value="", version=0)
            row.value, row.version = value, row.version + 1
            Journal(session, self._clock).update(row)

    @contextmanager
    def _writing(self) -> Iterator[Session]:
        if self._writer is None:
            raise ConfigFault(f"the ledger {self.path} was opened for reading only")
        with database.faults(self.path), Session(self._writer, autoflush=False, expire_on_commit=False) as session:
            session.connection()
            yield session
            committed = False
            try:
                session.commit()
                committed = True
            finally:
                if not committed:
                    session.invalidate()  # after a failed commit the handle's state is unknown: it is closed, never used again

    @contextmanager
    def _reading(self) -> Iterator[Session]:
        with database.faults(self.path), Session(self._reader, autoflush=False) as session:
            yield session

    def _migrate(self, ledger_uuid: str) -> None:
        upgrade = database.migration()
        with self._writing() as session:
            upgrade(session.connection())
            if not audit.has_started(session):
                audit.start(session, ledger_uuid)
                SqlBooks(session, self._clock).write_control("ACTIVE", "new ledger", self._clock.now())
