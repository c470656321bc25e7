"""`alphaagent db`: a backup that verifies, and a restored one that orders nothing before somebody has looked."""

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from alphaagent.clock import WallClock
from alphaagent.errors import BooksUnsound
from alphaagent.ledger import copying, database
from alphaagent.operations import keeping
from tests.home import Home


def backed_up(home: Home, folder: Path) -> Path:
    home.ok("db", "backup", str(folder / "backup.db"))
    return folder / "backup.db"


def test_a_backup_is_a_whole_ledger_and_its_anchor_holds_against_the_books(opened: Home, tmp_path: Path) -> None:
    made = opened.ok("db", "backup", str(tmp_path / "backup.db"))
    (tmp_path / "anchor").write_text(made.out, encoding="utf-8")
    assert opened.ok("audit", "verify", "--anchor", str(tmp_path / "anchor"), "--strict")
    assert "verified" in made.err
    assert sorted(path.name for path in tmp_path.glob("backup*")) == ["backup.db"]
    with closing(sqlite3.connect(tmp_path / "backup.db")) as copy:
        assert copy.execute("SELECT count(*) FROM posting").fetchone() == opened.sql("SELECT count(*) FROM posting")[0]


def test_a_backup_never_takes_another_files_place(opened: Home, tmp_path: Path) -> None:
    (tmp_path / "backup.db").write_text("mine", encoding="utf-8")
    refused = opened.run("db", "backup", str(tmp_path / "backup.db"))
    assert (refused.code, "exists already" in refused.err) == (2, True)
    assert (tmp_path / "backup.db").read_text(encoding="utf-8") == "mine"


def test_a_backup_of_tampered_books_is_refused_and_leaves_nothing(opened: Home, tmp_path: Path) -> None:
    opened.sql("DROP TRIGGER audit_log_no_update")
    opened.sql("UPDATE audit_log SET payload = payload || ' ' WHERE seq = 2")
    refused = opened.run("db", "backup", str(tmp_path / "backup.db"))
    assert (refused.code, "does not verify" in refused.err) == (5, True)
    assert list(tmp_path.glob("*backup*")) == []


