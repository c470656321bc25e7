"""Tampering with lots, with how they were chosen, and with frozen names is a difference between ledger and log."""

from pathlib import Path

import pytest

from alphaagent.ledger.store import SqlStore
from alphaagent.ledger.verify import verify
from tests.builders import SteppingClock
from tests.unit.ledger.desks import add_lots, make_desk, tampering, url_of


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    path = make_desk(tmp_path)
    with SqlStore.open(url_of(path), SteppingClock()) as store:
        add_lots(store)
    assert verify(url_of(path)).exit_code == 0
    return path


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE opening_lot SET cost = cost + 1 WHERE n = 1",
        "UPDATE opening_lot SET acquired_on = '2010-01-04'",
        "DELETE FROM opening_lot WHERE n = 2",
        "INSERT INTO opening_lot SELECT txn_id, 1, '2010-01-04', 5 FROM lot_choice",
        "UPDATE lot_choice SET method = 'lifo'",
        "DELETE FROM lot_choice",
        "INSERT INTO lot_choice SELECT txn_id, 'lifo' FROM opening_lot LIMIT 1",
        "DELETE FROM freeze_event",
        "UPDATE freeze_event SET state = 'unfrozen'",
        "INSERT INTO freeze_event SELECT id + 1, portfolio_id, instrument_id, 'unfrozen', 'x', NULL, at FROM freeze_event",
    ],
)
def test_a_changed_lot_choice_or_freeze_is_22(ledger: Path, statement: str) -> None:
    with tampering(ledger) as connection:
        connection.execute(statement)
    assert verify(url_of(ledger)).exit_code == 22
