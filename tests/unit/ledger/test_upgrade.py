"""A ledger that an older release made is brought up to date by the first command that writes, and loses nothing."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from alphaagent.cli import run
from alphaagent.errors import ConfigFault
from alphaagent.ledger.schema import VERSION
from alphaagent.ledger.store import SqlStore
from alphaagent.ledger.verify import verify
from tests.builders import SteppingClock
from tests.independent_verify import check
from tests.unit.ledger.desks import COMPLETED, ROWS, add_classes, add_debates, add_lots, add_spend, make_desk, tampering, url_of

NEW_TABLES = ("opening_lot", "lot_choice", "freeze_event", "model_spend", "outbox")
NEW_INDEXES = ("ix_audit_log_kind", "ix_guard_result_evaluated")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A ledger as 0001 left it, with trades and no word on how they chose their lots."""
    from alembic import command
    from alembic.config import Config

    import alphaagent.ledger.migrations as migrations

    path = tmp_path / "old" / "ledger.db"
    path.parent.mkdir()
    make_desk(path.parent)
    template = tmp_path / "first.db"
    from sqlalchemy import create_engine

    engine = create_engine(f"sqlite:///{template}")
    config = Config()
    config.set_main_option("script_location", str(Path(str(migrations.__file__)).parent))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
    engine.dispose()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection, closing(sqlite3.connect(template)) as first:
        connection.execute("PRAGMA foreign_keys=OFF")
        for table in NEW_TABLES:
            connection.execute(f"DROP TABLE {table}")
        for index in NEW_INDEXES:
            connection.execute(f"DROP INDEX {index}")
        connection.execute("ALTER TABLE decision DROP COLUMN debate_class")
        connection.execute("UPDATE alembic_version SET version_num = '0001'")
        names = "SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY name"
        assert connection.execute(names).fetchall() == first.execute(names).fetchall()
    return path


def test_a_sweep_upgrades_an_older_ledger_for_nobody_is_there_at_night(old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    (home / "data").mkdir(parents=True)
    path = old.rename(home / "data" / "alphaagent.db")
    monkeypatch.setenv("ALPHAAGENT_HOME", str(home))
    with pytest.raises(ConfigFault, match="older schema"):
        SqlStore.open_existing(url_of(path), SteppingClock())
    run(["sweep", "--engine", "heuristic"])
    store = SqlStore.open_existing(url_of(path), SteppingClock())
    assert store is not None
    store.close()


def test_an_older_ledger_is_upgraded_in_place(old: Path) -> None:
    with pytest.raises(ConfigFault, match="older schema"):
        SqlStore.open_existing(url_of(old), SteppingClock())
    with SqlStore.open(url_of(old), SteppingClock()) as store:
        with store.read() as books:
            desk = books.portfolio("default")
            assert desk is not None
            assert books.soundness_fault() is None
            assert books.account(desk).positions[0].quantity == 10
            assert books.lots(desk)[0].acquired.isoformat() == "2024-01-04"
        add_lots(store)
    with closing(sqlite3.connect(old)) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == (VERSION,)


SHIPPED_0002 = Path(__file__).with_name("ledger_0002.sql")
"""A ledger as the program of schema 0002 wrote it: eleven rows of `desks.fill_desk`, three of `add_lots`, a failure."""


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    path = tmp_path / "shipped.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SHIPPED_0002.read_text(encoding="utf-8"))
    return path


def rows_of(path: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT seq, payload, lower(hex(hash)) FROM audit_log ORDER BY seq").fetchall()


def test_a_ledger_from_before_the_debates_is_upgraded_and_verifies_as_it_was(shipped: Path) -> None:
    before = rows_of(shipped)
    with pytest.raises(ConfigFault, match="older schema"):
        SqlStore.open_existing(url_of(shipped), SteppingClock())
    assert verify(url_of(shipped)).exit_code == 30
    with SqlStore.open(url_of(shipped), SteppingClock()) as store, store.read() as books:
        assert books.soundness_fault() is None
    assert rows_of(shipped) == before
    report = verify(url_of(shipped))
    assert (report.exit_code, report.rows, check(shipped)) == (0, ROWS + 4, 0)


def test_a_decision_from_before_the_debates_has_no_transcript_and_new_ones_go_on_from_it(shipped: Path) -> None:
    with SqlStore.open(url_of(shipped), SteppingClock()) as store:
        stored = store.decision("d-0")
        assert stored is not None
        assert (stored.record.transcript_sha256, store.transcript("d-0")) == (None, None)
        add_debates(store)
        add_spend(store)
        assert store.transcript("d-debate") == COMPLETED
    assert (verify(url_of(shipped)).exit_code, check(shipped)) == (0, 0)


@pytest.fixture
def before_classes(tmp_path: Path) -> Path:
    """A ledger as 0004 left it: decisions of both engines, and no column for the class of a debate."""
    path = make_desk(tmp_path)
    with SqlStore.open(url_of(path), SteppingClock()) as store:
        add_classes(store)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for index in NEW_INDEXES:
            connection.execute(f"DROP INDEX {index}")
        connection.execute("ALTER TABLE decision DROP COLUMN debate_class")
        connection.execute("UPDATE alembic_version SET version_num = '0004'")
    return path


def classes(path: Path) -> dict[str, str | None]:
    with closing(sqlite3.connect(path)) as connection:
        return dict(connection.execute("SELECT id, debate_class FROM decision").fetchall())


FILLED = {"d-earned": "earned", "d-quick": None, **{f"d-{n}": None for n in range(4)}}


def test_the_class_of_every_debate_on_record_is_filled_in_and_vouched_for(before_classes: Path) -> None:
    before = rows_of(before_classes)
    SqlStore.open(url_of(before_classes), SteppingClock()).close()
    assert classes(before_classes) == FILLED
    assert (verify(url_of(before_classes)).exit_code, rows_of(before_classes)) == (0, before)


def test_a_decision_stays_append_only_after_its_class_was_filled_in(before_classes: Path) -> None:
    SqlStore.open(url_of(before_classes), SteppingClock()).close()
    with closing(sqlite3.connect(before_classes)) as connection, pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connection.execute("UPDATE decision SET debate_class = 'theater'")


def test_a_damaged_record_holds_up_no_upgrade_and_is_told_by_the_verifier(before_classes: Path) -> None:
    with tampering(before_classes) as connection:
        connection.execute("UPDATE blob SET content = x'7b' WHERE sha256 = (SELECT record_sha256 FROM decision WHERE id = 'd-earned')")
    with closing(sqlite3.connect(before_classes)) as connection, connection:
        connection.execute("CREATE TRIGGER decision_no_update BEFORE UPDATE ON decision BEGIN SELECT RAISE(ABORT, 'decision is append-only'); END")
    SqlStore.open(url_of(before_classes), SteppingClock()).close()
    assert classes(before_classes)["d-earned"] is None
    assert verify(url_of(before_classes)).exit_code == 22


def test_settling_brings_an_older_ledger_up_to_date(before_classes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    (home / "data").mkdir(parents=True)
    path = before_classes.rename(home / "data" / "alphaagent.db")
    monkeypatch.setenv("ALPHAAGENT_HOME", str(home))
    run(["settle"])
    assert classes(path) == FILLED
