"""What wakes the schedule up: date triggers of APScheduler, which is loaded here and nowhere else, and the signals that ask for the end.

Chosen on purpose: a trigger does no work, it rings; the work is done by the schedule's own thread, one thing after the other. A signal's handler touches
nothing but plain numbers, for it may come while this very thread holds a lock; so waiting is done a second at a time. The first signal asks for the end
and gives what is under way its grace, by the system's own timer; the second one ends the process as if there were no handler, which the books are made for.
"""

import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC
from types import FrameType
from typing import Any

from alphaagent.operations.timetable import Event

SLICE_SECONDS = 1.0
ENDS = (signal.SIGTERM, signal.SIGINT)


class Stop:
    """Whether somebody has asked for the end."""

    def __init__(self, grace_seconds: float) -> None:
        self._grace_seconds = grace_seconds
        self.asked = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        """The handlers are in place for the block. Where the grace is over, the block is interrupted by KeyboardInterrupt."""
        before = {name: signal.signal(name, self._ask) for name in ENDS}
        timer = getattr(signal, "SIGALRM", None)
        if timer is not None:
            before[timer] = signal.signal(timer, signal.default_int_handler)
        try:
            yield
        finally:
            if timer is not None:
                signal.setitimer(signal.ITIMER_REAL, 0)
            for name, handler in before.items():
                signal.signal(name, handler)

    def _ask(self, number: int, _frame: FrameType | None) -> None:
        if self.asked:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        self.asked = True
        if hasattr(signal, "SIGALRM"):
            signal.setitimer(signal.ITIMER_REAL, self._grace_seconds)


class DateAlarm:
    """`Alarm` of the schedule by APScheduler; made and ended by a `with` block."""

    def __init__(self, stop: Stop) -> None:
        from apscheduler.schedulers.background import BackgroundScheduler

        self._stop = stop
        self._ring = threading.Event()
        self._scheduler: Any = BackgroundScheduler(timezone=UTC, job_defaults={"misfire_grace_time": None, "coalesce": True})

    def __enter__(self) -> "DateAlarm":
        self._scheduler.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._scheduler.remove_all_jobs()  # waits for a trigger that is going off: it could not be taken down any more once the shutdown has begun
        self._scheduler.shutdown(wait=False)

    @property
    def stopping(self) -> bool:
        return self._stop.asked

    def wait(self, upcoming: Sequence[Event], seconds: float) -> None:
        self._set(upcoming)
        ends = time.monotonic() + seconds
        while not self._stop.asked and (left := ends - time.monotonic()) > 0 and not self._ring.wait(min(left, SLICE_SECONDS)):
            pass
        self._ring.clear()

    def _set(self, upcoming: Sequence[Event]) -> None:
        """One trigger per event, and none for anything else."""
        from apscheduler.jobstores.base import JobLookupError

        wanted = {event.name: event for event in upcoming}
        for job in self._scheduler.get_jobs():
            if job.id not in wanted:
                with suppress(JobLookupError):  # it may go off at this very moment
                    job.remove()
        for name, event in wanted.items():
            self._scheduler.add_job(self._ring.set, "date", run_date=event.at, id=name, replace_existing=True)
