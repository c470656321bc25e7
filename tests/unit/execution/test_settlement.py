"""Settlement: an order fills at the open of its own session, waits, expires or is refused; a split in between changes its basis."""

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal as D
from types import SimpleNamespace
from typing import Any

import pytest

from alphaagent.domain.portfolio import OrderStatus
from alphaagent.domain.ruling import GuardSnapshot, Outcome, Ruling
from alphaagent.execution.brokers.simulated import SimulatedBroker
from alphaagent.execution.settlement import Settled, Settler
from tests.fakes import ACME, BETA, PORTFOLIO, FakeBooks, FakeMarket, account, bar, closes, dividend, opens, order, position, split, weekday_calendar

CALENDAR = weekday_calendar()
THURSDAY, FRIDAY, MONDAY, TUESDAY = date(2020, 1, 9), date(2020, 1, 10), date(2020, 1, 13), date(2020, 1, 14)
BARS = {ACME.id: (bar(THURSDAY, "100"), bar(FRIDAY, "104", "102"))}
NOW = closes(FRIDAY)
RECORD: Any = SimpleNamespace(
    request=SimpleNamespace(ticker="ACME"),
    provenance="heuristic",
    execution_mode="live",
    result=SimpleNamespace(base_rate="0.55", rule_driven=True),
    ruling=SimpleNamespace(limits_hash="hash"),
)


@dataclass
class FakeGuard:
    """A guard that allows a share of what it is asked for, and remembers what it was shown."""

    outcome: Outcome = Outcome.APPROVE
    share: D = D(1)
    shown: list[tuple[GuardSnapshot, datetime]] = field(default_factory=list)

    def __call__(self, record: Any, snapshot: GuardSnapshot, at: datetime) -> Ruling:
        self.shown.append((snapshot, at))
        asked = snapshot.quantity or D(0)
        return Ruling(
            stage="settle",
            outcome=self.outcome,
            code="APPROVED" if self.outcome is not Outcome.BLOCK else "GAP",
            codes=(),
            rules=(),
            side="BUY",
            quantity_in=asked,
            quantity_out=asked * self.share,
            price=snapshot.price,
            close_all=False,
            evaluated_at=at,
            limits_hash="l",
            snapshot_hash="s",
            guard_version="1",
        )


def settler(market: FakeMarket | None = None, guard: FakeGuard | None = None) -> Settler:
    broker = SimulatedBroker(slippage_bps=D(10), fee_bps=D(0))
    return Settler(market or FakeMarket(BARS), lambda _: CALENDAR, broker, guard or FakeGuard(), lambda stored: ("ACTIVE", ()))


def settle(books: FakeBooks, due: Any = None, as_of: datetime = NOW, **parts: Any) -> Settled | None:
    return settler(**parts).settle(books, RECORD, PORTFOLIO, ACME, due or order(), as_of)


def test_an_order_fills_at_the_open_of_its_session_with_slippage() -> None:
    books = FakeBooks()
    done = settle(books)

    assert books.log == [("fill", D(10), D("102.102"), D(0), opens(FRIDAY), MONDAY)]
    assert done is not None
    assert (done.order.status, done.order.price, done.order.quantity, done.order.reserved) == (OrderStatus.FILLED, D("102.102"), 10, 0)


def test_it_fills_the_same_weeks_later() -> None:
    early, late = FakeBooks(), FakeBooks()
    settle(early)
    settle(late, as_of=closes(date(2020, 3, 2)))

    assert early.log == late.log


def test_a_clipped_order_fills_for_what_the_guard_leaves() -> None:
    books = FakeBooks()
    settle(books, guard=FakeGuard(Outcome.CLIP, D("0.4")))

    assert books.log[0][:2] == ("fill", D("4.0"))


def test_a_blocked_order_is_rejected_with_the_guards_code() -> None:
    books = FakeBooks()
    done = settle(books, guard=FakeGuard(Outcome.BLOCK))

    assert books.log == [("unfilled", OrderStatus.REJECTED, "refused at settlement: GAP", opens(FRIDAY))]
    assert done is not None
    assert (done.order.status, done.reason) == (OrderStatus.REJECTED, "refused at settlement: GAP")


DEADLINE = closes(MONDAY)
EMPTY = FakeMarket({ACME.id: (bar(THURSDAY, "100"),)})


@pytest.mark.parametrize("as_of", [closes(FRIDAY), opens(MONDAY), DEADLINE])
def test_without_its_bar_an_order_waits_until_the_following_session_has_closed(as_of: datetime) -> None:
    books = FakeBooks()

    assert settle(books, as_of=as_of, market=EMPTY) is None
    assert books.log == []


def test_after_that_it_expires_dated_at_the_deadline() -> None:
    books = FakeBooks()
    done = settle(books, as_of=DEADLINE + timedelta(microseconds=1), market=EMPTY)

    assert done is not None
    assert (done.order.status, done.ruling) == (OrderStatus.EXPIRED, None)
    assert books.log == [("unfilled", OrderStatus.EXPIRED, "no bar of ACME for 2020-01-10 once the following session had closed", DEADLINE)]


