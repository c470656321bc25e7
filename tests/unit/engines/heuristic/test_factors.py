"""Each factor against values worked out by hand, its clipping, its missing inputs and its quantum."""

import math
from decimal import Decimal
from typing import Any

import pytest

from alphaagent.domain.evidence import EvidencePack, Status
from alphaagent.engines.heuristic.factors import FactorScore, factor_scores, quantise, volatility
from alphaagent.engines.heuristic.profiles import Factor
from tests.pack_builder import LOST_FILINGS, LOST_NEWS, health_items, item, lost, news_items, pack


def scored(factor: Factor, evidence: EvidencePack) -> FactorScore:
    return factor_scores(evidence)[factor]


def priced(factor: Factor, sigma: str | None = "0.25", **payload: str | None) -> FactorScore:
    return scored(factor, pack({"volatility": {"sigma": sigma}, factor: payload}))


def test_momentum_is_the_tanh_of_the_log_return_in_units_of_its_volatility() -> None:
    # ln(1.2) = 0.18232156, sqrt(231/252) = 0.95742711; 0.18232156 / (0.25 x 0.95742711) = 0.76171472; tanh = 0.642086
    assert priced("momentum", p_21="120.0", p_252="100.0").value == Decimal("0.642086")


def test_trend_is_the_mean_of_two_tanhs_over_four_tenths_of_sigma() -> None:
    # tanh(0.05 / 0.1) = 0.462117, tanh(-0.02 / 0.1) = -0.197375; their mean is 0.132371
    assert priced("trend", close="105.0", sma50="98.0", sma200="100.0").value == Decimal("0.132371")


@pytest.mark.parametrize(("drawdown", "expected"), [("0.0", "1"), ("0.05", "0.6"), ("0.125", "0"), ("0.25", "-1"), ("0.9", "-1")])
def test_drawdown_is_one_at_the_high_and_minus_one_from_a_sigma_below_it(drawdown: str, expected: str) -> None:
    assert priced("drawdown", drawdown=drawdown).value == Decimal(expected)


def test_reversal_is_against_the_move_of_the_last_five_sessions() -> None:
    # ln(1.01) = 0.00995033; 2 x 0.25 x sqrt(5/252) = 0.07042953; the ratio is 0.141281
    assert priced("reversal", close="101.0", p_5="100.0").value == Decimal("-0.141281")


@pytest.mark.parametrize(("close", "expected"), [("150.0", -1), ("50.0", 1)])
def test_reversal_is_clipped_to_one_either_way(close: str, expected: int) -> None:
    assert priced("reversal", close=close, p_5="100.0").value == expected


@pytest.mark.parametrize(
    ("factor", "payload"),
    [
        ("momentum", {"p_21": None}),
        ("momentum", {"p_252": None}),
        ("trend", {"sma200": None}),
        ("trend", {"sma50": None}),
        ("drawdown", {"drawdown": None}),
        ("reversal", {"p_5": None}),
    ],
)
def test_a_price_factor_without_one_of_its_inputs_is_absent(factor: Factor, payload: dict[str, Any]) -> None:
    found = priced(factor, **payload)

    assert (found.value, found.status) == (None, "absent")


@pytest.mark.parametrize("factor", ["momentum", "trend", "drawdown", "reversal"])
@pytest.mark.parametrize("sigma", [None, "0.0"])
def test_a_price_factor_without_volatility_is_absent(factor: Factor, sigma: str | None) -> None:
    found = priced(factor, sigma)

    assert (found.value, found.status, found.detail) == (None, "absent", "no volatility to scale by")


@pytest.mark.parametrize("sigma", [None, "0.0"])
def test_a_price_that_does_not_move_has_no_volatility(sigma: str | None) -> None:
    assert volatility(pack({"volatility": {"sigma": sigma}})) is None


