"""What the market said, each record with the instant it became known.

Prices are *as traded*: no later split or dividend has touched them. Adjusting is done where a series is measured, and only by
actions known by then.
"""

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Literal

from alphaagent.domain.base import Frozen

MINOR_UNITS = {"GBp": "GBP"}
"""Price units that are a hundredth of a currency: London quotes shares in pence."""

InstrumentKind = Literal["common", "etf", "leveraged_etf", "inverse_etf", "index", "other"]
WITHOUT_EARNINGS: frozenset[InstrumentKind] = frozenset({"etf", "leveraged_etf", "inverse_etf", "index"})
"""What reports no earnings of its own."""


class Instrument(Frozen):
    """One tradable thing: its identity does not change when its symbol does."""

    id: str
    """Opaque and stable, e.g. `XNAS:AAPL`."""
    symbol: str
    name: str
    aliases: tuple[str, ...] = ()
    mic: str
    """Market identifier code (ISO 10383) of the listing."""
    currency: str
    """What a price is in: an ISO 4217 code, or a minor unit such as `GBp`."""
    kind: InstrumentKind
    sector: str | None = None
    cik: str | None = None
    """The company's SEC number, ten digits."""
    valid_from: date | None = None
    valid_to: date | None = None
    ads_ratio: Decimal | None = None
    """Ordinary shares that one traded share stands for (an ADS); None where it is an ordinary share itself."""
    vendor_symbols: tuple[tuple[str, str], ...] = ()
    """What a vendor calls it, where that does not follow from the symbol and the market: (vendor, symbol)."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One session's trading; known at the session's close. Prices are per share as traded, volume in shares."""

    session: date
    open: Decimal
    high: Decimal
    low: Decimal
    close: Decimal
    volume: int
    known_at: datetime


@dataclass(frozen=True, slots=True)
class CorporateAction:
    """What a company did to its shares, effective before the open of `ex_date` and known at that open."""

    kind: Literal["split", "dividend", "merger", "unknown"]
    ex_date: date
    value: Decimal
    """Split: new shares per old share (4 for 4:1). Dividend, merger: cash per share on the share basis of the ex-date; 0 where there is none."""
    known_at: datetime
    into: str | None = None
    """Merger: the id of the instrument whose shares come in exchange; None where only cash does."""
    shares: Decimal = Decimal(0)
    """Merger: such shares per old share."""
    note: str = ""
    """What the source calls it, where the kind says too little."""

    @property
    def bookable(self) -> bool:
        """Whether its effect on a holding is known whole: splits, dividends, and mergers for cash alone."""
        return self.kind in ("split", "dividend") or (self.kind == "merger" and self.value > 0 and self.into is None and not self.shares)

    def told(self) -> str:
        """In words: `unknown action (spin_off) of 2020-06-01`."""
        kind = "unknown action" if self.kind == "unknown" else self.kind
        return f"{kind}{f' ({self.note})' if self.note else ''} of {self.ex_date}"


@dataclass(frozen=True, slots=True)
class Fact:
    """One number from one filing, as filed; a restatement is another Fact with a later filing date."""

    concept: str
    unit: str
    start: date | None
    """None for an instant (balance sheet) fact."""
    end: date
    value: Decimal
    filed: date
    form: str
    accession: str
    known_at: datetime


@dataclass(frozen=True, slots=True)
class Article:
    """One news item. Its text is untrusted."""

    guid: str
    title: str
    summary: str
    link: str
    publisher: str
    origin: Literal["press", "filing"]
    """`filing`: a headline made from a filing's figures, not by a newspaper."""
    accession: str | None
    published_at: datetime
    known_at: datetime
    taint: tuple[str, ...] = ()
    """Why its text looks like an attempt to steer a reader or a model; what was hidden in it is gone."""


@dataclass(frozen=True, slots=True)
class ComingEvent:
    """A date ahead that a vendor states: when earnings are due, or from when on a share trades without its dividend."""

    kind: Literal["earnings", "ex_dividend"]
    day: date
    """The date, or the first of a span of days that it may fall on."""
    last_day: date
    """The last of that span; the same as `day` where the date is certain."""
    known_at: datetime


@dataclass(frozen=True, slots=True)
class LastPrice:
    """The last trade that a vendor knows of, which is no close: with when it was made and when it was seen here."""

    price: Decimal
    traded_at: datetime
    known_at: datetime


@dataclass(frozen=True, slots=True)
class RowFault:
    """A row that cannot be used: where it stands, what is wrong, and the session it belongs to if that can be read."""

    where: str
    message: str
    session: date | None
    known_at: datetime | None = None
    """When the row would have become known had it been usable; None where its date does not tell."""


@dataclass(frozen=True, slots=True)
class Records:
    """Everything that one source parsed, each list ordered by known_at, before the cut at as_of."""

    bars: tuple[Bar, ...] = ()
    actions: tuple[CorporateAction, ...] = ()
    facts: tuple[Fact, ...] = ()
    articles: tuple[Article, ...] = ()
    coming: tuple[ComingEvent, ...] = ()
    last_prices: tuple[LastPrice, ...] = ()
    faults: tuple[RowFault, ...] = ()
    undated: int = 0
    """News items dropped because they carry no date, or one that lay ahead when they were fetched."""
    off_topic: int = 0
    """News items dropped because they do not speak of the company: they are about somebody else, or no articles at all."""


class Quote(Frozen):
    """A price with its source and age: never an average cost, never a guess."""

    price: Decimal
    session: date
    known_at: datetime
    source: str
