"""Every limit one unit below, at, and one unit above; every needed field removed; every rule made to fail."""

from datetime import UTC, date, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from alphaagent.domain.ruling import GuardSnapshot, Outcome
from alphaagent.guard.evaluate import budget
from alphaagent.guard.intake import parse_proposal
from alphaagent.guard.mandate import Mandate
from alphaagent.guard.registry import RULES
from alphaagent.guard.rule import Block, Pass, Subject
from tests.unit.guard.guard_scenes import DEFAULT, NOW, deciding, judge, line, mandate, settling, text

D = Decimal
WIDE = mandate(H4={"max_order_fraction": 1}, I2={"min_kept_fraction": "0.0001"})
WIDEST = mandate(H4={"max_order_fraction": 1}, H6={"max_position_fraction": 1}, I2={"min_kept_fraction": "0.0001"})


@pytest.mark.parametrize(
    ("amount", "outcome", "quantity"),
    [("4999.99", "APPROVE", "49.9999"), ("5000", "APPROVE", "50"), ("5000.01", "CLIP", "50"), ("9000", "CLIP", "50")],
)
def test_h4_caps_one_order(amount: str, outcome: str, quantity: str) -> None:
    ruling = judge(text("BUY", amount))
    assert (ruling.outcome, ruling.quantity_out) == (outcome, D(quantity))
    assert ruling.code == ("CLIP_ORDER" if outcome == "CLIP" else "APPROVED")


def test_h4_says_why_in_words() -> None:
    trace = line(judge(text("BUY", "7012.34")), "H4")
    assert (trace.verdict, trace.value, trace.limit) == ("clip", "7012.34", "5000.0")
    assert trace.reason == "the order would be 7.02% of NAV; the limit is 5%"


@pytest.mark.parametrize(
    ("amount", "pending", "outcome", "quantity"),
    [
        ("7999.99", 0, "APPROVE", "79.9999"),
        ("8000", 0, "APPROVE", "80"),
        ("8000.01", 0, "CLIP", "80"),
        ("7000", 10, "APPROVE", "70"),
        ("7000.01", 10, "CLIP", "70"),
        ("200", 78, "APPROVE", "2"),
    ],
)
def test_h6_caps_one_name_with_its_pending_orders(amount: str, pending: int, outcome: str, quantity: str) -> None:
    ruling = judge(text("BUY", amount), deciding(WIDE, pending_buy=D(pending)), WIDE)
    assert (ruling.outcome, ruling.quantity_out) == (outcome, D(quantity))
    assert ruling.code == ("CLIP_CONCENTRATION" if outcome == "CLIP" else "APPROVED")


@pytest.mark.parametrize("held", ["100", "250"])
def test_h6_leaves_nothing_of_a_buy_where_the_name_is_full(held: str) -> None:
    ruling = judge(text("BUY", "1000"), deciding(held=D(held)))
    assert (ruling.outcome, ruling.code, ruling.quantity_out) == ("BLOCK", "TOO_SMALL", D(0))
    assert ruling.codes == ("CLIP_CONCENTRATION", "TOO_SMALL", "CLIPPED_AWAY")


@pytest.mark.parametrize(
    ("cash", "reserved", "outcome", "quantity"),
    [("3002.51", "0", "APPROVE", "10"), ("3002.50", "0", "APPROVE", "10"), ("3002.49", "0", "CLIP", "9.9999"), ("4002.49", "1000", "CLIP", "9.9999")],
)
def test_h9_spends_settled_cash_only_and_keeps_the_buffer(cash: str, reserved: str, outcome: str, quantity: str) -> None:
    ruling = judge(text("BUY", "1000"), deciding(settled_cash=D(cash), reserved_cash=D(reserved)))
    assert (ruling.outcome, ruling.quantity_out) == (outcome, D(quantity))
    assert ruling.code == ("CLIP_CASH" if outcome == "CLIP" else "APPROVED")


