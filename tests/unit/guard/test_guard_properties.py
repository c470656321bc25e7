"""What holds for every proposal, state and mandate, not only for those that someone thought of."""

import decimal
import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alphaagent.domain.base import canonical
from alphaagent.domain.portfolio import Activity
from alphaagent.domain.ruling import GuardSnapshot, Outcome
from alphaagent.guard.evaluate import budget
from alphaagent.guard.mandate import Mandate
from tests.unit.guard.guard_scenes import NOW, deciding, judge, mandate, settling, text

D = Decimal


def money(most: int, places: int = 2, least: int = 0) -> st.SearchStrategy[Decimal]:
    return st.decimals(min_value=least, max_value=most, places=places, allow_nan=False)


FRACTION = st.decimals(min_value="0.001", max_value=1, places=3)
LIMITS: dict[str, st.SearchStrategy[Any]] = {
    "H4": st.fixed_dictionaries({"max_order_fraction": FRACTION}),
    "H6": st.fixed_dictionaries({"max_position_fraction": FRACTION}),
    "H9": st.fixed_dictionaries({"cash_buffer_fraction": st.decimals("0.001", "0.5", places=3), "fee_per_order": money(20)}),
    "H13": st.fixed_dictionaries({"fallback_fraction": FRACTION}),
    "I2": st.fixed_dictionaries({"min_kept_fraction": FRACTION}),
    "F3": st.fixed_dictionaries({"no_trade_band": st.decimals(0, "0.1", places=3)}),
    "G5": st.fixed_dictionaries({"max_turnover_fraction": FRACTION}),
    "H1": st.fixed_dictionaries({"max_request_fraction": FRACTION}),
    "H2": st.fixed_dictionaries({"max_volume_fraction": FRACTION}),
    "H5": st.fixed_dictionaries({"max_volume_fraction": st.decimals("0.001", "0.25", places=3)}),
    "H7": st.fixed_dictionaries({"max_sector_fraction": FRACTION}),
    "H8": st.fixed_dictionaries({"max_gross_fraction": FRACTION}),
    "D6": st.fixed_dictionaries({"min_price": st.sampled_from(["0.0001", "5"])}),
    "E11": st.fixed_dictionaries({"sessions": st.sampled_from([0, 3, 19])}),
}
MANDATES = st.builds(
    lambda lot, rules: Mandate.parse("any", {"lot": lot, "rules": rules}, "test"),
    st.sampled_from(["0.0001", "0.000001", "0.01", 1, 10]),
    st.fixed_dictionaries({}, optional=LIMITS),
)
STATES: dict[str, st.SearchStrategy[Any]] = {
    "price": money(3_000, places=4),
    "equity": money(300_000),
    "settled_cash": money(200_000, least=-1_000),
    "reserved_cash": money(5_000),
    "held": st.just(D(0)) | money(2_000, places=6),
    "pending_buy": st.just(D(0)) | money(50, places=4),
    "pending_sell": st.just(D(0)) | money(50, places=4),
    "provenance": st.sampled_from(["crew", "heuristic", "fallback", "repaired"]),
    "control_state": st.sampled_from(["ACTIVE", "ACTIVE", "ACTIVE", "REDUCING", "HALTED"]),
    "rule_driven": st.booleans(),
    "cash": money(250_000),
    "median_volume": money(1_000_000, least=1),
    "gross_exposure": money(150_000),
    "sector_exposure": money(40_000),
    "budget": money(20_000),
    "tainted": st.sampled_from([(), (), (), ("ev_000000000001",)]),
    "debate_class": st.sampled_from(["none", "mixed", "earned", "theater"]),
    "sessions_since_sell": st.sampled_from([None, None, 0, 1]),
    "earnings_in_sessions": st.sampled_from([None, 0, 3, 4, 20, 60]),
    "prices_doubt": st.sampled_from([None, None, None, "rewritten"]),
    "activity": st.builds(Activity, turnover=money(20_000), opening_orders=st.integers(0, 21), ticker_proposals=st.integers(0, 4)),
}
MOVES = st.sampled_from(["1", "1", "1", "1.04", "0.93", "1.2", "0.8"]).map(Decimal)
ORDERED = {"quantity": money(2_000, places=6), "close_all": st.booleans(), "stage": st.just("settle"), "bar_session": st.just(date(2025, 3, 4))}
ORDERED |= {"due_session": st.just(date(2025, 3, 4)), "actions": st.just(())}
AMOUNTS = st.sampled_from(["0.000001", "0.01", "999999999999.999999"]) | money(60_000, least=1).map(str)
SENTIMENTS = st.sampled_from(["BULLISH", "NEUTRAL", "BEARISH"])


