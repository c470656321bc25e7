"""Dates ahead that a vendor states: when earnings are due, and from when on the shares trade without their dividend.

They stand beside the measures and carry no weight. What was stated last counts, and of a span its first day; the sessions left are counted by
the instrument's own calendar, from the last completed one. A mode without such a supply has no item and no hole.
"""

from typing import Any

from alphaagent.domain.evidence import EvidenceItem, Status, ToolName
from alphaagent.domain.market import WITHOUT_EARNINGS, ComingEvent
from alphaagent.evidence.gathered import Gathered, Supplied
from alphaagent.evidence.items import LOST, Measure, lost_item, measure_item

NOT_STATED = "no date is stated"


def earnings_items(g: Gathered) -> tuple[EvidenceItem, ...]:
    """When earnings are due next, kind `earnings_date`, also where that is not known and why; nothing without such a supply."""
    if g.events is None:
        return ()
    stated = _next(g, g.events, "earnings")
    if stated is None:
        return (lost_item(g, "get_news_sentiment", "earnings_date", _without_date(g, g.events), NOT_STATED),)
    return (_item(g, g.events, stated, "get_news_sentiment", "earnings_date", "Earnings due"),)


def ex_dividend_items(g: Gathered) -> tuple[EvidenceItem, ...]:
    """The next ex-date, kind `ex_dividend`, where one is stated: that there is none is usual, and a lost supply is said once, by the earnings."""
    stated = _next(g, g.events, "ex_dividend") if g.events else None
    return (_item(g, g.events, stated, "get_price_history", "ex_dividend", "Ex dividend"),) if g.events and stated else ()


def _next(g: Gathered, events: Supplied, kind: str) -> ComingEvent | None:
    """What was stated last among the dates that are not over; the earliest of several that were stated at once."""
    if events.status in LOST:
        return None
    ahead = [event for event in events.records.coming if event.kind == kind and _is_ahead(g, event)]
    newest = max((event.known_at for event in ahead), default=None)
    return min((event for event in ahead if event.known_at == newest), key=lambda event: event.day, default=None)


def _is_ahead(g: Gathered, event: ComingEvent) -> bool:
    """Earnings may still come on the last day of their span; an ex-date is over with its open."""
    today = g.as_of.date()
    if event.kind == "earnings":
        return event.last_day >= today
    return event.day > today or (g.calendar.is_session(event.day) and g.calendar.opens(event.day) > g.as_of)


def _without_date(g: Gathered, events: Supplied) -> Supplied:
    if g.instrument.kind in WITHOUT_EARNINGS:
        return Supplied(events.source, Status.NOT_APPLICABLE, note=f"{g.instrument.symbol} reports no earnings of its own")
    if events.status in (Status.FAILED, Status.NOT_APPLICABLE):
        return events
    return Supplied(events.source, Status.EMPTY, note=f"{NOT_STATED} ({events.note})" if events.note else NOT_STATED)


def _item(g: Gathered, events: Supplied, stated: ComingEvent, tool: ToolName, kind: str, what: str) -> EvidenceItem:
    last = g.calendar.last
    payload: dict[str, Any] = {
        "day": str(stated.day),
        "last_day": str(stated.last_day),
        "sessions": max(0, g.calendar.sessions_between(g.session, stated.day)),
        "calendar_ends": str(last) if stated.day > last else None,
    }
    measure = Measure(kind, payload, f"{what} {_when(payload)}")
    return measure_item(g, tool, events, measure, event_at=stated.known_at, known_at=stated.known_at)


def _when(payload: dict[str, Any]) -> str:
    """`2026-01-29, 12 sessions ahead`; of a span, the sessions to its first day."""
    day = payload["day"] if payload["day"] == payload["last_day"] else f"between {payload['day']} and {payload['last_day']}"
    least = "at least " if payload["calendar_ends"] else ""
    return f"{day}, {least}{payload['sessions']} session{'' if payload['sessions'] == 1 else 's'} ahead"