def test_h9_counts_the_fee() -> None:
    limits = mandate(H9={"fee_per_order": "1.5"})
    assert judge(text("BUY", "1000"), deciding(limits, settled_cash=D("3004")), limits).code == "APPROVED"
    ruling = judge(text("BUY", "1000"), deciding(limits, settled_cash=D("3003.99")), limits)
    assert ruling.code == "CLIP_CASH"
    assert line(ruling, "H9").reason == "the order would cost 1004.00 with slippage and fee; 1003.99 of settled cash is free above the buffer"


def test_h9_with_no_cash_at_all() -> None:
    ruling = judge(text("BUY", "1000"), deciding(settled_cash=D(-500)))
    assert (ruling.outcome, ruling.codes) == ("BLOCK", ("CLIP_CASH", "CLIP_UNSETTLED", "TOO_SMALL", "CLIPPED_AWAY"))


@pytest.mark.parametrize(
    ("pending", "outcome", "code", "quantity"),
    [
        ("9.9999", "APPROVE", "APPROVED", "10"),
        ("10", "APPROVE", "APPROVED", "10"),
        ("10.0001", "CLIP", "CLIP_HELD", "9.9999"),
        ("19.99995", "CLIP", "CLIP_HELD", "0.00005"),
        ("20", "BLOCK", "OVERSELL", "0"),
        ("25", "BLOCK", "OVERSELL", "0"),
    ],
)
def test_h11_sells_what_is_held_and_not_being_sold(pending: str, outcome: str, code: str, quantity: str) -> None:
    ruling = judge(text("SELL", "1000"), deciding(pending_sell=D(pending)))
    assert (ruling.outcome, ruling.code, ruling.quantity_out) == (outcome, code, D(quantity))


def test_h11_refuses_to_sell_what_was_never_held() -> None:
    ruling = judge(text("SELL", "1000"), deciding(held=D(0)))
    assert (ruling.outcome, ruling.codes, ruling.quantity_in) == ("BLOCK", ("OVERSELL",), D(10))


@pytest.mark.parametrize(("amount", "outcome", "quantity"), [("2499.99", "APPROVE", "24.9999"), ("2500", "APPROVE", "25"), ("2500.01", "CLIP", "25")])
def test_h13_opens_a_fallback_at_half_size(amount: str, outcome: str, quantity: str) -> None:
    ruling = judge(text("BUY", amount), deciding(provenance="fallback"))
    assert (ruling.outcome, ruling.quantity_out) == (outcome, D(quantity))
    assert ruling.code == ("CLIP_PROVENANCE" if outcome == "CLIP" else "APPROVED")


def test_h13_follows_the_cap_of_h4() -> None:
    limits = mandate(H4={"max_order_fraction": "0.02"}, H13={"fallback_fraction": "0.1"})
    assert judge(text("BUY", "2000"), deciding(limits, provenance="fallback"), limits).quantity_out == 2


@pytest.mark.parametrize("provenance", ["crew", "heuristic"])
def test_h13_leaves_the_others_alone(provenance: str) -> None:
    assert judge(text("BUY", "5000"), deciding(provenance=provenance)).quantity_out == 50


@pytest.mark.parametrize("provenance", ["crew", "heuristic", "fallback", "repaired"])
def test_f5_lets_everyone_reduce(provenance: str) -> None:
    assert judge(text("SELL", "1000"), deciding(provenance=provenance)).code == "APPROVED"


def test_f5_opens_nothing_for_a_repaired_answer() -> None:
    assert judge(text("BUY"), deciding(provenance="repaired")).codes == ("PROVENANCE",)


@pytest.mark.parametrize(("amount", "code"), [("99.99", "TOO_SMALL"), ("100", "APPROVED"), ("100.01", "APPROVED")])
def test_i1_against_the_part_of_nav(amount: str, code: str) -> None:
    assert judge(text("BUY", amount)).code == code


@pytest.mark.parametrize(("amount", "code"), [("9.99", "TOO_SMALL"), ("10", "APPROVED"), ("10.01", "APPROVED")])
def test_i1_against_the_notional(amount: str, code: str) -> None:
    assert judge(text("BUY", amount), deciding(WIDEST, equity=D(5_000)), WIDEST).code == code


