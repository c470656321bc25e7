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
    """Shares held. `cost` is what they cost in total, fees included, first in first out."""

    instrument_id: str
    symbol: str
    quantity: Decimal
    cost: Decimal


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


class Asked(Frozen):
    """One order of an instrument: what was asked for and what was ordered, in shares."""

    side: Literal["BUY", "SELL"]
    asked: Decimal
    ordered: Decimal


class Activity(Frozen):
    """What a portfolio has decided and ordered in one session; only orders that wait or were filled count."""

    opening_orders: int = 0
    reducing_orders: int = 0
    turnover: Decimal = Decimal(0)
    """Notional of the opening orders, at the prices at which they were decided."""
    ticker_orders: tuple[Asked, ...] = ()
    """The session's orders of the instrument in question."""
    ticker_proposals: int = 0
    """The session's proposals on that instrument that no schedule asked for."""
    last_buy_at: Instant | None = None
    """When the last order to buy that instrument was decided, in any session."""
    last_sell_session: date | None = None
    """The session of the last decision to sell it."""
    recent_notionals: tuple[Decimal, ...] = ()
    """Notionals of the portfolio's last 20 opening orders, in any session, newest first."""


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
