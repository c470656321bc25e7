"""The heuristic engine: a pack goes in, raw proposal text and two cases come out. Pure, deterministic, no model, no clock.

It serves where no model is configured or one fails, and as the baseline that a crew must beat. Its few votes, their weights and
their sources stand in `factors.py` and `profiles.py`; nothing here was fitted to the names that it is shown on.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any, Literal

from alphaagent.domain.base import decimal_text
from alphaagent.domain.debate import Contribution, EngineResult
from alphaagent.domain.evidence import EvidenceItem, EvidencePack, Status
from alphaagent.domain.proposal import Action, Sentiment, TradeProposal
from alphaagent.engines.heuristic import cases, sizing
from alphaagent.engines.heuristic.factors import FactorScore, factor_scores, quantise, volatility
from alphaagent.engines.heuristic.profiles import PROFILES, Factor, Profile
from alphaagent.errors import NoEvidence

MIN_BARS = 60
MIN_WEIGHT_PRESENT = Decimal("0.50")
MAX_EDGE = 0.05
"""How far p_up may leave the base rate."""
SLOPE = 0.10
"""b of p_up = logistic(logit p0 + b S); chosen, not fitted, and labelled so."""
RELIED_ON = 12
THOUSANDTH = Decimal("0.001")
HUNDREDTH = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class Reading:
    """A score with its parts. `low` counts lost factors at their worst, `high` at their best."""

    profile: Profile
    factors: Mapping[Factor, FactorScore]
    contributions: tuple[Contribution, ...]
    low: Decimal
    high: Decimal
    weight_present: Decimal


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything besides the score that shapes the trade."""

    profile: Profile
    holding: sizing.Holding
    sigma: Decimal
    base_rate: Decimal
    flags: tuple[str, ...]
    """Hard flags that are raised."""
    fresh: tuple[str, ...]
    """Those of them that no sale has answered yet."""
    may_open: bool
    reducing_only: bool = False
    """A purchase is held back."""

    def trade(self, low: Decimal, high: Decimal) -> sizing.Trade:
        """The trade for a score between `low` and `high`; monotone in it."""
        ordinary = sizing.size(low, high, self.sigma, self.profile, self.holding, may_open=self.may_open)
        if self.holding.quantity > 0 and self.flags and self.profile.name == "low":
            return sizing.close(self.holding)
        if self.holding.quantity > 0 and self.fresh and self.profile.name == "medium":
            return max(sizing.halve(self.holding), ordinary, key=lambda trade: trade.amount)
        if ordinary.action == "BUY" and p_up(self.base_rate, low) < self.base_rate:
            return sizing.Trade("HOLD", Decimal(0), ordinary.target, ordinary.edge, hold_kind="no_edge")
        if ordinary.action == "BUY" and self.reducing_only:
            return sizing.Trade("HOLD", Decimal(0), ordinary.target, ordinary.edge, hold_kind="held_back")
        return ordinary

    def answered(self) -> tuple[str, ...]:
        """The flags that a trade now answers."""
        if self.holding.quantity <= 0 or self.profile.name == "high":
            return ()
        return self.flags if self.profile.name == "low" else self.fresh


class HeuristicEngine:
    """A DecisionEngine without a model."""

    name: Literal["heuristic"] = "heuristic"

    def decide(self, pack: EvidencePack, *, reducing_only: bool = False) -> EngineResult:
        """The mechanical read of a pack; `reducing_only` holds a purchase back. Raises NoEvidence under 60 bars."""
        _require_bars(pack)
        portfolio = _one(pack, "get_portfolio", "portfolio").payload
        reading = read(pack, PROFILES[str(portfolio["risk_profile"])])
        holding = _holding(portfolio)
        base_rate = Decimal(str(_one(pack, "get_price_history", "base_rate").payload["p0"]))
        why_not = _abstains(pack, reading)
        if why_not:
            trade = sizing.Trade("HOLD", Decimal(0), holding.weight, holding.weight, hold_kind="abstained")
            return _result(pack, reading, trade, holding, base_rate, None, why_not)
        situation = replace(_situation(pack, reading, holding, base_rate, portfolio["acted_flags"]), reducing_only=reducing_only)
        return _result(pack, reading, situation.trade(reading.low, reading.high), holding, base_rate, situation, None)


