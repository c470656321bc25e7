"""The schedule: does what is due, one thing after the other, remembers what it did, and waits for what comes next.

Chosen on purpose: nothing is driven by a timer alone. Whatever wakes the schedule up, it asks the clock what the last event of each kind was and the
books whether that has been done; so a machine that was asleep, a process that was down and a clock that was set make up what they missed, once. What is
under way is written down before it begins, so that one that kills the program is not begun for ever.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Literal, Protocol

from alphaagent.domain.base import instant_text
from alphaagent.domain.notice import Notice
from alphaagent.domain.text import inert
from alphaagent.errors import AlphaAgentError, Halted
from alphaagent.operations.timetable import Calendars, Event, Kind, Timetable, due_order, last_events, next_events
from alphaagent.ports import Calendar, Clock

PULSE_SECONDS = 60.0
"""How long the schedule waits at most before it asks the clock again, and empties the outbox."""
State = Literal["begun", "done", "failed", "missed"]
"""Under way, or it was when the program ended; done; failed, and to be tried again while `tries` lasts; given up."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an event; `exit_code` is the command line's for the same work."""

    detail: str
    exit_code: int = 0
    failed: bool = False
    """Nothing came of it, so that it is worth another try."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of the last event of one kind and exchange that was begun, or could not be."""

    session: date
    state: State
    tries: int
    at: datetime
    detail: str = ""
    exit_code: int = 0


class Memory(Protocol):
    """What outlives the process."""

    def remembered(self, key: str) -> str | None: ...
    def remember(self, key: str, value: str) -> None: ...


class Alarm(Protocol):
    """What wakes the schedule up."""

    @property
    def stopping(self) -> bool:
        """Whether somebody has asked for the end."""
        ...

    def wait(self, upcoming: Sequence[Event], seconds: float) -> None:
        """Returns at the first of these events, after so many seconds, or when somebody asks for the end; whichever comes first."""
        ...


@dataclass(frozen=True, slots=True)
class Status:
    """How the schedule is doing, for whoever asks."""

    since: datetime
    beat: datetime
    """When it last asked the clock."""
    halted: str | None = None
    """Why nothing is settled or swept."""
    running: Event | None = None
    upcoming: tuple[Event, ...] = ()
    last: Mapping[str, Entry] = field(default_factory=dict)
    fault: str | None = None
    """What went wrong beside the work, where something did."""


@dataclass(frozen=True)
class Hands:
    """What the schedule does, and what it asks and tells."""

    work: Mapping[Kind, Callable[[Event], Outcome]]
    halted: Callable[[], str | None]
    """Why the system is halted; None where it is not."""
    exchanges: Callable[[], Iterable[str]]
    """Whose sessions matter: those of the file, and those on which something is held or ordered."""
    deliver: Callable[[], None]
    """Empties the outbox."""
    announce: Callable[[Notice], object]
    say: Callable[[str], None]