@pytest.mark.parametrize(("amount", "quantity"), [("0.009999", "0"), ("0.01", "0.0001"), ("0.010001", "0.0001")])
def test_i1_a_sell_only_has_to_be_of_one_lot(amount: str, quantity: str) -> None:
    ruling = judge(text("SELL", amount))
    assert (ruling.quantity_out, ruling.code) == (D(quantity), "APPROVED" if D(quantity) else "TOO_SMALL")


def test_i1_less_than_a_lot_of_a_dear_share() -> None:
    limits = Mandate.parse("whole", {"lot": 1}, "test")
    assert judge(text("BUY", "99.99"), deciding(limits), limits).codes == ("TOO_SMALL",)
    assert line(judge(text("BUY", "99.99"), deciding(limits), limits), "I1").reason == "less than one lot is left to buy"


@pytest.mark.parametrize(("amount", "code"), [("19999.99", "CLIP_ORDER"), ("20000", "CLIP_ORDER"), ("20000.01", "CLIPPED_AWAY")])
def test_i2_a_crew_keeps_a_quarter_or_nothing(amount: str, code: str) -> None:
    limits = mandate(H1={"max_request_fraction": 1})
    assert judge(text("BUY", amount), deciding(limits), limits).code == code
    assert judge(text("BUY", amount), deciding(limits, provenance="heuristic"), limits).code == "CLIP_ORDER"


@pytest.mark.parametrize(
    ("action", "sentiment", "p_up", "code"),
    [
        ("BUY", "BULLISH", "0.549999", "SENTIMENT_CONFLICT"),
        ("BUY", "BULLISH", "0.55", "APPROVED"),
        ("BUY", "NEUTRAL", "0.550001", "APPROVED"),
        ("BUY", "BEARISH", "0.60", "SENTIMENT_CONFLICT"),
        ("BUY", "BEARISH", None, "SENTIMENT_CONFLICT"),
        ("BUY", "NEUTRAL", None, "APPROVED"),
        ("BUY", "BULLISH", None, "APPROVED"),
        ("SELL", "BULLISH", "0.550001", "SENTIMENT_CONFLICT"),
        ("SELL", "BULLISH", "0.55", "APPROVED"),
        ("SELL", "NEUTRAL", "0.60", "APPROVED"),
        ("SELL", "BEARISH", "0.60", "APPROVED"),
        ("SELL", "BULLISH", None, "SENTIMENT_CONFLICT"),
        ("SELL", "NEUTRAL", None, "APPROVED"),
        ("SELL", "BEARISH", None, "APPROVED"),
    ],
)
def test_f3_blocks_plain_contradictions_only(action: str, sentiment: str, p_up: str | None, code: str) -> None:
    more = {} if p_up is None else {"p_up": p_up}
    assert judge(text(action, "1000", sentiment, **more)).code == code


def test_f3_exempts_exits_by_rule_and_nothing_else() -> None:
    snapshot = deciding(rule_driven=True)
    assert judge(text("SELL", "1000", "BULLISH", p_up="0.9"), snapshot).code == "APPROVED"
    assert judge(text("BUY", "1000", "BEARISH"), snapshot).code == "SENTIMENT_CONFLICT"


@pytest.mark.parametrize(("p_up", "code"), [("0.569999", "SENTIMENT_CONFLICT"), ("0.57", "APPROVED"), ("0.570001", "APPROVED")])
def test_f3_a_band_widens_what_is_not_traded(p_up: str, code: str) -> None:
    limits = mandate(F3={"no_trade_band": "0.02"})
    assert judge(text("BUY", "1000", p_up=p_up), deciding(limits), limits).code == code
    assert judge(text("SELL", "1000", "BULLISH", p_up="0.530001"), deciding(limits), limits).code == "SENTIMENT_CONFLICT"
    assert judge(text("SELL", "1000", "BULLISH", p_up="0.53"), deciding(limits), limits).code == "APPROVED"


