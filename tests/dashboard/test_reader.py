"""The watchman: one check at a time, what is known meanwhile, and no check that nothing asks for."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from time import monotonic, sleep

import pytest

import dashboard.reader
from alphaagent.ledger.findings import Finding
from alphaagent.ledger.verify import VerifyReport, verify
from dashboard.reader import Checked, Watchman, examine, report_of

AT = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)


def report(rows: int, code: int = 0) -> VerifyReport:
    findings = (Finding(code, rows, f"row {rows} is wrong"),) if code else ()
    return VerifyReport(findings, rows, 0, None, rows, code)


class Examiner:
    """A check that takes until it is let go, and then says what it was told to."""

    def __init__(self, *reports: VerifyReport | Exception) -> None:
        self.reports, self.begun, self.go = list(reports), 0, Event()
        self.go.set()

    def __call__(self, _rows: int) -> VerifyReport:
        self.begun += 1
        assert self.go.wait(10)
        said = self.reports[min(self.begun, len(self.reports)) - 1]
        if isinstance(said, Exception):
            raise said
        return said


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dashboard.reader, "PATIENCE_SECONDS", 0.05)
    monkeypatch.setattr(dashboard.reader, "REST", 0)


def eventually(watchman: Watchman, seq: int, wanted: Callable[[Checked], bool]) -> Checked:
    until = monotonic() + 10
    while not wanted(known := watchman.checked(seq)):
        assert monotonic() < until, known
        sleep(0.005)
    return known


def test_a_small_book_is_checked_before_its_first_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dashboard.reader, "PATIENCE_SECONDS", 10)
    assert Watchman(Examiner(report(7)), lambda: AT).checked(7) == Checked("sound", 7, AT, None)


def test_a_large_book_says_that_it_is_being_checked_and_the_check_is_begun_once() -> None:
    examine = Examiner(report(7))
    examine.go.clear()
    watchman = Watchman(examine, lambda: AT)
    assert [watchman.checked(7).state for _ in range(3)] == ["checking"] * 3
    assert examine.begun == 1
    examine.go.set()
    assert eventually(watchman, 7, lambda known: known.state == "sound").rows == 7
    assert (watchman.checked(7).state, examine.begun) == ("sound", 1)


def test_a_book_that_has_grown_is_checked_again_and_what_was_known_stands_meanwhile() -> None:
    examine = Examiner(report(7), report(8))
    watchman = Watchman(examine, lambda: AT)
    eventually(watchman, 7, lambda known: known.state == "sound")
    examine.go.clear()
    begun = monotonic()
    assert watchman.checked(8) == Checked("sound", 7, AT, None)
    assert monotonic() - begun < dashboard.reader.PATIENCE_SECONDS, "nobody waits for a check that is not the first"
    examine.go.set()
    assert eventually(watchman, 8, lambda known: known.rows == 8).state == "sound"
    assert examine.begun == 2


def test_a_check_rests_before_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dashboard.reader, "REST", 1_000_000)
    examine = Examiner(report(7), report(8))
    watchman = Watchman(examine, lambda: AT)
    eventually(watchman, 7, lambda known: known.state == "sound")
    assert (watchman.checked(8).rows, watchman.checked(9).rows, examine.begun) == (7, 7, 1)


def test_unsound_books_stay_unsound_and_are_not_checked_for_ever() -> None:
    examine = Examiner(report(3, code=20))
    watchman = Watchman(examine, lambda: AT)
    known = eventually(watchman, 7, lambda known: known.state == "unsound")
    assert known.fault == "row 3 is wrong"
    assert [watchman.checked(7) for _ in range(5)] == [known] * 5
    assert examine.begun == 1, "the broken link is where it was: nothing has grown"
    examine.go.clear()
    assert watchman.checked(8) == known, "unsound while it is checked again"
    examine.go.set()


def test_rows_that_came_during_a_check_need_no_other() -> None:
    examine = Examiner(report(9))
    watchman = Watchman(examine, lambda: AT)
    eventually(watchman, 7, lambda known: known.rows == 9)
    assert (watchman.checked(9).state, examine.begun) == ("sound", 1)


def test_a_restored_book_that_is_shorter_is_checked_again() -> None:
    examine = Examiner(report(3, code=20), report(5))
    watchman = Watchman(examine, lambda: AT)
    eventually(watchman, 7, lambda known: known.state == "unsound")
    assert eventually(watchman, 5, lambda known: known.state == "sound").rows == 5


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_check_that_fails_holds_up_no_later_one() -> None:
    examine = Examiner(ValueError("a bug"), report(8))
    watchman = Watchman(examine, lambda: AT)
    assert watchman.checked(7).state == "checking"
    assert eventually(watchman, 8, lambda known: known.state == "sound").rows == 8


def test_a_check_that_somebody_else_made_is_learnt() -> None:
    watchman = Watchman(Examiner(report(7)), lambda: AT)
    eventually(watchman, 7, lambda known: known.state == "sound")
    watchman.learn(report(2, code=22))
    assert watchman.checked(7).state == "unsound"


def test_a_large_book_is_checked_in_a_process_of_its_own_with_the_same_report(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALPHAAGENT_HOME", str(own_home))
    url = f"sqlite:///{own_home / 'data' / 'alphaagent.db'}"
    assert examine(url, 1_000_000) == verify(url)
    with closing(sqlite3.connect(own_home / "data" / "alphaagent.db")) as connection, connection:
        connection.execute("DROP TRIGGER audit_log_no_delete")
        connection.execute("DELETE FROM audit_log WHERE seq = 9")
    assert examine(url, 1_000_000) == verify(url)
    assert verify(url).exit_code == 20


@pytest.mark.parametrize("said", ["", "Killed", "{}", '{"findings": [7]}'])
def test_a_check_that_was_broken_off_found_nothing_sound(said: str) -> None:
    assert report_of(said).exit_code == 30
