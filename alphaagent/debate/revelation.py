"""The gate between the isolated openings and everything after them.

Chosen on purpose: a side commits to the hash of its isolated turns before it can be shown anything, both sides are revealed together and
once, and what is revealed is what was committed. `Revealed` is the ticket to every later phase; only `reveal` makes one. The events are a
tuple that only grows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NoReturn

from alphaagent.debate.turns import DEBATERS
from alphaagent.domain.argument import Debater, Turn
from alphaagent.domain.base import Frozen, fingerprint
from alphaagent.errors import DebateFault

GateState = Literal["gathering", "committed", "revealed", "closed", "failed"]


class GateEvent(Frozen):
    """A side's step into a state; a commit carries the SHA-256 (hex) of the side's isolated turns."""

    side: Debater
    state: GateState
    sha256: str | None = None


class Gate(Frozen):
    """The gate of one debate. Every step gives a new one."""

    events: tuple[GateEvent, ...] = ()

    def state(self, side: Debater) -> GateState:
        """Where a side is now."""
        return next((event.state for event in reversed(self.events) if event.side == side), "gathering")

    def commitment(self, side: Debater) -> str | None:
        """The hash that a side committed to."""
        return next((event.sha256 for event in self.events if event.side == side and event.state == "committed"), None)

    def commit(self, side: Debater, turns: Sequence[Turn]) -> "Gate":
        """The side's isolated turns are final from here on. DebateFault where it is not gathering, or has said nothing."""
        own = _own(side, turns)
        if self.state(side) != "gathering" or not own:
            _violation(f"{side} cannot commit: it is {self.state(side)} and has {len(own)} turns")
        return self._with(GateEvent(side=side, state="committed", sha256=fingerprint(own)))

    def reveal(self, turns: Sequence[Turn]) -> "Revealed":
        """Both sides' isolated turns, now open to both. DebateFault unless both have committed to exactly these, and only once."""
        for side in DEBATERS:
            if self.state(side) != "committed":
                _violation(f"nothing can be revealed while {side} is {self.state(side)}")
            if self.commitment(side) != fingerprint(_own(side, turns)):
                _violation(f"what {side} would reveal is not what it committed to")
        return Revealed(self._with(*(GateEvent(side=side, state="revealed") for side in DEBATERS)), tuple(turns))

    def close(self) -> "Gate":
        """The debate is over. DebateFault unless both sides were revealed."""
        if any(self.state(side) != "revealed" for side in DEBATERS):
            _violation("a debate that was not revealed cannot be closed")
        return self._with(*(GateEvent(side=side, state="closed") for side in DEBATERS))

    def fail(self, side: Debater) -> "Gate":
        """A side is out. DebateFault where it is closed or out already."""
        if self.state(side) in ("closed", "failed"):
            _violation(f"{side} is {self.state(side)} and cannot fail")
        return self._with(GateEvent(side=side, state="failed"))

    def _with(self, *events: GateEvent) -> "Gate":
        return Gate(events=(*self.events, *events))


@dataclass(frozen=True, slots=True)
class Revealed:
    """The isolated turns of both sides after the gate; what a later phase is made from."""

    gate: Gate
    turns: tuple[Turn, ...]


def _own(side: Debater, turns: Sequence[Turn]) -> tuple[Turn, ...]:
    return tuple(turn for turn in turns if turn.side == side)


def _violation(message: str) -> NoReturn:
    raise DebateFault("ISOLATION_VIOLATION", message)
