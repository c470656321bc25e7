"""What a portfolio was worth at every close, against `portfolio show` and against paper."""

from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from alphaagent.domain.lots import OpeningLot
from alphaagent.domain.market import Bar, Instrument
from alphaagent.domain.performance import drawdowns
from alphaagent.operations import equity
from alphaagent.operations.equity import Course, course
from alphaagent.operations.portfolios import JUST_AFTER, state
from tests.book_home import DAYS, Books, closes, opens, write_prices

PRICES = {"ACME": [10, 11, 12, 13, 14, 15, 16, 17, 18], "ZINC": [100, 90, 80, 90, 100, 110, 120, 130, 140]}
SECOND = timedelta(seconds=1)
D = Decimal


def traced(books: Books) -> Course:
    return course(books.workplace, "default")


def navs(done: Course) -> list[Decimal | None]:
    return [point.nav for point in done.points]


def growths(done: Course) -> list[Decimal]:
    return [point.growth for point in done.points]


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    return write_prices(tmp_path, PRICES)


@pytest.fixture
def busy(tmp_path: Path) -> Books:
    """Purchases, a sale, a split, a dividend, money in and money out, each on a day of its own."""
    actions = {"ACME": f"split,{DAYS[4]},2\n", "ZINC": f"dividend,{DAYS[3]},2.5\n"}
    write_prices(tmp_path, PRICES | {"ACME": [10, 11, 12, 13, 7, 7.5, 8, 8.5, 9]}, actions)
    books = Books(tmp_path)
    books.trade("BUY", "ACME", 20, "10.5", opens(1), fee="0.5")
    books.trade("BUY", "ZINC", 3, 85, opens(2))
    books.act("ZINC", 3)
    books.act("ACME", 4)
    books.pay(500, closes(5) + SECOND)
    books.trade("SELL", "ACME", 15, 8, opens(6), fee="0.2")
    books.pay(-300, opens(7) + SECOND)
    books.trade("BUY", "ZINC", 1, 140, opens(8))
    return books


def test_cash_alone_is_worth_itself_from_the_opening_on(prices: Path) -> None:
    books = Books(prices)
    books.trade("BUY", "ACME", 1, 18, opens(8))
    done = traced(books)
    assert navs(done)[:-1] == [1000] * (len(done.points) - 1)
    assert (done.points[0].session, done.points[-1].at) == (DAYS[0], done.at)


def test_a_holding_is_worth_its_close_at_every_close(prices: Path) -> None:
    books = Books(prices)
    books.trade("BUY", "ACME", 10, "10.50", opens(1))
    books.trade("SELL", "ACME", 10, 18, opens(8))
    by_day = {point.session: point.nav for point in traced(books).points}
    assert [by_day[day] for day in DAYS[:4]] == [1000, 1005, 1015, 1025]


def test_every_point_is_what_portfolio_show_says_of_that_instant(busy: Books) -> None:
    done = traced(busy)
    for point in done.points:
        assert point.nav == state(busy.workplace.desk, busy.store, "default", point.at).equity
    assert navs(done)[-1] == state(busy.workplace.desk, busy.store, "default", None).equity


def test_where_it_ends_is_the_account_that_portfolio_show_has(busy: Books) -> None:
    shown = state(busy.workplace.desk, busy.store, "default", None).account
    assert traced(busy).account == shown


def test_the_profit_is_what_was_realised_and_is_not_and_came_as_dividends(busy: Books) -> None:
    done = traced(busy)
    last, held = done.points[-1], done.account.positions
    unrealised = sum((one.quantity * (done.mark(one.instrument_id) or 0) - one.cost for one in held), Decimal(0))
    assert last.nav is not None
    assert last.nav - last.paid_in == done.sums.realised + unrealised + done.sums.dividends
    assert last.paid_in == 1200


def test_the_sums_are_those_of_paper(busy: Books) -> None:
    sums = traced(busy).sums
    # 40 shares after the split cost 210.50; 15 of them went for 120.00 less 0.20.
    assert sums.realised == Decimal("119.80") - Decimal("210.50") * 15 / 40 + Decimal(0)
    assert (sums.dividends, sums.fees, sums.brought_in) == (Decimal("7.5"), Decimal("0.7"), 0)


def test_a_split_changes_nothing_of_the_value(tmp_path: Path) -> None:
    write_prices(tmp_path, {"ACME": [10, 10, 5, 5, 5, 5, 5, 5, 5]}, {"ACME": f"split,{DAYS[2]},2\n"})
    books = Books(tmp_path)
    books.trade("BUY", "ACME", 7, 10, opens(1))
    books.act("ACME", 2)
    books.trade("BUY", "ACME", 1, 5, opens(8))
    assert set(navs(traced(books))) == {Decimal(1000)}


def test_a_split_that_nobody_has_booked_yet_changes_nothing_either(tmp_path: Path) -> None:
    write_prices(tmp_path, {"ACME": [10, 10, 5, 5, 5, 5, 5, 5, 5]}, {"ACME": f"split,{DAYS[2]},2\n"})
    books = Books(tmp_path)
    books.trade("BUY", "ACME", 7, 10, opens(1))
    done = course(books.workplace, "default", until=closes(4) + SECOND)
    assert set(navs(done)) == {Decimal(1000)}
    assert [position.quantity for position in done.account.positions] == [14]


