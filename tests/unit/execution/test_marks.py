"""Marks: the last close on the share basis of the instant, and books looked at past a split."""

from datetime import date, timedelta
from decimal import Decimal as D

import pytest

from alphaagent.errors import NoEvidence
from alphaagent.execution.marks import equity, mark, rolled_forward, split_ratio
from tests.fakes import ACME, BETA, FakeMarket, account, bar, closes, dividend, opens, position, split

THURSDAY, FRIDAY, MONDAY = date(2020, 1, 9), date(2020, 1, 10), date(2020, 1, 13)
MARKET = FakeMarket(
    bars={ACME.id: (bar(THURSDAY, "400"), bar(FRIDAY, "100"))},
    acts={ACME.id: (split(FRIDAY, "4"), dividend(MONDAY, "0.5"))},
)
SECOND = timedelta(seconds=1)


def test_a_mark_is_the_last_close() -> None:
    assert mark(MARKET, ACME, closes(THURSDAY) + SECOND) == 400
    assert mark(MARKET, ACME, closes(FRIDAY) + SECOND) == 100


def test_a_split_divides_the_close_before_it_from_its_open_on() -> None:
    before, at, after = (mark(MARKET, ACME, opens(FRIDAY) + shift) for shift in (-SECOND, timedelta(0), SECOND))

    assert (before, at, after) == (400, 100, 100)


def test_there_is_no_mark_before_the_first_close() -> None:
    assert mark(MARKET, ACME, closes(THURSDAY)) is None
    assert mark(MARKET, BETA, closes(FRIDAY)) is None


def test_split_ratios_multiply_and_dividends_do_not_count() -> None:
    market = FakeMarket(acts={ACME.id: (split(THURSDAY, "2"), dividend(THURSDAY, "9"), split(FRIDAY, "0.1"))})

    assert split_ratio(market, ACME, after=opens(THURSDAY) - SECOND, upto=opens(FRIDAY)) == D("0.2")
    assert split_ratio(market, ACME, after=opens(THURSDAY), upto=opens(FRIDAY)) == D("0.1")
    assert split_ratio(market, ACME, after=opens(FRIDAY), upto=closes(MONDAY)) == 1


def test_a_split_of_the_same_day_still_lies_ahead_before_the_open() -> None:
    assert split_ratio(MARKET, ACME, after=opens(FRIDAY) - timedelta(hours=3), upto=opens(FRIDAY)) == 4


def test_equity_is_cash_plus_every_holding_at_its_mark() -> None:
    book = account(position("10"), position("3", BETA), cash="500")

    assert equity(book, (ACME, BETA), {ACME.id: D(100), BETA.id: D("20.5")}) == D("1561.5")


@pytest.mark.parametrize("marks", [{}, {ACME.id: None}])
def test_a_holding_without_a_mark_leaves_no_nav(marks: dict[str, D | None]) -> None:
    with pytest.raises(NoEvidence, match="the holding ACME has no price, so the portfolio has no NAV"):
        equity(account(position("10")), (), marks)


def test_rolling_forward_applies_what_took_effect_since_the_book_time() -> None:
    book = account(position("10"), cash="1000", book_time=closes(THURSDAY))
    rolled = rolled_forward(MARKET, book, (ACME,), closes(MONDAY))

    assert rolled.positions[0].quantity == 40
    assert (rolled.cash, rolled.settled_cash) == (1020, 1020)
    assert rolled.positions[0].cost == book.positions[0].cost


def test_what_is_booked_already_or_lies_ahead_is_not_applied() -> None:
    booked = account(position("40"), cash="1000", book_time=opens(FRIDAY))

    assert rolled_forward(MARKET, booked, (ACME,), closes(FRIDAY)) == booked


def test_a_split_at_the_very_instant_of_looking_counts() -> None:
    book = account(position("10"), book_time=closes(THURSDAY))

    assert rolled_forward(MARKET, book, (ACME,), opens(FRIDAY)).positions[0].quantity == 40
    assert rolled_forward(MARKET, book, (ACME,), opens(FRIDAY) - SECOND) == book


def test_what_was_held_once_and_is_not_any_more_earns_nothing() -> None:
    assert rolled_forward(MARKET, account(cash="1000"), (ACME,), closes(MONDAY)).cash == 1000


def test_looking_past_a_split_leaves_the_nav_as_it_was() -> None:
    book = account(position("10"), cash="0", book_time=closes(THURSDAY))
    before, after = closes(THURSDAY) + SECOND, opens(FRIDAY) + SECOND

    values = [equity(rolled_forward(MARKET, book, (ACME,), at), (ACME,), {ACME.id: mark(MARKET, ACME, at)}) for at in (before, after)]
    assert values == [4000, 4000]