def read(pack: EvidencePack, profile: Profile) -> Reading:
    """The score S = sum of weight x factor, with a lost factor's whole weight on either side of it."""
    factors = factor_scores(pack)
    weights = profile.weights()
    contributions = tuple(_contribution(factors[name], weight) for name, weight in weights.items())
    low = quantise(sum((Decimal(part.contribution) for part in contributions), Decimal(0)))
    lost = sum((weights[name] for name, factor in factors.items() if factor.status == "lost"), Decimal(0))
    present = sum((weights[name] for name, factor in factors.items() if factor.status == "ok"), Decimal(0))
    return Reading(profile, factors, contributions, low, quantise(low + 2 * lost), present)


def _contribution(factor: FactorScore, weight: Decimal) -> Contribution:
    value = factor.value if factor.status != "lost" else Decimal(-1)
    return Contribution(
        factor=factor.factor,
        value=None if factor.value is None else decimal_text(factor.value),
        weight=decimal_text(weight),
        contribution=decimal_text(quantise(weight * (value or Decimal(0)))),
        status=factor.status,
        evidence_ids=factor.evidence_ids,
        detail=factor.detail,
    )


def p_up(base_rate: Decimal, score: Decimal) -> Decimal:
    """Probability of a higher close 20 sessions on: logistic(logit p0 + 0.10 S), within p0 +/- 0.05; unfitted."""
    p0 = float(base_rate)
    raw = 1 / (1 + math.exp(-(math.log(p0 / (1 - p0)) + SLOPE * float(score))))
    return quantise(min(p0 + MAX_EDGE, max(p0 - MAX_EDGE, raw)))


def _require_bars(pack: EvidencePack) -> None:
    history = next(iter(pack.find("get_price_history", "history")), None)
    bars = int(history.payload["sessions"]) if history else 0
    if bars < MIN_BARS:
        message = f"{pack.ticker} has {bars} sessions of prices before {pack.as_of.date()}; {MIN_BARS} are needed to decide"
        raise NoEvidence(message, fix="choose a later --as-of")


def _abstains(pack: EvidencePack, reading: Reading) -> str | None:
    history = _one(pack, "get_price_history", "history")
    if history.status is not Status.OK:
        return f"the price history is {history.status.value}: {history.summary}"
    if volatility(pack) is None:
        return "the price does not move, so nothing can be scaled by its volatility"
    if reading.weight_present < MIN_WEIGHT_PRESENT:
        return f"evidence for {reading.weight_present:.0%} of the score's weight is there; {MIN_WEIGHT_PRESENT:.0%} is needed"
    return None


def _situation(pack: EvidencePack, reading: Reading, holding: sizing.Holding, base_rate: Decimal, acted: Sequence[str]) -> Situation:
    """Lost filings may hide a hard flag, so they bar opening as a flag does."""
    flags = tuple(sorted(flag_id(item) for item in pack.find("get_financial_health", "hard_flag")))
    return Situation(
        profile=reading.profile,
        holding=holding,
        sigma=Decimal(str(volatility(pack))),
        base_rate=base_rate,
        flags=flags,
        fresh=tuple(flag for flag in flags if flag not in acted),
        may_open=not flags and reading.factors["quality"].status != "lost",
    )


def flag_id(item: EvidenceItem) -> str:
    """What makes a hard flag the same flag again: its kind and the filing that raised it."""
    return f"{item.payload['flag']}:{item.payload['accession']}"


def _holding(portfolio: Mapping[str, Any]) -> sizing.Holding:
    return sizing.Holding(
        quantity=Decimal(portfolio["quantity"]),
        value=Decimal(portfolio["position_value"]),
        weight=Decimal(portfolio["position_weight"]),
        equity=Decimal(portfolio["equity"]),
        budget=Decimal(portfolio["budget"]),
    )


