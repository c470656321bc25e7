"""The three risk profiles: weights, thresholds, caps. Chosen, never fitted: each figure has its reason in the wiki."""

from decimal import Decimal
from typing import Literal

from alphaagent.domain.base import Frozen

Factor = Literal["momentum", "trend", "drawdown", "reversal", "quality", "value", "news"]

TREND_SHARES: dict[Factor, Decimal] = {"momentum": Decimal("0.5"), "trend": Decimal("0.3"), "drawdown": Decimal("0.2")}
"""Momentum, trend and drawdown correlate 0.67 to 0.83 on large names, so the three share one vote."""


class Profile(Frozen):
    """One appetite for risk. Weights sum to 1; `cap` and `sigma_target` are fractions."""

    name: Literal["low", "medium", "high"]
    price_trend: Decimal
    reversal: Decimal
    quality: Decimal
    value: Decimal
    news: Decimal
    enter: Decimal
    exit: Decimal
    cap: Decimal
    sigma_target: Decimal

    def weights(self) -> dict[Factor, Decimal]:
        """The weight of each factor; the trend vote is split over its three parts."""
        trend = {factor: self.price_trend * share for factor, share in TREND_SHARES.items()}
        return trend | {"reversal": self.reversal, "quality": self.quality, "value": self.value, "news": self.news}


def _profile(name: Literal["low", "medium", "high"], figures: str) -> Profile:
    trend, reversal, quality, value, news, enter, leave, cap, sigma = (Decimal(figure) for figure in figures.split())
    return Profile(
        name=name,
        price_trend=trend,
        reversal=reversal,
        quality=quality,
        value=value,
        news=news,
        enter=enter,
        exit=leave,
        cap=cap,
        sigma_target=sigma,
    )


#                        T    R    Q    V    N   enter exit  cap sigma*
PROFILES = {
    "low": _profile("low", ".35 .05 .35 .15 .10 .30 .10 .04 .15"),
    "medium": _profile("medium", ".45 .05 .25 .10 .15 .25 .05 .07 .20"),
    "high": _profile("high", ".55 .05 .15 .10 .15 .20 .00 .10 .30"),
}
