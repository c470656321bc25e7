"""The archive of live data: every document that was fetched, with the instant at which it was fetched, and nothing ever changed or removed.

SQLite in one file under the home, apart from the books: losing it loses no decision, for a decision's record holds its own evidence. Documents are
content-addressed, so that a document fetched again unchanged costs one short row. A failure is an observation as well, without a document: that
is what tells silence from emptiness afterwards.
"""

import json
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from alphaagent.domain.base import sha256_hex
from alphaagent.errors import ConfigFault, SourceFault, VendorFaultKind

SCHEMA_VERSION = 1
PATIENCE_SECONDS = 30.0
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
SCHEMA = """
CREATE TABLE documents (
    sha256 TEXT PRIMARY KEY CHECK (length(sha256) = 64),
    octets INTEGER NOT NULL,
    packed BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE observations (
    id INTEGER PRIMARY KEY,
    vendor TEXT NOT NULL,
    topic TEXT NOT NULL,
    instrument TEXT NOT NULL,
    fetched_at INTEGER NOT NULL,
    holds_until INTEGER NOT NULL,
    ended TEXT NOT NULL,
    sha256 TEXT REFERENCES documents(sha256),
    validators TEXT NOT NULL,
    note TEXT NOT NULL
);
CREATE INDEX observations_of ON observations(instrument, topic, vendor, fetched_at);
CREATE TRIGGER observations_stay BEFORE UPDATE ON observations BEGIN SELECT RAISE(ABORT, 'the archive is append-only'); END;
CREATE TRIGGER observations_remain BEFORE DELETE ON observations BEGIN SELECT RAISE(ABORT, 'the archive is append-only'); END;
CREATE TRIGGER documents_stay BEFORE UPDATE ON documents BEGIN SELECT RAISE(ABORT, 'the archive is append-only'); END;
CREATE TRIGGER documents_remain BEFORE DELETE ON documents BEGIN SELECT RAISE(ABORT, 'the archive is append-only'); END;
"""

Ended = Literal["ok", "unchanged", "nothing"] | VendorFaultKind
"""How a fetch ended: with a document, with the one before, with the vendor's word that there is none, or with a failure."""
LOOKED: tuple[Ended, ...] = ("ok", "unchanged", "nothing")
"""The fetches after which it is known what the vendor has."""


@dataclass(frozen=True, slots=True)
class Series:
    """What is observed over time: one topic of one vendor about one instrument."""

    vendor: str
    topic: str
    instrument: str


@dataclass(frozen=True, slots=True)
class Observation:
    """One fetch. `sha256` names its document; None where there is none."""

    series: Series
    fetched_at: datetime
    holds_until: datetime
    """Until when it is true that this is what the vendor says; after that it is only what it said."""
    ended: Ended
    sha256: str | None
    validators: Mapping[str, str]
    note: str

    @property
    def looked(self) -> bool:
        return self.ended in LOOKED


_COLUMNS = "vendor, topic, instrument, fetched_at, holds_until, ended, sha256, validators, note"


