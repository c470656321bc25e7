"""The dashboard's view of a home: the books read-only, the configuration, the recorded prices; and how far the audit trail has been checked.

Chosen on purpose: nothing here can write, for the store is opened by `open_existing`. A small book is checked whole before its first figure is shown;
a large one is checked beside the page, which says so until it is done. A book that has grown since is checked again, at most one tenth of the time,
and nobody waits for that: the page says up to where and when it was checked.
"""

import atexit
import json
import sys
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from subprocess import DEVNULL, PIPE, Popen
from threading import Lock, Thread
from time import monotonic
from typing import Literal, TypeVar, cast

from alphaagent.bootstrap import Workplace
from alphaagent.domain.portfolio import Portfolio
from alphaagent.domain.ruling import ControlState
from alphaagent.ledger.findings import UNREADABLE, Finding
from alphaagent.ledger.store import SqlStore
from alphaagent.ledger.verify import VerifyReport, verify
from alphaagent.ports import AuditRef

Made = TypeVar("Made")
PATIENCE_SECONDS = 0.5
"""How long a page waits for the check of the books before it is shown with `checking`."""
SOON_CHECKED_ROWS = 2000
REST = 9
"""A check rests so many times as long as the last one took."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What is known about the soundness of the books."""

    state: Literal["sound", "checking", "unsound"]
    rows: int
    """Audit rows that were checked."""
    at: datetime | None
    fault: str | None


def examine(url: str, rows: int) -> VerifyReport:
    """Checks the whole of the books: beside the pages where that is soon done, else in a process of its own, which takes no time from them."""
    return verify(url) if rows <= SOON_CHECKED_ROWS else _examined_apart()


def _examined_apart() -> VerifyReport:
    """What `alphaagent audit verify` says of this process's home."""
    process = Popen([sys.executable, "-m", "alphaagent", "audit", "verify", "--json"], stdout=PIPE, stderr=DEVNULL, text=True)
    atexit.register(process.kill)
    try:
        said, _ = process.communicate()
    finally:
        atexit.unregister(process.kill)
    return report_of(said)


def report_of(said: str) -> VerifyReport:
    """The verifier's report from its JSON; a check that ended without one has found nothing sound."""
    try:
        document = json.loads(said)
        findings = tuple(Finding(**one) for one in document["findings"])
        head = document["head"] and AuditRef(**document["head"])
        return VerifyReport(findings, document["rows"], document["rulings_replayed"], head, document["not_anchored"], document["exit_code"])
    except (ValueError, KeyError, TypeError):
        return VerifyReport((Finding(UNREADABLE, None, "the check of the books was broken off"),), 0, 0, None, 0, UNREADABLE)


class Watchman:
    """Checks the books again as they grow, one check at a time, in a thread of its own."""

    def __init__(self, examine: Callable[[int], VerifyReport], now: Callable[[], datetime]) -> None:
        self._examine, self._now = examine, now
        self._lock = Lock()
        self._thread: Thread | None = None
        self._known = Checked("checking", 0, None, None)
        self._looked_at: int | None = None
        """How long the log was when it was last checked, or longer: a check stops at a broken link, and is not begun anew because of that."""
        self._rested_at = 0.0

    def checked(self, seq: int) -> Checked:
        """What is known, with a new check begun where the log is not `seq` rows long any more. Only who knows nothing yet waits, and not for long."""
        with self._lock:
            if self._thread is None and seq != self._looked_at and monotonic() >= self._rested_at:
                self._thread = Thread(target=self._check, args=(seq,), daemon=True)
                self._thread.start()
            thread, known = self._thread, self._known
        if thread is None or known.state != "checking":
            return known
        thread.join(PATIENCE_SECONDS)
        return self._known

    def learn(self, report: VerifyReport) -> None:
        """A check of the whole that somebody else has made."""
        fault = None if report.exit_code in (0, 10) else report.findings[0].message
        with self._lock:
            self._known = Checked("unsound" if fault else "sound", report.rows, self._now(), fault)

    def _check(self, seq: int) -> None:
        begun, found = monotonic(), seq
        try:
            report = self._examine(seq)
            found = max(seq, report.rows)
            self.learn(report)
        finally:
            with self._lock:
                self._looked_at, self._thread = found, None
                self._rested_at = monotonic() + REST * (monotonic() - begun)


@dataclass(frozen=True)
class Reader:
    """Everything that pages may ask."""

    workplace: Workplace
    watchman: Watchman

    @cached_property
    def store(self) -> SqlStore:
        """The books. Raises UsageFault where there are none, ConfigFault where they are older or newer than this program."""
        return self.workplace.required_store()

    @property
    def now(self) -> datetime:
        return self.workplace.clock.now()

    def kept(self, what: Hashable, make: Callable[[], Made]) -> Made:
        """What was gathered last, for as long as nothing has been booked since, and a minute at most."""
        stamp = (self.store.head_seq(), self.now.replace(second=0, microsecond=0))
        known, made = self._memory.get(what, (None, None))
        if known != stamp:
            made = make()
            self._memory[what] = stamp, made
        return cast(Made, made)

    @cached_property
    def _memory(self) -> dict[Hashable, tuple[object, object]]:
        return {}

    def portfolios(self) -> tuple[Portfolio, ...]:
        with self.store.read() as books:
            return tuple(books.portfolios())

    def control(self) -> tuple[ControlState, tuple[str, ...], str]:
        """The kill switch as the guard would see it now: the state, where it comes from, and why."""
        with self.store.read() as books:
            stored = books.control()
        state, sources = self.workplace.desk.control(stored)
        return state, tuple(sources), stored.reason if stored is not None and stored.state != "ACTIVE" else ""

    def checked(self) -> Checked:
        """How far the books have been checked; the quick check of the guard is made each time."""
        with self.store.read() as books:
            fault = books.soundness_fault()
        known = self.watchman.checked(self.store.head_seq())
        return Checked("unsound", known.rows, self.now, fault) if fault else known

    @property
    def is_live(self) -> bool:
        return self.workplace.settings.data_mode == "live"
