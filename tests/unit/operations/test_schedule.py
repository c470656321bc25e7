"""The schedule under a clock that a test turns: a year in seconds, nights without power, failures, halts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from itertools import pairwise

import pytest

from alphaagent.clock import SessionTable, exchange_sessions
from alphaagent.domain.notice import Notice
from alphaagent.errors import AlphaAgentError, Halted, ProviderFault
from alphaagent.operations.schedule import PULSE_SECONDS, Entry, Hands, Outcome, Schedule, entry_text, read_entry
from alphaagent.operations.timetable import Event, Kind, Timetable
from tests.builders import SteppingClock

BOTH = Timetable(exchanges={"XNYS": "all", "XLON": "all"})
ONE = Timetable()


@lru_cache
def table(exchange: str) -> SessionTable:
    return exchange_sessions(exchange, date(2025, 10, 1), date(2027, 6, 1))


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@dataclass
class Night:
    """A home with its clock, its memory and its hands; `minutes` is how long each event takes."""

    clock: SteppingClock
    times: Timetable = ONE
    book: dict[str, str] = field(default_factory=dict)
    done: list[tuple[Kind, str, date, datetime]] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    deliveries: int = 0
    reason: str | None = None
    minutes: float = 1.0
    outcome: Callable[[Event], Outcome] = lambda event: Outcome("well")
    also: tuple[str, ...] = ()
    working: bool = False
    refuses: Callable[[str], bool] = lambda value: False

    def remembered(self, key: str) -> str | None:
        return self.book.get(key)

    def remember(self, key: str, value: str) -> None:
        if self.refuses(value):
            raise AlphaAgentError("the ledger is busy")
        self.book[key] = value

    def work(self, event: Event) -> Outcome:
        assert not self.working, "one thing after the other"
        self.working = True
        try:
            self.done.append((event.kind, event.exchange, event.session, self.clock.now()))
            self.clock.advance(self.minutes * 60)
            return self.outcome(event)
        finally:
            self.working = False

    def deliver(self) -> None:
        self.deliveries += 1

    def schedule(self) -> Schedule:
        hands = Hands(
            work=dict.fromkeys(("settle", "sweep", "digest"), self.work),
            halted=lambda: self.reason,
            exchanges=lambda: self.also,
            deliver=self.deliver,
            announce=self.notices.append,
            say=self.told.append,
        )
        return Schedule(self.times, lambda exchange, _: table(exchange), self.clock, self, hands)

    def run(self, until: str, pulse: bool = False) -> None:
        """A process that runs until an instant; without the pulse it wakes up for events only."""
        self.schedule().run(Sleeper(self, at(until), pulse))

    def sessions(self, kind: Kind, exchange: str = "XNYS") -> list[date]:
        return [session for done, where, session, _ in self.done if (done, where) == (kind, exchange)]


@dataclass
class Sleeper:
    """An alarm that turns the clock instead of waiting."""

    night: Night
    until: datetime
    pulse: bool

    @property
    def stopping(self) -> bool:
        return self.night.clock.now() >= self.until

    def wait(self, upcoming: Sequence[Event], seconds: float) -> None:
        assert seconds == PULSE_SECONDS
        now = self.night.clock.now()
        assert [event for event in upcoming if event.at <= now] == [], "this would not wait at all"
        first = [event.at for event in upcoming] if upcoming and not self.pulse else []
        self.night.clock.at = min(self.until, *(first or [now + timedelta(seconds=seconds), *(event.at for event in upcoming)]))


def night(start: str, times: Timetable = ONE) -> Night:
    return Night(SteppingClock(at(start)), times)


def expected(exchange: str, first: str, last: str) -> list[date]:
    return [session for session in table(exchange).sessions if first <= session.isoformat() <= last]


def test_a_year_of_two_exchanges_has_every_session_once_at_its_own_time() -> None:
    home = night("2026-01-01T00:00", BOTH)
    home.run("2027-01-01T00:00")
    for exchange in ("XNYS", "XLON"):
        sessions = expected(exchange, "2026-01-01", "2026-12-31")
        assert home.sessions("settle", exchange)[-len(sessions) :] == sessions
        assert home.sessions("sweep", exchange)[-len(sessions) :] == sessions
        assert len(sessions) > 250
    assert home.sessions("digest") == expected("XNYS", "2026-01-01", "2026-12-31")
    assert home.sessions("digest", "XLON") == []
    late = []
    for kind, exchange, session, began in home.done[4:]:
        calendar = table(exchange)
        due = {"settle": calendar.opens(session), "sweep": calendar.closes(session), "digest": calendar.opens(session)}[kind]
        late.append(began - due - timedelta(minutes={"settle": 30, "sweep": 30, "digest": -60}[kind]))
    assert all(timedelta(0) <= one <= timedelta(minutes=2) for one in late), "what is late at all waited for the one before it"
    assert [(kind, session.year) for kind, _, session, _ in home.done[:4]] == [("settle", 2025), ("sweep", 2025)] * 2
    assert home.notices == []


def test_what_is_due_at_once_is_done_one_after_the_other_and_nothing_twice() -> None:
    home = night("2026-01-05T00:00", BOTH)
    home.minutes = 500.0
    home.run("2026-01-31T00:00")
    assert all(later[3] - earlier[3] >= timedelta(minutes=500) for earlier, later in pairwise(home.done))
    assert len({(kind, exchange, session) for kind, exchange, session, _ in home.done}) == len(home.done)


def test_three_days_without_power_are_made_up_once() -> None:
    home = night("2026-01-12T12:00")
    home.run("2026-01-12T23:00")
    home.done.clear()
    home.clock.at = at("2026-01-15T23:00")
    home.told.clear()
    home.run("2026-01-16T12:00")
    assert [(kind, session.isoformat()) for kind, _, session, _ in home.done] == [("settle", "2026-01-15"), ("sweep", "2026-01-15")]
    assert [line for line in home.told if "begins" in line] == [
        "settle of XNYS 2026-01-15 begins, and stands for 2 more that were missed",
        "sweep of XNYS 2026-01-15 begins, and stands for 2 more that were missed",
    ]


def test_a_machine_that_slept_makes_up_in_the_same_process() -> None:
    home = night("2026-01-12T12:00")
    schedule = home.schedule()

    class Lid(Sleeper):
        closed = False

        def wait(self, upcoming: Sequence[Event], seconds: float) -> None:
            if home.clock.now() > at("2026-01-12T22:00") and not self.closed:
                self.closed = True
                home.clock.at = at("2026-01-15T23:00")
            else:
                super().wait(upcoming, seconds)

    schedule.run(Lid(home, at("2026-01-16T12:00"), pulse=False))
    assert [session.day for session in home.sessions("sweep")] == [9, 12, 15]
    assert [session.day for session in home.sessions("settle")] == [9, 12, 15]


def test_a_sweep_that_missed_the_open_is_told_once_and_not_made_up() -> None:
    home = night("2026-01-12T12:00")
    home.run("2026-01-12T20:00")
    home.done.clear()
    home.clock.at = at("2026-01-15T16:00")
    home.run("2026-01-15T20:00", pulse=True)
    assert [(kind, session.day) for kind, _, session, _ in home.done] == [("settle", 15)]
    assert [(notice.topic, notice.key, notice.facts["title"]) for notice in home.notices] == [
        ("failure", "failure:sweep XNYS:2026-01-14", "the sweep of XNYS 2026-01-14 is given up")
    ]
    assert [line for line in home.told if "given up" in line] == ["sweep of XNYS 2026-01-14 is given up: the program was not running in time"]
    home.run("2026-01-15T23:00")
    assert home.sessions("sweep") == [date(2026, 1, 15)]


@pytest.mark.parametrize(
    ("start", "kinds"), [("2026-01-12T22:00", ["settle", "sweep"]), ("2026-01-12T16:00", ["settle"]), ("2026-01-12T14:00", ["settle", "digest", "sweep"])]
)
def test_on_its_first_day_it_does_what_still_makes_sense_and_mourns_nothing(start: str, kinds: list[str]) -> None:
    home = night(start)
    assert home.schedule().run_once() == 0
    assert sorted(kind for kind, *_ in home.done) == sorted(kinds)
    assert (home.notices, [line for line in home.told if "given up" in line]) == ([], [])


def test_once_does_what_is_due_and_the_second_time_nothing() -> None:
    home = night("2026-01-12T22:00")
    assert [home.schedule().run_once(), home.schedule().run_once()] == [0, 0]
    assert (len(home.done), home.told[-1]) == (2, "nothing is due")
    home.clock.advance(24 * 3600)
    home.outcome = lambda event: Outcome("one of two failed", exit_code=3)
    assert home.schedule().run_once() == 3
    assert home.schedule().run_once() == 0


def test_a_restart_does_nothing_again() -> None:
    home = night("2026-01-12T12:00")
    for hour in range(13, 24):
        home.run(f"2026-01-12T{hour}:00")
    assert [(kind, session.day) for kind, _, session, _ in home.done] == [("settle", 9), ("sweep", 9), ("digest", 12), ("settle", 12), ("sweep", 12)]


def failing(times: int) -> Callable[[Event], Outcome]:
    left = iter(range(times))

    def outcome(event: Event) -> Outcome:
        if event.kind == "sweep" and event.session == date(2026, 1, 12) and next(left, None) is not None:
            raise ProviderFault("the provider is away", fix="wait")
        return Outcome("well")

    return outcome


@pytest.mark.parametrize(("failures", "tries", "told"), [(1, 2, 0), (2, 3, 0), (3, 3, 1), (9, 3, 1)])
def test_what_fails_is_tried_again_after_a_while_and_then_told_once(failures: int, tries: int, told: int) -> None:
    home = night("2026-01-12T20:00")
    home.outcome = failing(failures)
    home.run("2026-01-13T03:00", pulse=True)
    began = [when for kind, _, session, when in home.done if (kind, session.day) == ("sweep", 12)]
    assert len(began) == tries
    assert all(timedelta(minutes=11) <= later - earlier <= timedelta(minutes=12) for earlier, later in pairwise(began))
    assert [notice.facts["said"] for notice in home.notices] == ["it was tried 3 times; the last time: the provider is away"] * told
    home.outcome = lambda event: Outcome("well")
    home.run("2026-01-13T22:00", pulse=True)
    assert home.sessions("sweep")[-1] == date(2026, 1, 13)


def test_an_outcome_that_came_to_nothing_is_a_failure_too() -> None:
    home = night("2026-01-12T22:00")
    home.outcome = lambda event: Outcome("nothing was decided", exit_code=4, failed=True)
    assert home.schedule().run_once() == 4
    assert [read_entry(text).state for text in home.book.values()].count("failed") == 2


def test_a_bug_that_kills_the_program_is_not_begun_for_ever() -> None:
    home = night("2026-01-12T22:00")

    def outcome(event: Event) -> Outcome:
        if event.kind == "sweep":
            raise RuntimeError("a bug")
        return Outcome("well")

    home.outcome = outcome
    for _ in range(3):
        with pytest.raises(RuntimeError):
            home.run("2026-01-12T23:00")
    home.run("2026-01-12T23:00")
    assert len(home.sessions("sweep")) == 3
    assert [notice.facts["said"] for notice in home.notices] == ["it was tried 3 times; the last time: the program ended"]


def test_an_interrupted_sweep_is_begun_again_and_costs_no_try() -> None:
    home = night("2026-01-12T22:00")

    def outcome(event: Event) -> Outcome:
        if event.kind == "sweep":
            raise KeyboardInterrupt
        return Outcome("well")

    home.outcome = outcome
    for _ in range(5):
        with pytest.raises(KeyboardInterrupt):
            home.run("2026-01-12T23:00")
    home.outcome = lambda event: Outcome("well")
    home.run("2026-01-12T23:00")
    assert (len(home.sessions("sweep")), read_entry(home.book["sweep XNYS"]).state) == (6, "done")


def test_a_halted_system_does_nothing_and_says_so_once() -> None:
    home = night("2026-01-12T12:00")
    home.reason = "by the operator"
    home.run("2026-01-14T12:00", pulse=True)
    assert {kind for kind, *_ in home.done} == {"digest"}
    assert [line for line in home.told if "halted" in line] == ["halted: nothing is settled or swept until it is resumed (by the operator)"]
    home.reason = None
    home.run("2026-01-14T13:00", pulse=True)
    assert [(kind, session.day) for kind, _, session, _ in home.done[-2:]] == [("settle", 13), ("sweep", 13)]


def test_a_halt_in_the_middle_of_a_sweep_costs_no_try_and_is_made_up() -> None:
    home = night("2026-01-12T22:00")

    def outcome(event: Event) -> Outcome:
        if event.kind == "sweep":
            home.reason = "strange prices"
            raise Halted("the system is halted")
        return Outcome("well")

    home.outcome = outcome
    home.run("2026-01-12T23:00", pulse=True)
    assert len(home.sessions("sweep")) == 1
    home.reason, home.outcome = None, lambda event: Outcome("well")
    home.run("2026-01-13T01:00", pulse=True)
    assert read_entry(home.book["sweep XNYS"]) == Entry(date(2026, 1, 12), "done", 1, at("2026-01-12T23:01"), "well")
    assert home.notices == []


def test_a_stop_between_two_events_leaves_the_second_for_the_next_start() -> None:
    home = night("2026-01-12T22:00")
    home.minutes = 90
    home.run("2026-01-12T23:00")
    assert [kind for kind, *_ in home.done] == ["settle"]
    home.run("2026-01-13T01:00")
    assert [kind for kind, *_ in home.done] == ["settle", "sweep"]


def test_a_clock_that_is_set_back_does_nothing_again() -> None:
    home = night("2026-01-14T22:00")
    home.run("2026-01-14T23:00")
    done = len(home.done)
    home.clock.at = at("2026-01-13T22:00")
    home.run("2026-01-13T23:00")
    assert len(home.done) == done


def test_a_clock_that_was_weeks_ahead_and_was_set_right_does_not_silence_the_schedule() -> None:
    home = night("2026-02-18T22:00")
    home.run("2026-02-18T23:00")
    home.clock.at = at("2026-01-14T22:00")
    home.run("2026-01-15T23:00")
    assert [(kind, session) for kind, _, session, _ in home.done[2:]] == [
        ("settle", date(2026, 1, 14)),
        ("sweep", date(2026, 1, 14)),
        ("digest", date(2026, 1, 15)),
        ("settle", date(2026, 1, 15)),
        ("sweep", date(2026, 1, 15)),
    ]
    assert "sweep of XNYS 2026-01-14 begins, although 2026-02-18 stands as done: the clock was set back" in home.told


def test_an_event_that_is_given_up_is_announced_although_the_books_fail_right_after() -> None:
    home = night("2026-01-14T22:00")
    home.outcome = lambda event: Outcome("nothing", 4, failed=True)
    home.refuses = lambda value: '"missed","tries":3' in value
    home.run("2026-01-14T23:30", pulse=True)
    assert {notice.key for notice in home.notices} == {"failure:settle XNYS:2026-01-14"}


def test_an_exchange_on_which_something_is_held_is_settled() -> None:
    home = night("2026-01-12T22:00")
    home.also = ("XLON",)
    home.schedule().run_once()
    assert (home.sessions("settle", "XLON"), home.sessions("sweep", "XLON")) == ([date(2026, 1, 12)], [])


def test_a_fault_beside_the_work_is_said_once_and_the_schedule_goes_on() -> None:
    home = night("2026-01-12T20:00")
    home.run("2026-01-12T20:30")
    real, busy = home.remember, iter(range(5))

    def remember(key: str, value: str) -> None:
        if next(busy, None) is not None:
            raise AlphaAgentError("the ledger is busy")
        real(key, value)

    home.remember = remember  # type: ignore[method-assign]
    home.run("2026-01-12T23:00", pulse=True)
    assert [line for line in home.told if "busy" in line] == ["the ledger is busy; the schedule goes on"]
    assert home.sessions("sweep") == [date(2026, 1, 12)]


def test_the_outbox_is_emptied_after_the_work_and_at_every_pulse() -> None:
    home = night("2026-01-12T22:00")
    home.run("2026-01-12T22:30", pulse=True)
    assert home.deliveries == 28


def test_the_status_tells_what_runs_what_was_and_what_comes() -> None:
    home = night("2026-01-12T22:00")
    schedule = home.schedule()
    seen = []
    home.outcome = lambda event: (seen.append(schedule.status.running), Outcome("well"))[1]
    schedule.run(Sleeper(home, at("2026-01-12T22:10"), pulse=True))
    assert [event.kind for event in seen if event] == ["settle", "sweep"]
    assert (schedule.status.running, schedule.status.halted, schedule.status.fault) == (None, None, None)
    assert {name: entry.state for name, entry in schedule.status.last.items()} == {"settle XNYS": "done", "sweep XNYS": "done", "digest XNYS": "missed"}
    assert [event.kind for event in schedule.status.upcoming] == ["digest", "settle", "sweep"]
    assert (schedule.status.since, schedule.status.beat) == (at("2026-01-12T22:00"), at("2026-01-12T22:09"))


def test_an_entry_survives_its_text_and_a_changed_one_is_an_error() -> None:
    entry = Entry(date(2026, 1, 12), "failed", 2, at("2026-01-12T22:00"), "why", 4)
    assert read_entry(entry_text(entry)) == entry
    for text in ("", "{}", "[]", '{"session":"x"}', entry_text(entry).replace('"tries"', '"trials"')):
        with pytest.raises(AlphaAgentError, match="cannot be read"):
            read_entry(text)
