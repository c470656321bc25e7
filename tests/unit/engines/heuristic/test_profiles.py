"""The three risk profiles: their figures as published, and weights that add up."""

from decimal import Decimal

import pytest

from alphaagent.engines.heuristic.profiles import PROFILES

PUBLISHED = {
    "low": ".35 .05 .35 .15 .10 .30 .10 .04 .15",
    "medium": ".45 .05 .25 .10 .15 .25 .05 .07 .20",
    "high": ".55 .05 .15 .10 .15 .20 .00 .10 .30",
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_figures_are_the_published_ones(name: str) -> None:
    p = PROFILES[name]

    figures = (p.price_trend, p.reversal, p.quality, p.value, p.news, p.enter, p.exit, p.cap, p.sigma_target)
    assert figures == tuple(Decimal(figure) for figure in PUBLISHED[name].split())


@pytest.mark.parametrize("name", PUBLISHED)
def test_weights_sum_to_one(name: str) -> None:
    assert sum(PROFILES[name].weights().values()) == 1


@pytest.mark.parametrize("name", PUBLISHED)
def test_momentum_trend_and_drawdown_share_one_vote(name: str) -> None:
    weights, vote = PROFILES[name].weights(), PROFILES[name].price_trend

    assert (weights["momentum"], weights["trend"], weights["drawdown"]) == (vote / 2, vote * Decimal("0.3"), vote / 5)


def test_more_appetite_means_more_price_less_quality_and_a_larger_cap() -> None:
    low, medium, high = (PROFILES[name] for name in ("low", "medium", "high"))

    assert low.price_trend < medium.price_trend < high.price_trend
    assert low.quality > medium.quality > high.quality
    assert low.cap < medium.cap < high.cap
    assert low.enter > medium.enter > high.enter
