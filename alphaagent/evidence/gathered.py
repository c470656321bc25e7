"""What `gather` hands to every tool: each supply's admitted records, and how its fetch ended."""

from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal

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
class SecondOpinion:
    """The last close by another source. Status `ok` or `conflict` where it gave one, `failed` or `empty` where not; `note` then says why."""

    source: str
    session: date | None
    """The session of `close`."""
    close: Decimal | None
    """As traded in that session."""
    tolerance_fraction: Decimal
    """How far apart the two sources may be and still agree."""
    status: Status
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
    events: Supplied | None = None
    """Dates ahead; None where this mode has no such supply, which is no hole."""
    second: SecondOpinion | None = None
    """None where no second source of prices is configured."""
