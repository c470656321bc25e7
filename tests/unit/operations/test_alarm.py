"""What wakes the schedule up and what ends it: triggers at their instant, and signals in a process of their own."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from alphaagent.operations.alarm import DateAlarm, Stop
from alphaagent.operations.timetable import Event, Kind
from tests.home import CHECKOUT


@pytest.fixture
def stop() -> Stop:
    return Stop(60)


@pytest.fixture
def alarm(stop: Stop) -> Iterator[DateAlarm]:
    with DateAlarm(stop) as one:
        yield one


def event(seconds: float, kind: Kind = "sweep") -> Event:
    at = datetime.now(UTC) + timedelta(seconds=seconds)
    return Event(kind, "XNYS", at.date(), at, at + timedelta(hours=1))


def waited(alarm: DateAlarm, *upcoming: Event, seconds: float) -> float:
    began = time.monotonic()
    alarm.wait(upcoming, seconds)
    return time.monotonic() - began


def test_it_rings_at_the_first_event(alarm: DateAlarm) -> None:
    assert 0.3 < waited(alarm, event(100, "settle"), event(0.5), seconds=30) < 10


def test_it_returns_when_the_time_is_up(alarm: DateAlarm) -> None:
    assert 0.2 <= waited(alarm, event(100), seconds=0.2) < 5


def test_an_event_that_is_moved_or_taken_back_does_not_ring(alarm: DateAlarm) -> None:
    waited(alarm, event(0.6), event(0.6, "settle"), seconds=0.05)
    assert 1.0 <= waited(alarm, event(100), seconds=1.0) < 6


def test_whoever_asks_for_the_end_is_heard_within_a_second_or_two(alarm: DateAlarm, stop: Stop) -> None:
    threading.Timer(0.2, lambda: setattr(stop, "asked", True)).start()
    assert waited(alarm, event(100), seconds=60) < 10
    assert alarm.stopping


def test_an_alarm_that_is_taken_down_while_it_goes_off_breaks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    broken: list[threading.ExceptHookArgs] = []
    monkeypatch.setattr(threading, "excepthook", broken.append)
    for _ in range(150):
        with DateAlarm(Stop(60)) as one:
            one.wait([event(100, "settle"), event(0.01)], 5)
    assert broken == []


def test_a_trigger_may_go_off_just_before_it_is_taken_back(alarm: DateAlarm, monkeypatch: pytest.MonkeyPatch) -> None:
    alarm.wait([event(100)], 0.01)
    (job,) = alarm._scheduler.get_jobs()
    alarm._scheduler.remove_job(job.id)
    monkeypatch.setattr(alarm._scheduler, "get_jobs", lambda: [job])
    alarm.wait([event(100, "settle")], 0.01)
    monkeypatch.undo()
    assert [one.id for one in alarm._scheduler.get_jobs()] == ["settle XNYS"]


class Running:
    """A schedule in a process of its own."""

    def __init__(self, folder: Path, work_seconds: float, grace_seconds: float) -> None:
        command = [sys.executable, "-m", "tests.schedule_process", str(folder / "lock"), str(work_seconds), str(grace_seconds)]
        self.process = subprocess.Popen(command, cwd=CHECKOUT, env=os.environ | {"PYTHONPATH": str(CHECKOUT)}, stdout=subprocess.PIPE, text=True)
        self.lines: list[str] = []

    def until(self, words: str) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.strip())
            if words in line:
                return
        raise AssertionError(f"{words!r} was never said, but {self.lines}")

    def end(self) -> tuple[int, float]:
        """Exit code, and how long the end took."""
        began = time.monotonic()
        rest, _ = self.process.communicate(timeout=60)
        self.lines += rest.splitlines()
        return self.process.returncode, time.monotonic() - began


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_schedule_that_waits_ends_at_the_first_signal(tmp_path: Path, number: signal.Signals) -> None:
    running = Running(tmp_path, work_seconds=0, grace_seconds=60)
    running.until('"state":"done"')
    running.process.send_signal(number)
    code, seconds = running.end()
    assert (code, running.lines[-1]) == (0, "the schedule has ended")
    assert seconds < 20
    assert (tmp_path / "lock").read_text() == ""


@pytest.mark.slow
def test_what_is_under_way_is_finished_within_the_grace(tmp_path: Path) -> None:
    running = Running(tmp_path, work_seconds=3, grace_seconds=60)
    running.until("begins")
    running.process.send_signal(signal.SIGTERM)
    assert running.end()[0] == 0
    assert '"state":"done"' in running.lines[-3]
    assert running.lines[-1] == "the schedule has ended"


@pytest.mark.slow
def test_when_the_grace_is_over_the_work_is_ended_and_costs_no_try(tmp_path: Path) -> None:
    running = Running(tmp_path, work_seconds=300, grace_seconds=1)
    running.until("begins")
    running.process.send_signal(signal.SIGTERM)
    code, seconds = running.end()
    assert (code, running.lines[-1]) == (0, "the grace is over")
    assert '"state":"begun","tries":0' in running.lines[-2]
    assert seconds < 30


@pytest.mark.slow
def test_a_second_signal_ends_it_at_once_and_the_next_one_is_told_whose_lock_it_was(tmp_path: Path) -> None:
    running = Running(tmp_path, work_seconds=300, grace_seconds=300)
    running.until("begins")
    running.process.send_signal(signal.SIGTERM)
    time.sleep(0.5)
    running.process.send_signal(signal.SIGTERM)
    code, seconds = running.end()
    assert code == -signal.SIGTERM
    assert seconds < 10
    after = Running(tmp_path, work_seconds=0, grace_seconds=60)
    after.until("ended without a word")
    assert f"process {running.process.pid} on " in after.lines[0]
    after.until('"state":"done"')
    after.process.send_signal(signal.SIGTERM)
    assert after.end()[0] == 0
