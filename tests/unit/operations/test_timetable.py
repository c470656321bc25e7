"""The events that follow from a calendar: half days, holidays, daylight saving on both sides of the ocean, and what the file may say."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from alphaagent.clock import SessionTable, exchange_sessions
from alphaagent.errors import ConfigFault
from alphaagent.operations.timetable import KINDS, Event, Timetable, last_events, next_events, parse_timetable

TIMES = Timetable(exchanges={"XNYS": "all", "XLON": ("london",)})


@pytest.fixture(scope="module")
def new_york() -> SessionTable:
    return exchange_sessions("XNYS", date(2024, 11, 1), date(2027, 2, 1))


@pytest.fixture(scope="module")
def london() -> SessionTable:
    return exchange_sessions("XLON", date(2025, 1, 1), date(2027, 2, 1))


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def lines(events: tuple[Event, ...]) -> list[str]:
    return [f"{event.kind} {event.session} {event.at:%Y-%m-%dT%H:%M}" for event in events]


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        # An ordinary winter's week, from the night on.
        ("2026-01-06T02:00", ["digest 2026-01-06 2026-01-06T13:30", "settle 2026-01-06 2026-01-06T15:00", "sweep 2026-01-06 2026-01-06T21:30"]),
        # Exactly at an event it is over.
        ("2026-01-06T15:00", ["sweep 2026-01-06 2026-01-06T21:30", "digest 2026-01-07 2026-01-07T13:30", "settle 2026-01-07 2026-01-07T15:00"]),
        # The half day after Thanksgiving closes at 18:00 UTC; the holiday before it has nothing.
        ("2025-11-26T22:00", ["digest 2025-11-28 2025-11-28T13:30", "settle 2025-11-28 2025-11-28T15:00", "sweep 2025-11-28 2025-11-28T18:30"]),
        # A closure that no rule knows: 2025-01-09.
        ("2025-01-08T22:00", ["digest 2025-01-10 2025-01-10T13:30", "settle 2025-01-10 2025-01-10T15:00", "sweep 2025-01-10 2025-01-10T21:30"]),
        # The clocks of New York go forward on 2026-03-08 and back on 2026-11-01.
        ("2026-03-06T22:00", ["digest 2026-03-09 2026-03-09T12:30", "settle 2026-03-09 2026-03-09T14:00", "sweep 2026-03-09 2026-03-09T20:30"]),
        ("2026-10-30T21:00", ["digest 2026-11-02 2026-11-02T13:30", "settle 2026-11-02 2026-11-02T15:00", "sweep 2026-11-02 2026-11-02T21:30"]),
    ],
)
def test_times_come_from_the_calendar(new_york: SessionTable, after: str, expected: list[str]) -> None:
    assert lines(next_events("XNYS", new_york, at(after), TIMES)) == expected


def test_another_exchange_keeps_its_own_hours_and_its_own_summer(london: SessionTable) -> None:
    # Between the two changes of the clocks London opens four hours before New York instead of five, and has no digest of its own.
    assert lines(next_events("XLON", london, at("2026-03-27T20:00"), TIMES)) == ["settle 2026-03-30 2026-03-30T07:30", "sweep 2026-03-30 2026-03-30T16:00"]
    assert lines(next_events("XLON", london, at("2026-03-24T20:00"), TIMES)) == ["settle 2026-03-25 2026-03-25T08:30", "sweep 2026-03-25 2026-03-25T17:00"]


def test_an_exchange_that_is_only_held_on_is_settled_and_not_swept(london: SessionTable) -> None:
    assert [event.kind for event in next_events("XLON", london, at("2026-03-27T20:00"), Timetable())] == ["settle"]


@pytest.mark.parametrize("off", KINDS)
def test_what_is_switched_off_does_not_happen(new_york: SessionTable, off: str) -> None:
    times = Timetable.model_validate({off: None})
    assert {event.kind for event in next_events("XNYS", new_york, at("2026-01-06T02:00"), times)} == set(KINDS) - {off}


def test_the_last_events_are_those_that_the_next_ones_follow(new_york: SessionTable) -> None:
    moment = at("2026-01-01T00:00")
    for _ in range(400):
        before, after = last_events("XNYS", new_york, moment, TIMES), next_events("XNYS", new_york, moment, TIMES)
        assert all(event.at <= moment for event in before)
        assert all(event.at > moment for event in after)
        followed = {event.kind: new_york.next_session(event.session) for event in before}
        assert {event.kind: event.session for event in after} == followed
        moment += timedelta(hours=7, minutes=13)


def test_each_event_is_the_last_one_at_its_own_instant(new_york: SessionTable) -> None:
    for event in next_events("XNYS", new_york, at("2026-07-01T00:00"), TIMES):
        assert event in last_events("XNYS", new_york, event.at, TIMES)
        assert event not in last_events("XNYS", new_york, event.at - timedelta(microseconds=1), TIMES)


def test_an_event_is_of_use_until_its_orders_would_come_too_late(new_york: SessionTable) -> None:
    digest, settle, sweep = next_events("XNYS", new_york, at("2026-01-09T02:00"), TIMES)
    assert (digest.until, settle.until, sweep.until) == (at("2026-01-09T14:30"), at("2026-01-12T15:00"), at("2026-01-12T14:30"))


def test_without_new_york_the_digest_goes_by_the_first_exchange(london: SessionTable) -> None:
    times = Timetable(exchanges={"XLON": "all"})
    assert [event.kind for event in next_events("XLON", london, at("2026-03-27T20:00"), times)] == ["digest", "settle", "sweep"]


def test_on_a_half_day_a_late_settlement_comes_before_the_sweep_of_the_same_instant(new_york: SessionTable) -> None:
    times = Timetable.model_validate({"settle": {"minutes_after_open": 240}, "sweep": {"minutes_after_close": 30}})
    events = next_events("XNYS", new_york, at("2025-11-28T14:00"), times)
    assert [(event.kind, event.at) for event in events[:2]] == [("settle", at("2025-11-28T18:30")), ("sweep", at("2025-11-28T18:30"))]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"sweeps": {}}, "unknown key sweeps"),
        ({"sweep": {"minutes_after_open": 3}}, "unknown key sweep.minutes_after_open"),
        ({"settle": {"minutes_after_open": 0}}, "settle.minutes_after_open is 0"),
        ({"settle": {"minutes_after_open": 241}}, "settle.minutes_after_open is 241"),
        ({"digest": {"minutes_before_open": "an hour"}}, "digest.minutes_before_open is 'an hour'"),
        ({"exchanges": {}}, "exchanges is {}"),
        ({"exchanges": {"NYSE!": "all"}}, "no market identifier code"),
        ({"exchanges": {"XNYS": []}}, "all, or a list of portfolios"),
        ({"exchanges": {"XNYS": ["my list"]}}, "all, or a list of portfolios"),
        ({"exchanges": {"XNYS": "some"}}, "exchanges.XNYS"),
        ({"tries": 0}, "tries is 0"),
        ({"retry_minutes": 121}, "retry_minutes is 121"),
        ({"health_port": 65536}, "health_port is 65536"),
        ({"grace_seconds": 0}, "grace_seconds is 0"),
    ],
)
def test_what_is_wrong_is_named(document: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigFault) as fault:
        parse_timetable(document, "schedule.yaml")
    assert message in fault.value.message
    assert fault.value.fix
