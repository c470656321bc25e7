"""What the book holds. Positions and cash are always derived from postings; these are the results of that derivation."""

from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import Literal

from alphaagent.domain.base import Frozen, Instant

PortfolioKind = Literal["paper", "backtest", "live"]


class Portfolio(Frozen):
    """A book with one base currency and one mandate."""

    id: int
    name: str
    currency: str
    kind: PortfolioKind
    mandate: str
    opened_at: Instant


class Position(Frozen):
    """Shares held. `cost` is what they cost in total, fees included."""

    instrument_id: str
    symbol: str
    quantity: Decimal
    cost: Decimal


class FrozenName(Frozen):
    """A name in which nothing is traded until somebody has looked at what happened to it."""

    instrument_id: str
    symbol: str
    since: Instant
    reason: str


class OrderStatus(StrEnum):
    PENDING = "pending"
    PENDING_APPROVAL = "pending_approval"
    FILLED = "filled"
    EXPIRED = "expired"
    REJECTED = "rejected"
    CANCELLED = "cancelled"


class Order(Frozen):
    """An approved order; `quantity` in shares, `decision_price` what the guard saw when it approved."""

    id: str
    decision_id: str
    portfolio_id: int
    instrument_id: str
    symbol: str
    side: Literal["BUY", "SELL"]
    quantity: Decimal
    decision_price: Decimal
    status: OrderStatus
    decided_at: Instant
    fill_session: date
    """The first session after the decision: the order fills at its open or expires."""
    price: Decimal | None = None
    """Fill price; None until filled."""
    close_all: bool = False
    """The proposal asked for at least the position's value: whatever is held at the fill is sold."""
    reserved: Decimal = Decimal(0)
    """Cash set aside for a pending BUY, in the portfolio's currency."""


class Account(Frozen):
    """A portfolio's derived state at one instant."""

    portfolio: Portfolio
    book_time: Instant
    cash: Decimal
    settled_cash: Decimal
    """Cash whose settlement date has come; T+1 for trades."""
    positions: tuple[Position, ...]
    pending: tuple[Order, ...]

    def held(self, instrument_id: str) -> Decimal:
        """Shares held of one instrument; zero where there are none."""
        return sum((p.quantity for p in self.positions if p.instrument_id == instrument_id), Decimal(0))

    def reserved(self) -> Decimal:
        """Cash set aside by pending orders."""
        return sum((order.reserved for order in self.pending), Decimal(0))