def test_f3_needs_the_base_rate_where_a_probability_is_given() -> None:
    assert judge(text(p_up="0.6"), deciding(base_rate=None)).code == "DATA_MISSING:base_rate"
    assert judge(text(), deciding(base_rate=None)).code == "APPROVED"


@pytest.mark.parametrize(
    ("price", "code"),
    [
        ("1000000", "CLIP_ORDER"),
        ("1000000.01", "QUOTE_INVALID"),
        ("0", "QUOTE_INVALID"),
        ("-1", "QUOTE_INVALID"),
        ("0.000001", "APPROVED"),
        ("100.1234567", "QUOTE_INVALID"),
        ("100.123456", "APPROVED"),
    ],
)
def test_e4_prices(price: str, code: str) -> None:
    limits = Mandate.parse("default", {"lot": "0.000001", "rules": {"I2": {"min_kept_fraction": "0.0001"}, "D6": {"min_price": "0.000001"}}}, "test")
    amount = "10000" if D(price) > 1000 else "1000"
    ruling = judge(text("BUY", amount), deciding(limits, price=D(price), held=D(0)), limits)
    assert ruling.code == code or (code == "QUOTE_INVALID" and "QUOTE_INVALID" in ruling.codes)


@pytest.mark.parametrize(
    ("bid", "ask", "code"),
    [
        ("99", "100.97", "APPROVED"),
        ("99", "100.98", "APPROVED"),
        ("99", "100.99", "QUOTE_INVALID"),
        ("100", "100", "APPROVED"),
        ("100.01", "100", "QUOTE_INVALID"),
        ("0", "100", "QUOTE_INVALID"),
        (None, "100", "DATA_MISSING:bid"),
        ("100", None, "DATA_MISSING:ask"),
    ],
)
def test_e4_spreads(bid: str | None, ask: str | None, code: str) -> None:
    snapshot = deciding(bid=bid and D(bid), ask=ask and D(ask))
    assert judge(text(), snapshot).code == code
    assert judge(text("SELL"), snapshot).code == code


@pytest.mark.parametrize(("days", "code"), [(-1, "QUOTE_STALE"), (0, "APPROVED"), (1, "QUOTE_STALE")])
def test_e3_the_bar_is_of_the_right_session(days: int, code: str) -> None:
    assert judge(text(), deciding(bar_session=date(2025, 3, 3) + timedelta(days=days))).code == code
    assert judge(text(), settling(bar_session=date(2025, 3, 4) + timedelta(days=days))).code == code


def test_e3_refuses_live_mode_until_quotes_have_an_age() -> None:
    assert judge(text(), deciding(mode="live")).code == "DATA_MISSING:quote_age_seconds"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"calendar_first": date(2025, 3, 3)}, "APPROVED"),
        ({"calendar_first": date(2025, 3, 4)}, "CALENDAR_UNKNOWN"),
        ({"calendar_last": date(2025, 3, 4)}, "APPROVED"),
        ({"calendar_last": date(2025, 3, 3)}, "CALENDAR_UNKNOWN"),
    ],
)
def test_e2_sessions_lie_in_the_calendar(changes: dict[str, Any], code: str) -> None:
    assert judge(text(), deciding(**changes)).code == code


def test_e2_settlement_asks_about_the_fill_session_only() -> None:
    assert judge(text(), settling(calendar_first=date(2025, 3, 4))).code == "APPROVED"
    assert judge(text(), settling(calendar_last=date(2025, 3, 3))).code == "CALENDAR_UNKNOWN"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"candidates": ()}, "UNKNOWN_TICKER"),
        ({"candidates": (), "instrument_id": None}, "UNKNOWN_TICKER"),
        ({"candidates": ("XNAS:ACME", "XNYS:ACME")}, "AMBIGUOUS_TICKER"),
        ({"candidates": ("XNYS:ACME",)}, "AMBIGUOUS_TICKER"),
        ({"instrument_id": None}, "DATA_MISSING:instrument_id"),
    ],
)
def test_d1_one_ticker_one_instrument(changes: dict[str, Any], code: str) -> None:
    assert judge(text(), deciding(**changes)).code == code
    assert judge(text("SELL"), deciding(**changes)).code == code


