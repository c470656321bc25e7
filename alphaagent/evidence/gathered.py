"""What `gather` hands to every tool: each supply's admitted records, and how its fetch ended."""

from dataclasses import dataclass, field
from datetime import date, datetime

from alphaagent.domain.evidence import Status
from alphaagent.domain.market import Instrument, Records
from alphaagent.ports import Calendar


@dataclass(frozen=True, slots=True)
class Supplied:
    """One supply after the cut at as_of. `note` says in words why it is not `ok`."""

    source: str
    status: Status
    records: Records = field(default_factory=Records)
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Gathered:
    """Everything known about one instrument before one instant. No record in it has known_at >= as_of."""

    ticker: str
    instrument: Instrument
    as_of: datetime
    session: date
    """The last session completed at as_of."""
    calendar: Calendar
    prices: Supplied
    fundamentals: Supplied
    news: Supplied
