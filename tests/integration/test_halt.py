"""The kill switch: the strictest of database, file and environment wins, a missing state is HALTED, a change is one audit row."""

import pytest

from tests.home import Home, Ran

AS_OF = "2020-08-03"


def assert_refused(home: Home, ran: Ran, *words: str) -> None:
    assert ran.code == 5
    assert "halted" in ran.err
    for word in words:
        assert word in ran.err
    assert ran.out == ""


def test_a_halted_system_decides_nothing_and_says_how_to_go_on(pending: Home) -> None:
    pending.ok("halt", "strange prices")
    before = pending.counts()
    assert_refused(pending, pending.run("decide", "AAPL", "--as-of", AS_OF), "strange prices", "alphaagent resume")
    assert pending.counts() == before


def test_a_halted_system_gives_a_json_error_document(pending: Home) -> None:
    pending.ok("halt", "strange prices")
    ran = pending.run("decide", "AAPL", "--as-of", AS_OF, "--json")
    assert (ran.code, ran.document["error"]["code"], ran.document["proposal"], ran.document["guard"]) == (5, "Halted", None, None)


def test_a_resumed_system_decides_again(pending: Home) -> None:
    pending.ok("halt", "strange prices")
    pending.ok("resume", "--reason", "prices checked")
    assert pending.decide("AAPL", AS_OF)["guard"]["outcome"] == "APPROVE"


def test_a_change_is_one_audit_row_and_no_change_is_none(pending: Home) -> None:
    before = pending.counts()["audit_log"]
    rows = []
    for command in (["halt", "a"], ["halt", "b"], ["reduce", "c"], ["reduce", "d"], ["resume", "--reason", "e"], ["resume", "--reason", "f"]):
        pending.ok(*command)
        rows.append(pending.counts()["audit_log"] - before)
    assert rows == [1, 1, 2, 2, 3, 3]
    assert pending.run("audit", "verify").code == 0


def test_refused_runs_leave_no_audit_rows(pending: Home) -> None:
    pending.ok("halt", "strange prices")
    before = pending.counts()
    for _ in range(3):
        pending.run("decide", "AAPL", "--as-of", AS_OF)
        pending.run("settle", "--as-of", "2020-08-04")
    assert pending.counts() == before


def test_a_reason_is_asked_for(pending: Home) -> None:
    assert pending.run("resume").code == 2
    assert pending.run("resume", "--reason", " ").code == 2


@pytest.mark.parametrize("content", ["", "because"])
def test_the_file_halts_whatever_the_database_says(pending: Home, content: str) -> None:
    (pending.folder / "data" / "HALT").write_text(content, encoding="utf-8")
    assert_refused(pending, pending.run("decide", "AAPL", "--as-of", AS_OF), "file", "HALT")
    pending.ok("resume", "--reason", "the database is active already")
    assert_refused(pending, pending.run("settle", "--as-of", "2020-08-04"), "file")


def test_the_file_halts_a_dry_run_without_books(home: Home) -> None:
    (home.folder / "data").mkdir()
    (home.folder / "data" / "HALT").touch()
    assert_refused(home, home.run("decide", "AAPL", "--as-of", AS_OF, "--dry-run"), "file")
    assert home.files() == ["data", "data/HALT"]


def test_the_environment_halts_whatever_the_database_says(pending: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALPHAAGENT_HALT", "1")
    assert_refused(pending, pending.run("decide", "AAPL", "--as-of", AS_OF), "environment", "ALPHAAGENT_HALT")
    monkeypatch.setenv("ALPHAAGENT_HALT", "false")
    assert pending.run("decide", "AAPL", "--as-of", AS_OF).code == 0


def test_every_source_of_a_halt_is_named(pending: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    pending.ok("halt", "strange prices")
    (pending.folder / "data" / "HALT").touch()
    monkeypatch.setenv("ALPHAAGENT_HALT", "true")
    assert_refused(pending, pending.run("decide", "AAPL", "--as-of", AS_OF), "file and environment and database")


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM control_state WHERE key = 'kill_switch'",
        "UPDATE control_state SET value = '{}' WHERE key = 'kill_switch'",
        "UPDATE control_state SET value = 'ACTIVE' WHERE key = 'kill_switch'",
    ],
)
def test_a_missing_or_unreadable_state_is_halted(pending: Home, statement: str) -> None:
    pending.sql(statement)
    before = pending.counts()
    assert_refused(pending, pending.run("decide", "AAPL", "--as-of", AS_OF), "database")
    assert pending.counts() == before
    pending.ok("resume", "--reason", "state restored")
    assert pending.run("decide", "AAPL", "--as-of", AS_OF).code == 0


@pytest.mark.parametrize("ticker", ["AAPL", "NVDA"])
def test_a_dry_run_on_halted_books_is_refused_too(pending: Home, ticker: str) -> None:
    pending.ok("halt", "strange prices")
    assert_refused(pending, pending.run("decide", ticker, "--as-of", "2020-08-04", "--dry-run"))


def test_reducing_blocks_what_opens(pending: Home) -> None:
    pending.ok("reduce", "too much at risk")
    document = pending.decide("AAPL", AS_OF)
    assert (document["proposal"]["action"], document["guard"]["code"], document["order"]) == ("BUY", "KILL_REDUCING", None)
