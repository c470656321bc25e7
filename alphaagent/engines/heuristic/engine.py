"""The heuristic engine: a pack goes in, raw proposal text and two cases come out. Pure, deterministic, no model, no clock.

It serves where no model is configured or one fails, and as the baseline that a crew must beat. Its few votes, their weights and
their sources stand in `factors.py` and `profiles.py`; nothing here was fitted to the names that it is shown on.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
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


@dataclass(frozen=True, slots=True)
class Reading:
    """A score with its parts. `low` counts lost factors at their worst, `high` at their best."""

    profile: Profile
    factors: Mapping[Factor, FactorScore]
    contributions: tuple[Contribution, ...]
    low: Decimal
    high: Decimal
    weight_present: Decimal


class HeuristicEngine:
    """A DecisionEngine without a model."""

    name: Literal["heuristic"] = "heuristic"

    def decide(self, pack: EvidencePack) -> EngineResult:
        """The mechanical read of a pack. Raises NoEvidence under 60 bars."""
        _require_bars(pack)
        portfolio = _one(pack, "get_portfolio", "portfolio").payload
        reading = read(pack, PROFILES[str(portfolio["risk_profile"])])
        holding = _holding(portfolio)
        base_rate = Decimal(str(_one(pack, "get_price_history", "base_rate").payload["p0"]))
        why_not = _abstains(pack, reading)
        trade, flags = _trade(pack, reading, holding, portfolio, why_not)
        probability = None if why_not else p_up(base_rate, reading.low)
        if trade.action == "BUY" and probability is not None and probability < base_rate:
            trade = sizing.Trade("HOLD", Decimal(0), trade.target, trade.edge, hold_kind="no_edge")
        return _result(pack, reading, trade, holding, base_rate, probability, why_not, flags)


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


def _trade(
    pack: EvidencePack, reading: Reading, holding: sizing.Holding, portfolio: Mapping[str, Any], why_not: str | None
) -> tuple[sizing.Trade, tuple[str, ...]]:
    if why_not:
        return sizing.Trade("HOLD", Decimal(0), holding.weight, holding.weight, hold_kind="abstained"), ()
    flags = tuple(sorted(flag_id(item) for item in pack.find("get_financial_health", "hard_flag")))
    fresh = tuple(flag for flag in flags if flag not in portfolio["acted_flags"])
    if holding.quantity > 0 and flags and reading.profile.name == "low":
        return sizing.close(holding), flags
    if holding.quantity > 0 and fresh and reading.profile.name == "medium":
        return sizing.halve(holding), fresh
    sigma = Decimal(str(volatility(pack)))
    return sizing.size(reading.low, reading.high, sigma, reading.profile, holding, may_open=not flags), ()


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


def flip(reading: Reading, trade: sizing.Trade, holding: sizing.Holding, sigma: Decimal, *, may_open: bool) -> str:
    """The smallest change of the score that would alter the action, in words."""

    def action(delta: Decimal) -> str:
        return sizing.size(reading.low + delta, reading.high + delta, sigma, reading.profile, holding, may_open=may_open).action

    changes = [delta for delta in (_nearest(action, trade.action, Decimal(1)), _nearest(action, trade.action, Decimal(-1))) if delta is not None]
    if not changes:
        return f"no score alone turns this {trade.action} into anything else"
    delta = min(changes, key=abs)
    goal = reading.low + delta
    text = f"{action(delta)} if the score {'rises' if delta > 0 else 'falls'} by {abs(delta):.3f} to {goal:+.3f}"
    lever = _lever(reading, delta)
    return f"{text}; {lever}" if lever else text


def _nearest(action: Any, now: str, direction: Decimal) -> Decimal | None:
    """The smallest change in one direction that alters the action, to 0.001; the action is monotone in the score."""
    near, far = Decimal(0), 2 * direction
    if action(far) == now:
        return None
    while abs(far - near) > Decimal("0.001"):
        middle = (near + far) / 2
        near, far = (middle, far) if action(middle) == now else (near, middle)
    return far


def _lever(reading: Reading, delta: Decimal) -> str | None:
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
    return f"{name} alone would do it by going from {before:+.2f} to {after:+.2f}"


def _result(
    pack: EvidencePack,
    reading: Reading,
    trade: sizing.Trade,
    holding: sizing.Holding,
    base_rate: Decimal,
    probability: Decimal | None,
    why_not: str | None,
    flags: tuple[str, ...],
) -> EngineResult:
    sigma = volatility(pack)
    blocked = bool(pack.find("get_financial_health", "hard_flag"))
    turn = None if why_not or sigma is None else flip(reading, trade, holding, Decimal(str(sigma)), may_open=not blocked)
    proposal = TradeProposal(
        action=Action(trade.action),
        amount=trade.amount,
        sentiment=Sentiment.NEUTRAL if why_not else _sentiment(reading),
        reasoning=cases.reasoning(reading, trade, holding, sigma, why_not),
        p_up=probability,
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
        flip=turn,
        target_weight=decimal_text(quantise(trade.target)),
        acted_flags=flags,
    )


def _relied_on(contributions: tuple[Contribution, ...]) -> tuple[str, ...]:
    ranked = sorted(contributions, key=lambda part: (-abs(Decimal(part.contribution)), part.factor))
    ids = dict.fromkeys(key for part in ranked if Decimal(part.contribution) for key in part.evidence_ids)
    return tuple(ids)[:RELIED_ON]


def _one(pack: EvidencePack, tool: Any, kind: str) -> EvidenceItem:
    return next(iter(pack.find(tool, kind)))
