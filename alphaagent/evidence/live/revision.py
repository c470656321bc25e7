"""Does a vendor contradict its own history? Bars are compared as traded, where a split that is known changes nothing.

A vendor that adjusts its whole history overnight, for a split that it does not list or for a dividend, would otherwise look like a market that moved,
and would trade. A correction of a close or two is let through and shown by `data diff`; more than that is a conflict, until the vendor's history agrees
again with the last that was good, or until somebody accepts it.
"""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from alphaagent.domain.base import instant_text
from alphaagent.domain.market import Records
from alphaagent.evidence.live.archive import Observation

REVISED = "revised: "
"""How the note of an observation begins whose bars contradict the last good one."""
ACCEPTED = "accepted: "
"""How the note of an observation begins by which somebody took a rewritten history for good."""
TOLERANCE = Decimal("0.005")
"""Closes that lie nearer together are one close: rounding, and the last corrections of an auction."""
MOST_CORRECTIONS = 2
MOST_LOST_FRACTION = Decimal("0.2")
"""How much of a history may be left behind: a window that rolls on leaves a session a day."""


def since_accepted(observations: Sequence[Observation]) -> list[Observation]:
    """The observations that a new document is held against: those with a document that contradicts none before it, from the last accepted one on."""
    good = [one for one in observations if one.sha256 is not None and one.looked and not one.note.startswith(REVISED)]
    accepted = [place for place, one in enumerate(good) if one.note.startswith(ACCEPTED)]
    return good[accepted[-1] :] if accepted else good


def differing(old: Records, new: Records) -> list[tuple[str, Decimal, Decimal]]:
    """Session, close before and close now, where they lie further apart than the tolerance."""
    now = {bar.session: bar.close for bar in new.bars}
    both = ((bar.session, bar.close, now[bar.session]) for bar in old.bars if bar.session in now)
    return [(session.isoformat(), before, after) for session, before, after in both if abs(after - before) > TOLERANCE * before]


def revision(vendor: str, old: Records, new: Records, seen_at: datetime) -> str | None:
    """What is contradicted, in words; None where nothing is, or no more than a correction or two."""
    told = {bar.session for bar in new.bars}
    first = min(told, default=None)
    gone = [bar.session for bar in old.bars if bar.session not in told and (first is None or bar.session > first)]
    lost = len(old.bars) - sum(bar.session in told for bar in old.bars)
    if lost > MOST_LOST_FRACTION * len(old.bars) or len(gone) > MOST_CORRECTIONS:
        return f"{REVISED}{vendor} now has nothing for {lost} of the {len(old.bars)} sessions that it had at {instant_text(seen_at)}"
    apart = differing(old, new)
    if len(apart) <= MOST_CORRECTIONS:
        return None
    session, before, after = apart[-1]
    return (
        f"{REVISED}{vendor} now gives other closes than at {instant_text(seen_at)} for {len(apart)} sessions, the last of them {session}: "
        f"{after.normalize():f} instead of {before.normalize():f}, a factor of {after / before:.4f}"
    )
