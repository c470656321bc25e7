"""The rows of the snapshot's CSV files as dated records: bars, corporate actions, facts.

Parsing is pure, so its results are kept by content: the same bytes under the same calendar are parsed once in a process. Each rule
that compares rows blames the one with the later date, so that a row of the future never changes what was known before it.
"""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache, wraps
from typing import TypeVar, cast

from alphaagent.domain.market import Bar, CorporateAction, Fact, Records, RowFault
from alphaagent.evidence.sources.table import BadRow, Parsed, Row, read_rows, shown
from alphaagent.ports import Calendar

CACHED_DOCUMENTS = 128
BAR_COLUMNS = ("date", "open", "high", "low", "close", "volume")
ACTION_COLUMNS = ("kind", "ex_date", "value")
UNBOOKED_ACTIONS = ("stock_merger", "spin_off", "unknown")
"""Kinds that freeze a holding: what they leave cannot be told from the file. A `merger` is for cash, so much a share."""
FACT_COLUMNS = ("concept", "unit", "start", "end", "value", "filed", "form", "accession")
ACCESSION = r"[0-9]{10}-[0-9]{2}-[0-9]{6}"
Item = TypeVar("Item")
Parser = Callable[[bytes, str, Calendar], Records]


def _kept_by_content(parse: Parser) -> Parser:
    """The same parser, which remembers its latest documents. The key is the document itself, so that nothing stale can match."""
    kept = lru_cache(maxsize=CACHED_DOCUMENTS)(parse)

    @wraps(parse)
    def reading(raw: bytes, path: str, calendar: Calendar) -> Records:
        return kept(raw, path, cast(Hashable, calendar))

    return reading


@_kept_by_content
def parse_bars(raw: bytes, path: str, calendar: Calendar) -> Records:
    """Bars as traded, each known at its session's close. Raises SourceFault on a broken document."""
    rows, faults = read_rows(raw, path, BAR_COLUMNS, "date", lambda row: _bar(row, calendar))
    bars, misplaced = _ascending(rows)
    return Records(bars=bars, faults=_dated((*faults, *misplaced), lambda session: calendar.closes(_session_of(session, calendar))))


@_kept_by_content
def parse_actions(raw: bytes, path: str, calendar: Calendar) -> Records:
    """Splits and dividends, each known at the open of its ex-date, a split before a dividend of the same date."""
    rows, faults = read_rows(raw, path, ACTION_COLUMNS, "ex_date", lambda row: _action(row, calendar))
    once, repeated = _once(((row, action, (action.kind, action.ex_date)) for row, action in rows), "ex_date")
    ordered = sorted(once, key=lambda action: (action.ex_date, action.kind != "split"))
    return Records(actions=tuple(ordered), faults=_dated((*faults, *repeated), lambda session: calendar.opens(_session_of(session, calendar))))


@_kept_by_content
def parse_facts(raw: bytes, path: str, calendar: Calendar) -> Records:
    """Facts as filed, each known at the open of the session after its filing date."""
    rows, faults = read_rows(raw, path, FACT_COLUMNS, "filed", lambda row: _fact(row, calendar))
    keyed = ((row, fact, (fact.concept, fact.unit, fact.start, fact.end, fact.filed, fact.accession)) for row, fact in rows)
    once, repeated = _once(keyed, "filed")
    return Records(facts=tuple(sorted(once, key=lambda fact: fact.known_at)), faults=_dated((*faults, *repeated), lambda filed: open_after(filed, calendar)))


def _bar(row: Row, calendar: Calendar) -> Bar:
    session = _session(row, "date", calendar)
    bar = Bar(
        session=session,
        open=row.positive("open"),
        high=row.positive("high"),
        low=row.positive("low"),
        close=row.positive("close"),
        volume=row.count("volume"),
        known_at=calendar.closes(session),
    )
    if bar.high < bar.low:
        raise BadRow(f"high {bar.high} is below low {bar.low}")
    for name, price in (("open", bar.open), ("close", bar.close)):
        if not bar.low <= price <= bar.high:
            raise BadRow(f"{name} {price} lies outside low {bar.low} to high {bar.high}")
    return bar


