"""From a score to a trade: the target, the thresholds, the no-trade region, the budget, the kinds of HOLD."""

from decimal import Decimal as D

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alphaagent.engines.heuristic.profiles import PROFILES
from alphaagent.engines.heuristic.sizing import Holding, Trade, band, close, halve, size, target_weight

MEDIUM = PROFILES["medium"]
RANK = {"SELL": -1, "HOLD": 0, "BUY": 1}
SCORES = st.decimals(-1, 1, places=6)
SIGMAS = st.decimals("0.01", 3, places=6)
BUDGETS = st.one_of(st.just(D(0)), st.decimals(1, 50_000, places=2))


def held(weight: str | D, *, budget: str | D = "100000", equity: str | D = "100000", price: str = "100") -> Holding:
    value = D(weight) * D(equity)
    return Holding(quantity=value / D(price), value=value, weight=D(weight), equity=D(equity), budget=D(budget))


HOLDINGS = st.builds(
    held,
    st.one_of(st.just(D(0)), st.decimals("0.0001", "0.3", places=6)),
    budget=BUDGETS,
    equity=st.decimals(1_000, 10_000_000, places=6),
)


def sized(score: str | D, holding: Holding, *, sigma: str = "0.20", profile: str = "medium", may_open: bool = True) -> Trade:
    return size(D(score), D(score), D(sigma), PROFILES[profile], holding, may_open=may_open)


@pytest.mark.parametrize(
    ("score", "sigma", "expected"),
    [
        ("0.6", "0.20", "0.07"),
        ("0.9", "0.20", "0.07"),
        ("0.6", "0.10", "0.07"),
        ("0.6", "0.40", "0.035"),
        ("0.325", "0.20", "0.035"),
        ("0.325", "0.40", "0.0175"),
        ("0.05", "0.20", "0"),
        ("-1", "0.20", "0"),
    ],
)
def test_the_target_is_the_cap_scaled_by_volatility_and_conviction(score: str, sigma: str, expected: str) -> None:
    assert target_weight(D(score), D(sigma), MEDIUM) == D(expected)


@pytest.mark.parametrize(("target", "expected"), [("0", "0.01"), ("0.04", "0.01"), ("0.07", "0.0175")])
def test_the_no_trade_region_is_a_quarter_of_the_target_and_at_least_one_percent(target: str, expected: str) -> None:
    assert band(D(target)) == D(expected)


def test_a_flat_name_stays_flat_just_below_enter() -> None:
    assert (sized("0.249999", held(0)).action, sized("0.25", held(0)).action) == ("HOLD", "BUY")


def test_a_buy_goes_to_the_near_edge() -> None:
    # target 7%, region 1.75% either side: 5.25% of 100,000
    assert sized("0.6", held(0)) == Trade("BUY", D("5250.00"), D("0.07"), D("0.0525"))


def test_a_trim_goes_to_the_near_edge() -> None:
    assert sized("0.6", held("0.12")) == Trade("SELL", D("3250.00"), D("0.07"), D("0.0875"), rule_driven=True)


def test_nothing_is_traded_on_the_edges_themselves() -> None:
    assert [sized("0.6", held(weight)).action for weight in ("0.0525", "0.0875")] == ["HOLD", "HOLD"]


def test_between_exit_and_enter_a_holding_only_shrinks() -> None:
    # target at 0.2 is 1.909%, the region reaches from 0.909% to 2.909%
    actions = {weight: sized("0.2", held(weight)).action for weight in ("0.001", "0.02", "0.05")}

    assert actions == {"0.001": "HOLD", "0.02": "HOLD", "0.05": "SELL"}


@pytest.mark.parametrize(("profile", "exit"), [("low", "0.10"), ("medium", "0.05"), ("high", "0.00")])
def test_at_exit_all_is_sold(profile: str, exit: str) -> None:
    holding = held("0.005")

    assert sized(exit, holding, profile=profile) == close(holding)
    assert sized(D(exit) + D("0.000001"), holding, profile=profile).action == "HOLD"


def test_a_budget_caps_a_purchase_to_the_cent() -> None:
    assert sized("0.6", held(0, budget="1234.56")).amount == D("1234.56")


def test_a_budget_of_nothing_is_left_to_the_guard() -> None:
    assert sized("0.6", held(0, budget="0")).amount == D("5250.00")


def test_a_purchase_is_rounded_down_to_the_cent_and_one_below_a_cent_is_none() -> None:
    assert sized("0.6", held(0, equity="1000.99")).amount == D("52.55")
    assert sized("0.6", held(0, equity="0.15")).action == "HOLD"