def test_a_backup_is_made_while_another_process_holds_the_write_lock(opened: Home, tmp_path: Path) -> None:
    with closing(sqlite3.connect(opened.database, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("UPDATE control_state SET version = version + 1")
        backed_up(opened, tmp_path)
        writer.execute("ROLLBACK")


def test_a_restored_ledger_orders_nothing_until_somebody_resumes_it(home: Home, tmp_path: Path) -> None:
    home.decide("NVDA", "2020-07-31")
    backup = backed_up(home, tmp_path)
    home.ok("settle", "--as-of", "2020-08-03")
    home.decide("AAPL", "2020-08-03")

    restored = home.ok("db", "restore", str(backup), "--replace")
    assert "HALTED" in restored.out
    assert home.run("settle", "--as-of", "2020-08-03").code == 5
    assert home.run("decide", "NVDA", "--as-of", "2020-08-03").code == 5
    assert home.sql("SELECT count(*) FROM orders WHERE status <> 'pending'") == [(0,)]
    home.ok("audit", "verify", "--replay")

    home.ok("resume", "--reason", "compared with the messages")
    assert [done["order"]["status"] for done in home.ok("settle", "--as-of", "2020-08-03", "--json").documents] == ["filled"]


def test_what_was_there_before_is_kept_whole(home: Home, tmp_path: Path) -> None:
    home.decide("NVDA", "2020-07-31")
    backup = backed_up(home, tmp_path)
    home.decide("AAPL", "2020-07-31")
    home.ok("db", "restore", str(backup), "--replace")
    (aside,) = home.database.parent.glob("*.before-*Z")
    with closing(sqlite3.connect(aside)) as before:
        assert before.execute("SELECT count(*) FROM decision").fetchone() == (2,)
    assert home.sql("SELECT count(*) FROM decision") == [(1,)]


def test_an_anchor_that_is_newer_than_the_backup_tells_that_something_is_missing(home: Home, tmp_path: Path) -> None:
    home.decide("NVDA", "2020-07-31")
    backup = backed_up(home, tmp_path)
    home.decide("AAPL", "2020-07-31")
    home.ok("settle", "--as-of", "2020-08-03")
    (tmp_path / "anchor").write_text(home.ok("audit", "anchor").out, encoding="utf-8")
    home.ok("db", "restore", str(backup), "--replace")
    assert home.run("audit", "verify", "--anchor", str(tmp_path / "anchor")).code == 21


def test_books_are_not_replaced_unasked_and_nothing_changes_where_the_backup_is_no_good(opened: Home, tmp_path: Path) -> None:
    backup = backed_up(opened, tmp_path)
    before = opened.database.read_bytes()
    assert opened.run("db", "restore", str(backup)).code == 2
    backup.write_bytes(backup.read_bytes()[:-4096])
    assert opened.run("db", "restore", str(backup), "--replace").code == 5
    (tmp_path / "text").write_text("no database", encoding="utf-8")
    assert opened.run("db", "restore", str(tmp_path / "text"), "--replace").code == 5
    assert opened.run("db", "restore", str(tmp_path / "nowhere"), "--replace").code == 2
    assert opened.database.read_bytes() == before
    assert [path.name for path in opened.database.parent.iterdir() if path.name.startswith(".") or "before" in path.name] == []


def test_a_ledger_that_somebody_writes_to_is_not_moved_away(opened: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    backup = backed_up(opened, tmp_path)
    monkeypatch.setattr(database, "BUSY_TIMEOUT_MILLISECONDS", 100)
    with closing(sqlite3.connect(opened.database, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        refused = opened.run("db", "restore", str(backup), "--replace")
        writer.execute("ROLLBACK")
    assert (refused.code, "busy" in refused.err) == (1, True)


def test_copies_are_sound_while_another_thread_goes_on_writing(opened: Home, tmp_path: Path) -> None:
    stop = threading.Event()

    def write() -> None:
        with keeping.SqlStore.open(f"sqlite:///{opened.database}", WallClock()) as store:
            state = "REDUCING"
            while not stop.is_set():
                with store.write() as books:
                    books.set_control("ACTIVE" if state == "ACTIVE" else "REDUCING", "again", "test", WallClock().now())
                state = "ACTIVE" if state == "REDUCING" else "REDUCING"

    thread = threading.Thread(target=write)
    thread.start()
    try:
        reports = [copying.copy(opened.database, tmp_path / f"{n}.db").report for n in range(3)]
    finally:
        stop.set()
        thread.join()
    assert [report.exit_code for report in reports] == [0, 0, 0]


def test_check_reads_everything_and_upgrade_says_what_it_did(opened: Home) -> None:
    found = opened.ok("db", "check", "--json").document
    assert (found["file_fault"], found["schema"], found["exit_code"], found["audit"]["findings"]) == (None, found["current_schema"], 0, [])
    assert "up to date" in opened.ok("db", "check").out
    assert "was up to date" in opened.ok("db", "upgrade").out


def test_check_finds_what_was_tampered_with(opened: Home) -> None:
    opened.sql("DROP TRIGGER posting_no_update")
    opened.sql("UPDATE posting SET amount = amount + 1 WHERE txn_id = 1 AND n = 1")
    assert opened.run("db", "check").code == 22


@pytest.mark.parametrize("command", [("check",), ("upgrade",), ("backup", "there.db")])
def test_without_books_nothing_is_made(home: Home, command: tuple[str, ...]) -> None:
    refused = home.run("db", *command)
    assert (refused.code, "no books yet" in refused.err) == (2, True)
    assert home.files() == []


def test_a_copy_of_what_is_no_ledger_is_refused(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection:
        connection.execute("CREATE TABLE other (x)")
    with pytest.raises(BooksUnsound, match="does not verify"):
        copying.copy(tmp_path / "other.db", tmp_path / "copy.db")
