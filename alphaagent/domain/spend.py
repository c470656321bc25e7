"""What model calls cost: what is asked for before a debate begins, and what a day adds up to. Amounts are in US dollars."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class SpendAsk:
    """A debate that is about to begin, and the most that it can cost."""

    day: date
    """UTC, of the reservation. The whole debate counts on it, even where it ends after midnight."""
    portfolio: str
    ticker: str
    provider: str
    model: str
    most: Decimal | None
    """None where the model's price is not known."""


@dataclass(frozen=True, slots=True)
class SpendLimit:
    """What one portfolio's debates may come to on a day, besides the ceiling over all of them."""

    what: str
    """In words, for whoever is refused."""
    usd: Decimal
    fix: str


@dataclass(frozen=True, slots=True)
class SpendRef:
    """A reservation, to be booked or released once."""

    token: str
    day: date


@dataclass(frozen=True, slots=True)
class SpendTotal:
    """What was spent, and what is held against a ceiling besides."""

    booked: Decimal = Decimal(0)
    reserved: Decimal = Decimal(0)
    """Open reservations at their most, and what was booked without a price at the most that had been reserved for it."""
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    unpriced: int = 0
    """How many debates have no known price; where none was known before they began, they are in neither sum."""
    open: int = 0
    """How many debates are under way, or were ended with their process before anything could be booked."""


@dataclass(frozen=True, slots=True)
class SpendLine:
    """What one portfolio spent with one provider and model on a day."""

    portfolio: str
    provider: str
    model: str
    total: SpendTotal
