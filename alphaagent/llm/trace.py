"""What happens in a debate, written down as it happens: every call and every tool call. Both sides write at once."""

import threading
from collections.abc import Callable, Iterable

from alphaagent.domain.evidence import Side
from alphaagent.domain.transcript import CallRecord, PhaseKind, ToolRecord

PHASES: tuple[PhaseKind, ...] = ("opening", "rebuttal", "retort", "conclusion", "verdict")
SPEAKERS: tuple[Side, ...] = ("bull", "bear", "cio")


class Trace:
    """Append-only until it is closed; what comes later comes from a turn that has been given up, and is not part of the debate."""

    def __init__(self, heard: Callable[[CallRecord], None] = lambda _: None) -> None:
        """`heard` is told of every call once it is over."""
        self._heard = heard
        self._lock = threading.Lock()
        self._calls: list[CallRecord] = []
        self._tools: list[tuple[int, ToolRecord]] = []
        self._closed = False

    def call(self, record: CallRecord) -> None:
        with self._lock:
            if self._closed:
                return
            self._calls.append(record)
        self._heard(record)

    def tool(self, number: int, record: ToolRecord) -> None:
        """`number` is that of the request whose reply called the tool."""
        with self._lock:
            if not self._closed:
                self._tools.append((number, record))

    def close(self, otherwise: Iterable[CallRecord] = ()) -> None:
        """Nothing is written any more; `otherwise` is what stands for the calls that are not on record by now."""
        with self._lock:
            self._closed = True
            known = {_key(call) for call in self._calls}
            self._calls += [call for call in otherwise if _key(call) not in known]

    def calls(self) -> tuple[CallRecord, ...]:
        """In the order of their keys, which no race between the sides can change."""
        return tuple(sorted(self._calls, key=_key))

    def tools(self) -> tuple[ToolRecord, ...]:
        """By turn, then by the reply that called them, then by name: the tools of one reply may run at once."""
        return tuple(record for _, record in sorted(self._tools, key=lambda pair: (*_place(pair[1]), pair[0], pair[1].tool, pair[1].status)))


def _key(call: CallRecord) -> tuple[int, ...]:
    return (*_place(call), call.number, call.attempt)


def _place(record: CallRecord | ToolRecord) -> tuple[int, int, int]:
    return record.round, PHASES.index(record.phase), SPEAKERS.index(record.side)
