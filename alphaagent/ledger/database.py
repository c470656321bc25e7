"""One SQLite file: how it is found, opened, made and brought to this program's schema, and how its errors are told.

Chosen on purpose: WAL with synchronous FULL, so that an acknowledged decision survives a power cut; every PRAGMA is read back, because
SQLite ignores one that it does not know; reading goes through `mode=ro` connections, so that a reader cannot write by mistake; and
alembic, which costs a third of a second to load, is imported only where there is something to migrate.
"""

import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Literal

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from alphaagent.errors import AlphaAgentError, BooksUnsound, ConfigFault
from alphaagent.ledger import statements
from alphaagent.ledger.schema import VERSION, VERSIONS

PREFIX = "sqlite:///"
EXAMPLE = PREFIX + "data/alphaagent.db"
MAGIC = b"SQLite format 3\x00"
BUSY_TIMEOUT_MILLISECONDS = 10_000
WAL_ATTEMPTS = 200
WAL_PAUSE_SECONDS = 0.05

PRAGMAS: tuple[tuple[str, str, int], ...] = (
    ("busy_timeout", str(BUSY_TIMEOUT_MILLISECONDS), BUSY_TIMEOUT_MILLISECONDS),
    ("synchronous", "FULL", 2),
    ("foreign_keys", "ON", 1),
    ("trusted_schema", "OFF", 0),
    *((("fullfsync", "ON", 1),) if sys.platform == "darwin" else ()),
)

_UNWRITABLE = {"SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH"}
_BUSY = {"SQLITE_BUSY", "SQLITE_LOCKED"}


def database_path(url: str) -> Path:
    """The file of a `sqlite:///` URL. ConfigFault for any other kind of URL."""
    name = url.removeprefix(PREFIX)
    if not url.startswith(PREFIX):
        raise ConfigFault(f"the database URL {_scheme(url)}... is not supported: this version keeps its ledger in SQLite", fix=f"use {EXAMPLE}")
    if name in ("", ":memory:") or "?" in name:
        raise ConfigFault(f"the database URL {url} names no plain file", fix=f"use {EXAMPLE}")
    return Path(name)


def _scheme(url: str) -> str:
    # Only the scheme is told: the rest of a server's URL may carry a password.
    return url.partition(":")[0] + ":"


@contextmanager
def faults(path: Path) -> Iterator[None]:
    """Turns every database and file error of the block into one of ours that names the path and the fix."""
    try:
        yield
    except DBAPIError as error:
        raise told(path, error.orig) from error
    except (sqlite3.Error, SQLAlchemyError) as error:
        raise told(path, error) from error


def told(path: Path, error: BaseException | None) -> AlphaAgentError:
    """What the operator should know and do about a database error."""
    name = _primary(getattr(error, "sqlite_errorname", "") or "")
    if name in _UNWRITABLE:
        return ConfigFault(f"the ledger {path} cannot be opened or written: {error}", fix=f"make {path} and its folder readable and writable")
    if name == "SQLITE_FULL":
        return ConfigFault(f"the disk of the ledger {path} is full", fix="free some space, then repeat the command: nothing was written")
    if name in _BUSY:
        return AlphaAgentError(f"the ledger {path} is busy: another process kept it locked for too long", fix="repeat the command when that one has ended")
    if name in ("SQLITE_NOTADB", "SQLITE_CORRUPT"):
        return BooksUnsound(f"{path} is no sound SQLite database: {error}", fix="restore the ledger from a backup")
    return BooksUnsound(f"the ledger {path} refused: {error}", fix="run `alphaagent audit verify`, and restore the ledger from a backup where it is not sound")


def _primary(name: str) -> str:
    """SQLITE_READONLY_DBMOVED -> SQLITE_READONLY."""
    return "_".join(name.split("_")[:2])


def writer(path: Path) -> Engine:
    """Connections that write: each transaction takes the write lock before it reads anything."""
    engine = _engine(lambda: _connect(path, "rw"))
    event.listen(engine, "begin", lambda connection: _begin(connection, "BEGIN IMMEDIATE"))
    return engine


def reader(path: Path) -> Engine:
    """Connections that cannot write; each transaction sees one snapshot."""
    engine = _engine(lambda: connect_reader(path))
    event.listen(engine, "begin", lambda connection: _begin(connection, "BEGIN"))
    return engine


def _engine(connect: Callable[[], sqlite3.Connection]) -> Engine:
    from sqlalchemy.pool import QueuePool

    return create_engine(statements.URL, creator=connect, execution_options=statements.OPTIONS, pool_size=2, max_overflow=8, poolclass=QueuePool)


