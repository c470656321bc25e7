"""The session table at its edges, and against the exchange's own calendar."""

from datetime import UTC, date, datetime, timedelta

import pytest

from alphaagent.clock import SessionTable, WallClock, exchange_sessions
from alphaagent.errors import ConfigFault, UsageFault
from tests.snapshot_folder import recorded_calendar

CSV = """session,open,close
2019-11-27,2019-11-27T14:30:00Z,2019-11-27T21:00:00Z
2019-11-29,2019-11-29T14:30:00Z,2019-11-29T18:00:00Z
2019-12-02,2019-12-02T09:30:00-05:00,2019-12-02T16:00:00-05:00
"""
TABLE = SessionTable.parse(CSV)
WEDNESDAY, THANKSGIVING, HALF_DAY, MONDAY = (date(2019, 11, 27), date(2019, 11, 28), date(2019, 11, 29), date(2019, 12, 2))
TICK = timedelta(microseconds=1)


def test_the_table_knows_its_sessions() -> None:
    assert (TABLE.first, TABLE.last, TABLE.sessions) == (WEDNESDAY, MONDAY, (WEDNESDAY, HALF_DAY, MONDAY))
    assert [TABLE.is_session(day) for day in (WEDNESDAY, THANKSGIVING, HALF_DAY)] == [True, False, True]


def test_instants_are_utc_and_a_half_day_closes_early() -> None:
    assert TABLE.closes(HALF_DAY) == datetime(2019, 11, 29, 18, tzinfo=UTC)
    assert (TABLE.opens(MONDAY), TABLE.opens(MONDAY).tzinfo) == (datetime(2019, 12, 2, 14, 30, tzinfo=UTC), UTC)


def test_a_session_is_completed_strictly_after_its_close() -> None:
    close = TABLE.closes(HALF_DAY)

    assert [TABLE.last_completed(at) for at in (close - TICK, close, close + TICK)] == [WEDNESDAY, WEDNESDAY, HALF_DAY]


def test_an_order_decided_at_the_open_fills_there_and_one_after_it_at_the_next() -> None:
    opening = TABLE.opens(HALF_DAY)

    assert [TABLE.first_opening_after(at) for at in (opening - TICK, opening, opening + TICK)] == [HALF_DAY, HALF_DAY, MONDAY]


def test_next_and_previous_are_strict() -> None:
    assert [TABLE.next_session(day) for day in (WEDNESDAY, THANKSGIVING)] == [HALF_DAY, HALF_DAY]
    assert [TABLE.previous_session(day) for day in (MONDAY, HALF_DAY, THANKSGIVING)] == [HALF_DAY, WEDNESDAY, WEDNESDAY]


def test_sessions_between_counts_the_later_end_and_not_the_earlier() -> None:
    assert TABLE.sessions_between(WEDNESDAY, MONDAY) == 2
    assert TABLE.sessions_between(WEDNESDAY, WEDNESDAY) == 0
    assert TABLE.sessions_between(THANKSGIVING, HALF_DAY) == 1


def test_beyond_either_end_the_calendar_says_what_it_covers() -> None:
    for ask in (
        lambda: TABLE.last_completed(TABLE.closes(WEDNESDAY)),
        lambda: TABLE.first_opening_after(TABLE.opens(MONDAY) + TICK),
        lambda: TABLE.next_session(MONDAY),
        lambda: TABLE.previous_session(WEDNESDAY),
    ):
        with pytest.raises(UsageFault) as caught:
            ask()
        assert caught.value.fix == "the calendar covers 2019-11-27 to 2019-12-02"


@pytest.mark.parametrize(
    ("day", "around"),
    [
        (THANKSGIVING, "use a session: 2019-11-27 or 2019-11-29"),
        (date(2019, 11, 1), "use a session: 2019-11-27"),
        (date(2020, 1, 1), "use a session: 2019-12-02"),
    ],
)
def test_a_date_that_is_no_session_is_refused_with_its_neighbours(day: date, around: str) -> None:
    for ask in (TABLE.opens, TABLE.closes):
        with pytest.raises(UsageFault, match=f"{day} is no session of the exchange") as caught:
            ask(day)
        assert caught.value.fix == around


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the session table is empty"),
        ("session,open,close\n", "the session table is empty"),
        ("day,open,close\n2019-11-27,x,y\n", "cannot be read"),
        (CSV.replace("2019-11-27T14", "yesterday"), "cannot be read"),
        (CSV.replace("2019-11-29T18:00:00Z", "2019-11-29T18:00:00"), "has no offset"),
        ("session,open,close\n2019-11-27\n", "cannot be read"),
        (CSV + "2019-11-29,2019-11-29T14:30:00Z,2019-11-29T18:00:00Z\n", "not in ascending order"),
        (CSV + "2019-12-02,2019-12-02T14:30:00Z,2019-12-02T18:00:00Z\n", "not in ascending order"),
    ],
)
def test_a_table_that_cannot_be_trusted_is_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigFault, match=message):
        SessionTable.parse(text)


@pytest.mark.parametrize("year", [2015, 2020])
def test_the_recorded_sessions_are_those_of_the_exchange(year: int) -> None:
    first, last = date(year, 1, 1), date(year, 12, 31)
    exchange, recorded = exchange_sessions("XNYS", first, last), recorded_calendar()

    mine = [day for day in recorded.sessions if first <= day <= last]
    assert mine == list(exchange.sessions)
    assert [(recorded.opens(day), recorded.closes(day)) for day in mine] == [(exchange.opens(day), exchange.closes(day)) for day in mine]


def test_the_wall_clock_is_aware_utc() -> None:
    assert WallClock().now().tzinfo is UTC


def test_the_same_text_is_the_same_table_so_that_what_was_parsed_under_it_need_not_be_parsed_again() -> None:
    again, other = SessionTable.parse(CSV), SessionTable.parse(CSV.replace("\n", "\r\n"))
    assert again is TABLE
    assert (other is TABLE, other.sessions) == (False, TABLE.sessions)
    assert TABLE.extended(other) is TABLE.extended(other)
