"""What happens in a debate, told while it happens: one JSON object a line, in order, for whoever watches.

It is for observers and never for debaters, and no observer can disturb it: what a listener raises is kept and reported once, and the debate
goes on. A listener is run in a thread of its own, one that no exit of the program waits for, which keeps its failures out of here.
"""

import json
import threading
from collections.abc import Callable
from multiprocessing.pool import ThreadPool
from typing import Any

from alphaagent.domain.base import plain

Listener = Callable[[str], None]
Watch = Callable[[str], "Events"]
"""Gives the stream of a run by its id."""
SCHEMA_VERSION = 1
PATIENCE_SECONDS = 5.0
"""How long a listener may take over one line."""


class Events:
    """The stream of one run, with one listener or with none. `complain` hears once of a listener that failed; it is not asked again."""

    def __init__(self, run_id: str = "", listener: Listener | None = None, complain: Callable[[str], None] = lambda _: None) -> None:
        self._run_id, self._listener, self._complain = run_id, listener, complain
        self._lock = threading.Lock()
        self._seq = 0
        self._over = False

    def __call__(self, event: str, **fields: object) -> None:
        """One line; nothing after the last one."""
        if self._listener is None:
            return
        with self._lock:
            if self._over:
                return
            self._seq += 1
            self._over = event in ("run_completed", "run_failed")
            line = _line({"run_id": self._run_id, "seq": self._seq, "event": event} | ({"schema_version": SCHEMA_VERSION} if event == "run" else {}) | fields)
            fault = self._heard(self._listener, line)
            if fault is not None:
                self._over = True
                self._complain(f"the event stream was given up ({fault}); the debate goes on")

    def _heard(self, listener: Listener, line: str) -> str | None:
        """What went wrong with the listener, in a word: it raised something, or it does not come back."""
        raised: list[BaseException] = []
        pool = ThreadPool(1)
        heard = pool.apply_async(listener, (line,), error_callback=raised.append)
        pool.close()
        heard.wait(PATIENCE_SECONDS)
        if not heard.ready():
            return "it does not read"
        return None if heard.successful() else type(raised[0]).__name__


def _line(document: dict[str, Any]) -> str:
    return json.dumps(plain(document), ensure_ascii=False, separators=(",", ":"))


class _Both(Events):
    """One stream told to two; either may fail and the other goes on."""

    def __init__(self, *streams: Events) -> None:
        super().__init__()
        self._streams = streams

    def __call__(self, event: str, **fields: object) -> None:
        for stream in self._streams:
            stream(event, **fields)


def both(first: Watch, second: Watch) -> Watch:
    """Whoever watches by one watches by the other as well."""
    return lambda run_id: _Both(first(run_id), second(run_id))


def unwatched(run_id: str) -> Events:
    """A stream that nobody listens to."""
    return Events(run_id)
