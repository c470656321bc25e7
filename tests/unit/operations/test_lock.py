"""One schedule per home: whoever comes second is told who was first, and what a killed one left behind stops nobody."""

from pathlib import Path

import pytest

from alphaagent.errors import ConfigFault, UsageFault
from alphaagent.operations.lock import only_one


@pytest.fixture
def told() -> list[str]:
    return []


def test_the_second_is_refused_with_the_number_of_the_first(tmp_path: Path, told: list[str]) -> None:
    lock = tmp_path / "data" / "schedule.lock"
    with only_one(lock, told.append):
        with pytest.raises(UsageFault, match=r"already, process \d+ on "), only_one(lock, told.append):
            pass
        with pytest.raises(UsageFault), only_one(lock, told.append):
            pass
    with only_one(lock, told.append):
        pass
    assert told == []


@pytest.mark.parametrize(
    ("left", "whose"),
    [
        ('{"pid": 4711, "host": "elsewhere"}', "process 4711 on elsewhere"),
        ("nonsense", "which the lock does not name"),
        ('{"pid": "x"}', "which the lock does not name"),
        ('{"pid": Infinity, "host": "desk"}', "which the lock does not name"),
        ("\udcff\udcfe", "which the lock does not name"),
    ],
)
def test_a_lock_that_was_left_behind_is_told_and_taken(tmp_path: Path, told: list[str], left: str, whose: str) -> None:
    (tmp_path / "lock").write_bytes(left.encode("utf-8", "surrogateescape"))
    with only_one(tmp_path / "lock", told.append):
        pass
    assert told == [f"an earlier schedule, {whose} ended without a word; this one makes up what it missed"]
    with only_one(tmp_path / "lock", told.append):
        pass
    assert len(told) == 1


def test_a_lock_that_cannot_be_made_is_a_fault_of_the_configuration(tmp_path: Path, told: list[str]) -> None:
    (tmp_path / "data").write_text("a file")
    with pytest.raises(ConfigFault, match="cannot be made"), only_one(tmp_path / "data" / "schedule.lock", told.append):
        pass
