"""The everyday rules: each limit one unit below, at, and one unit above; what is missing blocks; an exit passes what is meant for entries."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any, get_args

import pytest

from alphaagent.debate import flags
from alphaagent.domain.debate import DebateClass
from alphaagent.domain.portfolio import Activity, Asked
from alphaagent.domain.ruling import Effective, GuardSnapshot, Ruling
from alphaagent.errors import ConfigFault
from alphaagent.guard.evaluate import budget
from alphaagent.guard.limits import limit_lines, loosened
from alphaagent.guard.mandate import Mandate
from alphaagent.guard.rules.h11_held import HeldCap
from tests.unit.guard.guard_scenes import DEFAULT, NOW, deciding, judge, line, mandate, settling, text

D = Decimal
SELL = text("SELL", "1000")


def acted(**changes: Any) -> GuardSnapshot:
    return deciding(activity=Activity(**changes))


def bought(snapshot: GuardSnapshot, limits: Mandate = DEFAULT, amount: str = "1000") -> Ruling:
    return judge(text("BUY", amount), snapshot, limits)


# --- identity and instrument ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("entry", ["BRK.B", "BRK-B", "BRK/B", "XNYS:BRK.B", "XNYS:BRK-B", "BRKB"])
@pytest.mark.parametrize("symbol", ["BRK.B", "BRK-B", "BRK/B"])
def test_d3_and_d2_know_an_instrument_in_any_spelling(entry: str, symbol: str) -> None:
    names = {"symbol": symbol, "names": (symbol, f"XNYS:{symbol}", "BRKB")}
    refused, allowed = mandate(D3={"refused": [entry, "OTHER"]}), mandate(D2={"allowed": [entry]})
    for proposal in (text(), SELL):
        assert judge(proposal, deciding(refused, **names), refused).code == "RESTRICTED"
    assert bought(deciding(allowed, **names), allowed).code == "APPROVED"


def test_d3_leaves_everything_else_alone() -> None:
    limits = mandate(D3={"refused": ["ACM", "ACME.B"]})
    assert bought(deciding(limits), limits).code == "APPROVED"


@pytest.mark.parametrize("proposal", [text(), SELL])
@pytest.mark.parametrize("changes", [{"listed": False}, {"frozen": "an action that nobody has resolved"}])
def test_d4_trades_neither_side_of_what_cannot_be_traded(proposal: str, changes: dict[str, Any]) -> None:
    assert judge(proposal, deciding(**changes)).codes == ("NOT_TRADABLE",)


@pytest.mark.parametrize(
    ("kind", "code"), [("common", "APPROVED"), ("etf", "APPROVED")] + [(k, "TYPE_NOT_ALLOWED") for k in ("leveraged_etf", "inverse_etf", "index", "other")]
)
def test_d5_types(kind: Any, code: str) -> None:
    assert bought(deciding(instrument_kind=kind)).code == code
    sold = judge(SELL, deciding(instrument_kind=kind))
    assert sold.code == "APPROVED"
    assert (line(sold, "D5").reason is None) == (code == "APPROVED")


@pytest.mark.parametrize(
    ("price", "prior", "code"), [("4.99", "5", "PENNY_STOCK"), ("5", "5", "APPROVED"), ("5", "4.99", "PENNY_STOCK"), ("5.01", "5", "APPROVED")]
)
def test_d6_penny_stocks(price: str, prior: str, code: str) -> None:
    snapshot = deciding(price=D(price), prior_close=D(prior), held=D(300), budget=D(1))
    assert (bought(snapshot).code, judge(SELL, snapshot).code) == (code, "APPROVED")


@pytest.mark.parametrize(("volume", "code"), [("999999.99", "ILLIQUID"), ("1000000", "APPROVED"), ("1000000.01", "APPROVED"), (None, "ILLIQUID")])
def test_d7_liquidity(volume: str | None, code: str) -> None:
    snapshot = deciding(median_dollar_volume=None if volume is None else D(volume))
    assert (bought(snapshot).code, judge(SELL, snapshot).code) == (code, "APPROVED")


def test_d8_stops_what_the_cut_of_h11_lets_through(monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = settling(held=D(5), quantity=D(10))
    assert judge(SELL, snapshot).code == "CLIP_HELD"
    monkeypatch.setattr(HeldCap, "cap", lambda self, subject: D(10))
    assert judge(SELL, snapshot).code == "SHORT_NOT_ALLOWED"


@pytest.mark.parametrize("value", [True, "true", 1, "yes"])
def test_d8_short_selling_cannot_be_switched_on(value: Any) -> None:
    with pytest.raises(ConfigFault, match=r"D8\.allow_short: .* is refused; it must be `false`, which is all that this version supports"):
        mandate(D8={"allow_short": value})


@pytest.mark.parametrize("proposal", [text(), SELL])
@pytest.mark.parametrize(
    ("quoted", "own", "code"),
    [("USD", "USD", "APPROVED"), ("GBP", "GBP", "APPROVED"), ("JPY", "JPY", "APPROVED")]
    + [
        (unit, own, "CURRENCY_UNSOUND")
        for unit, own in [("GBp", "GBP"), ("GBX", "GBP"), ("ZAc", "ZAR"), ("ILA", "ILS"), ("GBX", "GBX"), ("EUR", "USD"), ("usd", "USD")]
    ],
)
def test_d9_currencies(proposal: str, quoted: str, own: str, code: str) -> None:
    assert judge(proposal, deciding(quote_currency=quoted, portfolio_currency=own)).code == code


# --- data -----------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("proposal", [text(), SELL])
@pytest.mark.parametrize(
    ("volume", "flat", "code"), [(0, 0, "HALTED_SECURITY"), (1, 0, "APPROVED"), (1, 2, "APPROVED"), (1, 3, "HALTED_SECURITY"), (1, 4, "HALTED_SECURITY")]
)
def test_e5_halts(proposal: str, volume: int, flat: int, code: str) -> None:
    assert judge(proposal, deciding(bar_volume=volume, flat_bars=flat)).code == code


@pytest.mark.parametrize("make", [deciding, settling])
@pytest.mark.parametrize(
    ("price", "code"), [("110", "APPROVED"), ("110.01", "PRICE_COLLAR"), ("90", "APPROVED"), ("89.99", "PRICE_COLLAR"), ("100", "APPROVED")]
)
def test_e6_collar(make: Any, price: str, code: str) -> None:
    snapshot = make(price=D(price), prior_close=D(100))
    assert bought(snapshot).code == code
    sold = judge(SELL, snapshot)
    assert sold.code == "APPROVED"
    assert ("an order that reduces passes" in (line(sold, "E6").reason or "")) == (code == "PRICE_COLLAR")


@pytest.mark.parametrize(("price", "code"), [("105", "APPROVED"), ("105.01", "PRICE_MOVED"), ("95", "APPROVED"), ("94.99", "PRICE_MOVED")])
def test_e7_moved_since_the_decision(price: str, code: str) -> None:
    snapshot = settling(price=D(price), prior_close=D(price), decision_price=D(100))
    assert (bought(snapshot).code, judge(SELL, snapshot).code) == (code, "APPROVED")
    assert line(bought(deciding(decision_price=D(1))), "E7").verdict == "not_applicable"


@pytest.mark.parametrize("proposal", [text(), SELL])
@pytest.mark.parametrize(
    ("second", "code"), [("99.01", "APPROVED"), ("99", "PRICE_DISPUTED"), ("101", "APPROVED"), ("101.02", "PRICE_DISPUTED"), ("0", "PRICE_DISPUTED")]
)
def test_e8_a_second_source(proposal: str, second: str, code: str) -> None:
    assert judge(proposal, deciding(second_price=D(second))).code == code


@pytest.mark.parametrize("gone", [None, D("NaN")])
def test_e8_a_second_source_that_is_configured_and_gave_nothing_stops_what_opens(gone: D | None) -> None:
    snapshot = deciding(second_missing="stooq timed out").model_copy(update={"second_price": gone})
    ruling, sold = bought(snapshot), judge(SELL, snapshot)
    assert (ruling.codes, ruling.quantity_out) == (("DATA_MISSING:second_price",), 0)
    assert line(ruling, "E8").reason == "the second source of prices gave none: stooq timed out"
    assert (sold.code, line(sold, "E8").verdict) == ("APPROVED", "pass")
    assert line(sold, "E8").reason == "the second source of prices gave none (stooq timed out); an order that reduces passes"
    assert (judge(text("SELL", "999999"), snapshot).close_all, budget(snapshot, DEFAULT)) == (True, 0)


def test_e8_a_price_that_is_there_counts_whatever_else_was_said() -> None:
    snapshot = deciding(second_missing="one of two pages failed", second_price=D("99.5"))
    assert (bought(snapshot).code, line(bought(snapshot), "E8").verdict) == ("APPROVED", "pass")


def test_e8_is_not_configured_at_settlement() -> None:
    assert line(bought(settling()), "E8").verdict == "not_configured"


def test_what_is_not_configured_says_so_and_passes() -> None:
    ruling = bought(deciding())
    assert {rule: line(ruling, rule).verdict for rule in ("E8", "E10", "E11")} == dict.fromkeys(("E8", "E10", "E11"), "not_configured")
    assert ruling.code == "APPROVED"


@pytest.mark.parametrize("proposal", [text(), SELL])
@pytest.mark.parametrize("ratio", [2, 3, 4, 5, 10, 20])
def test_e9_a_price_that_looks_like_a_split_nobody_filed(proposal: str, ratio: int) -> None:
    wide = mandate(E6={"max_move_fraction": "0.5"})
    for off, code in (("0.0299", "CORP_ACTION"), ("-0.0299", "CORP_ACTION"), ("0.031", None), ("-0.031", None)):
        for price, prior in ((D(60), 60 * ratio * (1 + D(off))), (60 * ratio * (1 + D(off)), D(60))):
            for make in (deciding, settling):
                ruling = judge(proposal, make(wide, price=price, prior_close=prior, held=D(30)), wide)
                assert ("CORP_ACTION" in ruling.codes) == (code is not None), (price, prior)


def happened(kind: Any, value: str = "1") -> GuardSnapshot:
    return settling(actions=(Effective(kind=kind, ex_date=date(2025, 3, 4), value=D(value)),))


@pytest.mark.parametrize("proposal", [text(), SELL])
@pytest.mark.parametrize("kind", ["rename", "merger"])
def test_e9_another_company_is_another_decision(proposal: str, kind: str) -> None:
    assert judge(proposal, happened(kind)).code == "CORP_ACTION"


@pytest.mark.parametrize(("dividend", "code"), [("0.24", "APPROVED"), ("5", "APPROVED"), ("5.01", "CORP_ACTION")])
def test_e9_a_large_dividend_stops_a_purchase(dividend: str, code: str) -> None:
    ruling = bought(happened("dividend", dividend))
    assert ruling.code == code
    assert "2025-03-04" in (line(ruling, "E9").reason or "")
    assert judge(SELL, happened("dividend", dividend)).code == "APPROVED"


def test_e9_what_an_operator_has_looked_at_passes_with_a_note() -> None:
    ruling = judge(SELL, happened("unknown", "0"))
    assert (ruling.code, line(ruling, "E9").reason) == ("APPROVED", "after the decision: unknown of 0.0 on 2025-03-04")


def test_e9_a_split_on_file_has_been_reckoned_with() -> None:
    ruling = bought(happened("split", "4"))
    assert (ruling.code, line(ruling, "E9").reason) == ("APPROVED", "after the decision: split of 4.0 on 2025-03-04")


@pytest.mark.parametrize(("change", "code"), [("-0.069999", "APPROVED"), ("-0.07", "MARKET_STRESS"), ("-0.2", "MARKET_STRESS"), ("0.09", "APPROVED")])
def test_e10_market_stress(change: str, code: str) -> None:
    limits = mandate(E10={"index": "SPX"})
    snapshot = deciding(limits, index_change=D(change))
    assert (bought(snapshot, limits).code, judge(SELL, snapshot, limits).code) == (code, "APPROVED")


@pytest.mark.parametrize("make", [deciding, settling])
def test_e10_an_index_that_is_named_and_not_known_stops_what_opens(make: Any) -> None:
    limits = mandate(E10={"index": "SPX"})
    ruling = bought(make(limits), limits)
    assert (ruling.code, line(ruling, "E10").verdict) == ("DATA_MISSING:index_change", "block")
    assert judge(SELL, make(limits, held=D(30)), limits).code == "APPROVED"


@pytest.mark.parametrize(("change", "open_for"), [(None, False), (D("-0.1"), False), (D("-0.01"), True)])
def test_e10_bounds_the_budget(change: Decimal | None, open_for: bool) -> None:
    limits = mandate(E10={"index": "SPX"})
    assert (budget(deciding(limits, index_change=change), limits) > 0) is open_for


def test_e10_says_nothing_where_the_mandate_names_no_index() -> None:
    assert line(bought(deciding(index_change=D("-0.1"))), "E10").verdict == "not_configured"


def test_e10_taking_the_index_away_is_looser_and_a_name_is_shown_as_it_is_written() -> None:
    named = mandate(E10={"index": "SPX"})
    assert (loosened(named, DEFAULT), loosened(DEFAULT, named)) == (("E10.index",), ())
    assert next(one.bounds for one in limit_lines(named) if (one.rule, one.limit) == ("E10", "index")) == "`none`, or `SPX`"


BLACKOUT = mandate(E11={"sessions": 3})


@pytest.mark.parametrize(("ahead", "code"), [(0, "EARNINGS_BLACKOUT"), (2, "EARNINGS_BLACKOUT"), (3, "EARNINGS_BLACKOUT"), (4, "APPROVED"), (60, "APPROVED")])
def test_e11_nothing_is_opened_shortly_before_earnings(ahead: int, code: str) -> None:
    snapshot = deciding(BLACKOUT, earnings_in_sessions=ahead)
    ruling = bought(snapshot, BLACKOUT)
    assert (ruling.codes, ruling.quantity_out) == ((code,), 10 if code == "APPROVED" else 0)
    assert (line(ruling, "E11").value, line(ruling, "E11").limit) == (str(ahead), "3")
    assert (budget(snapshot, BLACKOUT) > 0) is (code == "APPROVED")


@pytest.mark.parametrize("changes", [{"earnings_in_sessions": 1}, {"earnings_unknown": "the vendor timed out"}, {}])
def test_e11_what_reduces_and_what_holds_passes_always(changes: dict[str, Any]) -> None:
    snapshot = deciding(BLACKOUT, **changes)
    assert (judge(SELL, snapshot, BLACKOUT).code, judge(text("SELL", "999999"), snapshot, BLACKOUT).close_all) == ("APPROVED", True)
    assert judge(text("HOLD", "0"), snapshot, BLACKOUT).code == "NO_ORDER"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "nothing here supplies dates ahead"),
        ({"earnings_unknown": "no date is stated"}, "no date is stated"),
        ({"earnings_unknown": "fetched nine days ago", "earnings_in_sessions": 40}, "fetched nine days ago"),
    ],
)
def test_e11_a_date_that_nobody_knows_is_no_permission(changes: dict[str, Any], words: str) -> None:
    snapshot = deciding(BLACKOUT, **changes)
    ruling = bought(snapshot, BLACKOUT)
    assert (ruling.codes, ruling.quantity_out, budget(snapshot, BLACKOUT)) == (("EARNINGS_UNKNOWN",), 0, 0)
    assert line(ruling, "E11").reason == f"when earnings are due is not known: {words}; the mandate opens nothing within 3 sessions"


def test_e11_a_doubtful_date_within_the_span_is_taken_at_its_word() -> None:
    assert bought(deciding(BLACKOUT, earnings_in_sessions=3, earnings_unknown="fetched nine days ago"), BLACKOUT).code == "EARNINGS_BLACKOUT"


def test_e11_a_fund_reports_no_earnings() -> None:
    ruling = bought(deciding(BLACKOUT, instrument_kind="etf"), BLACKOUT)
    assert (ruling.code, line(ruling, "E11").verdict) == ("APPROVED", "not_applicable")


@pytest.mark.parametrize("changes", [{"earnings_in_sessions": 0}, {"earnings_unknown": "it failed"}, {}])
def test_e11_is_off_by_default_and_silent_at_settlement(changes: dict[str, Any]) -> None:
    assert (bought(deciding(**changes)).code, line(bought(deciding(**changes)), "E11").verdict) == ("APPROVED", "not_configured")
    settled = bought(settling(BLACKOUT, **changes), BLACKOUT)
    assert (settled.code, line(settled, "E11").verdict) == ("APPROVED", "not_applicable")


@pytest.mark.parametrize("sessions", [1, 20])
def test_e11_spans_of_any_length_end_where_they_say(sessions: int) -> None:
    limits = mandate(E11={"sessions": sessions})
    at, beyond = (bought(deciding(limits, earnings_in_sessions=ahead), limits).code for ahead in (sessions, sessions + 1))
    assert (at, beyond) == ("EARNINGS_BLACKOUT", "APPROVED")


def test_e11_a_shorter_blackout_is_looser() -> None:
    short = mandate(E11={"sessions": 1})
    assert (loosened(BLACKOUT, short), loosened(short, DEFAULT), loosened(DEFAULT, BLACKOUT)) == (("E11.sessions",), ("E11.sessions",), ())
    with pytest.raises(ConfigFault, match=r"E11\.sessions: '?21'? is refused; it must be a whole number, at least 0 and at most 20"):
        mandate(E11={"sessions": 21})


DOUBT = "the vendor has rewritten 2019-12-31"


def test_e12_nothing_is_opened_on_prices_in_doubt() -> None:
    ruling, sound = bought(deciding(prices_doubt=DOUBT)), bought(deciding())
    assert (ruling.codes, ruling.quantity_out, budget(deciding(prices_doubt=DOUBT), DEFAULT)) == (("PRICES_IN_DOUBT",), 0, 0)
    assert line(ruling, "E12").reason == f"the prices are in doubt: {DOUBT}"
    assert (sound.codes, line(sound, "E12").verdict, budget(deciding(), DEFAULT) > 0) == (("APPROVED",), "pass", True)


def test_e12_what_reduces_and_what_holds_passes_always() -> None:
    snapshot = deciding(prices_doubt=DOUBT)
    assert (judge(SELL, snapshot).code, judge(text("SELL", "999999"), snapshot).close_all) == ("APPROVED", True)
    assert judge(text("HOLD", "0"), snapshot).code == "NO_ORDER"


def test_e12_a_doubt_without_words_is_one_all_the_same() -> None:
    assert bought(deciding(prices_doubt="")).code == "PRICES_IN_DOUBT"


def test_e12_a_missing_session_is_told_by_e3_alone() -> None:
    ruling = bought(deciding(bar_session=date(2025, 2, 28)))
    assert (ruling.codes, line(ruling, "E12").verdict) == (("QUOTE_STALE",), "pass")


def test_e12_has_no_limit_and_is_silent_at_settlement() -> None:
    settled = bought(settling(prices_doubt=DOUBT))
    assert (settled.code, line(settled, "E12").verdict) == ("APPROVED", "not_applicable")
    with pytest.raises(ConfigFault, match="this rule has no limit to set"):
        mandate(E12={"off": True})


# --- the decision ---------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("microseconds", "code"), [(-1, "APPROVED"), (0, "APPROVED"), (1, "DECISION_STALE")])
def test_f1_no_decision_of_the_future(microseconds: int, code: str) -> None:
    assert bought(deciding(decided_at=NOW + timedelta(microseconds=microseconds))).code == code


@pytest.mark.parametrize(("due", "code"), [(date(2025, 3, 3), "DECISION_STALE"), (date(2025, 3, 4), "APPROVED"), (date(2025, 3, 5), "DECISION_STALE")])
def test_f1_an_order_fills_in_its_own_session(due: date, code: str) -> None:
    for proposal in (text(), SELL):
        assert judge(proposal, settling(due_session=due)).code == code


@pytest.mark.parametrize(("count", "age", "code"), [(1, 2, "APPROVED"), (1, 3, "APPROVED"), (1, 4, "EVIDENCE_STALE"), (0, 0, "EVIDENCE_STALE")])
def test_f2_evidence(count: int, age: int, code: str) -> None:
    snapshot = deciding(evidence_count=count, evidence_age_sessions=age)
    assert (bought(snapshot).code, judge(SELL, snapshot).code) == (code, "APPROVED")


HOLD = text("HOLD", "0")
OPENS = ("none", "no_debate", "stagnant", "earned", "stubborn", "mixed")
WORTHLESS = ("theater", "capitulated", "hollow")
CLASSES = (*OPENS, *WORTHLESS)


def test_f4_knows_every_class_of_a_debate() -> None:
    assert set(CLASSES) == {"none", *get_args(DebateClass)}
    assert set(get_args(DebateClass)) == set(get_args(flags.DebateClass))


@pytest.mark.parametrize("found", CLASSES)
def test_f4_a_debate_that_settled_nothing_opens_nothing(found: str) -> None:
    snapshot, worthless = deciding(debate_class=found), found in WORTHLESS
    ruling = bought(snapshot)
    assert (ruling.codes, ruling.quantity_out) == ((("LOW_QUALITY_DEBATE",), 0) if worthless else (("APPROVED",), 10))
    assert line(ruling, "F4").verdict == ("block" if worthless else "not_applicable" if found in ("none", "no_debate") else "pass")
    assert not worthless or f"classed as {found}: " in (line(ruling, "F4").reason or "")
    assert (judge(SELL, snapshot).code, line(judge(SELL, snapshot), "F4").verdict) == ("APPROVED", "not_applicable")
    assert judge(text("SELL", "999999"), snapshot).close_all
    assert judge(HOLD, snapshot).code == "NO_ORDER"


@pytest.mark.parametrize("found", CLASSES)
@pytest.mark.parametrize(("gap", "above"), [("0.149999", False), ("0.15", False), ("0.150001", True), ("0.9", True)])
def test_f4_the_last_gap_counts_where_the_mandate_says_so_and_there_was_a_debate(found: str, gap: str, above: bool) -> None:
    limits = mandate(F4={"max_gap": "0.15"})
    snapshot = deciding(limits, debate_class=found, debate_gap=D(gap))
    blocked = found in WORTHLESS or (above and found not in ("none", "no_debate"))
    ruling = judge(text(), snapshot, limits)
    assert ruling.code == ("LOW_QUALITY_DEBATE" if blocked else "APPROVED")
    assert not (blocked and found not in WORTHLESS) or line(ruling, "F4").reason == f"the two sides ended {gap} apart; the limit is 0.15"
    assert (judge(SELL, snapshot, limits).code, judge(HOLD, snapshot, limits).code) == ("APPROVED", "NO_ORDER")
    assert bought(snapshot.model_copy(update={"approved_limits_hash": DEFAULT.limits_hash})).code == (
        "LOW_QUALITY_DEBATE" if found in WORTHLESS else "APPROVED"
    )


@pytest.mark.parametrize("gap", [None, D("NaN")])
def test_f4_a_gap_that_is_not_known_blocks_only_where_it_is_limited(gap: D | None) -> None:
    limits = mandate(F4={"max_gap": "0.15"})
    snapshot = deciding(limits).model_copy(update={"debate_gap": gap})
    assert judge(text(), snapshot, limits).code == "DATA_MISSING:debate_gap"
    assert judge(text(), snapshot.model_copy(update={"debate_class": "none"}), limits).code == "APPROVED"
    assert (judge(SELL, snapshot, limits).code, bought(deciding().model_copy(update={"debate_gap": gap})).code) == ("APPROVED", "APPROVED")


def test_f4_a_debate_without_a_class_opens_nothing() -> None:
    snapshot = deciding(debate_class=None)
    assert (bought(snapshot).codes, judge(SELL, snapshot).code) == (("DATA_MISSING:debate_class",), "APPROVED")


def test_f4_is_silent_at_settlement() -> None:
    assert line(bought(settling(debate_class="theater")), "F4").verdict == "not_applicable"


def test_f4_to_limit_the_gap_is_stricter_and_to_lift_the_limit_is_looser() -> None:
    none, wide, narrow = DEFAULT, mandate(F4={"max_gap": "0.3"}), mandate(F4={"max_gap": "0.1"})
    assert loosened(none, wide) == loosened(wide, narrow) == ()
    assert loosened(narrow, wide) == loosened(wide, none) == ("F4.max_gap",)


def test_f6_nothing_is_bought_on_tainted_evidence() -> None:
    snapshot = deciding(tainted=("ev_000000000001", "ev_000000000002"))
    assert (bought(snapshot).codes, judge(SELL, snapshot).code) == (("TAINTED_EVIDENCE",), "APPROVED")
    assert "ev_000000000001" in (line(bought(snapshot), "F6").reason or "")


# --- frequency ------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("made", "code"), [(19, "APPROVED"), (20, "MAX_ORDERS_DAY"), (21, "MAX_ORDERS_DAY")])
def test_g1_orders_of_a_session(made: int, code: str) -> None:
    assert bought(acted(opening_orders=made, reducing_orders=99)).code == code
    assert judge(SELL, acted(reducing_orders=made, opening_orders=99)).code == code


def other(n: int) -> tuple[Asked, ...]:
    return tuple(Asked(side="BUY", asked=D(500 + 50 * k), ordered=D(300 + 50 * k)) for k in range(n))


@pytest.mark.parametrize(("made", "code"), [(1, "APPROVED"), (2, "MAX_ORDERS_TICKER"), (3, "MAX_ORDERS_TICKER")])
def test_g2_orders_of_one_name(made: int, code: str) -> None:
    assert (bought(acted(ticker_orders=other(made))).code, judge(SELL, acted(ticker_orders=other(made))).code) == (code, "APPROVED")


@pytest.mark.parametrize(("before", "code"), [(1, "APPROVED"), (2, "APPROVED"), (3, "RATE"), (4, "RATE")])
def test_g3_asking_again(before: int, code: str) -> None:
    assert (bought(acted(ticker_proposals=before)).code, judge(SELL, acted(ticker_proposals=before)).code) == (code, "APPROVED")
    assert bought(acted(ticker_proposals=before).model_copy(update={"scheduled": True})).code == "APPROVED"


@pytest.mark.parametrize(("minutes", "code"), [(59, "COOLDOWN"), (60, "APPROVED"), (61, "APPROVED")])
def test_g4_minutes_between_purchases(minutes: int, code: str) -> None:
    snapshot = acted(last_buy_at=NOW - timedelta(minutes=minutes))
    assert (bought(snapshot).code, judge(SELL, snapshot).code) == (code, "APPROVED")


@pytest.mark.parametrize(("since", "code"), [(0, "COOLDOWN"), (1, "APPROVED"), (2, "APPROVED"), (None, "APPROVED")])
def test_g4_sessions_after_a_sale(since: int | None, code: str) -> None:
    snapshot = deciding(sessions_since_sell=since)
    assert (bought(snapshot).code, judge(SELL, snapshot).code) == (code, "APPROVED")


@pytest.mark.parametrize(
    ("spent", "codes", "quantity"),
    [
        ("23999.99", ("APPROVED",), "10"),
        ("24000", ("APPROVED",), "10"),
        ("24000.01", ("CLIP_TURNOVER",), "9.9999"),
        ("24999.99", ("CLIP_TURNOVER", "TOO_SMALL", "CLIPPED_AWAY"), "0"),
        ("25000", ("TURNOVER",), "0"),
    ],
)
def test_g5_and_h12_what_a_session_may_open(spent: str, codes: tuple[str, ...], quantity: str) -> None:
    ruling = bought(acted(turnover=D(spent)))
    assert (ruling.codes, ruling.quantity_out) == (codes, D(quantity))
    assert judge(SELL, acted(turnover=D(spent))).code == "APPROVED"


@pytest.mark.parametrize(
    ("asked", "ordered", "code"),
    [
        ("10", "5", "DUPLICATE_ORDER"),
        ("5", "10", "DUPLICATE_ORDER"),
        ("10.1010", "5", "DUPLICATE_ORDER"),
        ("10.1011", "5", "APPROVED"),
        ("9.9009", "9", "APPROVED"),
    ],
)
def test_c2_the_same_order_again(asked: str, ordered: str, code: str) -> None:
    for side, opposite in (("BUY", SELL), ("SELL", text())):
        earlier = acted(ticker_orders=(Asked(side=side, asked=D(asked), ordered=D(ordered)),))
        same = text() if side == "BUY" else SELL
        assert judge(same, earlier).code == code
        assert judge(opposite, earlier).code == "APPROVED"


def test_the_rates_judged_the_request_and_not_its_settlement() -> None:
    busy = Activity(
        opening_orders=99, reducing_orders=99, turnover=D(10) ** 6, ticker_orders=(Asked(side="BUY", asked=D(10), ordered=D(10)),) * 3, ticker_proposals=9
    )
    ruling = bought(settling(activity=busy, sessions_since_sell=0, budget=D(1000), tainted=("ev_000000000001",)))
    assert ruling.code == "APPROVED"
    assert {line(ruling, rule).verdict for rule in ("C2", "G1", "G2", "G3", "G4", "G5", "H1", "H2", "H3", "H12")} == {"not_applicable"}


# --- size -----------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("amount", "code"), [("19999.99", "CLIP_ORDER"), ("20000", "CLIP_ORDER"), ("20000.01", "FAT_FINGER_NOTIONAL"), ("999999999999", "FAT_FINGER_NOTIONAL")]
)
def test_h1_a_request_far_too_large(amount: str, code: str) -> None:
    assert bought(deciding(), amount=amount).code == code
    assert judge(text("SELL", amount), deciding()).code == "APPROVED"


@pytest.mark.parametrize(
    ("orders", "amount", "code"),
    [(19, "20000.01", "FAT_FINGER_NOTIONAL"), (20, "20000.01", "CLIP_ORDER"), (20, "24000", "CLIP_ORDER"), (20, "24000.01", "FAT_FINGER_NOTIONAL")],
)
def test_h1_its_own_median_counts_from_twenty_orders_on(orders: int, amount: str, code: str) -> None:
    snapshot = deciding(provenance="heuristic", activity=Activity(recent_notionals=(D(7_000), D(9_000)) * (orders // 2) + (D(9_000),) * (orders % 2)))
    assert bought(snapshot, amount=amount).code == code


@pytest.mark.parametrize(("amount", "code"), [("2999.99", "APPROVED"), ("3000", "APPROVED"), ("3000.01", "FAT_FINGER_NOTIONAL")])
def test_h1_an_absolute_cap(amount: str, code: str) -> None:
    limits = mandate(H1={"absolute_cap": 3000})
    assert bought(deciding(limits), limits, amount).code == code


@pytest.mark.parametrize(("amount", "code"), [("999.99", "CLIP_ADV"), ("1000", "CLIP_ADV"), ("1000.01", "FAT_FINGER_SHARES")])
def test_h2_a_tenth_of_a_days_volume(amount: str, code: str) -> None:
    snapshot = deciding(median_volume=D(100), provenance="heuristic", equity=D(50_000))
    assert bought(snapshot, amount=amount).code == code
    assert judge(text("SELL", "99999"), snapshot).code == "APPROVED"


@pytest.mark.parametrize(("amount", "code"), [("999.99", "APPROVED"), ("1000", "APPROVED"), ("1000.01", "FAT_FINGER_SHARES")])
def test_h2_a_cap_in_shares(amount: str, code: str) -> None:
    limits = mandate(H2={"max_shares": 10})
    assert bought(deciding(limits), limits, amount).code == code


@pytest.mark.parametrize(
    ("amount", "held", "budget_", "code"),
    [
        ("250", "250", "5000", "UNIT_SUSPECT"),
        ("250.01", "250", "5000", "APPROVED"),
        ("249.99", "250", "5000", "APPROVED"),
        ("250.33", "250.3333", "5000", "UNIT_SUSPECT"),
        ("300", "0", "30000", "UNIT_SUSPECT"),
        ("300.01", "0", "30000", "APPROVED"),
        ("333.33", "0", "33333.33", "UNIT_SUSPECT"),
    ],
)
def test_h3_shares_taken_for_money(amount: str, held: str, budget_: str, code: str) -> None:
    wide = mandate(H6={"max_position_fraction": 1}, D6={"min_price": 1})
    assert bought(deciding(wide, held=D(held), budget=D(budget_)), wide, amount).code == code
    assert judge(text("SELL", amount), deciding(held=D(500), budget=D(budget_))).code == "APPROVED"


@pytest.mark.parametrize(("volume", "code", "quantity"), [("1000.01", "APPROVED", "10"), ("1000", "APPROVED", "10"), ("999.99", "CLIP_ADV", "9.9999")])
def test_h5_a_hundredth_of_a_days_volume(volume: str, code: str, quantity: str) -> None:
    for make in (deciding, settling):
        ruling = bought(make(median_volume=D(volume)))
        assert (ruling.code, ruling.quantity_out) == (code, D(quantity))


@pytest.mark.parametrize(("field", "most", "code"), [("sector_exposure", 20_000, "CLIP_SECTOR"), ("gross_exposure", 98_000, "CLIP_GROSS")])
def test_h7_and_h8_exposure(field: str, most: int, code: str) -> None:
    for make in (deciding, settling):
        for more, expected, quantity in (("-1000.01", "APPROVED", "10"), ("-1000", "APPROVED", "10"), ("-999.99", code, "9.9999"), ("1", code, "0")):
            snapshot = make(**{field: most + D(more)})
            ruling = bought(snapshot)
            assert (ruling.codes[0], ruling.quantity_out) == (expected, D(quantity))
            assert judge(SELL, snapshot).code == "APPROVED"


def test_h7_says_what_it_counts() -> None:
    assert (line(bought(deciding(sector=None, sector_exposure=D(30_000))), "H7").reason or "").startswith("what has no known sector would be 31% of NAV")


@pytest.mark.parametrize(
    ("settled", "codes"), [("1002.50", ("CLIP_CASH", "TOO_SMALL", "CLIPPED_AWAY")), ("1002.49", ("CLIP_CASH", "CLIP_UNSETTLED", "TOO_SMALL", "CLIPPED_AWAY"))]
)
def test_h10_unsettled_cash_is_not_spent(settled: str, codes: tuple[str, ...]) -> None:
    ruling = bought(deciding(cash=D(50_000), settled_cash=D(settled)))
    assert ruling.codes == codes
    if "CLIP_UNSETTLED" in codes:
        assert line(ruling, "H10").reason == "the order would cost 1002.50; 1002.49 of the cash is settled and free, 48997.51 settles later"


def test_h10_says_nothing_where_all_cash_is_settled() -> None:
    assert line(bought(deciding(cash=D(900), settled_cash=D(900))), "H10").verdict == "not_applicable"


@pytest.mark.parametrize(
    "changes",
    [
        {"activity": Activity(turnover=D(25_000))},
        {"activity": Activity(opening_orders=20)},
        {"activity": Activity(ticker_proposals=3)},
        {"sessions_since_sell": 0},
        {"median_dollar_volume": None},
        {"prior_close": D(50)},
        {"listed": False},
        {"frozen": "halted"},
        {"instrument_kind": "index"},
        {"quote_currency": "GBp"},
        {"bar_volume": 0},
        {"sector_exposure": D(20_000)},
        {"gross_exposure": D(98_000)},
        {"activity": None},
    ],
)
def test_no_budget_where_nothing_may_be_opened(changes: dict[str, Any]) -> None:
    assert budget(deciding(**changes), DEFAULT) == 0


@pytest.mark.parametrize(
    ("changes", "expected"),
    [({"activity": Activity(turnover=D(23_000))}, "2000.00"), ({"sector_exposure": D(17_500)}, "2500.00"), ({"median_volume": D(4_000)}, "4000.00")],
)
def test_the_budget_knows_every_cap(changes: dict[str, Any], expected: str) -> None:
    assert budget(deciding(**changes), DEFAULT) == D(expected)


# --- case tests -----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cash", ["0", "-5", "0.01"])
def test_selling_is_never_gated_by_cash(cash: str) -> None:
    broke = deciding(cash=D(cash), settled_cash=D(cash), reserved_cash=D(10_000), budget=D(0), equity=D(1))
    assert judge(text("SELL", "999999"), broke).quantity_out == 20


@pytest.mark.parametrize(("price", "amount"), [("100", "0.004"), ("100", "0.01"), ("7.77", "9.99"), ("250000", "24.99"), ("100", "9.999999")])
def test_dust_is_never_approved_as_nothing(price: str, amount: str) -> None:
    ruling = bought(deciding(price=D(price), held=D(0)), amount=amount)
    assert (ruling.code, ruling.quantity_out) == ("TOO_SMALL", 0)


def test_a_suppressed_duplicate_has_one_outcome() -> None:
    ruling = bought(acted(ticker_orders=(Asked(side="BUY", asked=D(10), ordered=D(10)),)))
    assert (ruling.outcome, ruling.code, ruling.codes, ruling.quantity_out) == ("BLOCK", "DUPLICATE_ORDER", ("DUPLICATE_ORDER",), 0)


def test_an_oversell_books_nothing() -> None:
    for held, pending, most in ((D(0), D(0), D(0)), (D(5), D(5), D(0)), (D(5), D(2), D(3))):
        assert judge(text("SELL", "10000"), deciding(held=held, pending_sell=pending)).quantity_out == most


def test_pending_orders_count_against_every_cap_and_never_against_an_exit() -> None:
    waiting = {
        "pending_buy": D(75),
        "sector_exposure": D(19_500),
        "gross_exposure": D(97_900),
        "reserved_cash": D(47_000),
        "activity": Activity(turnover=D(24_800)),
    }
    ruling = bought(deciding(**waiting, provenance="heuristic"))
    assert set(ruling.codes) >= {"CLIP_CONCENTRATION", "CLIP_SECTOR", "CLIP_GROSS", "CLIP_CASH", "CLIP_TURNOVER"}
    assert judge(text("SELL", "99999"), deciding(**waiting)).quantity_out == 20


def test_a_thousand_small_buys_end_at_the_turnover_cap() -> None:
    spent, made = D(0), 0
    limits = mandate(G1={"max_opening": 500}, G3={"max_proposals": 50})
    for n in range(1000):
        snapshot = deciding(limits, held=D(0), scheduled=True, activity=Activity(opening_orders=made, turnover=spent), provenance="heuristic")
        ruling = bought(snapshot, limits, str(101 + n % 7))
        spent, made = spent + ruling.quantity_out * D(100), made + (ruling.quantity_out > 0)
        assert spent <= 25_000
    assert spent > 24_900
