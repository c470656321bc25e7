"""Seven factor scores in [-1, 1], each from recorded evidence alone and quantised to 1e-6 before anything compares it.

A factor whose source has nothing is `absent` and counts 0 with its weight kept. A factor whose source *failed* is `lost`: somewhere
in [-1, 1], and the engine counts it at its worst when it opens and at its best when it sells, so that an outage does neither.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any, Literal

from alphaagent.domain.evidence import EvidenceItem, EvidencePack, Status
from alphaagent.engines.heuristic.profiles import Factor

QUANTUM = Decimal("0.000001")
MIN_QUALITY_TESTS = 4
HARD_FLAG_PENALTY = Decimal("0.5")
LOST = {Status.FAILED, Status.STALE, Status.CONFLICT}


@dataclass(frozen=True, slots=True)
class FactorScore:
    """One factor: its value where known, why not where not, and what it stands on."""

    factor: Factor
    value: Decimal | None
    status: Literal["ok", "absent", "lost"]
    detail: str
    evidence_ids: tuple[str, ...]


def quantise(value: float | Decimal) -> Decimal:
    """Half-even to 1e-6, clipped to [-1, 1]."""
    number = value if isinstance(value, Decimal) else Decimal(repr(float(value)))
    return min(Decimal(1), max(Decimal(-1), number)).quantize(QUANTUM, ROUND_HALF_EVEN) + 0


def factor_scores(pack: EvidencePack) -> dict[Factor, FactorScore]:
    """Every factor of the engine, in table order."""
    return {score.factor: score for score in (*_price_scores(pack), quality(pack), value(pack), news(pack))}


def volatility(pack: EvidencePack) -> float | None:
    """Annualised volatility of 63 adjusted log returns; None where there are too few or none moved."""
    item = _one(pack, "get_price_history", "volatility")
    sigma = _number(item, "sigma")
    return sigma if sigma else None


def _price_scores(pack: EvidencePack) -> tuple[FactorScore, ...]:
    sigma = volatility(pack)
    return tuple(_price_score(pack, sigma, factor, formula, needs) for factor, (formula, needs) in PRICE_FORMULAS.items())


def _price_score(pack: EvidencePack, sigma: float | None, factor: Factor, formula: "Formula", needs: tuple[str, ...]) -> FactorScore:
    item = _one(pack, "get_price_history", factor)
    if item is None:
        return FactorScore(factor, None, "absent", "no price history", ())
    inputs = {key: _number(item, key) for key in needs}
    known = {key: number for key, number in inputs.items() if number is not None}
    if sigma is None or len(known) < len(needs):
        return FactorScore(factor, None, "absent", item.summary if sigma else "no volatility to scale by", (item.id,))
    volatility_item = _one(pack, "get_price_history", "volatility")
    ids = (item.id, volatility_item.id) if volatility_item else (item.id,)
    score = quantise(formula(known, sigma))
    return FactorScore(factor, score, "ok", item.summary + _meaning(factor, score, sigma), ids)


def _meaning(factor: Factor, score: Decimal, sigma: float) -> str:
    """Why a figure speaks for or against, where the figure alone would mislead."""
    if factor == "drawdown":
        return f"; {'little' if score > 0 else 'much'} for a volatility of {sigma:.0%} a year"
    if factor == "reversal" and score:
        return f"; a {'fall' if score > 0 else 'rise'} that tends to revert in part"
    return ""


def _momentum(x: Mapping[str, float], sigma: float) -> float:
    """Twelve months less the last one, in units of its own volatility (Jegadeesh-Titman 1993; Moskowitz-Ooi-Pedersen 2012)."""
    return math.tanh(math.log(x["p_21"] / x["p_252"]) / (sigma * math.sqrt(231 / 252)))


def _trend(x: Mapping[str, float], sigma: float) -> float:
    """Price over its 200-session mean and the 50-session mean over it (Brock et al. 1992; Faber 2007)."""
    scale = 0.4 * sigma
    return (math.tanh((x["close"] / x["sma200"] - 1) / scale) + math.tanh((x["sma50"] / x["sma200"] - 1) / scale)) / 2


def _drawdown(x: Mapping[str, float], sigma: float) -> float:
    """Nearness to the 252-session high (George-Hwang 2004)."""
    return 1 - 2 * min(1.0, x["drawdown"] / sigma)


def _reversal(x: Mapping[str, float], sigma: float) -> float:
    """Against the last week's move (Jegadeesh 1990)."""
    return -max(-1.0, min(1.0, math.log(x["close"] / x["p_5"]) / (2 * sigma * math.sqrt(5 / 252))))


