"""What the guard is shown: the same book at both stages, and an order is never counted against itself."""

from datetime import date
from decimal import Decimal as D
from typing import Any

from alphaagent.domain.portfolio import Activity
from alphaagent.domain.ruling import GuardSnapshot
from alphaagent.execution.snapshots import Argued, Beside, BookState, Seen, Subject, decide_snapshot, order_id, settle_snapshot
from alphaagent.execution.trading import Trading
from tests.fakes import ACME, BETA, account, order, position, weekday_calendar

CALENDAR = weekday_calendar()
THURSDAY, FRIDAY = date(2020, 1, 9), date(2020, 1, 10)
SUBJECT = Subject("ACME", (ACME.id,), ACME, "heuristic", "live", D("0.55"), False)
MINE = order()
TRADED = Trading(D(99), 1000, 0, D(2000), D(200_000))
SELLING = order(id="ord_2", side="SELL", quantity=D(4), reserved=D(0))
OTHER = order(id="ord_3", instrument_id=BETA.id, symbol="BETA", quantity=D(7), reserved=D(500))


def book() -> BookState:
    return BookState(
        account(position("20"), pending=(MINE, SELLING, OTHER)),
        D(102_000),
        "REDUCING",
        ("database",),
        None,
        "hash",
        {ACME.id: D(100)},
        {BETA.id: "Tools"},
        {},
        Activity(),
    )


def decided(**beside: Any) -> GuardSnapshot:
    at, days = CALENDAR.closes(THURSDAY), {"session": THURSDAY, "bar_session": THURSDAY, "fill_session": FRIDAY}
    seen = Seen(evidence_count=3, evidence_age_sessions=0, tainted=(), budget=D(5_000))
    said = {"scheduled": False, "reduce_only": False, "seen": seen, "argued": Argued("mixed", D("0.04")), "beside": Beside(**beside)}
    return decide_snapshot(SUBJECT, book(), CALENDAR, TRADED, at=at, **days, price=D(100), **said)


def test_at_the_decision_every_pending_order_counts() -> None:
    found = decided()

    assert (found.stage, found.price, found.held, found.equity) == ("decide", 100, 20, 102_000)
    assert (found.pending_buy, found.pending_sell, found.reserved_cash) == (10, 4, 1510)
    assert (found.quantity, found.close_all, found.decision_price) == (None, None, None)
    assert (found.last_completed_session, found.bar_session, found.fill_session) == (THURSDAY, THURSDAY, FRIDAY)


def test_at_settlement_an_order_is_not_counted_against_itself() -> None:
    found = settle_snapshot(SUBJECT, book(), CALENDAR, TRADED, MINE, bar_session=FRIDAY, open_price=D(102), actions=())

    assert (found.pending_buy, found.pending_sell, found.reserved_cash) == (0, 4, 500)
    assert (found.stage, found.quantity, found.decision_price, found.price, found.close_all) == ("settle", 10, 100, 102, False)
    assert (found.last_completed_session, found.fill_session) == (THURSDAY, FRIDAY)


def test_the_state_of_the_system_is_passed_on_as_it_is() -> None:
    found = decided()

    assert (found.control_state, found.control_sources, found.books_fault, found.books_checked) == ("REDUCING", ("database",), None, True)
    assert (found.approved_limits_hash, found.calendar_first, found.calendar_last) == ("hash", CALENDAR.first, CALENDAR.last)
    assert (found.portfolio_kind, found.book_time, found.settled_cash) == ("paper", book().account.book_time, 100_000)


def test_nothing_that_a_rule_may_ask_for_at_its_stage_is_left_out() -> None:
    decide = decided()
    settle = settle_snapshot(SUBJECT, book(), CALENDAR, TRADED, MINE, bar_session=FRIDAY, open_price=D(102), actions=())
    missing = {stage: {name for name in type(shown).model_fields if getattr(shown, name) is None} for stage, shown in (("decide", decide), ("settle", settle))}

    nobody_supplies = {"books_fault", "bid", "ask", "frozen", "second_price", "second_missing", "index_change", "sessions_since_sell"} | (
        {"sector"} - {"sector" if ACME.sector else ""}
    )
    nobody_supplies |= {"earnings_in_sessions", "earnings_unknown", "prices_doubt"}
    at_settlement = {"decision_price", "due_session", "actions", "quantity", "close_all"}
    at_decision = {"activity", "scheduled", "budget", "evidence_count", "evidence_age_sessions", "tainted", "debate_class", "debate_gap"}
    assert missing == {"decide": nobody_supplies | at_settlement, "settle": nobody_supplies | at_decision}


def test_what_stands_beside_the_measures_is_shown_at_the_decision_and_not_asked_again() -> None:
    said = {"second_price": D("99.5"), "second_missing": "it failed", "earnings_in_sessions": 4, "earnings_unknown": "it is out of date"}
    said["prices_doubt"] = "it was rewritten"
    settle = settle_snapshot(SUBJECT, book(), CALENDAR, TRADED, MINE, bar_session=FRIDAY, open_price=D(102), actions=())

    assert {name: getattr(decided(**said), name) for name in said} == said
    assert {getattr(settle, name) for name in said} == {None}


def test_one_decision_has_one_order() -> None:
    assert order_id("dec_0123abcd") == "ord_0123abcd"


def test_exposure_counts_what_is_held_and_what_waits_by_sector() -> None:
    found = decided()
    assert (found.gross_exposure, found.sector_exposure) == (
        20 * 100 + 10 * MINE.decision_price + 7 * OTHER.decision_price,
        20 * 100 + 10 * MINE.decision_price,
    )
