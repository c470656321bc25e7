"""A schedule in a process of its own, with real signals and a real alarm: `python -m tests.schedule_process LOCK WORK_SECONDS GRACE_SECONDS`.

Its only exchange closed an hour ago, so that a sweep is due at once; it lasts as long as it is told, and what happens is printed.
"""

import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from alphaagent.clock import SessionTable, WallClock
from alphaagent.operations.alarm import DateAlarm, Stop
from alphaagent.operations.lock import only_one
from alphaagent.operations.schedule import Hands, Outcome, Schedule
from alphaagent.operations.timetable import Event, Timetable


class Book(dict[str, str]):
    """A memory that says what it is told."""

    def remembered(self, key: str) -> str | None:
        return self.get(key)

    def remember(self, key: str, value: str) -> None:
        self[key] = value
        say(f"{key} {value}")


def say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - the test reads it


def work(seconds: float) -> Outcome:
    """In small pieces, as work in Python is."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        time.sleep(0.02)
    return Outcome("well")


def main(lock: Path, work_seconds: float, grace_seconds: float) -> int:
    now = datetime.now(UTC)
    rows = [((now + timedelta(days=n)).date(), now + timedelta(days=n, hours=-2), now + timedelta(days=n, hours=-1)) for n in range(-5, 6)]
    table, book, stop = SessionTable(rows), Book(), Stop(grace_seconds)

    def sweep(_event: Event) -> Outcome:
        return work(work_seconds)

    hands = Hands({"sweep": sweep}, lambda: None, lambda: (), lambda: None, lambda notice: None, say)
    schedule = Schedule(Timetable.model_validate({"settle": None, "digest": None}), lambda *_: table, WallClock(), book, hands)
    with only_one(lock, say), DateAlarm(stop) as alarm:
        try:
            with stop.listening():
                schedule.run(alarm)
        except KeyboardInterrupt:
            say("the grace is over")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])))
