"""Time: the wall clock, and the sessions of an exchange.

A calendar is a table of sessions. A snapshot carries its own tables, so that an offline run needs no calendar library (which costs
a second to load) and a decision replays under a later release of that library; what it does not cover, exchange_calendars does.
"""

import csv
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime
from functools import cached_property, lru_cache

from alphaagent.errors import ConfigFault, UsageFault

DEFAULT_EXCHANGE = "XNYS"
SAME_SESSIONS = {"XNAS": "XNYS", "XASE": "XNYS", "ARCX": "XNYS", "BATS": "XNYS", "IEXG": "XNYS"}
"""Markets whose sessions are another's, by market identifier code; every other market has its own."""
US_MARKETS = frozenset({DEFAULT_EXCHANGE, *SAME_SESSIONS})


class WallClock:
    """The only reader of the machine's time."""

    def now(self) -> datetime:
        return datetime.now(UTC)


class SessionTable:
    """A Calendar over explicit (session, open, close) rows in ascending order."""

    def __init__(self, rows: Iterable[tuple[date, datetime, datetime]]) -> None:
        table = list(rows)
        if not table:
            raise ConfigFault("the session table is empty", fix="restore sessions.csv of the snapshot")
        self._sessions = [row[0] for row in table]
        self._opens = [row[1] for row in table]
        self._closes = [row[2] for row in table]
        if any(a >= b for a, b in zip(self._sessions, self._sessions[1:], strict=False)):
            raise ConfigFault("the session table is not in ascending order", fix="restore sessions.csv of the snapshot")

    @staticmethod
    def parse(text: str) -> "SessionTable":
        """From CSV with the columns session, open, close: a date and two ISO instants with an offset. The same text is the same table."""
        return _recorded(text)

    @cached_property
    def _index(self) -> dict[date, int]:
        return {session: place for place, session in enumerate(self._sessions)}

    @property
    def first(self) -> date:
        return self._sessions[0]

    @property
    def last(self) -> date:
        return self._sessions[-1]

    @property
    def sessions(self) -> tuple[date, ...]:
        return tuple(self._sessions)

    def is_session(self, day: date) -> bool:
        return day in self._index

    def opens(self, session: date) -> datetime:
        return self._opens[self._place(session)]

    def closes(self, session: date) -> datetime:
        return self._closes[self._place(session)]

    def next_session(self, day: date) -> date:
        return self._at(bisect_right(self._sessions, day), f"no session after {day} is known")

    def previous_session(self, day: date) -> date:
        return self._at(bisect_left(self._sessions, day) - 1, f"no session before {day} is known")

    def last_completed(self, at: datetime) -> date:
        return self._at(bisect_left(self._closes, at) - 1, f"no session is known to have closed before {at.isoformat()}")

    def first_opening_after(self, at: datetime) -> date:
        return self._at(bisect_left(self._opens, at), f"no session is known to open after {at.isoformat()}")

    def extended(self, other: "SessionTable") -> "SessionTable":
        """This table with the sessions of another before its first and after its last; inside its range it stays as it is. Of the same two, the same."""
        return _extended(self, other)

    def rows(self, *, after: date = date.min, upto: date = date.max) -> list[tuple[date, datetime, datetime]]:
        """Session, open and close of every session in (after, upto)."""
        whole = zip(self._sessions, self._opens, self._closes, strict=True)
        return [row for row in whole if after < row[0] < upto]

    def sessions_between(self, earlier: date, later: date) -> int:
        return bisect_right(self._sessions, later) - bisect_right(self._sessions, earlier)

    def _place(self, session: date) -> int:
        try:
            return self._index[session]
        except KeyError:
            raise UsageFault(f"{session} is no session of the exchange", fix=self.neighbours(session)) from None

    def neighbours(self, day: date) -> str:
        """The sessions around a date, in words."""
        place = bisect_left(self._sessions, day)
        around = [str(self._sessions[i]) for i in (place - 1, place) if 0 <= i < len(self._sessions)]
        return f"use a session: {' or '.join(around)}"

    def _at(self, place: int, message: str) -> date:
        if not 0 <= place < len(self._sessions):
            raise UsageFault(message, fix=f"the calendar covers {self.first} to {self.last}")
        return self._sessions[place]


@lru_cache(maxsize=32)
def _recorded(text: str) -> SessionTable:
    try:
        rows = [(date.fromisoformat(row["session"]), _instant(row["open"]), _instant(row["close"])) for row in csv.DictReader(text.splitlines())]
    except (KeyError, ValueError, TypeError, csv.Error) as fault:
        raise ConfigFault(f"the session table cannot be read: {fault}", fix="restore sessions.csv of the snapshot") from fault
    return SessionTable(rows)


@lru_cache(maxsize=32)
def _extended(table: SessionTable, other: SessionTable) -> SessionTable:
    return SessionTable([*other.rows(upto=table.first), *table.rows(), *other.rows(after=table.last)])


def _instant(text: str) -> datetime:
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError(f"{text} has no offset")
    return at.astimezone(UTC)


def exchange_of(mic: str) -> str:
    """The exchange whose sessions a market keeps."""
    return SAME_SESSIONS.get(mic, mic)


class Calendars:
    """One session table per exchange, each made when it is first asked for."""

    def __init__(self, load: Callable[[str], SessionTable]) -> None:
        self._load = load
        self._tables: dict[str, SessionTable] = {}

    def of(self, mic: str) -> SessionTable:
        """The sessions of a market, by its identifier code (ISO 10383). Raises ConfigFault where they are not known."""
        exchange = exchange_of(mic)
        if exchange not in self._tables:
            self._tables[exchange] = self._load(exchange)
        return self._tables[exchange]


@lru_cache(maxsize=32)
def exchange_sessions(name: str, first: date, last: date) -> SessionTable:
    """The sessions of an exchange by exchange_calendars, which is loaded here and nowhere else."""
    from exchange_calendars import get_calendar
    from exchange_calendars.errors import CalendarError, InvalidCalendarName

    try:
        schedule = get_calendar(name, start=first.isoformat(), end=last.isoformat()).schedule
    except InvalidCalendarName as fault:
        raise ConfigFault(f"the sessions of the market {name!r} are unknown", fix="give a market identifier code such as XNYS, XNAS or XLON") from fault
    except (CalendarError, NotImplementedError, ValueError) as fault:
        message = f"the sessions of the market {name!r} are not known from {first} to {last}: {str(fault).splitlines()[0][:200]}"
        raise ConfigFault(message, fix="leave the name out, or take its listing on another exchange") from fault
    return SessionTable(
        (session.date(), row.open.to_pydatetime().astimezone(UTC), row.close.to_pydatetime().astimezone(UTC))
        for session, row in zip(schedule.index, schedule.itertuples(), strict=True)
    )