def test_buying_goes_by_the_worst_reading_and_selling_by_the_best() -> None:
    def spread(low: str, high: str, holding: Holding) -> str:
        return size(D(low), D(high), D("0.20"), MEDIUM, holding, may_open=True).action

    assert spread("0.2", "0.6", held(0)) == "HOLD"
    assert spread("-0.3", "0.3", held("0.03")) == "HOLD"
    assert spread("-0.3", "0.05", held("0.03")) == "SELL"


@pytest.mark.parametrize(
    ("score", "weight", "may_open", "kind"),
    [
        ("0.1", "0", True, "balanced"),
        ("-0.9", "0", True, "balanced"),
        ("0.24", "0.001", True, "balanced"),
        ("0.6", "0.065", True, "no_trade_region"),
        ("0.2", "0.028", True, "no_trade_region"),
        ("0.6", "0.07", True, "at_target"),
        ("0.6", "0.0705", True, "at_target"),
        ("0.6", "0", False, "barred"),
        ("0.6", "0.01", False, "barred"),
        ("0.6", "0.065", False, "no_trade_region"),
    ],
)
def test_a_hold_says_which_kind_it_is(score: str, weight: str, may_open: bool, kind: str) -> None:
    trade = sized(score, held(weight), may_open=may_open)

    assert (trade.action, trade.amount, trade.hold_kind) == ("HOLD", 0, kind)


def test_a_target_too_small_to_be_worth_a_trade_is_inside_the_no_trade_region() -> None:
    assert sized("0.3", held(0), sigma="2").hold_kind == "no_trade_region"


def test_closing_asks_for_at_least_the_value() -> None:
    assert close(held("0.0123456789")).amount == D("1234.57")


def test_halving_asks_for_half() -> None:
    assert (halve(held("0.04")).amount, halve(held("0.04")).target) == (D("2000.00"), D("0.02"))


@pytest.mark.parametrize("sale", [close, halve])
def test_a_holding_worth_less_than_a_cent_can_be_sold(sale: object) -> None:
    worthless = Holding(quantity=D("0.0001"), value=D("0.000000"), weight=D(0), equity=D(100), budget=D(0))

    assert sale(worthless).amount == D("0.01")  # type: ignore[operator]


def test_a_trim_that_pending_orders_make_larger_than_the_holding_is_the_holding_in_whole_cents() -> None:
    mostly_pending = Holding(quantity=D(1), value=D("100.123456"), weight=D("0.3"), equity=D(100_000), budget=D(0))

    assert sized("0.6", mostly_pending).amount == D("100.13")


@given(SCORES, SCORES, SIGMAS, st.sampled_from(list(PROFILES)), HOLDINGS, st.booleans())
def test_a_better_score_never_makes_a_worse_trade(one: D, other: D, sigma: D, profile: str, holding: Holding, may_open: bool) -> None:
    def signed(score: D) -> D:
        trade = size(score, score, sigma, PROFILES[profile], holding, may_open=may_open)
        return RANK[trade.action] * trade.amount

    assert signed(min(one, other)) <= signed(max(one, other))


@given(SCORES, st.decimals(0, 1, places=6), SIGMAS, st.sampled_from(list(PROFILES)), HOLDINGS, st.booleans())
def test_amounts_are_whole_positive_cents_within_budget_and_holding(low: D, span: D, sigma: D, profile: str, holding: Holding, may_open: bool) -> None:
    trade = size(low, min(D(1), low + span), sigma, PROFILES[profile], holding, may_open=may_open)

    assert trade.amount == trade.amount.quantize(D("0.01"))
    assert (trade.amount > 0) == (trade.action != "HOLD")
    assert (trade.hold_kind is None) == (trade.action != "HOLD")
    if trade.action == "BUY":
        assert may_open
        assert holding.budget <= 0 or trade.amount <= holding.budget
        assert holding.weight + trade.amount / holding.equity <= trade.target
    if trade.action == "SELL":
        assert holding.quantity > 0
        assert trade.amount < holding.value + D("0.01")


@given(SCORES, SIGMAS, st.sampled_from(list(PROFILES)), HOLDINGS)
def test_a_trade_stops_at_the_near_edge_of_the_region(score: D, sigma: D, profile: str, holding: Holding) -> None:
    trade = size(score, score, sigma, PROFILES[profile], holding, may_open=True)
    cent = D("0.01") / holding.equity
    if trade.action == "BUY" and not holding.budget:
        assert abs(holding.weight + trade.amount / holding.equity - (trade.target - band(trade.target))) <= cent
    if trade.action == "SELL" and score > PROFILES[profile].exit:
        assert abs(holding.weight - trade.amount / holding.equity - (trade.target + band(trade.target))) <= cent