def test_d2_bounds_what_may_be_bought_and_never_what_may_be_sold() -> None:
    inside, outside = mandate(D2={"allowed": ["ACME", "BRK.B"]}), mandate(D2={"allowed": ["BRK.B"]})
    assert judge(text(), deciding(inside), inside).code == "APPROVED"
    assert judge(text(), deciding(outside), outside).codes == ("NOT_IN_UNIVERSE",)
    assert judge(text("SELL"), deciding(outside), outside).code == "APPROVED"


@pytest.mark.parametrize("limits", [DEFAULT, mandate(D2={"allowed": ["ACME"]})])
def test_what_a_run_may_only_reduce_is_not_bought_whatever_the_list_says(limits: Mandate) -> None:
    snapshot = deciding(limits, reduce_only=True)
    assert judge(text("BUY", "1000", p_up="0.6"), snapshot, limits).codes == ("NOT_IN_UNIVERSE",)
    assert judge(text("SELL", "1000", "BEARISH"), snapshot, limits).outcome is Outcome.APPROVE
    assert judge(text("HOLD", "0"), snapshot, limits).code == "NO_ORDER"
    assert budget(snapshot, limits) == 0


@pytest.mark.parametrize(
    ("state", "action", "code"),
    [
        ("ACTIVE", "BUY", "APPROVED"),
        ("REDUCING", "BUY", "KILL_REDUCING"),
        ("REDUCING", "SELL", "APPROVED"),
        ("REDUCING", "HOLD", "NO_ORDER"),
        ("HALTED", "BUY", "KILL_HALTED"),
        ("HALTED", "SELL", "KILL_HALTED"),
        ("HALTED", "HOLD", "KILL_HALTED"),
        (None, "BUY", "KILL_HALTED"),
        (None, "SELL", "KILL_HALTED"),
        (None, "HOLD", "KILL_HALTED"),
    ],
)
def test_b1_the_kill_switch(state: Any, action: str, code: str) -> None:
    ruling = judge(text(action, "0" if action == "HOLD" else "1000"), deciding(control_state=state, control_sources=("file",)))
    assert (ruling.code, ruling.halt) == (code, None)


@pytest.mark.parametrize("action", ["BUY", "SELL", "HOLD"])
@pytest.mark.parametrize(
    "changes",
    [
        {"books_fault": "postings do not balance"},
        {"books_checked": None},
        {"books_checked": False},
        {"books_fault": "", "books_checked": True},
        {"held": D(-1)},
        {"pending_buy": D("-0.000001")},
        {"pending_sell": D(-1)},
        {"reserved_cash": D("-0.01")},
    ],
)
def test_b2_unsound_books_halt(action: str, changes: dict[str, Any]) -> None:
    ruling = judge(text(action, "0" if action == "HOLD" else "1000"), deciding(**changes))
    assert (ruling.outcome, ruling.codes) == ("BLOCK", ("BOOKS_UNSOUND",))
    assert ruling.halt is not None
    assert ruling.halt.startswith("the books are unsound: ")


@pytest.mark.parametrize(("microseconds", "code"), [(-1, "CLOCK_UNSOUND"), (0, "APPROVED"), (1, "APPROVED")])
def test_b3_book_time_never_runs_backwards(microseconds: int, code: str) -> None:
    assert judge(text(), now=NOW + timedelta(microseconds=microseconds)).code == code


def test_b3_refuses_a_time_without_a_zone() -> None:
    ruling = judge(text(), now=NOW.replace(tzinfo=None))
    assert (ruling.code, ruling.evaluated_at) == ("CLOCK_UNSOUND", NOW)


def test_b4_the_limits_are_the_ones_on_file() -> None:
    other = mandate(H4={"max_order_fraction": "0.06"})
    assert judge(text(), deciding(DEFAULT), other).codes == ("LIMITS_INVALID",)
    assert judge(text(), deciding(approved_limits_hash=None)).codes == ("DATA_MISSING:approved_limits_hash",)