@st.composite
def scenes(draw: st.DrawFn, **instead: st.SearchStrategy[Any]) -> tuple[str, GuardSnapshot, Mandate]:
    mandate = draw(MANDATES)
    state = draw(st.fixed_dictionaries({**STATES, **(ORDERED if draw(st.booleans()) else {}), **instead}))
    action = draw(st.sampled_from(["BUY", "SELL", "SELL", "HOLD", "BUY"]))
    more = draw(st.fixed_dictionaries({}, optional={"p_up": st.decimals(0, 1, places=3).map(str)}))
    state["prior_close"] = state["price"] * draw(MOVES)
    state["decision_price"] = state["price"]
    proposal = text(action, "0" if action == "HOLD" else draw(AMOUNTS), draw(SENTIMENTS), **more)
    return proposal, deciding(mandate, **state), mandate


many = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@many
@given(scenes())
def test_an_approved_order_is_never_larger_never_turned_and_breaches_nothing(scene: tuple[str, GuardSnapshot, Mandate]) -> None:
    proposal, snapshot, mandate = scene
    ruling = judge(proposal, snapshot, mandate)
    assert 0 <= ruling.quantity_out <= ruling.quantity_in
    assert ruling.side is None or f'"action":"{ruling.side}"' in proposal
    assert ruling.halt is None
    assert (ruling.outcome is Outcome.CLIP) == (ruling.quantity_out < ruling.quantity_in and ruling.outcome is not Outcome.BLOCK)
    assert not any(code.startswith(("RULE_ERROR", "DATA_MISSING", "GUARD_BUG", "POSTCHECK")) for code in ruling.codes if code != "DATA_MISSING:base_rate")
    if ruling.outcome is Outcome.BLOCK or '"HOLD"' in proposal:
        assert ruling.quantity_out == 0
        return
    assert ruling.quantity_out > 0
    price, held, out = snapshot.price or D(0), snapshot.held or D(0), ruling.quantity_out
    if ruling.side == "SELL":
        assert out <= held
        return
    assert snapshot.prices_doubt is None or snapshot.stage == "settle"
    assert out % mandate.lot == 0
    limits = mandate.document()["rules"]
    equity, cash = snapshot.equity or D(0), (snapshot.settled_cash or D(0)) - (snapshot.reserved_cash or D(0))
    assert out * price <= D(limits["H4"]["max_order_fraction"]) * equity
    assert (held + out + (snapshot.pending_buy or D(0))) * price <= D(limits["H6"]["max_position_fraction"]) * equity
    assert (snapshot.sector_exposure or D(0)) + out * price <= D(limits["H7"]["max_sector_fraction"]) * equity
    assert (snapshot.gross_exposure or D(0)) + out * price <= D(limits["H8"]["max_gross_fraction"]) * equity
    assert out <= D(limits["H5"]["max_volume_fraction"]) * (snapshot.median_volume or D(0))
    assert snapshot.activity is not None
    assert snapshot.stage == "settle" or snapshot.activity.turnover + out * price <= D(limits["G5"]["max_turnover_fraction"]) * equity
    assert cash - out * price >= D(limits["H9"]["cash_buffer_fraction"]) * equity


@many
@given(scenes(), money(5_000))
def test_less_cash_never_buys_more(scene: tuple[str, GuardSnapshot, Mandate], less: Decimal) -> None:
    proposal, snapshot, mandate = scene
    poorer = snapshot.model_copy(update={"settled_cash": (snapshot.settled_cash or D(0)) - less})
    assert judge(proposal, poorer, mandate).quantity_out <= judge(proposal, snapshot, mandate).quantity_out
    assert budget(poorer, mandate) <= budget(snapshot, mandate)


