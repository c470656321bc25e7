"""What a schedule does when: config/schedule.yaml, and the events that follow from it and the sessions of an exchange. Pure.

Chosen on purpose: an event has an instant in UTC that comes from the calendar's own opens and closes, so that holidays, half days and daylight saving
are right without a rule for them; and an instant after which it is of no use any more, so that what was missed is made up once, or not at all.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator

from alphaagent.domain.base import Frozen
from alphaagent.domain.text import NAME
from alphaagent.errors import ConfigFault
from alphaagent.ports import Calendar

Kind = Literal["settle", "sweep", "digest"]
KINDS: tuple[Kind, ...] = ("settle", "sweep", "digest")
"""In the order in which events of one instant are done."""
MAIN_EXCHANGE = "XNYS"
A_MICROSECOND = timedelta(microseconds=1)


class SettleTimes(Frozen):
    minutes_after_open: int = Field(30, ge=1, le=240)


class SweepTimes(Frozen):
    minutes_after_close: int = Field(30, ge=1, le=360)


class DigestTimes(Frozen):
    minutes_before_open: int = Field(60, ge=5, le=600)


class Timetable(Frozen):
    """The shape of the file."""

    exchanges: dict[str, Literal["all"] | tuple[str, ...]] = Field({MAIN_EXCHANGE: "all"}, min_length=1, max_length=20)
    """The portfolios that are swept after the close of each exchange."""
    settle: SettleTimes | None = SettleTimes()
    sweep: SweepTimes | None = SweepTimes()
    digest: DigestTimes | None = DigestTimes()
    tries: int = Field(3, ge=1, le=10)
    retry_minutes: int = Field(10, ge=1, le=120)
    health_port: int = Field(8799, ge=0, le=65535)
    grace_seconds: int = Field(60, ge=1, le=3600)

    @field_validator("exchanges")
    @classmethod
    def _names(cls, value: dict[str, Literal["all"] | tuple[str, ...]]) -> dict[str, Literal["all"] | tuple[str, ...]]:
        for exchange, names in value.items():
            if not (exchange.isascii() and exchange.isalnum() and exchange.isupper() and len(exchange) == 4):
                raise ValueError(f"{exchange[:40]!r} is no market identifier code such as XNYS")
            if names != "all" and (not names or not all(NAME.fullmatch(name) for name in names)):
                raise ValueError("write all, or a list of portfolios")
        return value

    @property
    def main(self) -> str:
        """The exchange before whose open the digest comes."""
        return MAIN_EXCHANGE if MAIN_EXCHANGE in self.exchanges else next(iter(self.exchanges))


def parse_timetable(document: dict[str, Any], path: str) -> Timetable:
    """The file. Raises ConfigFault that names the key."""
    try:
        return Timetable.model_validate(document)
    except ValidationError as fault:
        first = fault.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"]))
        if first["type"] == "extra_forbidden":
            raise ConfigFault(f"{path}: unknown key {key}", fix="see the shipped config/schedule.yaml") from None
        raise ConfigFault(f"{path}: {key} is {first.get('input')!r}: {first['msg'].lower()}", fix="correct the value") from None


@dataclass(frozen=True, slots=True)
class Event:
    """Something to be done once for one session of one exchange."""

    kind: Kind
    exchange: str
    session: date
    at: datetime
    until: datetime
    """From here on it is too late: the next event of its kind does its work, or the orders of a sweep would miss the open that they are for."""

    @property
    def name(self) -> str:
        """What stays the same from session to session."""
        return f"{self.kind} {self.exchange}"

    def told(self) -> str:
        return f"{self.kind} of {self.exchange} {self.session}"


def next_events(exchange: str, calendar: Calendar, after: datetime, times: Timetable) -> tuple[Event, ...]:
    """The first event of each kind strictly after an instant, in the order in which they are due."""
    return _in_order(_event(kind, exchange, calendar, _session_after(kind, calendar, after, offset), times) for kind, offset in _offsets(exchange, times))


def last_events(exchange: str, calendar: Calendar, upto: datetime, times: Timetable) -> tuple[Event, ...]:
    """The last event of each kind at or before an instant, in the order in which they were due."""
    return _in_order(
        _event(kind, exchange, calendar, calendar.previous_session(_session_after(kind, calendar, upto, offset)), times)
        for kind, offset in _offsets(exchange, times)
    )


def _offsets(exchange: str, times: Timetable) -> Iterator[tuple[Kind, timedelta]]:
    """How long after the open, or after the close of a sweep, each kind is due."""
    if times.settle is not None:
        yield "settle", timedelta(minutes=times.settle.minutes_after_open)
    if times.sweep is not None and exchange in times.exchanges:
        yield "sweep", timedelta(minutes=times.sweep.minutes_after_close)
    if times.digest is not None and exchange == times.main:
        yield "digest", -timedelta(minutes=times.digest.minutes_before_open)


def _session_after(kind: Kind, calendar: Calendar, at: datetime, offset: timedelta) -> date:
    """The first session whose event of a kind lies strictly after an instant."""
    just_after = at - offset + A_MICROSECOND
    return calendar.next_session(calendar.last_completed(just_after)) if kind == "sweep" else calendar.first_opening_after(just_after)


def _event(kind: Kind, exchange: str, calendar: Calendar, session: date, times: Timetable) -> Event:
    offset = dict(_offsets(exchange, times))[kind]
    opens, closes, next_open = calendar.opens(session), calendar.closes(session), calendar.opens(calendar.next_session(session))
    starts: dict[Kind, datetime] = {"settle": opens, "sweep": closes, "digest": opens}
    ends: dict[Kind, datetime] = {"settle": next_open + offset, "sweep": next_open, "digest": opens}
    return Event(kind, exchange, session, starts[kind] + offset, ends[kind])


def _in_order(events: Iterator[Event]) -> tuple[Event, ...]:
    return tuple(sorted(events, key=due_order))


def due_order(event: Event) -> tuple[datetime, int, str]:
    """By instant; at one instant settling comes before sweeping, and that before telling."""
    return event.at, KINDS.index(event.kind), event.exchange


Calendars = Callable[[str, datetime], Calendar]
"""The sessions of an exchange around an instant. Raises ConfigFault where they are not known."""
