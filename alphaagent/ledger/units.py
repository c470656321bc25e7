"""Units: every amount of money, quantity and price is an integer of millionths, every instant an integer of UTC microseconds.

A value that does not fit exactly is refused, not rounded: whoever makes a price or a quantity decides which way it rounds. The one
product that the ledger makes itself, quantity x price, is `notional`, and it rounds there and nowhere else. What model calls cost is no
posting, and is rounded up.
"""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from alphaagent.domain.base import decimal_text
from alphaagent.errors import AlphaAgentError, UsageFault

SCALE = 1_000_000
MAX_UNITS = 2**63 - 1
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def to_units(value: Decimal) -> int:
    """Millionths of a decimal, exact in any decimal context. UsageFault where it has more than six decimals or is out of range."""
    if not value.is_finite():
        raise UsageFault(f"{value} is not a number that can be booked")
    numerator, denominator = value.as_integer_ratio()
    units, rest = divmod(numerator * SCALE, denominator)
    if rest:
        raise UsageFault(f"{value} has more than six decimals", fix="round it before it is booked")
    if abs(units) > MAX_UNITS:
        raise UsageFault(f"{value} is out of the ledger's range")
    return units


def rounded_units(value: Decimal) -> int:
    """Millionths, rounded half-even and cut to the ledger's range: for columns that only help a search; the exact value is stored beside them."""
    numerator, denominator = value.as_integer_ratio()
    return max(-MAX_UNITS, min(MAX_UNITS, half_even(numerator * SCALE, denominator)))


def raised_units(value: Decimal) -> int:
    """Millionths, a fraction of one rounded up: for what was paid, which must not look smaller. AlphaAgentError below zero or out of range."""
    if not value.is_finite() or value < 0:
        raise AlphaAgentError(f"{value} is no amount that can be paid")
    numerator, denominator = value.as_integer_ratio()
    units = -(-numerator * SCALE // denominator)
    if units > MAX_UNITS:
        raise AlphaAgentError(f"{value} is out of the ledger's range")
    return units


def from_units(units: int) -> Decimal:
    """The decimal of so many millionths, without trailing zeros but for the first."""
    return Decimal(decimal_text(Decimal(f"{units}e-6")))


def half_even(numerator: int, denominator: int) -> int:
    """An integer division that rounds half to even; the denominator is positive."""
    whole, rest = divmod(numerator, denominator)
    up = 2 * rest > denominator or (2 * rest == denominator and whole % 2 == 1)
    return whole + up


def notional(quantity: int, price: int) -> int:
    """Quantity x price in millionths of money: the only place where the ledger multiplies, rounded half-even once."""
    return half_even(quantity * price, SCALE)


def to_micros(at: datetime) -> int:
    """UTC microseconds of an aware instant."""
    return (at - _EPOCH) // timedelta(microseconds=1)


def from_micros(micros: int) -> datetime:
    """The aware UTC instant of so many microseconds."""
    return _EPOCH + timedelta(microseconds=micros)