def test_b4_refuses_limits_that_no_file_could_hold() -> None:
    kind = RULES["H4"]
    for bad in (D(2), D(0), D("NaN"), D("Infinity")):
        rules = tuple(kind.model_construct(max_order_fraction=bad) if rule.id == "H4" else rule for rule in DEFAULT.rules)
        limits = DEFAULT.model_copy(update={"rules": rules})
        assert judge(text(), deciding(limits), limits).codes == ("LIMITS_INVALID",)
    fewer = DEFAULT.model_copy(update={"rules": tuple(rule for rule in DEFAULT.rules if rule.id != "H4")})
    assert judge(text(), deciding(fewer), fewer).codes == ("LIMITS_INVALID",)


@pytest.mark.parametrize("kind", ["paper", "backtest", "live"])
@pytest.mark.parametrize("mode", ["live", "scripted", "replay", "backtest"])
def test_b5_a_run_trades_its_own_kind_of_portfolio(mode: str, kind: str) -> None:
    allowed = {"live": {"paper", "live"}, "backtest": {"backtest"}, "scripted": {"paper", "backtest"}, "replay": {"paper", "backtest"}}
    ruling = judge(text(), deciding(execution_mode=mode, portfolio_kind=kind))
    assert ruling.code == ("APPROVED" if kind in allowed[mode] else "MODE_MISMATCH")


# --- every needed field, removed ------------------------------------------------------------------------------------------------------------

SCENES = {
    "decide BUY": (deciding(), text("BUY", "1000", p_up="0.6")),
    "decide SELL": (deciding(), text("SELL", "1000", p_up="0.4")),
    "settle BUY": (settling(), text("BUY", "1000", p_up="0.6")),
    "settle SELL": (settling(), text("SELL", "1000", p_up="0.4")),
    "approve BUY": (settling(stage="approve", bar_session=date(2025, 3, 3)), text("BUY", "1000")),
}
ALWAYS = {"candidates", "instrument_id", "provenance", "execution_mode", "portfolio_kind", "control_state", "books_checked", "book_time"}
ALWAYS |= {"approved_limits_hash", "calendar_first", "calendar_last", "fill_session", "bar_session", "price", "held", "pending_sell", "rule_driven"}
ALWAYS |= {"symbol", "names", "instrument_kind", "listed", "quote_currency", "portfolio_currency", "prior_close", "bar_volume", "flat_bars", "decided_at"}
BUYING = {"equity", "cash", "settled_cash", "reserved_cash", "pending_buy", "median_volume", "median_dollar_volume", "sector_exposure", "gross_exposure"}
REQUEST = {"activity", "scheduled", "budget", "evidence_count", "evidence_age_sessions", "tainted", "debate_class"}
SETTLING = {"quantity", "close_all", "due_session", "actions", "base_rate"}
NEEDED = {
    "decide BUY": ALWAYS | BUYING | REQUEST | {"last_completed_session", "base_rate"},
    "decide SELL": ALWAYS | {"activity", "last_completed_session", "base_rate"},
    "settle BUY": ALWAYS | BUYING | SETTLING | {"decision_price"},
    "settle SELL": ALWAYS | SETTLING,
    "approve BUY": ALWAYS | BUYING | {"quantity", "close_all", "last_completed_session"},
}


@pytest.mark.parametrize("scene", SCENES)
def test_removing_any_one_field_that_is_needed_blocks(scene: str) -> None:
    snapshot, proposal = SCENES[scene]
    assert judge(proposal, snapshot).outcome is Outcome.APPROVE
    for field in GuardSnapshot.model_fields:
        if getattr(snapshot, field) is None or field in ("mode", "stage", "ticker", "control_sources"):
            continue
        ruling = judge(proposal, snapshot.model_copy(update={field: None}))
        assert (ruling.outcome is Outcome.BLOCK) == (field in NEEDED[scene]), field
        if field in NEEDED[scene]:
            assert ruling.quantity_out == 0
            assert ruling.code in {f"DATA_MISSING:{field}", "KILL_HALTED", "BOOKS_UNSOUND", "ILLIQUID"}


