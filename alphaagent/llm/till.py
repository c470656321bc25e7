"""Where the debates of one process queue for money.

A reservation is the most that a debate can cost, many times what it does cost as a rule. A debate that the ceiling refuses only because others
of this process still hold theirs waits until one of them has been booked; one that it refuses beside nobody is refused.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from alphaagent.errors import ProviderFault

_Ref = TypeVar("_Ref")


class Till:
    """Shared by the debates of a process."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._holding = 0

    @contextmanager
    def reserved(self, reserve: Callable[[], _Ref]) -> Iterator[_Ref]:
        """What `reserve` gives, held as long as this lasts. Raises its ProviderFault once nobody else here holds anything."""
        held = self._enter(reserve)
        try:
            yield held
        finally:
            with self._changed:
                self._holding -= 1
                self._changed.notify_all()

    def _enter(self, reserve: Callable[[], _Ref]) -> _Ref:
        with self._changed:
            while True:
                try:
                    held = reserve()
                except ProviderFault:
                    if self._holding == 0:
                        raise
                    self._changed.wait()
                else:
                    self._holding += 1
                    return held
