"""Double entry, per commodity: pure functions from an event to its legs, each set of which sums to zero in every commodity.

BUY 10 XYZ at 100 with a fee of 1: cash -1001 USD, trading +1000 USD, fee +1 USD; position +10 XYZ, trading -10 XYZ. A fee is a part of the
cost of what is bought. Dividends are income and stand against `realized`; a split creates or removes shares against `suspense` in the
instrument's own commodity, and touches no money. The gain of a sale is not booked: it follows from the lots (holdings.py).
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Literal

from alphaagent.errors import BooksUnsound
from alphaagent.ledger.units import half_even, notional

AccountKind = Literal["cash", "position", "equity", "fee", "realized", "suspense", "trading"]


@dataclass(frozen=True, slots=True)
class Leg:
    """One posting to be: an account of the portfolio, and so many millionths of a commodity."""

    kind: AccountKind
    commodity: str
    amount: int
    settle_on: date


def trade(side: Literal["BUY", "SELL"], instrument: str, currency: str, *, quantity: int, price: int, fee: int, settle_on: date) -> tuple[Leg, ...]:
    """A purchase or a sale at quantity x price; the fee is paid either way."""
    sign = 1 if side == "BUY" else -1
    gross = notional(quantity, price)
    return legs(
        settle_on,
        ("cash", currency, -sign * gross - fee),
        ("trading", currency, sign * gross),
        ("fee", currency, fee),
        ("position", instrument, sign * quantity),
        ("trading", instrument, -sign * quantity),
    )


def deposit(amount: int, currency: str, on: date) -> tuple[Leg, ...]:
    """Money that comes from the owner; a negative amount goes back to the owner."""
    return legs(on, ("cash", currency, amount), ("equity", currency, -amount))


def opening(cash: int, currency: str, lots: Sequence[tuple[str, int, int]], on: date) -> tuple[Leg, ...]:
    """Holdings that the owner brings in, as (instrument, quantity, cost): as if cash had come in and the lots had been bought for it.

    The first legs are the lots, in order, so that a lot's place is its posting's number.
    """
    positions = legs(on, *(("position", instrument, quantity) for instrument, quantity, _ in lots))
    brought: defaultdict[str, int] = defaultdict(int)
    for instrument, quantity, _ in lots:
        brought[instrument] += quantity
    cost = sum(cost for _, _, cost in lots)
    traded = legs(on, *(("trading", instrument, -quantity) for instrument, quantity in brought.items()))
    return positions + traded + legs(on, ("trading", currency, cost), ("cash", currency, cash), ("equity", currency, -cash - cost))


def merger(held: int, per_share: Decimal, instrument: str, currency: str, on: date) -> tuple[Leg, ...]:
    """A holding that is taken over for cash: the whole of it goes, at so much a share, rounded half-even once."""
    numerator, denominator = per_share.as_integer_ratio()
    cash = half_even(held * numerator, denominator)
    return legs(on, ("cash", currency, cash), ("trading", currency, -cash), ("position", instrument, -held), ("trading", instrument, held))


def dividend(held: int, per_share: Decimal, instrument_currency: str, on: date) -> tuple[Leg, ...]:
    """Cash per share held, rounded half-even once; no legs where that is nothing."""
    numerator, denominator = per_share.as_integer_ratio()
    cash = half_even(held * numerator, denominator)
    return legs(on, ("cash", instrument_currency, cash), ("realized", instrument_currency, -cash))


def split(held: int, ratio: Decimal, instrument: str, on: date) -> tuple[Leg, ...]:
    """The shares that a split adds or takes: what is held times the ratio, cut down to a millionth of a share."""
    numerator, denominator = ratio.as_integer_ratio()
    change = held * numerator // denominator - held
    return legs(on, ("position", instrument, change), ("suspense", instrument, -change))


def legs(settle_on: date, *parts: tuple[AccountKind, str, int]) -> tuple[Leg, ...]:
    """The parts that are not zero."""
    return tuple(Leg(kind, commodity, amount, settle_on) for kind, commodity, amount in parts if amount)


def imbalance(amounts: Sequence[tuple[str, int]]) -> dict[str, int]:
    """Commodity -> sum, where the sum of (commodity, amount) pairs is not zero."""
    sums: defaultdict[str, int] = defaultdict(int)
    for commodity, amount in amounts:
        sums[commodity] += amount
    return {commodity: total for commodity, total in sums.items() if total}


def refuse_imbalance(of: Sequence[Leg]) -> None:
    """BooksUnsound unless there are legs and each commodity sums to zero."""
    if not of or imbalance([(leg.commodity, leg.amount) for leg in of]):
        raise BooksUnsound(f"postings that do not balance were refused: {list(of)}", fix="report this: the ledger's own arithmetic is at fault")
