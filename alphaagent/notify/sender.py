"""Empties the outbox: claim, send, mark. Run by whoever comes by: a timer, the schedule, the end of a sweep.

Chosen on purpose: a target that did not take a message is left alone for the rest of the pass, so that a dead target costs one time-out and not one
per notice; and the pauses between tries add up to more than half a day, so that a night without a network loses nothing.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from alphaagent.domain.notice import Claimed, Topic
from alphaagent.notify.message import Message, message

LEASE_SECONDS = 180.0
"""Longer than the longest send."""
MOST_IN_ONE_PASS = 200
PAUSES_SECONDS = (60.0, 300.0, 900.0, 3600.0, 7200.0, 14400.0, 28800.0, 0.0)
"""After the first failed try, the second, and so on; after the last there is nothing to wait for."""

Carrier = Callable[[Message], str | None]
"""Takes a message to one target; says in a few words why it did not arrive, and None where it did."""


class Outbox(Protocol):
    """Where notices wait."""

    def claim(self, targets: Collection[str], topics: Collection[Topic], lease_seconds: float) -> Claimed | None: ...
    def sent(self, claimed: Claimed) -> bool: ...
    def failed(self, claimed: Claimed, pause_seconds: float, why: str) -> bool: ...
    def bury(self, known: Collection[str]) -> int: ...


@dataclass(frozen=True, slots=True)
class Drained:
    """What one pass did."""

    sent: int = 0
    failed: tuple[str, ...] = ()
    """One line per target that did not take its message."""
    buried: int = 0
    """Notices that were tried in vain too often, or whose target is gone, and are now given up."""


def drain(outbox: Outbox, carriers: Mapping[str, Carrier], topics: Collection[Topic], known: Collection[str]) -> Drained:
    """Sends what may be sent to these targets, oldest first; `known` are all that are configured, whether they can be reached from here or not."""
    sent, failed = 0, dict[str, str]()
    while sent < MOST_IN_ONE_PASS and len(failed) < len(carriers):
        claimed = outbox.claim([target for target in carriers if target not in failed], topics, LEASE_SECONDS)
        if claimed is None:
            break
        why = carriers[claimed.target](message(claimed.notice))
        if why is None:
            outbox.sent(claimed)
            sent += 1
        else:
            outbox.failed(claimed, PAUSES_SECONDS[min(claimed.tries, len(PAUSES_SECONDS)) - 1], why)
            failed[claimed.target] = f"{claimed.target}: {why}"
    return Drained(sent, tuple(failed.values()), outbox.bury(known))
