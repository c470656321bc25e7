"""The arithmetic of what a portfolio earned: growth without the owner's payments, falls from the highest point, and what it is held against. Pure.

Money that comes from the owner or goes back makes no return. So time is cut at every such payment, each piece is measured for itself, and the pieces
are multiplied: the time-weighted return.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

ONE, NOTHING = Decimal(1), Decimal(0)


@dataclass(frozen=True, slots=True)
class Point:
    """What a portfolio was worth at an instant."""

    at: datetime
    session: date
    """The last one completed at `at`, whose closes it is valued at."""
    nav: Decimal | None
    """None where a holding had no price."""
    growth: Decimal
    """What one unit of money that came in at the opening had become, payments of the owner left out; of the last known value where there is none."""
    paid_in: Decimal
    """What the owner has put in since the opening, less what was taken out."""


@dataclass(slots=True)
class Growth:
    """The time-weighted growth, piece by piece.

    With V before a piece, V' after it, and F paid in during it, the piece grows by g = (V' - F) / V, and the whole is G = g1 x g2 x ... Where a value
    is known right before and right after each payment, F is zero in every piece and the result is exact; where it is not, F counts as paid at the
    end of its piece. A piece that begins with nothing, or with less, earns nothing.
    """

    whole: Decimal = ONE
    _value: Decimal = NOTHING
    _paid: Decimal = NOTHING

    def valued(self, value: Decimal) -> None:
        """The piece up to here ends with this value."""
        if self._value > 0:
            self.whole = self.whole * (value - self._paid) / self._value
        self._value, self._paid = value, NOTHING

    def paid(self, amount: Decimal, *, valued: bool) -> None:
        """The owner pays in, or takes out where it is below zero; `valued` where `valued()` was told the value right before."""
        if valued:
            self._value += amount
        else:
            self._paid += amount


def drawdowns(growth: Iterable[Decimal]) -> tuple[Decimal, ...]:
    """How far below its highest point so far: d(t) = G(t) / max(G(s), s <= t) - 1, zero or less."""
    found, highest = [], NOTHING
    for value in growth:
        highest = max(highest, value)
        found.append(value / highest - 1 if highest > 0 else NOTHING)
    return tuple(found)


def relative(values: Sequence[Decimal]) -> tuple[Decimal, ...]:
    """Each value as a multiple of the first: R(t) = P(t) / P(0)."""
    return tuple(value / values[0] for value in values)


def equal_weight(worth: Mapping[str, Sequence[Decimal]]) -> tuple[Decimal, ...]:
    """The same money in every name at the first instant, and left alone: B(t) = 1/n x sum over the names of W(t) / W(0).

    `worth` is what one share of the first instant has become by each instant: its splits multiply it, its dividends stay with it as cash.
    """
    if not worth:
        return ()
    lines = [relative(line) for line in worth.values()]
    return tuple(sum(column, NOTHING) / len(lines) for column in zip(*lines, strict=True))


def change(before: Point, after: Point) -> Decimal | None:
    """Money earned between two points: V' - V - F; None where either has no value."""
    if before.nav is None or after.nav is None:
        return None
    return after.nav - before.nav - (after.paid_in - before.paid_in)


def share_earned(before: Point, after: Point) -> Decimal | None:
    """The same as a part of what there was, time-weighted: G' / G - 1; None where either has no value, or there was nothing."""
    if before.nav is None or after.nav is None or before.growth <= 0:
        return None
    return after.growth / before.growth - 1
