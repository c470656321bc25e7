"""What model calls cost, in the file: rows that triggers protect, bookings that the log vouches for, and what a day went to."""

import json
import sqlite3
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pytest

from alphaagent.domain.spend import SpendTotal
from alphaagent.errors import BooksUnsound, ConfigFault
from alphaagent.ledger.store import SqlStore
from alphaagent.ledger.verify import verify
from tests.builders import AS_OF, SteppingClock
from tests.independent_verify import check
from tests.unit.ledger.desks import ROWS, add_spend, make_desk, tampering, url_of


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    path = make_desk(tmp_path)
    with SqlStore.open(url_of(path), SteppingClock()) as store:
        add_spend(store)
    return path


def test_a_ledger_with_spend_is_sound(ledger: Path) -> None:
    report = verify(url_of(ledger))
    assert (report.exit_code, report.rows, check(ledger)) == (0, ROWS + 3, 0)


def test_a_day_is_told_by_portfolio_provider_and_model(ledger: Path) -> None:
    with SqlStore.open(url_of(ledger), SteppingClock()) as store:
        told = [(line.portfolio, line.provider, line.model, line.total) for line in store.spend_lines(AS_OF.date())]
        assert told == [
            ("default", "openai", "free", SpendTotal(calls=3, prompt_tokens=900, completion_tokens=100, unpriced=1)),
            ("default", "openai", "large", SpendTotal(Decimal("1.5"), Decimal(2), 3, 900, 100, open=1)),
            ("default", "openai", "small", SpendTotal(Decimal("0.25"), Decimal(0), 3, 900, 100)),
        ]
        assert store.spent_on(AS_OF.date()) == SpendTotal(Decimal("1.75"), Decimal(2), 9, 2700, 300, 1, open=1)


def test_the_audit_row_says_what_was_spent(ledger: Path) -> None:
    with closing(sqlite3.connect(ledger)) as connection:
        payload = json.loads(connection.execute("SELECT payload FROM audit_log WHERE seq = ?", (ROWS + 2,)).fetchone()[0])
    assert (payload["kind"], payload["portfolio"], payload["ticker"], payload["decision_id"]) == ("spend", "default", "XYZ", "d-0")
    said = {"day": "2024-01-03", "provider": "openai", "model": "large", "calls": 3, "prompt_tokens": 900, "completion_tokens": 100, "cost": "1.5"}
    assert {name: payload["detail"][name] for name in said} == said


OPEN, DONE = "WHERE state = 'reserved'", "WHERE state = 'booked'"
REFUSED = {
    "take a reservation away": f"DELETE FROM model_spend {OPEN}",
    "take a booking away": f"DELETE FROM model_spend {DONE}",
    "lower a reservation": f"UPDATE model_spend SET reserved = 0 {OPEN}",
    "move a reservation to another day": f"UPDATE model_spend SET state = 'booked', cost = 0, day = '2020-01-01' {OPEN}",
    "book less than was reserved as if it were so": f"UPDATE model_spend SET state = 'booked', cost = 0, reserved = NULL {OPEN}",
    "change a booking": f"UPDATE model_spend SET cost = 0 {DONE}",
    "open a booking again": f"UPDATE model_spend SET state = 'reserved', cost = NULL {DONE}",
    "another state": f"UPDATE model_spend SET state = 'free' {OPEN}",
    "less than nothing": f"UPDATE model_spend SET state = 'booked', cost = -1 {OPEN}",
    "a price before it is known": "INSERT INTO model_spend SELECT 'x', day, portfolio, ticker, provider, model, state, reserved, 1, 0, 0, 0, 0, NULL, at"
    f" FROM model_spend {OPEN}",
}


@pytest.mark.parametrize("name", REFUSED)
def test_the_database_refuses_to(ledger: Path, name: str) -> None:
    with closing(sqlite3.connect(ledger)) as connection, pytest.raises(sqlite3.IntegrityError):
        connection.execute(REFUSED[name])


FOUND = {
    "a cost": f"UPDATE model_spend SET cost = cost - 1 {DONE} AND model = 'large'",
    "tokens": f"UPDATE model_spend SET prompt_tokens = 1 {DONE}",
    "a day": f"UPDATE model_spend SET day = '2020-01-01' {DONE}",
    "whose it was": f"UPDATE model_spend SET decision_id = 'd-1' {DONE}",
    "a booking taken away": f"DELETE FROM model_spend {DONE} AND model = 'small'",
    "a booking opened again": f"UPDATE model_spend SET state = 'reserved', cost = NULL {DONE} AND model = 'small'",
    "a booking put in": "INSERT INTO model_spend SELECT 'x', day, portfolio, ticker, provider, model, 'booked', reserved, 1, 0, 0, 0, 9, NULL, at"
    f" FROM model_spend {OPEN}",
    "a reservation booked behind the log": f"UPDATE model_spend SET state = 'booked', cost = 0 {OPEN}",
}


@pytest.mark.parametrize("name", FOUND)
def test_a_changed_booking_is_22(ledger: Path, name: str) -> None:
    with tampering(ledger) as connection:
        assert connection.execute(FOUND[name]).rowcount > 0
    assert verify(url_of(ledger)).exit_code == 22


def test_a_trail_that_cannot_be_trusted_takes_no_booking_and_the_reservation_stays(ledger: Path) -> None:
    with tampering(ledger) as connection:
        connection.execute("DELETE FROM audit_log WHERE seq = ?", (ROWS + 3,))
        (token,) = connection.execute(f"SELECT token FROM model_spend {OPEN}").fetchone()
    with SqlStore.open(url_of(ledger), SteppingClock()) as store:
        with pytest.raises(BooksUnsound):
            store.release_spend(token)
        assert store.spent_on(AS_OF.date()).reserved == 2


def test_a_reader_reserves_nothing(ledger: Path) -> None:
    store = SqlStore.open_existing(url_of(ledger), SteppingClock())
    assert store is not None
    with store, pytest.raises(ConfigFault, match="reading only"):
        store.release_spend("x")