class Archive:
    """Safe to use from several threads and processes: each call is a connection and a transaction of its own."""

    def __init__(self, path: Path) -> None:
        """Nothing is made before something is written."""
        self.path = path

    def keep(
        self,
        series: Series,
        fetched_at: datetime,
        holds_until: datetime,
        ended: Ended,
        raw: bytes | None = None,
        *,
        same_as: str | None = None,
        validators: Mapping[str, str] | None = None,
        note: str = "",
    ) -> Observation:
        """Appends one observation, with its document or with that of an earlier one (`same_as`, its sha256)."""
        sha256 = same_as if raw is None else sha256_hex(raw)
        made = Observation(series, fetched_at, holds_until, ended, sha256, dict(validators or {}), note)
        with self._open(writing=True) as connection:
            if raw is not None:
                packed = zlib.compress(raw, 6)
                connection.execute("INSERT INTO documents VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (sha256, len(raw), packed))
            connection.execute(f"INSERT INTO observations ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", _row(made))
        return made

    def document(self, sha256: str) -> bytes:
        """A document by its hash, checked against it. Raises SourceFault where it is missing or damaged."""
        with self._open() as connection:
            row = connection.execute("SELECT packed FROM documents WHERE sha256 = ?", (sha256,)).fetchone()
        try:
            raw = zlib.decompress(row[0]) if row else b""
        except zlib.error:
            raw = b""
        if sha256_hex(raw) != sha256:
            raise SourceFault(
                f"the document {sha256[:12]} of the archive {self.path} is missing or damaged", fix="restore the archive from a copy, or fetch again"
            )
        return raw

    def observations(self, series: Series, *, upto: datetime | None = None, limit: int = 1000) -> tuple[Observation, ...]:
        """The newest observations of a series, oldest first."""
        where, values = "vendor = ? AND topic = ? AND instrument = ?", [series.vendor, series.topic, series.instrument]
        return self._select(f"{where} AND fetched_at <= ?", [*values, _micros(upto) if upto else 2**62], limit)

    def in_force(self, series: Series, as_of: datetime) -> Observation | None:
        """The last look before `as_of`, where it still held then; a failed fetch is no look."""
        found = self._looks(series, "fetched_at < ?", as_of, "DESC")
        return found if found is not None and as_of <= found.holds_until else None

    def first_after(self, series: Series, as_of: datetime) -> Observation | None:
        """The first look at or after `as_of`: what it holds was there then or came later, and known_at tells which."""
        return self._looks(series, "fetched_at >= ?", as_of, "ASC")

    def last_before(self, series: Series, as_of: datetime) -> Observation | None:
        """The last look before `as_of`, however long ago."""
        return self._looks(series, "fetched_at < ?", as_of, "DESC")

    def last(self, series: Series) -> Observation | None:
        """The last fetch of all, failures included."""
        found = self._select("vendor = ? AND topic = ? AND instrument = ?", [series.vendor, series.topic, series.instrument], 1)
        return found[0] if found else None

    def series(self) -> tuple[Series, ...]:
        """Everything that has ever been asked for, in order."""
        with self._open() as connection:
            rows = connection.execute("SELECT DISTINCT vendor, topic, instrument FROM observations ORDER BY instrument, topic, vendor").fetchall()
        return tuple(Series(*row) for row in rows)

    def size(self) -> tuple[int, int]:
        """Documents, and their bytes as they came."""
        with self._open() as connection:
            count, octets = connection.execute("SELECT count(*), coalesce(sum(octets), 0) FROM documents").fetchone()
        return int(count), int(octets)

    def _looks(self, series: Series, when: str, as_of: datetime, order: Literal["ASC", "DESC"]) -> Observation | None:
        found = self._select(
            f"vendor = ? AND topic = ? AND instrument = ? AND ended IN ('ok', 'unchanged', 'nothing') AND {when}",
            [series.vendor, series.topic, series.instrument, _micros(as_of)],
            1,
            order,
        )
        return found[0] if found else None

    def _select(self, where: str, values: Sequence[str | int], limit: int, order: Literal["ASC", "DESC"] = "DESC") -> tuple[Observation, ...]:
        query = f"SELECT {_COLUMNS} FROM observations WHERE {where} ORDER BY fetched_at {order}, id {order} LIMIT ?"
        with self._open() as connection:
            rows = connection.execute(query, (*values, limit)).fetchall()
        return tuple(sorted(map(_observation, rows), key=lambda one: one.fetched_at))

    @contextmanager
    def _open(self, *, writing: bool = False) -> Iterator[sqlite3.Connection]:
        """One transaction. An archive that is not there yet is empty to whoever reads. Raises ConfigFault on a file that is no archive of ours."""
        try:
            connection = self._writable() if writing else self._readable()
            try:
                yield connection
                if connection.in_transaction:
                    connection.execute("COMMIT")
            finally:
                connection.close()
        except (sqlite3.Error, OSError) as fault:
            fix = "check the file and its permissions, or move it away"
            raise ConfigFault(f"the archive of live data, {self.path}, cannot be used: {fault}", fix=fix) from fault

    def _writable(self) -> sqlite3.Connection:
        """A connection with the write lock; the archive is made where it is missing."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as undone:
            connection = self._connected(self.path)
            undone.callback(connection.close)
            with suppress(sqlite3.OperationalError):  # somebody else is just turning it on, for which no patience is had
                connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("BEGIN IMMEDIATE")
            if _version(connection) == 0:
                _make(connection)
            undone.pop_all()
        return connection

    def _readable(self) -> sqlite3.Connection:
        """A connection to read from; to nothing where the archive is not there, or is only just being made by somebody else."""
        with ExitStack() as undone:
            if self.path.exists():
                connection = self._connected(self.path)
                undone.callback(connection.close)
                if _version(connection) == SCHEMA_VERSION:
                    undone.pop_all()
                    return connection
        nothing = self._connected(":memory:")
        _make(nothing)
        return nothing

    def _connected(self, place: Path | str) -> sqlite3.Connection:
        return sqlite3.connect(place, timeout=PATIENCE_SECONDS, isolation_level=None)


def _version(connection: sqlite3.Connection) -> int:
    """The schema of a file. Raises sqlite3.DatabaseError where a newer version wrote it."""
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > SCHEMA_VERSION:
        raise sqlite3.DatabaseError(f"it was written by a newer version (schema {version})")
    return version


def _make(connection: sqlite3.Connection) -> None:
    for statement in SCHEMA.strip().split(";\n"):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _row(made: Observation) -> tuple[str | int | None, ...]:
    series = made.series
    return (
        *(series.vendor, series.topic, series.instrument, _micros(made.fetched_at), _micros(made.holds_until)),
        *(made.ended, made.sha256, json.dumps(dict(made.validators), sort_keys=True), made.note),
    )


def _observation(row: tuple[str, str, str, int, int, Ended, str | None, str, str]) -> Observation:
    vendor, topic, instrument, fetched_at, holds_until, ended, sha256, validators, note = row
    return Observation(Series(vendor, topic, instrument), _instant(fetched_at), _instant(holds_until), ended, sha256, json.loads(validators), note)


def _micros(at: datetime) -> int:
    return (at - EPOCH) // MICROSECOND


def _instant(micros: int) -> datetime:
    return EPOCH + micros * MICROSECOND