class Schedule:
    """One schedule of one home."""

    def __init__(self, times: Timetable, calendars: Calendars, clock: Clock, memory: Memory, hands: Hands) -> None:
        self._times = times
        self._calendars = calendars
        self._clock = clock
        self._memory = memory
        self._hands = hands
        self.status = Status(clock.now(), clock.now())

    def run(self, alarm: Alarm) -> None:
        """Until somebody asks for the end. What is under way then is finished; what interrupts it, by KeyboardInterrupt, goes up."""
        self._beat()
        self._hands.say(f"the schedule is up; next: {', '.join(f'{event.told()} at {instant_text(event.at)}' for event in self.status.upcoming[:3])}")
        while not alarm.stopping:
            self._turn(lambda: alarm.stopping)
            if not alarm.stopping:
                alarm.wait(self.status.upcoming, PULSE_SECONDS)
        self._hands.say("the schedule has ended")

    def run_once(self) -> int:
        """What is due now and no more; the worst exit code."""
        done = self._do_what_is_due(lambda: False)
        if not done:
            self._hands.say("nothing is due")
        return max((entry.exit_code for entry in done), default=0)

    def _turn(self, stopping: Callable[[], bool]) -> None:
        """Everything that is due. A fault outside of the work, such as books that are locked for long, is said once and passes or does not."""
        fault = None
        try:
            self._do_what_is_due(stopping)
            self._beat()
        except AlphaAgentError as raised:
            fault = raised.message
        if fault and fault != self.status.fault:
            self._hands.say(f"{fault}; the schedule goes on")
        self.status = replace(self.status, fault=fault, beat=self._clock.now(), upcoming=() if fault else self.status.upcoming)

    def _do_what_is_due(self, stopping: Callable[[], bool]) -> list[Entry]:
        """One event after the other; after each the clock is asked again, for it may have taken hours."""
        done = []
        while not stopping() and (event := self._next_due()) is not None:
            entry = self._perform(event)
            if entry is None:
                break
            done.append(entry)
        self._hands.deliver()
        return done

    def _beat(self) -> None:
        now = self._clock.now()
        self.status = replace(self.status, beat=now, upcoming=self._events(next_events, now))

    def _events(self, of: Callable[[str, Calendar, datetime, Timetable], tuple[Event, ...]], now: datetime) -> tuple[Event, ...]:
        """The events of every exchange that matters, in order."""
        exchanges = sorted({*self._times.exchanges, *self._hands.exchanges()})
        return tuple(sorted((event for one in exchanges for event in of(one, self._calendars(one, now), now, self._times)), key=due_order))

    def _next_due(self) -> Event | None:
        """What is to be done first; what has become too late on the way there is given up."""
        now = self._clock.now()
        self._notice_halt()
        for event in self._events(last_events, now):
            standing = self._standing(event, now)
            if standing == "due":
                return event
            if standing == "late":
                self._give_up(event)
        return None

    def _notice_halt(self) -> None:
        """Says once that the system is halted, and once that it is not any more."""
        reason = self._hands.halted()
        if (reason is None) != (self.status.halted is None):
            self._hands.say(f"halted: nothing is settled or swept until it is resumed ({reason})" if reason else "resumed")
        self.status = replace(self.status, halted=reason)

    def _standing(self, event: Event, now: datetime) -> Literal["due", "late", "over"]:
        """Whether the last event of its kind is to be done now, is of no use any more, or is done, rests or has to wait."""
        entry = self._entry(event)
        if self.status.halted is not None and event.kind != "digest":
            return "over"
        if entry is None or entry.session < event.session or self._lies_ahead(entry, event):
            return "due" if now < event.until else "late"
        if entry.session > event.session or entry.state in ("done", "missed"):
            return "over"
        if now >= event.until or entry.tries >= self._times.tries:
            return "late"
        return "due" if entry.state == "begun" or now >= entry.at + timedelta(minutes=self._times.retry_minutes) else "over"

    def _lies_ahead(self, entry: Entry, event: Event) -> bool:
        """Whether what is remembered is of a session that is more than one away: the clock was wrong then, and nothing must wait until it is right."""
        return self._calendars(event.exchange, event.at).sessions_between(event.session, entry.session) > 1

    def _give_up(self, event: Event) -> None:
        """Once per event. What nobody waited for is given up in silence: a digest, and what lies before the schedule's first day."""
        before = self._entry(event)
        tried = before if before is not None and before.session == event.session else None
        why = f"it was tried {tried.tries} times; the last time: {tried.detail or 'the program ended'}" if tried else "the program was not running in time"
        if before is not None and event.kind != "digest":  # announced first: who is stopped in between says it again under the same key
            self._hands.announce(Notice("failure", f"failure:{event.name}:{event.session}", {"title": f"the {event.told()} is given up", "said": why}))
            self._hands.say(f"{event.told()} is given up: {why}")
        self._keep(event, Entry(event.session, "missed", tried.tries if tried else 0, self._clock.now(), why, tried.exit_code if tried else 0))

    def _perform(self, event: Event) -> Entry | None:
        """Does one event; None where the system was halted meanwhile."""
        tries = self._begin(event)
        try:
            outcome = self._hands.work[event.kind](event)
        except Halted:
            self._keep(event, Entry(event.session, "failed", tries - 1, self._clock.now(), "halted"))
            self._notice_halt()
            return None
        except AlphaAgentError as fault:
            outcome = Outcome(fault.message, fault.exit_code, failed=True)
        except KeyboardInterrupt:
            self._keep(event, Entry(event.session, "begun", tries - 1, self._clock.now(), "interrupted"))
            raise
        finally:
            self.status = replace(self.status, running=None)
        entry = Entry(event.session, "failed" if outcome.failed else "done", tries, self._clock.now(), inert(outcome.detail)[:300], outcome.exit_code)
        self._keep(event, entry)
        again = f"; it is tried again in {self._times.retry_minutes} minutes" if outcome.failed and tries < self._times.tries else ""
        self._hands.say(f"{event.told()} {entry.state}: {outcome.detail}{again}")
        return entry

    def _begin(self, event: Event) -> int:
        """Writes down that an event begins; how often it has been begun with this time."""
        before = self._entry(event)
        missed = self._calendars(event.exchange, event.at).sessions_between(before.session, event.session) - 1 if before else 0
        again = f", although {before.session} stands as done: the clock was set back" if before is not None and before.session > event.session else ""
        tries = before.tries + 1 if before is not None and before.session == event.session else 1
        self._keep(event, Entry(event.session, "begun", tries, self._clock.now()))
        self.status = replace(self.status, running=event, beat=self._clock.now())
        self._hands.say(f"{event.told()} begins" + (f", and stands for {missed} more that were missed" if missed > 0 else again))
        return tries

    def _entry(self, event: Event) -> Entry | None:
        if event.name not in self.status.last:
            text = self._memory.remembered(event.name)
            if text is None:
                return None
            self.status = replace(self.status, last={**self.status.last, event.name: read_entry(text)})
        return self.status.last[event.name]

    def _keep(self, event: Event, entry: Entry) -> None:
        self._memory.remember(event.name, entry_text(entry))
        self.status = replace(self.status, last={**self.status.last, event.name: entry})


def entry_text(entry: Entry) -> str:
    """An entry as the books keep it."""
    return json.dumps(asdict(entry) | {"session": entry.session.isoformat(), "at": instant_text(entry.at)}, separators=(",", ":"))


def read_entry(text: str) -> Entry:
    """An entry of its text. AlphaAgentError where somebody changed it to something else."""
    try:
        fields = json.loads(text)
        return Entry(**fields | {"session": date.fromisoformat(fields["session"]), "at": datetime.fromisoformat(fields["at"])})
    except (ValueError, TypeError, KeyError) as fault:
        raise AlphaAgentError(f"what the schedule wrote down cannot be read: {fault}", fix="restore the ledger from a backup") from fault