@pytest.mark.parametrize("field", ["price", "equity", "settled_cash", "reserved_cash", "held", "pending_buy", "pending_sell", "base_rate", "quantity"])
@pytest.mark.parametrize("value", ["NaN", "sNaN", "Infinity", "-Infinity"])
def test_a_figure_that_is_no_number_blocks(field: str, value: str) -> None:
    ruling = judge(text("BUY", "1000", p_up="0.6"), settling().model_copy(update={field: D(value)}))
    assert (ruling.outcome, ruling.quantity_out) == (Outcome.BLOCK, D(0))


# --- every rule, made to fail ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [ValueError, ZeroDivisionError, KeyError, RecursionError, AssertionError, ArithmeticError])
@pytest.mark.parametrize("rule", RULES)
def test_a_rule_that_raises_blocks(rule: str, error: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: object, subject: Subject) -> None:
        raise error("secret")

    monkeypatch.setattr(RULES[rule], "check", fail)
    ruling = judge(text(), settling() if "decide" not in RULES[rule].stages else deciding())
    assert (ruling.outcome, ruling.code, ruling.quantity_out) == (Outcome.BLOCK, f"RULE_ERROR:{rule}", D(0))
    assert line(ruling, rule).reason == f"the rule failed with {error.__name__}"


def test_an_interrupt_is_not_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(self: object, subject: Subject) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(RULES["H4"], "check", interrupt)
    with pytest.raises(KeyboardInterrupt):
        judge(text())


# --- the guard against itself ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "changes", "amount", "cap"),
    [
        ("H4", {}, "6000", "50.0001"),
        ("H6", {"held": D(60)}, "5000", "40.0001"),
        ("H9", {"settled_cash": D("3002.5")}, "2000", "10.0001"),
        ("H13", {"provenance": "fallback"}, "4000", "25.0001"),
    ],
)
def test_i3_catches_a_clip_that_went_wrong(rule: str, changes: dict[str, Any], amount: str, cap: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RULES[rule], "cap", lambda self, subject: D(cap))
    ruling = judge(text("BUY", amount), deciding(**changes))
    assert (ruling.outcome, ruling.code, ruling.quantity_out) == ("BLOCK", "POSTCHECK", D(0))
    assert line(ruling, "I3").reason == f"the clipped order still breaches {rule}"


@pytest.mark.parametrize(
    ("side", "quantity", "out", "bug"),
    [
        ("BUY", "10", "10", False),
        ("BUY", "10", "0", False),
        ("BUY", "10", "10.0001", True),
        ("BUY", "10", "-0.0001", True),
        ("SELL", "10", "10", True),
        (None, "10", "10", True),
    ],
)
def test_i4_stops_the_system_where_the_guard_is_wrong(side: Any, quantity: str, out: str, bug: bool) -> None:
    subject = Subject(parse_proposal(text(), ticker="ACME"), deciding(), NOW, "", None, D("0.0001"), DEFAULT.rules, side, D(quantity), D(out))
    finding = RULES["I4"]().check(subject)
    assert isinstance(finding, Block if bug else Pass)
    assert not bug or (isinstance(finding, Block) and finding.code == "GUARD_BUG" and finding.halt)


def test_a_guard_bug_halts_through_the_ruling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("alphaagent.guard.evaluate._clipped", lambda subject, findings: subject.quantity + 1)
    ruling = judge(text())
    assert (ruling.code, ruling.quantity_out) == ("GUARD_BUG", D(0))
    assert ruling.halt == "the quantity grew or became negative in the guard"


def test_the_zone_of_now_does_not_matter() -> None:
    elsewhere = NOW.astimezone(ZoneInfo("Asia/Tokyo"))
    assert judge(now=elsewhere) == judge(now=NOW.astimezone(UTC))