def _sentiment(reading: Reading) -> Sentiment:
    if reading.low >= reading.profile.enter:
        return Sentiment.BULLISH
    return Sentiment.BEARISH if reading.high <= -reading.profile.enter else Sentiment.NEUTRAL


def flip(reading: Reading, situation: Situation) -> str:
    """The smallest change of the score that would alter the action, in words; figures are rounded away from today's, so that they suffice."""

    def action(delta: Decimal) -> str:
        return situation.trade(reading.low + delta, reading.high + delta).action

    now = action(Decimal(0))
    changes = [delta for delta in (_nearest(action, now, Decimal(1)), _nearest(action, now, Decimal(-1))) if delta is not None]
    if not changes:
        return f"no score alone turns this {now} into anything else"
    delta = min(changes, key=abs)
    rounding = ROUND_CEILING if delta > 0 else ROUND_FLOOR
    goal = (reading.low + delta).quantize(THOUSANDTH, rounding)
    text = f"{action(delta)} if the score {'rises' if delta > 0 else 'falls'} by {abs(delta)} to {goal:+.3f}"
    lever = _lever(reading, delta, rounding)
    return f"{text}; {lever}" if lever else text


def _nearest(action: Callable[[Decimal], str], now: str, direction: Decimal) -> Decimal | None:
    """The smallest change in one direction, in whole thousandths, that alters the action; the action is monotone in the score."""
    near, far = 0, 2000
    if action(far * direction * THOUSANDTH) == now:
        return None
    while far - near > 1:
        middle = (near + far) // 2
        near, far = (middle, far) if action(middle * direction * THOUSANDTH) == now else (near, middle)
    return far * direction * THOUSANDTH


def _lever(reading: Reading, delta: Decimal, rounding: str) -> str | None:
    """The single factor that would have to move least."""
    weights = reading.profile.weights()
    options = [
        (abs(delta / weights[name]), name, factor.value, factor.value + delta / weights[name])
        for name, factor in reading.factors.items()
        if factor.value is not None and abs(factor.value + delta / weights[name]) <= 1
    ]
    if not options:
        return None
    _, name, before, after = min(options)
    return f"{name} alone would do it by going from {before:+.2f} to {after.quantize(HUNDREDTH, rounding):+.2f}"


def _result(
    pack: EvidencePack,
    reading: Reading,
    trade: sizing.Trade,
    holding: sizing.Holding,
    base_rate: Decimal,
    situation: Situation | None,
    why_not: str | None,
) -> EngineResult:
    proposal = TradeProposal(
        action=Action(trade.action),
        amount=trade.amount,
        sentiment=Sentiment.NEUTRAL if why_not else _sentiment(reading),
        reasoning=cases.reasoning(reading, trade, holding, volatility(pack), why_not),
        p_up=p_up(base_rate, reading.low) if situation else None,
        relied_on=_relied_on(reading.contributions),
    )
    return EngineResult(
        engine="heuristic",
        proposal_text=proposal.as_text(),
        bull_case=cases.bull_case(pack, reading),
        bear_case=cases.bear_case(pack, reading),
        abstained=why_not is not None,
        abstain_reason=why_not,
        rule_driven=trade.rule_driven,
        base_rate=decimal_text(base_rate),
        score=decimal_text(reading.low),
        contributions=reading.contributions,
        hold_kind=trade.hold_kind,
        flip=flip(reading, situation) if situation else None,
        target_weight=decimal_text(quantise(trade.target)),
        acted_flags=situation.answered() if situation else (),
        reducing_only=situation.reducing_only if situation else False,
    )


def _relied_on(contributions: tuple[Contribution, ...]) -> tuple[str, ...]:
    ranked = sorted(contributions, key=lambda part: (-abs(Decimal(part.contribution)), part.factor))
    ids = dict.fromkeys(key for part in ranked if Decimal(part.contribution) for key in part.evidence_ids)
    return tuple(ids)[:RELIED_ON]


def _one(pack: EvidencePack, tool: Any, kind: str) -> EvidenceItem:
    return next(iter(pack.find(tool, kind)))
