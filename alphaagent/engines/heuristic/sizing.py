"""From a score to a trade: target weight by volatility scaling, a no-trade region around it, hysteresis between enter and exit."""

from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_UP, Decimal
from typing import Literal

from alphaagent.engines.heuristic.profiles import Profile

FULL_SCORE = Decimal("0.6")
"""The score at which a name gets its whole cap."""
MIN_BAND = Decimal("0.01")
BAND_SHARE = Decimal("0.25")
AT_TARGET = Decimal("0.001")
CENT = Decimal("0.01")

HoldKind = Literal["balanced", "no_trade_region", "at_target", "no_edge", "barred", "abstained", "held_back"]


@dataclass(frozen=True, slots=True)
class Holding:
    """What is held of one name: value and equity in the portfolio's currency, weight as a fraction of NAV, pending orders counted."""

    quantity: Decimal
    value: Decimal
    weight: Decimal
    equity: Decimal
    budget: Decimal


@dataclass(frozen=True, slots=True)
class Trade:
    """A sized intention. `amount` is a notional; `close_all` sells everything."""

    action: Literal["BUY", "SELL", "HOLD"]
    amount: Decimal
    target: Decimal
    edge: Decimal
    hold_kind: HoldKind | None = None
    rule_driven: bool = False


def target_weight(score: Decimal, sigma: Decimal, profile: Profile) -> Decimal:
    """cap x min(1, sigma*/sigma) x clip((S - exit) / (0.6 - exit), 0, 1), a fraction of NAV (Moreira-Muir 2017)."""
    conviction = min(Decimal(1), max(Decimal(0), (score - profile.exit) / (FULL_SCORE - profile.exit)))
    return profile.cap * min(Decimal(1), profile.sigma_target / sigma) * conviction


def band(target: Decimal) -> Decimal:
    """Half-width of the no-trade region, a fraction of NAV (Davis-Norman 1990)."""
    return max(MIN_BAND, target * BAND_SHARE)


def size(low: Decimal, high: Decimal, sigma: Decimal, profile: Profile, holding: Holding, *, may_open: bool) -> Trade:
    """The trade for a score between `low` and `high` (equal unless a source is lost): buy on the worst, sell on the best reading."""
    sell_target, buy_target = target_weight(high, sigma, profile), target_weight(low, sigma, profile)
    if holding.quantity > 0 and high <= profile.exit:
        return close(holding)
    upper = sell_target + band(sell_target)
    if holding.quantity > 0 and holding.weight > upper:
        return _sell_down(holding, sell_target, upper)
    lower = buy_target - band(buy_target)
    amount = _affordable((lower - holding.weight) * holding.equity, holding.budget)
    if low >= profile.enter and amount > 0 and may_open:
        return Trade("BUY", amount, buy_target, lower)
    return Trade("HOLD", Decimal(0), buy_target, lower, hold_kind=_hold_kind(low, buy_target, profile, holding, wanted=amount > 0))


def close(holding: Holding) -> Trade:
    """Sells everything: the amount is the position's value rounded up, which means all of it."""
    return Trade("SELL", _whole_cents(holding.value), Decimal(0), Decimal(0), rule_driven=True)


def halve(holding: Holding) -> Trade:
    """Sells half of the position."""
    return Trade("SELL", _whole_cents(holding.value / 2), holding.weight / 2, holding.weight / 2, rule_driven=True)


def _sell_down(holding: Holding, target: Decimal, edge: Decimal) -> Trade:
    amount = ((holding.weight - edge) * holding.equity).quantize(CENT, ROUND_DOWN)
    if amount <= 0:
        return Trade("HOLD", Decimal(0), target, edge, hold_kind="no_trade_region")
    return Trade("SELL", min(amount, _whole_cents(holding.value)), target, edge, rule_driven=True)


def _whole_cents(value: Decimal) -> Decimal:
    """Rounded up, at least one: a sale of nothing would be refused."""
    return max(CENT, value.quantize(CENT, ROUND_UP))


def _affordable(amount: Decimal, budget: Decimal) -> Decimal:
    # A budget of zero is left to the guard, whose refusal is a record with its reason.
    wanted = min(amount, budget) if budget > 0 else amount
    return wanted.quantize(CENT, ROUND_DOWN)


def _hold_kind(score: Decimal, target: Decimal, profile: Profile, holding: Holding, *, wanted: bool) -> HoldKind:
    """`wanted`: the target alone asks for more than is held."""
    if score < profile.enter and (wanted or holding.quantity == 0):
        return "balanced"
    if wanted:
        return "barred"
    if holding.quantity > 0 and abs(holding.weight - target) < AT_TARGET:
        return "at_target"
    return "no_trade_region"