TIGHTER: dict[tuple[str, str], Callable[[Decimal], Decimal]] = {
    ("H4", "max_order_fraction"): lambda value: value * D("0.9"),
    ("H6", "max_position_fraction"): lambda value: value * D("0.9"),
    ("H9", "cash_buffer_fraction"): lambda value: min(value * 2, D("0.5")),
    ("H9", "slippage_fraction"): lambda value: min(value * 2, D("0.05")),
    ("H9", "fee_per_order"): lambda value: value + 1,
    ("H13", "fallback_fraction"): lambda value: value * D("0.9"),
    ("G5", "max_turnover_fraction"): lambda value: value * D("0.9"),
    ("H1", "max_request_fraction"): lambda value: value * D("0.9"),
    ("H2", "max_volume_fraction"): lambda value: value * D("0.9"),
    ("H5", "max_volume_fraction"): lambda value: value * D("0.9"),
    ("H7", "max_sector_fraction"): lambda value: value * D("0.9"),
    ("H8", "max_gross_fraction"): lambda value: value * D("0.9"),
    ("D6", "min_price"): lambda value: value + 1,
    ("D7", "min_dollar_volume"): lambda value: value * 1000,
    ("E6", "max_move_fraction"): lambda value: value * D("0.5"),
    ("E11", "sessions"): lambda value: value + 1,
    ("E9", "ratio_tolerance"): lambda value: value * 2,
    ("I1", "min_notional"): lambda value: value * 2,
    ("I1", "min_equity_fraction"): lambda value: value * 2,
    ("I2", "min_kept_fraction"): lambda value: min(value * 2, D(1)),
    ("F3", "no_trade_band"): lambda value: value + D("0.01"),
    ("E4", "max_price"): lambda value: value * D("0.001"),
    ("E4", "max_spread_fraction"): lambda value: value * D("0.5"),
}


@many
@given(scenes(), st.sampled_from(sorted(TIGHTER)))
def test_a_tighter_limit_never_gives_more(scene: tuple[str, GuardSnapshot, Mandate], which: tuple[str, str]) -> None:
    proposal, snapshot, mandate = scene
    rule, field = which
    document = mandate.document()
    document["rules"][rule][field] = str(TIGHTER[which](D(document["rules"][rule][field])))
    tighter = Mandate.parse("tighter", document, "test")
    under = snapshot.model_copy(update={"approved_limits_hash": tighter.limits_hash})
    assert judge(proposal, under, tighter).quantity_out <= judge(proposal, snapshot, mandate).quantity_out
    if which[0] != "I2":
        assert budget(under, tighter) <= budget(snapshot, mandate)


@many
@given(scenes())
def test_reducing_only_reduces_and_halted_does_nothing(scene: tuple[str, GuardSnapshot, Mandate]) -> None:
    proposal, snapshot, mandate = scene
    reducing = judge(proposal, snapshot.model_copy(update={"control_state": "REDUCING"}), mandate)
    assert reducing.quantity_out == 0 or reducing.side == "SELL"
    halted = judge(proposal, snapshot.model_copy(update={"control_state": "HALTED"}), mandate)
    assert (halted.outcome, halted.quantity_out) == (Outcome.BLOCK, 0)
    assert budget(snapshot.model_copy(update={"control_state": "REDUCING"}), mandate) == 0


# Drawn, not filtered: most scenes hold nothing, and a strategy that is mostly refused looks at little.
HOLDING = {
    "held": money(2_000, places=6).filter(bool),
    "price": money(3_000, places=4).filter(bool),
    "control_state": st.sampled_from(["ACTIVE", "REDUCING"]),
}


@many
@given(scenes(**HOLDING), st.sampled_from(["NEUTRAL", "BEARISH"]))
def test_an_exit_is_never_trapped(scene: tuple[str, GuardSnapshot, Mandate], sentiment: str) -> None:
    _, snapshot, mandate = scene
    held = (snapshot.held or D(0)) + (snapshot.pending_sell or D(0))
    at_decision = snapshot.model_copy(update={"stage": "decide", "bar_session": snapshot.last_completed_session, "pending_sell": D(0), "held": held})
    # Another quota than the one of purchases; twenty exits in a session are the limit of G1.
    at_decision = at_decision.model_copy(update={"activity": Activity(opening_orders=99, turnover=D(10) ** 9, ticker_proposals=99)})
    ruling = judge(text("SELL", "999999999999", sentiment), at_decision, mandate)
    assert (ruling.outcome, ruling.quantity_out, ruling.close_all) == (Outcome.APPROVE, held, True)


