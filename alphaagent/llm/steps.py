"""How often a side may call its tools in one turn, counted where the replies come in.

The count moves with the replies and not with the executions, because the tools of one reply may run at once: what a tool answers must not
depend on which thread came first. For the same reason a tool that is called twice in one reply answers both or neither: which of the two comes
first is up to the threads.
"""

import json
import threading
from collections import Counter
from collections.abc import Callable
from typing import Literal

from alphaagent.domain.transcript import Fault, ToolCall

MOST_IN_ONE_REPLY = 8
MOST_OF_ONE_TOOL = 4
"""In one reply; CrewAI ends a turn of its own accord, and without a reason, at one more."""
Told = Callable[[int, str, str, "ToolStatus"], None]
ToolStatus = Literal["success", "empty", "error", "blocked", "unknown", "exhausted", "cached", "malformed"]


class Steps:
    """The step budget of one turn. Its end is an error and can be read as nothing else: there is no answer in it."""

    def __init__(self, allowed: int, own: tuple[str, ...], others: tuple[str, ...], told: Told) -> None:
        self._left, self._own, self._others, self._told = allowed, own, others, told
        self._lock = threading.Lock()
        self._warned = False
        self._open: frozenset[str] = frozenset()
        """The tools that answer what was asked last."""
        self._seen: set[str] = set()
        self._number = 0
        self._counted = 0
        """Calls that a reply announced and that have still to be run."""

    def take(self, number: int, calls: tuple[ToolCall, ...]) -> Fault | None:
        """Counts the tool calls of a reply, before any of them is run, and opens as many as are left, in the reply's order. A Fault once a model
        goes on after it was told to stop.
        """
        if not calls:
            return None
        statuses = [self._unfit(call) for call in calls]
        runnable = [call.name for call, status in zip(calls, statuses, strict=True) if status is None]
        with self._lock:
            if self._warned or _too_many(calls):
                return Fault(kind="steps", message="the model went on calling tools where it had to answer")
            self._open, self._number = frozenset(call.name for call in calls[: max(self._left, 0)]), number
            self._warned = self._left <= 0 or not self._open.issuperset(runnable)
            self._left -= len(calls)
            self._counted = len(runnable)
        for call, status in zip(calls, statuses, strict=True):
            if status is not None:
                self._told(number, call.name, call.arguments, status)
        return None

    def run(self, name: str, arguments: str, find: Callable[[], tuple[ToolStatus, str]]) -> str:
        """What the model hears from its tool: what it finds, or that there are no calls left."""
        with self._lock:
            if self._counted == 0:  # a model without tool calls of its own asks in words, which no reply has announced
                self._open, self._counted = frozenset([name] if self._left > 0 else []), 1
                self._left -= 1
            self._counted -= 1
            number, is_open, repeated = self._number, name in self._open, name in self._seen
            self._seen.add(name)
        if not is_open:
            self._told(number, name, arguments, "exhausted")
            return "No tool calls are left. Answer now, with what you have been given."
        status, text = find()
        self._told(number, name, arguments, "cached" if repeated else status)
        return text

    def _unfit(self, call: ToolCall) -> ToolStatus | None:
        """Why the framework will not run this call: a tool of the other side, one that nobody has, or arguments that are no object."""
        if call.name not in self._own:
            return "blocked" if call.name in self._others else "unknown"
        try:
            return None if json.loads(call.arguments or "{}") == {} else "malformed"
        except ValueError:
            return "malformed"


def _too_many(calls: tuple[ToolCall, ...]) -> bool:
    return len(calls) > MOST_IN_ONE_REPLY or max(Counter(call.name for call in calls).values()) > MOST_OF_ONE_TOOL
