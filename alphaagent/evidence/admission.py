"""The one gate between what is recorded and what may be known: nothing passes that became known at or after as_of.

A record known exactly at as_of stays out. A fault stays out exactly where its row would have, so that a decision about the past does
not depend on what was written after it; a fault without a readable date could belong anywhere and always passes.
"""

from bisect import bisect_left
from collections.abc import Sequence
from datetime import date, datetime
from operator import attrgetter
from typing import TypeVar

from alphaagent.domain.market import Article, Bar, CorporateAction, Fact, Records, RowFault

Dated = TypeVar("Dated", Bar, CorporateAction, Fact, Article)
_KNOWN_AT = attrgetter("known_at")


def admit(records: Records, as_of: datetime, session: date) -> Records:
    """The records and the faults with known_at < as_of; a fault with no known_at goes by its session, which is at most `session`, or by none."""
    return Records(
        bars=_before(records.bars, as_of),
        actions=_before(records.actions, as_of),
        facts=_before(records.facts, as_of),
        articles=_before(records.articles, as_of),
        faults=tuple(fault for fault in records.faults if _is_known(fault, as_of, session)),
        undated=records.undated,
        off_topic=records.off_topic,
    )


def _before(ordered: Sequence[Dated], as_of: datetime) -> tuple[Dated, ...]:
    return tuple(ordered[: bisect_left(ordered, as_of, key=_KNOWN_AT)])


def _is_known(fault: RowFault, as_of: datetime, session: date) -> bool:
    if fault.known_at is not None:
        return fault.known_at < as_of
    return fault.session is None or fault.session <= session