def _action(row: Row, calendar: Calendar) -> CorporateAction:
    kind, ex_date = row.fields["kind"], _session(row, "ex_date", calendar)
    known_at = calendar.opens(ex_date)
    match kind:
        case "split" | "dividend" | "merger":
            return CorporateAction(kind, ex_date, row.positive("value"), known_at)
        case _ if kind in UNBOOKED_ACTIONS:
            return CorporateAction("unknown", ex_date, Decimal(0), known_at, note=kind)
        case _:
            raise BadRow(f"kind {shown(kind)} is none of split, dividend, merger, {', '.join(UNBOOKED_ACTIONS)}")


def _fact(row: Row, calendar: Calendar) -> Fact:
    start = row.day("start") if row.fields["start"] else None
    end, filed = row.day("end"), row.day("filed")
    if start is not None and start > end:
        raise BadRow(f"start {start} is after end {end}")
    if end > filed:
        raise BadRow(f"end {end} is after filed {filed}")
    return Fact(
        concept=row.text("concept", r"[A-Za-z][A-Za-z0-9]*"),
        unit=row.text("unit", r"[A-Za-z][A-Za-z0-9/-]*"),
        start=start,
        end=end,
        value=row.number("value"),
        filed=filed,
        form=row.text("form", r"[0-9A-Z][0-9A-Z/ -]*"),
        accession=row.text("accession", ACCESSION),
        known_at=open_after(filed, calendar),
    )


def _session(row: Row, column: str, calendar: Calendar) -> date:
    return _session_of(row.day(column), calendar, column)


def _session_of(day: date, calendar: Calendar, column: str = "date") -> date:
    if not calendar.first <= day <= calendar.last:
        raise BadRow(f"{column} {day} lies outside the calendar, which covers {calendar.first} to {calendar.last}")
    if not calendar.is_session(day):
        raise BadRow(f"{column} {day} is no session of the exchange")
    return day


def open_after(filed: date, calendar: Calendar) -> datetime:
    """The open of the session after a filing date. A filing older than the calendar counts from its first open, never earlier than true."""
    if filed < calendar.first:
        return calendar.opens(calendar.first)
    if filed >= calendar.last:
        raise BadRow(f"filed {filed} has no later session in the calendar, which ends on {calendar.last}")
    return calendar.opens(calendar.next_session(filed))


def _dated(faults: Iterable[RowFault], known: Callable[[date], datetime]) -> tuple[RowFault, ...]:
    """The faults with the instant at which each row would have become known, by the rule of its kind, where its date has one."""
    return tuple(fault if fault.session is None else _dated_by(known, fault, fault.session) for fault in faults)


def _dated_by(known: Callable[[date], datetime], fault: RowFault, day: date) -> RowFault:
    try:
        return replace(fault, known_at=known(day))
    except BadRow:
        return fault


def _ascending(rows: Parsed[Bar]) -> tuple[tuple[Bar, ...], list[RowFault]]:
    """The bars in strictly ascending order; one that stands before an equal or earlier date is a fault."""
    kept: list[Bar] = []
    faults: list[RowFault] = []
    for row, bar in reversed(rows):
        if not kept or bar.session < kept[-1].session:
            kept.append(bar)
        else:
            again = bar.session == kept[-1].session
            faults.append(row.fault(f"date {bar.session} " + ("occurs again further down" if again else "stands before an earlier date"), "date"))
    return tuple(reversed(kept)), faults[::-1]


def _once(keyed: Iterable[tuple[Row, Item, Hashable]], dated_by: str) -> tuple[list[Item], list[RowFault]]:
    """Each item whose key has not occurred above it; a repetition is a fault."""
    seen: set[Hashable] = set()
    kept: list[Item] = []
    faults: list[RowFault] = []
    for row, item, key in keyed:
        if key in seen:
            faults.append(row.fault(f"the row repeats one above it ({dated_by} {row.fields[dated_by]})", dated_by))
        else:
            seen.add(key)
            kept.append(item)
    return kept, faults