def _begin(connection: Connection, statement: str) -> None:
    connection.exec_driver_sql(statement)


def connect_reader(path: Path) -> sqlite3.Connection:
    """A read-only connection that works beside a writer. Where even the folder is read-only and no write-ahead log is
    left, the file is opened as immutable: SQLite could not make its shared memory there."""
    try:
        return _connect(path, "ro")
    except sqlite3.OperationalError as error:
        if _primary(error.sqlite_errorname) in _UNWRITABLE and path.exists() and not path.with_name(path.name + "-wal").exists():
            return _connect(path, "ro", immutable=True)
        raise


def _connect(path: Path, mode: Literal["ro", "rw", "rwc"], *, immutable: bool = False) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode={mode}{'&immutable=1' if immutable else ''}"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    with ExitStack() as undo:
        undo.callback(connection.close)
        for name, value, expected in PRAGMAS:
            connection.execute(f"PRAGMA {name}={value}")
            _assert_pragma(connection, name, expected)
        if mode != "ro":
            _enter_wal(connection)
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()  # only now is the file really opened
        undo.pop_all()
    return connection


def _assert_pragma(connection: sqlite3.Connection, name: str, expected: int | str) -> None:
    row = connection.execute(f"PRAGMA {name}").fetchone()
    if row is None or row[0] != expected:
        raise ConfigFault(f"this SQLite ({sqlite3.sqlite_version}) does not accept {name}={expected}", fix="use a standard build of SQLite")


def _enter_wal(connection: sqlite3.Connection) -> None:
    # The change to WAL does not wait for busy_timeout, so that two processes which open a new ledger at once need a retry.
    for _ in range(WAL_ATTEMPTS):
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            break
        except sqlite3.OperationalError as error:
            if _primary(error.sqlite_errorname) not in _BUSY:
                raise
            time.sleep(WAL_PAUSE_SECONDS)
    _assert_pragma(connection, "journal_mode", "wal")


def create_file(path: Path) -> None:
    """Makes the folder and an empty database where there is none."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigFault(f"the ledger's folder {path.parent} cannot be made: {error.strerror}", fix="choose another, or mend its permissions") from error
    with faults(path), closing(_connect(path, "rwc")):
        pass


def schema_version(path: Path) -> str | None:
    """The revision in alembic_version; None in an empty database. BooksUnsound where the file is no ledger."""
    with faults(path), closing(_connect_to_ledger(path)) as connection:
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")}
        if not tables:
            return None
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone() if "alembic_version" in tables else None
    if row is None:
        raise BooksUnsound(f"{path} is a SQLite database, but not a ledger of AlphaAgent", fix="name another file in ALPHAAGENT_DATABASE_URL")
    return str(row[0])


def _connect_to_ledger(path: Path) -> sqlite3.Connection:
    """A reader, or a fault that says what is in the way.

    The file itself is opened only where SQLite has refused it: closing it takes back every lock that this process holds on it, and another
    process that then closes the ledger would delete the write-ahead log under a store that is open here.
    """
    try:
        return connect_reader(path)
    except sqlite3.Error:
        _check_magic(path)
        raise


def _check_magic(path: Path) -> None:
    try:
        with path.open("rb") as file:
            start = file.read(len(MAGIC))
    except OSError as error:
        raise ConfigFault(f"the ledger {path} cannot be read: {error.strerror}", fix=f"make {path} a readable file") from error
    if start not in (b"", MAGIC):
        raise BooksUnsound(f"{path} is not a SQLite database", fix="name another file in ALPHAAGENT_DATABASE_URL, or restore the ledger from a backup")


def needs_migration(path: Path) -> bool:
    """Whether the schema is older than this program's. ConfigFault where it is newer."""
    version = schema_version(path)
    if version is not None and version not in VERSIONS:
        raise ConfigFault(f"the ledger {path} has schema {version}; this program knows {VERSION} at most", fix="use a newer release of AlphaAgent")
    return version != VERSION


def migration() -> Callable[[Connection], None]:
    """What brings the schema to this program's inside a write transaction; nothing where another process did so meanwhile.

    Alembic is loaded here, before the lock is taken, so that nobody waits for an import.
    """
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))

    def upgrade(connection: Connection) -> None:
        if _version_in(connection) != VERSION:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")

    return upgrade


def _version_in(connection: Connection) -> str | None:
    known = connection.exec_driver_sql("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").first()
    return connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar() if known else None
