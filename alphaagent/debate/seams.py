"""A step must account for everything that went into it: by key, never by count.

Chosen on purpose: there is no looser mode. A step that leaves something out names it and says why.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from alphaagent.domain.base import Frozen
from alphaagent.errors import SeamLoss


class Excluded(Frozen):
    """A key that a step left out on purpose."""

    key: str
    reason: str


class Seam(Frozen):
    """One step that accounted for its keys."""

    name: str
    given: tuple[str, ...]
    kept: tuple[str, ...]
    excluded: tuple[Excluded, ...]


def seam(name: str, given: Iterable[str], kept: Iterable[str], excluded: Mapping[str, str] | None = None) -> Seam:
    """The account of a step: what it was given is exactly what it kept and what it left out. Raises SeamLoss with the keys at fault."""
    before, after, out = tuple(given), tuple(kept), dict(excluded or {})
    at_fault = {
        "twice in": _twice(before),
        "twice out": _twice(after),
        "lost": set(before) - set(after) - out.keys(),
        "not given": (set(after) | out.keys()) - set(before),
        "kept and left out": set(after) & out.keys(),
        "left out without a reason": {key for key, reason in out.items() if not reason.strip()},
    }
    if any(at_fault.values()):
        raise SeamLoss(f"{name}: " + "; ".join(f"{what} {', '.join(sorted(keys))}" for what, keys in at_fault.items() if keys))
    return Seam(name=name, given=before, kept=after, excluded=tuple(Excluded(key=key, reason=reason) for key, reason in out.items()))


def _twice(keys: Collection[str]) -> set[str]:
    return {key for key, times in Counter(keys).items() if times > 1}
