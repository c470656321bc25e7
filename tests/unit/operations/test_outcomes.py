"""What came of a decision: the gain, the event, and every reason why there is no outcome."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest

from alphaagent import views_outcomes as views
from alphaagent.clock import SessionTable
from alphaagent.debate.prompts import HORIZON
from alphaagent.domain.market import Bar, CorporateAction
from alphaagent.ledger.review import Decided
from alphaagent.operations.outcomes import NONE, Outcome, Prices, came_of, horizons, prices

MONDAY = date(2024, 1, 1)
DAYS = [MONDAY + timedelta(days=n) for n in range(60)]


def instant(day: date, hour: int) -> datetime:
    return datetime(day.year, day.month, day.day, hour, tzinfo=UTC)


CALENDAR = SessionTable((day, instant(day, 14), instant(day, 21)) for day in DAYS)
ENDS = horizons(CALENDAR)
S, F, H = DAYS[5], DAYS[6], DAYS[5 + HORIZON]
LATER = instant(H, 22)


def bar(day: date, opened: str = "100", close: str = "100") -> Bar:
    prices = {name: Decimal(opened if name == "open" else close) for name in ("open", "high", "low", "close")}
    return Bar(session=day, **prices, volume=1000, known_at=instant(day, 21))


def bars(**closes: str) -> list[Bar]:
    """All at 100 but: `before` (the close decided on), `opened` (where the order fills), `after` (the horizon's close)."""
    made = {day: bar(day) for day in DAYS}
    made[S] = bar(S, close=closes.get("before", "100"))
    made[F] = bar(F, opened=closes.get("opened", "100"))
    made[H] = bar(H, close=closes.get("after", "100"))
    return list(made.values())


def action(kind: str, day: date, value: str) -> CorporateAction:
    return CorporateAction(kind, day, Decimal(value), instant(day, 14))  # type: ignore[arg-type]


def decided(action: str | None = "BUY", p_up: float | None = None, **changes: object) -> Decided:
    made = Decided(7, "d-1", "XYZ", "XNAS:XYZ", S.isoformat(), instant(S, 22), "heuristic", action, None, p_up)
    return made._replace(**changes)  # type: ignore[arg-type]


def outcome(known: Prices, row: Decided | None = None, now: datetime = LATER) -> Outcome:
    return came_of(row or decided(), known, CALENDAR, ENDS, now)


def test_the_gain_is_from_the_first_open_after_the_decision_to_the_close_of_the_horizon() -> None:
    found = outcome(prices(bars(before="90", opened="110", after="121"), ()))
    assert (found.state, found.ends, found.gain) == ("resolved", H, pytest.approx(0.1))


def test_the_event_is_the_close_of_the_horizon_above_the_last_close_before() -> None:
    assert outcome(prices(bars(before="100", opened="110", after="105"), ())).rose is True
    assert outcome(prices(bars(before="100", opened="90", after="100"), ())).rose is False, "an unchanged close is no event"


def test_a_decision_in_the_middle_of_a_session_fills_at_the_next_ones_open() -> None:
    made = bars(opened="50")
    made[7] = bar(DAYS[7], opened="80")
    assert outcome(prices(made, ()), decided(as_of=instant(F, 16))).gain == pytest.approx(0.25)


def test_a_split_is_taken_out_and_a_dividend_put_back_in() -> None:
    split = prices(bars(after="25"), [action("split", DAYS[10], "4")])
    halves = [one if one.session < DAYS[10] else replace(one, open=one.open / 4, close=one.close / 4) for one in bars()]
    assert outcome(prices(halves, [action("split", DAYS[10], "4")])).gain == pytest.approx(0)
    assert outcome(split).gain == pytest.approx(0)
    assert outcome(prices(bars(), [action("dividend", DAYS[10], "10")])).gain == pytest.approx(1 / 9), "reinvested at 90 on its ex-date"


def test_whoever_buys_on_the_ex_date_has_no_dividend_of_that_day_and_whoever_held_before_has() -> None:
    found = outcome(prices(bars(), [action("dividend", F, "10")]))
    assert (found.gain, found.rose) == (pytest.approx(0), True)


def test_an_action_after_the_horizon_changes_nothing() -> None:
    assert outcome(prices(bars(after="105"), [action("dividend", DAYS[40], "10"), action("merger", DAYS[41], "1")])).gain == pytest.approx(0.05)


@pytest.mark.parametrize("kind", ["merger", "unknown"])
def test_what_no_adjustment_puts_right_is_unclear(kind: str) -> None:
    assert outcome(prices(bars(), [action(kind, H, "5")])).state == "unclear"
    assert outcome(prices(bars(), [action(kind, S, "5")])).state == "resolved"


def test_it_waits_until_the_horizons_close_has_passed() -> None:
    known = prices(bars(), ())
    assert [outcome(known, now=instant(H, hour)).state for hour in (20, 21, 22)] == ["waiting", "waiting", "resolved"]
    assert outcome(known, now=instant(H, 20)).ends == H


@pytest.mark.parametrize("missing", [S, F, H])
def test_without_one_of_the_three_prices_there_is_no_outcome(missing: date) -> None:
    assert outcome(prices([one for one in bars() if one.session != missing], ())).state == "no_prices"


def test_without_prices_or_beyond_the_known_calendar_there_is_no_outcome() -> None:
    assert outcome(NONE).state == "no_prices"
    late = outcome(prices(bars(), ()), decided(session=DAYS[-HORIZON].isoformat()))
    assert (late.state, late.ends) == ("no_prices", None)


def test_a_decision_without_an_action_is_counted_as_such() -> None:
    assert outcome(prices(bars(), ()), decided(None)).state == "no_action"


def came(gain: float | None, row: Decided, rose: bool | None = None, state: str = "resolved") -> Outcome:
    return Outcome(row, state, H, gain, gain > 0 if rose is None and gain is not None else rose)  # type: ignore[arg-type]


SOME = (
    *(came(gain, decided("BUY", 0.6)) for gain in (0.1, -0.02, 0.04)),
    came(-0.05, decided("SELL", 0.3, provenance="crew", debate_class="earned")),
    came(0.0, decided("SELL", provenance="crew", debate_class="theater")),
    came(0.3, decided("HOLD")),
    came(None, decided(), state="waiting"),
    came(None, decided(), state="no_prices"),
    came(None, decided(None), state="no_action"),
)


def test_a_purchase_is_right_above_nothing_and_a_sale_below_and_a_hold_takes_no_side() -> None:
    assert [views.is_right(one) for one in SOME[:7]] == [True, False, True, True, False, None, None]


def test_groups_have_their_figures_beside_their_counts() -> None:
    buy, hold, sell = views.grouped(SOME, "action")
    assert (buy["action"], buy["count"], buy["right"], buy["sided"], buy["median"]) == ("BUY", 3, 2, 3, 0.04)
    assert buy["mean"] == pytest.approx(0.04)
    assert (hold["count"], hold["sided"], sell["count"], sell["right"]) == (1, 0, 2, 1)
    assert sum(row["count"] for row in views.grouped(SOME, "all three")) == 6


def test_the_brier_score_stands_beside_that_of_the_share_that_rose() -> None:
    buy = views.grouped(SOME, "action")[0]
    assert buy["brier"] == pytest.approx((0.16 + 0.36 + 0.16) / 3)
    assert buy["brier_base"] == pytest.approx(2 / 3 * 1 / 3)
    assert (buy["with_p_up"], views.grouped(SOME, "action")[2]["with_p_up"]) == (3, 1)


def test_small_groups_say_so_and_large_ones_do_not() -> None:
    assert views.table(SOME, "action")[0]["decisions"] == "3, too few"
    assert views.table(SOME, "action")[0]["right side"] == "67% (2 of 3, too few)"
    many = [came(0.1, decided("BUY"))] * 30
    assert views.table(many, "action")[0]["decisions"] == "30"


def test_every_decision_is_counted_somewhere() -> None:
    rows = views.counts(SOME)
    assert sum(row["decisions"] for row in rows) == len(SOME)
    assert [row["when"] for row in rows if row["when"]] == [f"the first on {H}, the last on {H}"]


def test_the_figure_has_few_points_with_both_ends_and_boxes_of_all() -> None:
    many = [came(n / 1000, decided("BUY")) for n in range(1001)]
    gains = [row["gain"] for row in views.points(many)]
    assert (len(gains), min(gains), max(gains)) == (views.POINTS, 0.0, 1.0)
    (box,) = views.boxes(many)
    assert (box["count"], box["low"], box["median"], box["high"]) == (1001, pytest.approx(0.05), pytest.approx(0.5), pytest.approx(0.95))
    assert views.points([came(0.1, decided("SELL"))])[0]["action"] == "SELL"


def test_a_row_of_the_list_reads_like_one() -> None:
    row = views.listed(SOME)[3]
    assert (row["action"], row["return"], row["right"], row["rose"], row["class"], row["ends"]) == ("SELL", "−5.00%", "yes", "no", "earned", H.isoformat())
    assert (views.listed(SOME)[6]["return"], views.listed(SOME)[6]["state"]) == ("–", "waiting")