def test_a_deposit_and_a_withdrawal_make_no_return(prices: Path) -> None:
    books = Books(prices)
    books.pay(5000, opens(2) + SECOND)
    books.pay(-200, closes(4) + SECOND)
    done = traced(books)
    assert navs(done)[-1] == 5800
    assert set(growths(done)) == {Decimal(1)}
    assert {point.paid_in for point in done.points} == {1000, 6000, 5800}


def test_a_return_is_the_same_with_and_without_a_deposit_after_the_last_trade(prices: Path) -> None:
    books = Books(prices)
    books.trade("BUY", "ACME", 100, 10, opens(1))
    books.pay(90_000, closes(3) + SECOND)
    done = traced(books)
    assert growths(done)[-1] == Decimal("1.3")
    assert navs(done)[-1] == 1300 + 90_000


def test_a_dividend_is_income(tmp_path: Path) -> None:
    write_prices(tmp_path, {"ZINC": [100] * 9}, {"ZINC": f"dividend,{DAYS[3]},2\n"})
    books = Books(tmp_path)
    books.trade("BUY", "ZINC", 10, 100, opens(1))
    books.act("ZINC", 3)
    done = traced(books)
    assert (growths(done)[-1], done.points[-1].paid_in, done.sums.dividends) == (Decimal("1.02"), 1000, 20)


def test_shares_that_are_brought_in_count_at_their_worth_and_earn_nothing_by_coming(prices: Path) -> None:
    books = Books(prices, cash=0)
    lot = OpeningLot(instrument=books.instrument("ACME"), quantity=Decimal(10), cost=Decimal(40), acquired=date(2018, 1, 2))
    with books.store.write() as ledger:
        ledger.record_import(books.portfolio, [lot], Decimal(50), "0" * 64, closes(2) + SECOND)
    books.trade("SELL", "ACME", 5, 13, opens(4))
    done = traced(books)
    assert done.points[-1].paid_in == 10 * 12 + 50
    assert done.sums.brought_in == 80
    assert growths(done)[-1] == Decimal(5 * 13 + 5 * 13 + 50) / Decimal(170)


def test_only_a_part_of_a_course_can_be_asked_for(busy: Books) -> None:
    whole, part = traced(busy), course(busy.workplace, "default", since=closes(4))
    assert navs(part) == navs(whole)[-len(part.points) :]
    assert part.points[0].growth == 1
    assert growths(part)[-1] == pytest.approx(growths(whole)[-1] / growths(whole)[-len(part.points)])


def test_a_part_that_begins_long_after_a_split_that_nobody_has_booked_counts_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(equity, "SPARE_SESSIONS", 1)
    write_prices(tmp_path, {"ACME": [10, 11, 12, 3, 3, 3.25, 3.5, 3.75, 4]}, {"ACME": f"split,{DAYS[3]},4\n"})
    books = Books(tmp_path)
    books.trade("BUY", "ACME", 20, "10.5", opens(1))
    at = closes(7) + SECOND
    done = course(books.workplace, "default", since=closes(6), until=at)
    assert done.points[-1].nav == state(books.workplace.desk, books.workplace.required_store(), "default", at).equity == 1000 - 210 + 80 * D("3.75")


def test_a_holding_without_a_price_leaves_a_gap_and_says_why(tmp_path: Path) -> None:
    write_prices(tmp_path, {"ACME": [None, None, 12, 13, 14, 15, 16, 17, 18]})
    books = Books(tmp_path)
    books.trade("BUY", "ACME", 10, 10, opens(1))
    books.trade("SELL", "ACME", 10, 10, opens(8))
    by_day = {point.session: point.nav for point in traced(books).points}
    assert (by_day[DAYS[1]], by_day[DAYS[2]]) == (None, 1020)


def test_a_broken_row_takes_the_prices_of_its_name_and_no_others(tmp_path: Path) -> None:
    write_prices(tmp_path, PRICES | {"ACME": [10, 11, -1, 13]})
    books = Books(tmp_path)
    books.trade("BUY", "ACME", 1, 10, opens(1))
    books.trade("BUY", "ZINC", 1, 90, opens(3))
    done = traced(books)
    assert set(done.faults) == {"ACME"}
    assert "ACME.csv line 4" in done.faults["ACME"]
    assert navs(done)[-1] is None
    assert done.mark("XNAS:ZINC") == 80


def test_money_that_is_gone_leaves_a_growth_of_nothing_and_no_error(prices: Path) -> None:
    books = Books(prices)
    books.pay(-1000, opens(2))
    books.pay(100, opens(4))
    done = traced(books)
    assert (navs(done)[-1], growths(done)[-1]) == (100, 1)
    assert min(drawdowns(growths(done))) == 0


def test_a_portfolio_of_this_very_close_has_one_point(prices: Path) -> None:
    done = traced(Books(prices, at=closes(3)))
    assert [(point.at, point.nav) for point in done.points] == [(closes(3) + JUST_AFTER, 1000)]


def test_each_name_is_read_once_however_long_the_course(busy: Books) -> None:
    place = busy.workplace
    market, asked = place.desk.market, []

    class Counting:
        def bars_before(self, instrument: Instrument, *more: object) -> Sequence[Bar]:
            asked.append(instrument.symbol)
            return market.bars_before(instrument, *more)  # type: ignore[arg-type]

        def quote(self, *more: object) -> object:
            return market.quote(*more)  # type: ignore[arg-type]

        def actions(self, *more: object) -> object:
            return market.actions(*more)  # type: ignore[arg-type]

    object.__setattr__(place.desk, "market", Counting())
    course(place, "default")
    assert sorted(asked) == ["ACME", "ZINC"]
