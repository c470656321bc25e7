"""The socket of a live vendor: `fetch` touches the world and returns the document as the vendor wrote it, `parse` is pure.

A vendor knows no clock and keeps nothing. What it returns goes into the archive with the instant at which it was fetched; `parse` is told that
instant, and nothing that a document says can become known later than it. Whoever asks decides when to ask and what of it may be seen.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from alphaagent.domain.market import Instrument, Records
from alphaagent.ports import Calendar

Topic = Literal["prices", "fundamentals", "news", "events", "identity"]
"""What a vendor supplies: bars, actions and the last trade; facts; articles; dates ahead; who somebody is, which is no evidence."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The newest document that the archive holds of the same vendor and instrument."""

    raw: bytes
    fetched_at: datetime
    validators: Mapping[str, str]
    """What the server gave to ask with whether anything has changed: `etag`, `last_modified`, by whatever key the vendor keeps them."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """What came. `raw` None: nothing has changed since `Seen`, which must have been given."""

    raw: bytes | None
    validators: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    """What did not come although the rest did, in words (one feed of several)."""


class Vendor(Protocol):
    """One topic of one vendor."""

    @property
    def name(self) -> str:
        """As the evidence calls its source: `yahoo`, `edgar`, `feeds`."""
        ...

    @property
    def topic(self) -> Topic: ...
    def not_asked(self, instrument: Instrument) -> str | None:
        """Why there is nothing to ask about such an instrument, in words (a fund files no statements); None where there is."""
        ...

    def fetch(self, instrument: Instrument, before: Seen | None) -> Fetched | None:
        """One document; None where the vendor answers that it knows nothing under this name. Raises VendorFault for everything else.

        An answer whose shape is not the agreed one raises VendorFault("schema"): it is not kept as if it were a document.
        """
        ...

    def parse(self, raw: bytes, instrument: Instrument, calendar: Calendar, fetched_at: datetime) -> Records:
        """Dated records in order of known_at; unusable rows become `faults`. Raises SourceFault on an unreadable document.

        Prices are as traded: adjustments that the document carries are undone by the splits that the same document lists. What the vendor
        does not date is known at `fetched_at`.
        """
        ...
