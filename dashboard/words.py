"""How figures and instants are written on every page. Pure."""

from datetime import UTC, datetime
from decimal import Decimal

NOTHING = "–"


def instant(at: datetime | str | None) -> str:
    """`2022-09-16 20:00 UTC`."""
    if at is None:
        return NOTHING
    moment = datetime.fromisoformat(at) if isinstance(at, str) else at
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def money(amount: Decimal | str | None, currency: str = "USD") -> str:
    """`USD 1,234.50`; a minus stands before the currency."""
    if amount is None:
        return NOTHING
    value = Decimal(amount)
    return f"{'−' if value < 0 else ''}{currency} {abs(value):,.2f}"


def share(part: Decimal | str | None, places: int = 1) -> str:
    """A fraction as per cent."""
    return NOTHING if part is None else f"{Decimal(part) * 100:.{places}f}%"


def rate(part: int, whole: int, few: int = 30) -> str:
    """A rate beside its count, and a word where the count is too small to mean much."""
    if not whole:
        return f"{NOTHING} (0)"
    return f"{100 * part / whole:.0f}% ({part} of {whole}{', too few' if whole < few else ''})"
