"""What the morning digest is made of: the records of one night, portfolio by portfolio."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from alphaagent.domain.portfolio import Order


@dataclass(frozen=True, slots=True)
class Named:
    """A ticker and a word about it."""

    ticker: str
    word: str


@dataclass(frozen=True, slots=True)
class PortfolioNight:
    """One portfolio since the open of the last completed session."""

    name: str
    currency: str
    equity: Decimal | None
    """None where a holding has no price."""
    cash: Decimal
    positions: int
    to_fill: tuple[Order, ...]
    """Orders that wait for an open."""
    ended: tuple[Order, ...]
    """Orders that were filled, expired or refused."""
    acts: tuple[Named, ...]
    """What else changed: splits, dividends, freezes, deposits, the mandate."""
    actions: Mapping[str, int]
    """Decisions by action; `none` where a proposal could not be read."""
    blocks: tuple[Named, ...]
    failures: tuple[Named, ...]
    frozen: tuple[str, ...]
    spent: Decimal
    """On models, in USD."""
    oldest_prices: tuple[str, date | None] | None
    """The name whose prices end first, and where; None where no name matters. A date of None: nobody can tell."""


@dataclass(frozen=True, slots=True)
class Digest:
    """Everything that one look in the morning should see."""

    at: datetime
    session: date
    """The last completed one."""
    since: datetime
    next_open: datetime
    control: str
    control_sources: tuple[str, ...]
    control_reason: str
    books_fault: str | None
    anchor: str
    """The audit trail's head, as `audit verify --anchor` reads it."""
    spent: Decimal
    ceiling: Decimal | None
    unsent: int
    """Notices that have not arrived, dead letters among them."""
    portfolios: tuple[PortfolioNight, ...]
