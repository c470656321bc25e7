"""What an operator does with live data: fetch them, see how old they are, see what changed, and accept a history that a vendor has rewritten."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from alphaagent.bootstrap import Workplace
from alphaagent.domain.base import instant_text
from alphaagent.domain.market import Instrument, Records
from alphaagent.errors import AlphaAgentError, NoEvidence, UsageFault, VendorFault
from alphaagent.evidence.live.archive import Observation, Series
from alphaagent.evidence.live.differing import Difference, differences
from alphaagent.evidence.live.revision import ACCEPTED, REVISED
from alphaagent.evidence.live.room import LiveRoom, Refreshed
from alphaagent.evidence.live.source import LiveSource
from alphaagent.evidence.live.vendor import Vendor
from alphaagent.evidence.sources.instruments import normal_ticker
from alphaagent.operations.recording import Recorded, record
from alphaagent.ports import Calendar


@dataclass(frozen=True, slots=True)
class Row:
    """One topic of one instrument as `data fetch` and `data status` show it."""

    ticker: str
    topic: str
    vendor: str
    state: str
    """`fetched`, `unchanged`, `nothing`, `holds`, `expired`, `not asked`, or how a fetch failed (`rate_limited`, ...)."""
    at: datetime | None
    """When the vendor last told something."""
    until: datetime | None
    note: str

    @property
    def document(self) -> dict[str, Any]:
        """As JSON tells it."""
        times = {"fetched_at": self.at and instant_text(self.at), "holds_until": self.until and instant_text(self.until)}
        return {"ticker": self.ticker, "topic": self.topic, "vendor": self.vendor, "state": self.state, **times, "note": self.note or None}


@dataclass(frozen=True, slots=True)
class Fetch:
    """What `data fetch` did."""

    rows: tuple[Row, ...]
    """Of the tickers that were asked for, and of the index."""
    index: str
    faults: tuple[tuple[str, AlphaAgentError], ...]
    """Tickers of which nobody knows what they are, with the reason."""
    requests: int
    octets: int

    @property
    def exit_code(self) -> int:
        """3 where a name has no prices: nothing can be decided on it."""
        lost = any(row.topic == "prices" and row.ticker != self.index and row.state not in ("fetched", "unchanged", "holds") for row in self.rows)
        return max([fault.exit_code for _, fault in self.faults] + [3 if lost else 0])


def fetch(workplace: Workplace, tickers: Sequence[str], *, force: bool, tell: Callable[[str], None]) -> Fetch:
    """Everything about these tickers that does not hold any more; with `force`, everything."""
    room, faults, instruments = workplace.room, [], []
    today = workplace.clock.now().date()
    for ticker in tickers:
        try:
            instruments.append(known(workplace, ticker, today))
        except AlphaAgentError as fault:
            faults.append((ticker, fault))
    done = room.refresh(list(dict.fromkeys(instruments)), force=force, tell=lambda one: tell(one.symbol))
    tallies = [gate.tally for gate in room.gates.values()]
    requests, octets = sum(tally.requests for tally in tallies), sum(tally.octets for tally in tallies)
    return Fetch(tuple(_refreshed(room, one) for one in done), room.index.symbol, tuple(faults), requests, octets)


def known(workplace: Workplace, ticker: str, on: date) -> Instrument:
    """The one instrument behind a ticker. Raises NoEvidence or UsageFault."""
    found = workplace.desk.market.resolve(ticker, on)
    if not found:
        raise NoEvidence(f"{ticker} is unknown to every vendor asked", fix="check the spelling, or describe it in config/instruments.yaml")
    if len(found) > 1:
        raise UsageFault(f"{ticker} is ambiguous: {', '.join(one.id for one in found)}", fix="give one of them a further alias in config/instruments.yaml")
    return found[0]


def _refreshed(room: LiveRoom, one: Refreshed) -> Row:
    symbol, ended = one.instrument.symbol, one.ended
    if isinstance(ended, str):
        return Row(symbol, one.topic, one.vendor, "not asked", None, None, ended)
    if isinstance(ended, VendorFault):
        last = room.archive.last_before(Series(one.vendor, one.topic, one.instrument.id), room.now())
        return Row(symbol, one.topic, one.vendor, ended.kind, last.fetched_at if last else None, last.holds_until if last else None, ended.message)
    state = "holds" if not one.fetched else {"ok": "fetched"}.get(ended.ended, ended.ended)
    return Row(symbol, one.topic, one.vendor, state, ended.fetched_at, ended.holds_until, ended.note)


def status(workplace: Workplace, tickers: Sequence[str]) -> tuple[Row, ...]:
    """What the archive holds of these tickers, or of all; nothing is fetched."""
    archive, now = workplace.room.archive, workplace.clock.now()
    wanted = {normal_ticker(ticker) for ticker in tickers}
    rows = []
    for series in archive.series():
        if tickers and series.instrument.rpartition(":")[2] not in wanted:
            continue
        last, look = archive.last(series), archive.last_before(series, now)
        rows.append(_standing(series, last, look, now))
    return tuple(rows)


def _standing(series: Series, last: Observation | None, look: Observation | None, now: datetime) -> Row:
    """A series by its last fetch, and by its last answer where that fetch failed."""
    state: str
    if last is not None and not last.looked:
        state, note = last.ended, last.note
    elif look is not None and look.ended == "nothing":
        state, note = "nothing", look.note
    else:
        state, note = "holds" if look is not None and now <= look.holds_until else "expired", look.note if look else ""
    told, holds = (look.fetched_at, look.holds_until) if look else (None, None)
    return Row(series.instrument.rpartition(":")[2], series.topic, series.vendor, state, told, holds, note)


@dataclass(frozen=True, slots=True)
class Compared:
    """Two observations of one topic and what lies between them."""

    topic: str
    vendor: str
    before: datetime
    after: datetime
    differences: tuple[Difference, ...]


def diff(workplace: Workplace, ticker: str, since: datetime | None, until: datetime | None) -> tuple[Compared, ...]:
    """Topic by topic, what was said at `until` (now) and not at `since` (the document before that one)."""
    room, now = workplace.room, workplace.clock.now()
    instrument = known(workplace, ticker, now.date())
    calendar = room.calendar_of(instrument)
    found = []
    for topic, source in room.sources.items():
        for vendor in source.vendors:
            pair = _pair(room, Series(vendor.name, topic, instrument.id), since, until or now)
            if pair is not None:
                old, new = (_said(source, vendor, instrument, one, calendar) for one in pair)
                found.append(Compared(topic, vendor.name, pair[0].fetched_at, pair[1].fetched_at, differences(old, new)))
    if not found:
        raise NoEvidence(f"the archive holds no two documents of {ticker} to compare", fix="run `alphaagent data fetch` on different days")
    return tuple(found)


def _pair(room: LiveRoom, series: Series, since: datetime | None, until: datetime) -> tuple[Observation, Observation] | None:
    documents = [one for one in room.archive.observations(series, upto=until) if one.sha256]
    if not documents:
        return None
    new = documents[-1]
    earlier = [one for one in documents if (one.fetched_at <= since if since is not None else one.sha256 != new.sha256)]
    return (earlier[-1], new) if earlier and earlier[-1] != new else None


def _said(source: LiveSource, vendor: Vendor, instrument: Instrument, one: Observation, calendar: Calendar) -> Records:
    return source.records_of(vendor, instrument, one, calendar, datetime.max.replace(tzinfo=UTC))


def accept(workplace: Workplace, ticker: str, reason: str) -> Observation:
    """Takes the rewritten history of a vendor as it is now for good. Raises UsageFault where nothing is in conflict, or no reason is given."""
    if not reason.strip() or not reason.isprintable():
        raise UsageFault("the reason is empty or unprintable", fix="say in a few words why the new history is right")
    room, now = workplace.room, workplace.clock.now()
    instrument = known(workplace, ticker, now.date())
    for vendor in room.sources["prices"].vendors:
        look = room.archive.last_before(Series(vendor.name, "prices", instrument.id), now)
        if look is not None and look.note.startswith(REVISED):
            note = f"{ACCEPTED}{reason.strip()}"
            return room.archive.keep(look.series, now, look.holds_until, "unchanged", same_as=look.sha256, validators=look.validators, note=note)
    raise UsageFault(f"no price history of {ticker} is in conflict with what was seen before", fix="see `alphaagent data status`")


def record_snapshot(workplace: Workplace, tickers: Sequence[str], target: Path, as_of: datetime) -> tuple[str, ...]:
    """Writes what is known of these tickers at an instant as a snapshot folder. Raises UsageFault, NoEvidence."""
    room, told = workplace.room, []
    for ticker in dict.fromkeys(tickers):
        instrument = known(workplace, ticker, as_of.date())
        calendar = room.calendar_of(instrument)
        session = calendar.last_completed(as_of)
        told.append(Recorded(instrument, {supply: ask(calendar, instrument, as_of, session) for supply, ask in room.suppliers().items()}))
    return record(target, told, room.index_closes(as_of), workplace.calendars, as_of)