Formula = Callable[[Mapping[str, float], float], float]
PRICE_FORMULAS: dict[Factor, tuple[Formula, tuple[str, ...]]] = {
    "momentum": (_momentum, ("p_21", "p_252")),
    "trend": (_trend, ("close", "sma50", "sma200")),
    "drawdown": (_drawdown, ("drawdown",)),
    "reversal": (_reversal, ("close", "p_5")),
}


def quality(pack: EvidencePack) -> FactorScore:
    """2 x passed/known - 1 over at least four known tests, less 0.5 per hard flag (after Piotroski 2000)."""
    missing = _hole(pack, "get_financial_health", "fundamentals", "quality")
    if missing:
        return missing
    tests = [item for item in pack.find("get_financial_health") if item.kind.startswith("test.")]
    known = [item for item in tests if item.payload.get("passed") is not None]
    flags = pack.find("get_financial_health", "hard_flag")
    ids = tuple(item.id for item in (*known, *flags))
    if len(known) < MIN_QUALITY_TESTS:
        return FactorScore("quality", None, "absent", f"{len(known)} of {len(tests)} tests can be computed; {MIN_QUALITY_TESTS} are needed", ids)
    passed = sum(1 for item in known if item.payload["passed"])
    score = 2 * Decimal(passed) / len(known) - 1 - HARD_FLAG_PENALTY * len(flags)
    return FactorScore("quality", quantise(score), "ok", _quality_detail(passed, len(known), flags), ids)


def _quality_detail(passed: int, known: int, flags: tuple[EvidenceItem, ...]) -> str:
    text = f"{passed} of {known} known quality tests pass"
    return text + "; hard flags: " + ", ".join(sorted({str(f.payload["flag"]).replace("_", " ") for f in flags})) if flags else text


def value(pack: EvidencePack) -> FactorScore:
    """2 x percentile - 1 of the earnings yield in its own point-in-time history (Basu 1977)."""
    missing = _hole(pack, "get_financial_health", "fundamentals", "value")
    if missing:
        return missing
    item = _one(pack, "get_financial_health", "valuation")
    percentile = item.payload.get("percentile") if item else None
    if item is None or percentile is None:
        return FactorScore("value", None, "absent", item.summary if item else "no valuation", (item.id,) if item else ())
    return FactorScore("value", quantise(2 * Decimal(str(percentile)) - 1), "ok", item.summary, (item.id,))


def news(pack: EvidencePack) -> FactorScore:
    """Recency-weighted headline sentiment, shrunk by four neutral stories: sum(w s) / (sum(w) + 4) (after Tetlock 2007)."""
    missing = _hole(pack, "get_news_sentiment", "news", "news")
    if missing:
        return missing
    item = _one(pack, "get_news_sentiment", "news")
    score = item.payload.get("score") if item else None
    if item is None or score is None:
        return FactorScore("news", None, "absent", item.summary if item else "no news", (item.id,) if item else ())
    counted = [story.id for story in pack.find("get_news_sentiment", "headline") if story.payload.get("weight") != "0.0"]
    ids = (item.id, *counted[:3])
    return FactorScore("news", quantise(Decimal(str(score))), "ok", item.summary, ids)


def _hole(pack: EvidencePack, tool: Any, kind: str, factor: Factor) -> FactorScore | None:
    item = _one(pack, tool, kind)
    if item is None or item.status is Status.OK:
        return None
    status: Literal["absent", "lost"] = "lost" if item.status in LOST else "absent"
    return FactorScore(factor, None, status, item.summary, (item.id,))


def _one(pack: EvidencePack, tool: Any, kind: str) -> EvidenceItem | None:
    return next(iter(pack.find(tool, kind)), None)


def _number(item: EvidenceItem | None, key: str) -> float | None:
    text = item.payload.get(key) if item else None
    return None if text is None else float(text)
