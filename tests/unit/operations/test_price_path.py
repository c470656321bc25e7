"""Closes on the share basis of the decision, and the outcome of its event: bars in, a figure's rows out."""

from datetime import date, timedelta
from decimal import Decimal

from alphaagent.debate.prompts import HORIZON
from alphaagent.domain.market import Bar, CorporateAction
from alphaagent.operations.price_path import PricePath, _horizon, _path
from tests.fakes import ACME, bar, dividend, split, weekday_calendar

CALENDAR = weekday_calendar()
DECIDED = date(2020, 3, 16)
END = date(2020, 4, 13)


def sessions(first: date, count: int) -> list[date]:
    found = [first]
    while len(found) < count:
        found.append(CALENDAR.next_session(found[-1]))
    return found


def path(bars: list[Bar], *actions: CorporateAction) -> PricePath:
    return _path(ACME, DECIDED, END, bars, actions)


def test_the_horizon_is_so_many_sessions_on() -> None:
    assert _horizon(CALENDAR, DECIDED) == END
    assert CALENDAR.sessions_between(DECIDED, END) == HORIZON


def test_beyond_the_calendar_the_horizon_is_about_a_day() -> None:
    assert _horizon(weekday_calendar(last=date(2020, 3, 20)), DECIDED) == DECIDED + timedelta(days=28)


def test_prices_before_a_split_are_brought_down_and_those_after_the_decision_brought_up() -> None:
    days = sessions(date(2020, 3, 12), 5)
    bars = [bar(days[0], "200"), bar(days[1], "50"), bar(days[2], "52"), bar(days[3], "13"), bar(days[4], "14")]
    found = path(bars, split(days[1], "4"), split(days[3], "4"))
    assert [close for _, close in found.closes] == [Decimal(50), Decimal(50), Decimal(52), Decimal(52), Decimal(56)]
    assert found.splits == ((days[1], Decimal(4)), (days[3], Decimal(4)))


def test_the_outcome_counts_splits_and_dividends_in() -> None:
    days = sessions(DECIDED, HORIZON + 1)
    bars = [bar(days[0], "100"), *(bar(day, "50") for day in days[1:-1]), bar(days[-1], "55")]
    assert path(bars, split(days[1], "2")).outcome == Decimal("0.1")
    assert path(bars, split(days[1], "2"), dividend(days[2], "5")).outcome == Decimal("0.222222")


def test_an_event_is_open_until_the_close_of_its_last_session_is_recorded() -> None:
    days = sessions(DECIDED, HORIZON)
    assert path([bar(day, "100") for day in days]).outcome is None
    assert path([bar(day, "100") for day in sessions(DECIDED, HORIZON + 1)][1:]).outcome is None


def test_without_a_bar_there_is_a_reason() -> None:
    found = path([])
    assert (found.closes, found.outcome, found.fault) == ((), None, "no prices of it are recorded")