def test_a_bar_of_a_later_session_does_not_fill_it() -> None:
    market = FakeMarket({ACME.id: (bar(THURSDAY, "100"), bar(MONDAY, "90"))})

    assert settle(FakeBooks(), market=market) is None


@pytest.mark.parametrize("decided_at", [closes(THURSDAY) + timedelta(seconds=1), opens(FRIDAY) - timedelta(hours=2)])
def test_a_split_before_the_fill_changes_quantity_and_price_and_not_the_value(decided_at: datetime) -> None:
    market = FakeMarket({ACME.id: (bar(THURSDAY, "100"), bar(FRIDAY, "26", "25"))}, {ACME.id: (split(FRIDAY, "4"),)})
    guard, books = FakeGuard(), FakeBooks()
    settle(books, order(decided_at=decided_at), market=market, guard=guard)
    snapshot, _ = guard.shown[0]

    assert (snapshot.quantity, snapshot.decision_price, snapshot.price) == (40, 25, 25)
    assert books.log[-1][:2] == ("fill", D(40))


@pytest.mark.parametrize("ratio", ["0.33333333", "0.142857142857", "1.00050001", "0.066666"])
def test_a_part_of_a_holding_is_cut_to_what_the_books_can_hold(ratio: str) -> None:
    market = FakeMarket({ACME.id: (bar(THURSDAY, "100"), bar(FRIDAY, "100", "100"))}, {ACME.id: (split(FRIDAY, ratio),)})
    guard = FakeGuard()
    settle(FakeBooks(), order(side="SELL", quantity=D("3.7363")), market=market, guard=guard)
    snapshot, _ = guard.shown[0]

    assert snapshot.quantity == snapshot.quantity.quantize(D("0.000001"))
    assert D(0) <= D("3.7363") * D(ratio) - snapshot.quantity < D("0.000001")


def test_the_guard_is_asked_at_the_open_with_the_book_of_that_instant() -> None:
    guard = FakeGuard()
    books = FakeBooks(account(position("5"), cash="1000", book_time=closes(THURSDAY)), held=(ACME,), fault="a hole in the chain")
    settle(books, order(close_all=True), guard=guard)
    (snapshot, at) = guard.shown[0]

    assert (at, snapshot.stage, snapshot.price, snapshot.equity, snapshot.held) == (opens(FRIDAY), "settle", 102, 1510, 5)
    assert (snapshot.books_fault, snapshot.base_rate, snapshot.rule_driven, snapshot.close_all) == ("a hole in the chain", D("0.55"), True, True)
    assert (snapshot.last_completed_session, snapshot.bar_session, snapshot.fill_session) == (THURSDAY, FRIDAY, FRIDAY)


def test_splits_and_dividends_are_booked_before_the_fill_in_the_order_in_which_they_happened() -> None:
    market = FakeMarket(
        BARS | {BETA.id: (bar(THURSDAY, "10"),)},
        {ACME.id: (dividend(FRIDAY, "1"),), BETA.id: (split(date(2020, 1, 8), "2"), dividend(FRIDAY, "1"), split(MONDAY, "2"))},
    )
    books = FakeBooks(account(position("1", BETA)), held=(BETA, ACME))
    settle(books, market=market)

    assert [entry[:3] for entry in books.log] == [
        ("action", "BETA", "split"),
        ("action", "ACME", "dividend"),
        ("action", "BETA", "dividend"),
        ("fill", 10, D("102.102")),
    ]


def test_bringing_up_to_an_instant_returns_what_was_booked() -> None:
    market = FakeMarket(BARS, {ACME.id: (dividend(FRIDAY, "1"),)})

    assert len(settler(market).bring_up_to(FakeBooks(held=(ACME,)), PORTFOLIO, opens(FRIDAY))) == 1
    assert settler(market).bring_up_to(FakeBooks(held=(ACME,)), PORTFOLIO, opens(THURSDAY)) == ()


def test_an_order_is_due_from_the_day_of_its_session() -> None:
    books = FakeBooks(orders=(order(), order(id="ord_2", fill_session=MONDAY)))
    due = {at: [one.id for one in settler().due(books, None, at)] for at in (closes(THURSDAY), opens(FRIDAY), closes(MONDAY))}

    assert list(due.values()) == [[], ["ord_1"], ["ord_1", "ord_2"]]


def test_an_order_waits_for_the_open_of_its_own_session() -> None:
    books = FakeBooks()

    assert settle(books, as_of=opens(FRIDAY)) is None
    assert books.log == []


def test_the_book_is_valued_at_marks_with_single_ones_overridden() -> None:
    market = FakeMarket(BARS | {BETA.id: (bar(THURSDAY, "10"),)})
    books = FakeBooks(account(position("5"), position("2", BETA), cash="100", book_time=closes(THURSDAY)), held=(ACME, BETA))
    state = settler(market).book_state(books, PORTFOLIO, opens(FRIDAY), {ACME.id: D(102)})

    assert (state.equity, state.control_state, state.limits_on_file) == (630, "ACTIVE", "limits")