@many
@given(scenes())
def test_a_buy_of_the_budget_is_never_clipped(scene: tuple[str, GuardSnapshot, Mandate]) -> None:
    _, snapshot, mandate = scene
    snapshot = snapshot.model_copy(update={"stage": "decide", "bar_session": snapshot.last_completed_session, "reduce_only": False})
    most = budget(snapshot, mandate)
    assert most >= 0
    snapshot = snapshot.model_copy(update={"budget": most, "debate_class": "mixed"})
    if most and snapshot.provenance != "repaired" and not snapshot.tainted and most != (most / (snapshot.price or D(1))).quantize(D("0.01")):
        ruling = judge(text("BUY", str(most)), snapshot, mandate)
        assert ruling.outcome is Outcome.APPROVE or ruling.code == "TOO_SMALL"
        more = judge(text("BUY", str(most + (snapshot.price or D(0)) * mandate.lot + D("0.02"))), snapshot, mandate)
        assert more.outcome is not Outcome.APPROVE


@many
@given(st.integers(2, 20), money(900, least=1), st.sampled_from(["BUY", "SELL"]), money(60_000, least=200).map(str))
def test_a_split_leaves_class_and_notional_alone(ratio: int, price: Decimal, action: str, amount: str) -> None:
    before = {"price": price * ratio, "held": D(100), "pending_buy": D(2), "pending_sell": D(1), "provenance": "heuristic"}
    after = {**before, "price": price, "held": D(100) * ratio, "pending_buy": D(2) * ratio, "pending_sell": D(ratio)}
    cheap = mandate(D6={"min_price": "0.0001"})
    one, other = (judge(text(action, amount), deciding(cheap, equity=D(2_000_000), **state), cheap) for state in (before, after))
    lot = D("0.0001") * price * ratio
    assert abs(one.quantity_out * price * ratio - other.quantity_out * price) <= lot
    assert one.outcome == other.outcome or one.quantity_in * price * ratio - one.quantity_out * price * ratio <= lot


CONTEXTS = [
    decimal.Context(prec=3),
    decimal.Context(prec=50, rounding=decimal.ROUND_UP),
    decimal.Context(prec=28, traps=[]),
    decimal.Context(prec=28, traps=[decimal.Inexact, decimal.Rounded, decimal.FloatOperation]),
]


@pytest.mark.parametrize("context", CONTEXTS, ids=range(len(CONTEXTS)))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(scenes())
def test_the_callers_decimal_context_does_not_matter(context: decimal.Context, scene: tuple[str, GuardSnapshot, Mandate]) -> None:
    proposal, snapshot, mandate = scene
    expected = canonical(judge(proposal, snapshot, mandate)), budget(snapshot, mandate)
    with decimal.localcontext(context):
        actual = canonical(judge(proposal, snapshot, mandate)), budget(snapshot, mandate)
    assert expected == actual


def digest() -> str:
    """One hash over rulings of every kind; also what the subprocesses below print."""
    proposals = [text("BUY", "9000", "BULLISH", p_up="0.61"), text("SELL", "700.25"), text("HOLD", "0"), "prose", text("BUY", "50", "BEARISH")]
    states = [{}, {"held": D("31.5")}, {"control_state": "REDUCING"}, {"candidates": ()}, {"provenance": "fallback", "price": D("123.45")}]
    rulings = [judge(proposal, make(**state)) for proposal in proposals for state in states for make in (deciding, settling)]
    return hashlib.sha256(b"\n".join(canonical(ruling) for ruling in rulings)).hexdigest()


SURROUNDINGS = [
    {"PYTHONHASHSEED": "0", "TZ": "UTC", "LC_ALL": "C"},
    {"PYTHONHASHSEED": "4242", "TZ": "Asia/Kathmandu", "LC_ALL": "de_DE.UTF-8"},
    {"PYTHONHASHSEED": "random", "TZ": "America/New_York", "LC_ALL": "tr_TR.UTF-8", "PYTHONUTF8": "0"},
]
PRINT = "import locale,contextlib\nwith contextlib.suppress(locale.Error): locale.setlocale(locale.LC_ALL, '')\n"
PRINT += "from tests.unit.guard.test_guard_properties import digest\nprint(digest())"


@pytest.mark.parametrize("surroundings", SURROUNDINGS, ids=range(len(SURROUNDINGS)))
def test_another_process_gives_the_same_bytes(surroundings: dict[str, str]) -> None:
    root = Path(__file__).parents[3]
    environment = {**os.environ, **surroundings, "PYTHONPATH": str(root)}
    done = subprocess.run([sys.executable, "-c", PRINT], cwd=root, env=environment, capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.strip() == digest()


def test_the_same_inputs_give_the_same_ruling() -> None:
    assert judge(now=NOW) == judge(now=NOW)
