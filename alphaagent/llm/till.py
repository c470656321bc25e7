"""Where the debates of one process queue for money.

A reservation is the most that a debate can cost, many times what it does cost as a rule. A debate that the ceiling refuses only because others
of this process still hold theirs waits until one of them has been booked; one that it refuses beside nobody is refused.

Debates that line up are served in their order, and the next is not looked at before the one ahead has its money or has gone without. So it
depends on what debates cost and not on how fast they are who is left without one.
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
        self._is_closed = False

    def line_up(self, count: int) -> "tuple[Place, ...]":
        """Places in a queue of its own, the first served first. Whoever has one must leave it, with money or without."""
        waiting = list(range(count))
        return tuple(Place(self, waiting, number) for number in range(count))

    @contextmanager
    def reserved(self, reserve: Callable[[], _Ref]) -> Iterator[_Ref]:
        """What `reserve` gives, held as long as this lasts. Raises its ProviderFault once nobody else here holds anything."""
        with self.served(reserve, lambda: True, lambda: None) as held:
            yield held

    @contextmanager
    def served(self, reserve: Callable[[], _Ref], is_next: Callable[[], bool], leave: Callable[[], None]) -> Iterator[_Ref]:
        """The same for somebody in a queue: asks once `is_next`, and has left it by the time that the answer is known."""
        held = self._enter(reserve, is_next, leave)
        try:
            yield held
        finally:
            with self._changed:
                self._holding -= 1
                self._changed.notify_all()

    def _enter(self, reserve: Callable[[], _Ref], is_next: Callable[[], bool], leave: Callable[[], None]) -> _Ref:
        with self._changed:
            while True:
                if self._is_closed:
                    raise ProviderFault("the run was interrupted before this debate began")
                if is_next():
                    try:
                        held = reserve()
                    except ProviderFault:
                        if self._holding == 0:
                            raise
                    else:
                        leave()
                        self._holding += 1
                        return held
                self._changed.wait()

    def leave(self, waiting: list[int], number: int) -> None:
        """Gives up a place; whoever is behind moves up."""
        with self._changed:
            if number in waiting:
                waiting.remove(number)
                self._changed.notify_all()

    def close(self) -> None:
        """Nobody is served any more: who interrupts a run pays for no further debate."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()


class Place:
    """One debate's place in the queue of a run."""

    def __init__(self, till: Till, waiting: list[int], number: int) -> None:
        self._till, self._waiting, self._number = till, waiting, number

    @contextmanager
    def reserved(self, reserve: Callable[[], _Ref]) -> Iterator[_Ref]:
        """As at the till itself, once everybody ahead has been served or has left."""
        with self._till.served(reserve, lambda: self._waiting[:1] == [self._number], self.leave) as held:
            yield held

    def leave(self) -> None:
        """Twice is once."""
        self._till.leave(self._waiting, self._number)
