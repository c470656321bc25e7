"""Opening a ledger: what is made, what is refused, and what the operator is told."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlmodel import SQLModel, select

from alphaagent.errors import AlphaAgentError, BooksUnsound, ConfigFault
from alphaagent.ledger import database
from alphaagent.ledger.schema import APPEND_ONLY, VERSION, ControlStateRow
from alphaagent.ledger.store import SqlStore
from alphaagent.ledger.verify import verify
from tests.builders import AS_OF, SteppingClock, database_url
from tests.unit.ledger.desks import add_lots, copy_of, make_desk, tampering, url_of

CLOCK = SteppingClock()


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_desk(tmp_path_factory.mktemp("original"))


@pytest.fixture
def ledger(original: Path, tmp_path: Path) -> Path:
    return copy_of(original, tmp_path)


def test_opening_makes_the_folder_and_the_file(tmp_path: Path) -> None:
    with SqlStore.open(f"sqlite:///{tmp_path}/a/b/ledger.db", CLOCK) as store, store.read() as books:
        assert books.portfolios() == ()
        assert books.soundness_fault() is None
    assert (tmp_path / "a/b/ledger.db").exists()


def test_readers_make_nothing(tmp_path: Path) -> None:
    assert SqlStore.open_existing(database_url(tmp_path / "none"), CLOCK) is None
    assert not (tmp_path / "none").exists()
    (tmp_path / "ledger.db").touch()
    assert SqlStore.open_existing(database_url(tmp_path), CLOCK) is None
    assert (tmp_path / "ledger.db").read_bytes() == b""


def test_a_reader_sees_the_ledger_and_cannot_write(ledger: Path) -> None:
    before = ledger.read_bytes()
    store = SqlStore.open_existing(url_of(ledger), CLOCK)
    assert store is not None
    with store:
        with store.read() as books:
            assert [desk.name for desk in books.portfolios()] == ["default"]
        with pytest.raises(ConfigFault, match="reading only"), store.write():
            pass
        with pytest.raises(ConfigFault), store.read() as books:
            books.set_control("HALTED", "x", "x", AS_OF)
    assert ledger.read_bytes() == before


def test_a_reader_works_beside_a_writer(ledger: Path) -> None:
    with SqlStore.open(url_of(ledger), CLOCK) as writing, writing.write() as books:
        books.set_control("HALTED", "x", "ann", AS_OF)
        reading = SqlStore.open_existing(url_of(ledger), CLOCK)
        assert reading is not None
        with reading, reading.read() as seen:
            control = seen.control()
            assert control is not None
            assert control.state == "REDUCING"


@pytest.mark.parametrize(
    "url", ["postgresql://user:secret@host/db", "mysql://x", "sqlite://", "sqlite:///", "sqlite:///:memory:", "sqlite:///a.db?mode=ro", "x"]
)
def test_other_urls_are_refused_without_telling_their_password(url: str) -> None:
    with pytest.raises(ConfigFault) as refused:
        SqlStore.open(url, CLOCK)
    assert "secret" not in str(refused.value)
    assert "sqlite:///" in (refused.value.fix or "")


def test_a_file_in_place_of_the_folder_is_a_fault_of_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    with pytest.raises(ConfigFault, match="data"):
        SqlStore.open(f"sqlite:///{tmp_path}/data/ledger.db", CLOCK)


def test_a_folder_in_place_of_the_file_is_a_fault_of_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "ledger.db").mkdir()
    with pytest.raises(ConfigFault, match=r"ledger\.db"):
        SqlStore.open(database_url(tmp_path), CLOCK)


def test_what_is_no_database_is_unsound(tmp_path: Path) -> None:
    (tmp_path / "ledger.db").write_text("date,price\n2024-01-03,100\n")
    with pytest.raises(BooksUnsound, match=r"ledger\.db"):
        SqlStore.open(database_url(tmp_path), CLOCK)
    with pytest.raises(BooksUnsound):
        SqlStore.open_existing(database_url(tmp_path), CLOCK)


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as connection:
        connection.execute("CREATE TABLE notes (x)")
    with pytest.raises(BooksUnsound, match="not a ledger"):
        SqlStore.open(database_url(tmp_path), CLOCK)


def test_a_truncated_database_is_unsound(ledger: Path) -> None:
    ledger.write_bytes(ledger.read_bytes()[:5000])
    with pytest.raises(BooksUnsound, match=r"ledger\.db"), SqlStore.open(url_of(ledger), CLOCK) as store, store.read() as books:
        books.portfolios()


def test_a_newer_schema_is_refused(ledger: Path) -> None:
    with tampering(ledger) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    for opening in (SqlStore.open, SqlStore.open_existing):
        with pytest.raises(ConfigFault, match="9999"):
            opening(url_of(ledger), CLOCK)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("SQLITE_READONLY_DIRECTORY", ConfigFault),
        ("SQLITE_CANTOPEN", ConfigFault),
        ("SQLITE_FULL", ConfigFault),
        ("SQLITE_BUSY_SNAPSHOT", AlphaAgentError),
        ("SQLITE_NOTADB", BooksUnsound),
        ("SQLITE_CORRUPT_INDEX", BooksUnsound),
        ("SQLITE_IOERR_FSYNC", BooksUnsound),
        ("SQLITE_CONSTRAINT_TRIGGER", BooksUnsound),
    ],
)
def test_each_error_of_sqlite_is_told_as_one_of_ours(name: str, kind: type[AlphaAgentError]) -> None:
    error = sqlite3.OperationalError("as sqlite says")
    error.sqlite_errorname = name
    with pytest.raises(kind, match=r"ledger\.db") as told, database.faults(Path("ledger.db")):
        raise error
    assert type(told.value) is kind
    assert told.value.fix


def test_a_disk_that_fills_up_is_told_and_nothing_is_written(ledger: Path) -> None:
    def fill_the_disk() -> None:
        with store.write() as books:
            connection = books._session.connection()
            limit = connection.exec_driver_sql("PRAGMA page_count").scalar()
            connection.exec_driver_sql(f"PRAGMA max_page_count={limit}")
            books.record_failure("XYZ", "default", "X", "x" * 100_000, AS_OF)

    with SqlStore.open(url_of(ledger), CLOCK) as store:
        with pytest.raises(ConfigFault, match="full"):
            fill_the_disk()
        with store.read() as books:
            assert books.soundness_fault() is None


def test_the_pragmas_hold_on_every_connection(ledger: Path) -> None:
    with SqlStore.open(url_of(ledger), CLOCK) as store, store.write() as books:
        read = {
            name: books._session.connection().exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout", "trusted_schema")
        }
    assert read == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 10_000, "trusted_schema": 0}


@pytest.mark.parametrize("table", APPEND_ONLY)
def test_history_cannot_be_changed_through_the_database(ledger: Path, table: str) -> None:
    with SqlStore.open(url_of(ledger), CLOCK) as store:
        add_lots(store)
    with closing(sqlite3.connect(ledger)) as connection:
        column = connection.execute(f"SELECT name FROM pragma_table_info('{table}')").fetchone()[0]
        for statement in (f"UPDATE {table} SET {column} = {column}", f"DELETE FROM {table}"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                connection.execute(statement)


def test_no_column_holds_a_float(ledger: Path) -> None:
    with closing(sqlite3.connect(ledger)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table' AND name <> 'alembic_version'")]
        types = {kind for table in tables for (kind,) in connection.execute(f"SELECT type FROM pragma_table_info('{table}')")}
        made = connection.execute("SELECT sql FROM sqlite_master WHERE type='table' AND name <> 'alembic_version'")
        assert all(sql.rstrip().endswith("STRICT") for (sql,) in made)
    assert types == {"INTEGER", "TEXT", "BLOB"}


def test_the_migrations_make_the_tables_that_the_code_declares(tmp_path: Path) -> None:
    with SqlStore.open(database_url(tmp_path), CLOCK) as store, store._writing() as session:
        context = MigrationContext.configure(session.connection(), opts={"compare_type": True})
        assert compare_metadata(context, SQLModel.metadata) == []
        assert session.connection().exec_driver_sql("SELECT version_num FROM alembic_version").scalar() == VERSION


def test_an_unreadable_kill_switch_is_none(ledger: Path) -> None:
    with SqlStore.open(url_of(ledger), CLOCK) as store:
        for value in ("", "{}", "[]", '{"state":"ON","reason":"x","changed_at":1}', '{"state":"ACTIVE","reason":"x","changed_at":"x"}'):
            with store._writing() as session:
                row = session.exec(select(ControlStateRow).where(ControlStateRow.key == "kill_switch")).one()
                row.value = value
                session.add(row)
            with store.read() as books:
                assert books.control() is None
        with store._writing() as session:
            session.delete(session.exec(select(ControlStateRow).where(ControlStateRow.key == "kill_switch")).one())
        with store.write() as books:
            assert books.control() is None
            assert books.set_control("ACTIVE", "mended", "ann", AS_OF) is not None


def test_opening_a_current_ledger_does_not_load_alembic(ledger: Path) -> None:
    program = (
        "import sys; from alphaagent.clock import WallClock; from alphaagent.ledger.store import SqlStore;"
        f"store = SqlStore.open({url_of(ledger)!r}, WallClock()); store.close(); sys.exit('alembic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False, cwd=Path(__file__).parents[3]).returncode == 0


@pytest.mark.parametrize("name", ["SQLITE_CANTOPEN", "SQLITE_READONLY_DIRECTORY"])
def test_a_ledger_in_a_folder_that_cannot_be_written_can_still_be_read(ledger: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    real, opened = database._connect, []

    def without_shared_memory(path: Path, mode: str, *, immutable: bool = False) -> sqlite3.Connection:
        opened.append(immutable)
        if immutable:
            return real(path, mode, immutable=True)  # type: ignore[arg-type]
        error = sqlite3.OperationalError("unable to open database file")
        error.sqlite_errorname = name
        raise error

    monkeypatch.setattr(database, "_connect", without_shared_memory)
    store = SqlStore.open_existing(url_of(ledger), CLOCK)
    assert store is not None
    with store, store.read() as books:
        assert len(books.portfolios()) == 1
    assert opened[:2] == [False, True]
    ledger.with_name("ledger.db-wal").touch()
    with pytest.raises(ConfigFault, match=r"ledger\.db"):
        SqlStore.open_existing(url_of(ledger), CLOCK)


def test_asking_for_the_schema_takes_no_lock_from_an_open_store(tmp_path: Path) -> None:
    """Or another process that closes the ledger last would delete the write-ahead log under it, and what is written afterwards would be lost."""
    path = tmp_path / "ledger.db"
    url = f"sqlite:///{path}"
    elsewhere = f"import sqlite3; it = sqlite3.connect({str(path)!r}); it.execute('SELECT count(*) FROM audit_log').fetchone(); it.close()"
    with SqlStore.open(url, SteppingClock()) as store:
        with store.read() as books:
            assert books.soundness_fault() is None
        log = path.with_name("ledger.db-wal").stat().st_ino
        assert verify(url).exit_code == 0
        assert database.schema_version(path) == VERSION
        subprocess.run([sys.executable, "-c", elsewhere], check=True)
        assert path.with_name("ledger.db-wal").stat().st_ino == log
