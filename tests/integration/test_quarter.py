"""Eight nights of `make soak-quarter`: whatever is killed, overlaps, is away or lost, every slot is decided once and the books are those of quiet nights."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.soak.quarter import BOTH, KILL, NAMES, OVERLAP, PORTFOLIOS, Findings, Night, findings, quarter
from tests.soak.reading import Reading, Slot, different, wrong

TWO = NAMES[:2]
AFTER = "2020-07-14"


def nights() -> list[Night]:
    return quarter(8, TWO, seed=7, crew_nights=1)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Findings]:
    folder = tmp_path_factory.mktemp("quarter")
    return folder, findings(folder, nights(), TWO, seed=7)


def test_disturbed_nights_end_in_the_books_of_quiet_ones(played: tuple[Path, Findings]) -> None:
    _, found = played
    assert found.wrong == []
    figures = dict(found.figures)
    assert (figures["slots"], figures["decisions"]) == (32, "8 crew, 12 fallback, 12 heuristic")
    assert figures["two at once"] == 1
    assert int(str(figures["failures and skips on record, decided later"])) >= 2, "a lost source costs its name in both portfolios until it is back"


def test_the_nights_have_everything_that_goes_wrong() -> None:
    assert [night.kind for night in nights()] == ["heuristic"] * 2 + ["crew", *["crew away"] * 3, "crew", "source lost"]
    assert [night.trouble for night in nights()[:2]] == [KILL, OVERLAP]
    long = quarter(63, NAMES, seed=7, crew_nights=2)
    assert {night.trouble for night in long} == {None, KILL, OVERLAP, BOTH}
    assert {night.lost for night in long} == {None, "bars/AAPL.csv", "fundamentals/AAPL.csv"}
    assert len({night.session for night in long}) == 63


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("DELETE FROM decision WHERE id = (SELECT decision_id FROM orders ORDER BY id LIMIT 1)", "has no decision, and its failure is on no record"),
        ("DELETE FROM orders WHERE id = (SELECT min(id) FROM orders)", "was approved and has no order"),
        ("UPDATE orders SET status = 'pending' WHERE id = (SELECT min(id) FROM orders)", "is pending"),
        ("UPDATE orders SET closed_at = closed_at + 86400000000 WHERE id = (SELECT min(id) FROM orders)", "ended on"),
        ("DELETE FROM txn WHERE decision_id = (SELECT min(decision_id) FROM orders)", "is booked 0 times"),
        ("UPDATE orders SET filled_quantity = filled_quantity + 1000000 WHERE id = (SELECT min(id) FROM orders)", "in the postings and"),
        ("UPDATE posting SET amount = amount + 1 WHERE rowid = (SELECT max(rowid) FROM posting)", "is off by 1 millionths"),
        ("UPDATE run_slot SET state = 'claimed' WHERE key = (SELECT min(key) FROM run_slot)", "is still claimed"),
    ],
)
def test_what_does_not_hold_is_found(played: tuple[Path, Findings], tmp_path: Path, change: str, words: str) -> None:
    folder, _ = played
    twin, copy = folder / "twin" / "data" / "alphaagent.db", tmp_path / "copy.db"
    shutil.copy(twin, copy)
    with closing(sqlite3.connect(copy)) as connection, connection:
        for (trigger,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {trigger}")
        connection.execute(change)
    slots = [Slot(name, ticker, night.session) for name in PORTFOLIOS for ticker in TWO for night in nights()]
    assert wrong(Reading(twin), slots, AFTER) == []
    assert any(words in line for line in wrong(Reading(copy), slots, AFTER))
    assert different(Reading(twin), Reading(copy)) or "slot" in words or "claimed" in words or "ended on" in words