@pytest.mark.parametrize(
    ("passed", "expected"),
    [
        ([True] * 7, "1"),
        ([False] * 7, "-1"),
        ([True, True, True, False], "0.5"),
        ([True, True, True, True, True, False, None], "0.666667"),
    ],
)
def test_quality_is_twice_the_share_of_known_tests_passed_less_one(passed: list[bool | None], expected: str) -> None:
    assert scored("quality", pack(health=health_items(passed))).value == Decimal(expected)


def test_quality_needs_four_known_tests() -> None:
    found = scored("quality", pack(health=health_items([True, True, True, None, None, None, None])))

    assert (found.value, found.status, found.detail) == (None, "absent", "3 of 7 tests can be computed; 4 are needed")


def test_each_hard_flag_takes_a_half_off_quality() -> None:
    flags = [("negative_equity", "a-1"), ("restatement", "a-2")]

    assert scored("quality", pack(health=health_items([True] * 4, flags[:1]))).value == Decimal("0.5")
    assert scored("quality", pack(health=health_items([True] * 4, flags))).value == 0
    assert scored("quality", pack(health=health_items([False] * 4, flags))).value == -1


@pytest.mark.parametrize(("percentile", "expected"), [("0.0", "-1"), ("0.5", "0"), ("0.9", "0.8"), ("1.0", "1")])
def test_value_is_twice_the_percentile_less_one(percentile: str, expected: str) -> None:
    assert scored("value", pack(health=health_items([True] * 4, percentile=percentile))).value == Decimal(expected)


def test_value_without_a_percentile_is_absent() -> None:
    assert scored("value", pack(health=health_items([True] * 4, percentile=None))).status == "absent"


def test_news_is_the_shrunk_score_of_the_news_tool() -> None:
    assert scored("news", pack(news=news_items("-0.312345"))).value == Decimal("-0.312345")


def test_quiet_news_is_absent_and_neutral_news_is_zero() -> None:
    assert (scored("news", pack(news=news_items(None))).value, scored("news", pack(news=news_items("0.0"))).value) == (None, Decimal(0))


def test_news_cites_only_headlines_that_count() -> None:
    other = item("get_news_sentiment", "headline", {"title": "someone else", "score": "0.0", "weight": "0.0"})
    mine = news_items("0.2", ["0.4"])

    assert scored("news", pack(news=[other, *mine])).evidence_ids == (mine[1].id, mine[0].id)


@pytest.mark.parametrize("status", [Status.FAILED, Status.STALE, Status.CONFLICT])
def test_filings_that_cannot_be_read_lose_quality_and_value(status: Status) -> None:
    scores = factor_scores(pack(health=lost("get_financial_health", "fundamentals", status)))

    assert {(scores[name].value, scores[name].status) for name in ("quality", "value")} == {(None, "lost")}


@pytest.mark.parametrize("status", [Status.EMPTY, Status.NOT_APPLICABLE])
def test_filings_that_do_not_exist_are_absent_and_not_lost(status: Status) -> None:
    scores = factor_scores(pack(health=lost("get_financial_health", "fundamentals", status)))

    assert {(scores[name].value, scores[name].status) for name in ("quality", "value")} == {(None, "absent")}


def test_a_lost_factor_cites_the_item_that_says_so() -> None:
    scores = factor_scores(pack(health=LOST_FILINGS, news=LOST_NEWS))

    assert scores["quality"].evidence_ids == (LOST_FILINGS[0].id,)
    assert (scores["news"].status, scores["news"].evidence_ids) == ("lost", (LOST_NEWS[0].id,))


def test_factors_come_in_table_order() -> None:
    assert list(factor_scores(pack())) == ["momentum", "trend", "drawdown", "reversal", "quality", "value", "news"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.1234565, "0.123456"),
        (0.1234575, "0.123458"),
        (math.pi / 10, "0.314159"),
        (1.5, "1"),
        (-7.0, "-1"),
        (Decimal("-0.0000004"), "0"),
    ],
)
def test_scores_are_rounded_half_even_to_a_millionth_and_clipped(value: float | Decimal, expected: str) -> None:
    assert quantise(value) == Decimal(expected)


def test_a_rounded_zero_has_no_sign() -> None:
    assert str(quantise(-1e-9)) == "0.000000"
