"""The entries of all feeds of one instrument as one document that grows: feeds forget old items, and what was seen once is kept here for a while.

Chosen on purpose: the first wording of an entry stands, whatever the feed makes of it later. There is no clock here; what is too old is told
from the instant of the fetch before this one. Each feed keeps its newest entries in its own right, so that no feed can crowd out another, by
dates in the future or by mere number.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from itertools import islice, zip_longest

from pydantic import ValidationError

from alphaagent.domain.base import Frozen, canonical
from alphaagent.errors import SourceFault
from alphaagent.evidence.live.feed_reading import Entry
from alphaagent.evidence.live.feeds_config import FeedKind

VERSION = 1
MOST_ENTRIES = 2_000
KEPT = timedelta(days=120)
_LATEST = datetime.max.replace(tzinfo=UTC)


class FeedState(Frozen):
    """How a feed stood after the fetch that made the document."""

    name: str
    asked: str
    """The fingerprint of the address that was asked: validators are of use for the same address alone."""
    kind: FeedKind
    own: bool
    """It is the company's own feed."""
    title: str = ""
    home: str = ""
    ended: str
    """`ok`, `unchanged`, `absent` (a 404) or the kind of the fault."""
    validators: Mapping[str, str] = {}


class Collection(Frozen):
    """The document: each feed's state and all entries, the newest of each feed first."""

    version: int = VERSION
    feeds: tuple[FeedState, ...]
    entries: tuple[Entry, ...]

    @classmethod
    def read(cls, raw: bytes) -> "Collection":
        """Raises SourceFault on what is no such document, or one of another version."""
        try:
            collection = cls.model_validate_json(raw)
        except ValidationError as fault:
            message = f"the collected news cannot be read: {fault.errors(include_url=False, include_input=False)[0]['msg'].lower()}"
            raise SourceFault(message, fix="fetch the news again") from None
        if collection.version != VERSION:
            raise SourceFault(f"the collected news has version {collection.version}, not {VERSION}", fix="fetch the news again")
        return collection

    def written(self) -> bytes:
        return canonical(self)

    def state(self, name: str) -> FeedState | None:
        return next((state for state in self.feeds if state.name == name), None)

    @property
    def keys(self) -> frozenset[tuple[str, str]]:
        return frozenset((entry.feed, entry.guid) for entry in self.entries)


def collected(before: Iterable[Entry], seen_at: datetime | None, came: Iterable[Entry], feeds: Iterable[str]) -> tuple[Entry, ...]:
    """What is kept of the entries collected before (as of `seen_at`) and those that came now, of these feeds."""
    kept: dict[tuple[str, str], Entry] = {}
    for entry in (*(_stamped(entry, seen_at) for entry in before), *came):
        kept.setdefault((entry.feed, entry.guid), entry)
    recent = [entry for entry in kept.values() if seen_at is None or _ranked_at(entry) >= seen_at - KEPT]
    return _newest(recent, feeds)


def _newest(entries: Iterable[Entry], feeds: Iterable[str]) -> tuple[Entry, ...]:
    """The newest of each feed in turn, then the second of each, until there are enough; what bears no instant comes last."""
    newest_first = sorted(entries, key=lambda entry: (entry.at is not None, _ranked_at(entry), entry.guid), reverse=True)
    turns = zip_longest(*([entry for entry in newest_first if entry.feed == name] for name in feeds))
    return tuple(islice((entry for turn in turns for entry in turn if entry is not None), MOST_ENTRIES))


def _stamped(entry: Entry, seen_at: datetime | None) -> Entry:
    """An entry that was new in the document before was first seen when that was fetched."""
    return entry if entry.first_seen is not None else entry.model_copy(update={"first_seen": seen_at})


def _ranked_at(entry: Entry) -> datetime:
    """Its date, else when it was first seen, else now."""
    return entry.at or entry.first_seen or _LATEST
