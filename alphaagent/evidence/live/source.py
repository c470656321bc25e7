"""A topic in live data: which observation speaks for an instant, fetched where there is none, and what of it may be seen.

Chosen on purpose: the observation in force at `as_of` comes first, then the first look after it, and only then is the vendor asked. A later run at an
earlier instant therefore sees what was known then, and a restatement fetched since does not reach it. What a vendor told at one instant is cut at
that instant as well as at `as_of`: a bar that was not complete when it was fetched is no bar.
"""

import threading
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import lru_cache

from alphaagent.domain.base import instant_text
from alphaagent.domain.evidence import Status
from alphaagent.domain.market import Instrument, Records
from alphaagent.errors import SourceFault, UsageFault, VendorFault
from alphaagent.evidence.admission import admit
from alphaagent.evidence.gathered import Supplied
from alphaagent.evidence.live.archive import Archive, Observation, Series
from alphaagent.evidence.live.holding import holds_until
from alphaagent.evidence.live.revision import REVISED, revision, since_accepted
from alphaagent.evidence.live.vendor import Fetched, Seen, Topic, Vendor
from alphaagent.ports import Calendar, Clock

NOT_AGAIN_SECONDS = 60.0
"""A vendor that has just failed about an instrument is not asked about it again within this process for so long."""
CACHED_DOCUMENTS = 64
REMEMBERED = 4096
ENOUGH_SESSIONS = 300
"""Sessions after the last hole with which a history is measured without what came before it: a year, and what its measures need to settle."""
ANCHORED = timedelta(days=45)
"""How far back a history is held against what was told then: small steps, each within tolerance, add up."""
UNREADABLE = (ValueError, ArithmeticError, LookupError, TypeError, OSError, RecursionError)
"""What a reader may meet in a document that nobody foresaw. It is the document's fault, and no end of the run."""
MOMENT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Told:
    """What one vendor told: the observation that speaks for an instant, its records cut there, and why it is not simply good."""

    observation: Observation
    records: Records
    status: Status = Status.OK
    note: str | None = None


class LiveSource:
    """One topic, from the first of its vendors that is asked about an instrument."""

    def __init__(self, topic: Topic, vendors: tuple[Vendor, ...], archive: Archive, clock: Clock, *, asks: bool = True) -> None:
        """Where it does not ask, the archive alone answers, and nothing is written to it."""
        self.topic = topic
        self.vendors = vendors
        self._archive = archive
        self._clock = clock
        self._asks = asks
        self._lock = threading.Lock()
        self._chosen: dict[tuple[Series, datetime], Observation] = {}
        self._turns: dict[Series, threading.Lock] = {}
        self._failed: dict[Series, tuple[float, VendorFault]] = {}
        self._parsed = lru_cache(maxsize=CACHED_DOCUMENTS)(self._parse)

    def vendor_for(self, instrument: Instrument) -> tuple[Vendor | None, str]:
        """The first vendor that is asked about an instrument; with none, why."""
        reasons = []
        for vendor in self.vendors:
            reason = vendor.not_asked(instrument)
            if reason is None:
                return vendor, ""
            reasons.append(reason)
        return None, "; ".join(reasons)

    def supply(self, calendar: Calendar, instrument: Instrument, as_of: datetime, session: date) -> Supplied:
        """What a decision may see, with how its fetch ended. Never raises for a vendor's failure."""
        vendor, reason = self.vendor_for(instrument)
        if vendor is None:
            return Supplied(self.topic, Status.NOT_APPLICABLE, note=reason)
        try:
            told = self.told(vendor, instrument, as_of, calendar)
        except SourceFault as fault:
            return Supplied(vendor.name, Status.FAILED, note=fault.message)
        return _judged(vendor, instrument, told, session)

    def told(self, vendor: Vendor, instrument: Instrument, as_of: datetime, calendar: Calendar) -> Told:
        """What a vendor's observation for an instant says. Raises SourceFault: the vendor's failure where nothing older is there either."""
        try:
            observation, stale = self._observed(vendor, instrument, as_of, calendar), None
        except VendorFault as fault:
            older = self._archive.last_before(_series(vendor, instrument), as_of)
            if older is None or older.sha256 is None:
                raise
            observation = older
            stale = f"{fault.message}; this is what {vendor.name} said at {instant_text(older.fetched_at)}"
        records = after_holes(self.records_of(vendor, instrument, observation, calendar, as_of))
        revised = observation.note if observation.note.startswith(REVISED) else None
        status = Status.CONFLICT if revised else Status.STALE if stale else Status.OK
        return Told(observation, records, status, revised or stale or observation.note or None)

    def kept(self, instrument: Instrument, as_of: datetime, calendar: Calendar) -> Records:
        """The last that was told before an instant, whether it still holds or not; nobody is asked. Raises SourceFault where it cannot be read."""
        vendor, _ = self.vendor_for(instrument)
        found = None if vendor is None else self._archive.last_before(_series(vendor, instrument), as_of)
        if vendor is None or found is None:
            return Records()
        return after_holes(self.records_of(vendor, instrument, found, calendar, as_of))

    def document(self, vendor: Vendor, instrument: Instrument, calendar: Calendar) -> bytes | None:
        """What a vendor says now, as it came; what it said before where it fails. None where it knows nothing. Raises VendorFault."""
        now = self._clock.now()
        series = _series(vendor, instrument)
        try:
            found = self._archive.in_force(series, now) or self._fetched(vendor, instrument, calendar)
        except VendorFault:
            older = self._archive.last_before(series, now)
            if older is None:
                raise
            found = older
        return None if found.sha256 is None else self._archive.document(found.sha256)

    def records_of(self, vendor: Vendor, instrument: Instrument, observation: Observation, calendar: Calendar, as_of: datetime) -> Records:
        """An observation's records that were known before an instant and before it was made itself."""
        if observation.sha256 is None:
            return Records()
        cut = min(as_of, observation.fetched_at + MOMENT)
        records = self._parsed(self.vendors.index(vendor), observation.sha256, instrument, calendar, observation.fetched_at)
        return admit(records, cut, calendar.last_completed(cut))

    def refresh(self, instrument: Instrument, calendar: Calendar, *, force: bool = False) -> dict[str, tuple[Observation | VendorFault | str, bool]]:
        """Asks the topic's vendor unless its last word still holds: by its name the observation, the failure, or why it is not asked; and whether it
        was asked just now."""
        vendor, reason = self.vendor_for(instrument)
        if vendor is None:
            return {one.name: (one.not_asked(instrument) or reason, False) for one in self.vendors}
        held = None if force else self._archive.in_force(_series(vendor, instrument), self._clock.now())
        if held is not None:
            return {vendor.name: (held, False)}
        try:
            return {vendor.name: (self._fetched(vendor, instrument, calendar, insist=force), True)}
        except VendorFault as fault:
            return {vendor.name: (fault, True)}

    def _observed(self, vendor: Vendor, instrument: Instrument, as_of: datetime, calendar: Calendar) -> Observation:
        """The observation for an instant; the same for the whole life of the process, so that no two readers can disagree."""
        series = _series(vendor, instrument)
        with self._lock:
            chosen = self._chosen.get((series, as_of))
        if chosen is not None:
            return chosen
        with self._turn(series):
            found = self._archive.in_force(series, as_of) or self._archive.first_after(series, as_of) or self._fetched(vendor, instrument, calendar)
        with self._lock:
            if len(self._chosen) >= REMEMBERED:
                self._chosen.clear()
            return self._chosen.setdefault((series, as_of), found)

    def _turn(self, series: Series) -> threading.Lock:
        """One after the other about one series: who comes second finds what the first has fetched."""
        with self._lock:
            return self._turns.setdefault(series, threading.Lock())

    def _fetched(self, vendor: Vendor, instrument: Instrument, calendar: Calendar, *, insist: bool = False) -> Observation:
        """Asks the vendor and keeps what came of it, a failure too. Raises VendorFault."""
        if not self._asks:
            raise VendorFault("not_configured", f"{vendor.name} is not asked here about {instrument.symbol}", fix="run `alphaagent data fetch`")
        series = _series(vendor, instrument)
        failed_at, fault = self._failed.get(series, (0.0, None))
        if fault is not None and not insist and time.monotonic() - failed_at < NOT_AGAIN_SECONDS:
            raise fault
        before = self._archive.last_before(series, self._clock.now())
        seen = self._seen(before)
        try:
            came = _asked(vendor, instrument, seen)
            if came is None and seen is not None:
                raise VendorFault(
                    "schema", f"{vendor.name} says that it knows nothing of {instrument.symbol}, of which it has told before", fix="try again later"
                )
        except VendorFault as fault:
            at = self._clock.now()
            self._archive.keep(series, at, at, fault.kind, note=fault.message)
            self._failed[series] = (time.monotonic(), fault)
            raise
        self._failed.pop(series, None)
        at = self._clock.now()
        until = holds_until(self.topic, calendar, at)
        if came is None:
            return self._archive.keep(series, at, until, "nothing")
        note = "; ".join(came.notes)
        if came.raw is None:
            same = before.sha256 if before else None
            carried = before.note if before and before.note.startswith(REVISED) else note
            return self._archive.keep(
                series, at, until, "unchanged", same_as=same, validators={**(seen.validators if seen else {}), **came.validators}, note=carried
            )
        revised = self._revision(vendor, instrument, calendar, came.raw, at)
        return self._archive.keep(series, at, until, "ok", came.raw, validators=came.validators, note=revised or note)

    def _seen(self, before: Observation | None) -> Seen | None:
        """The last document; None where there is none, or where it cannot be read any more and is fetched anew."""
        with suppress(SourceFault):
            if before is not None and before.sha256 is not None:
                return Seen(self._archive.document(before.sha256), before.fetched_at, before.validators)
        return None

    def _revision(self, vendor: Vendor, instrument: Instrument, calendar: Calendar, raw: bytes, at: datetime) -> str | None:
        """In words, where the bars of a new document contradict those that the last good one had."""
        if self.topic != "prices":
            return None
        kept = since_accepted(self._archive.observations(_series(vendor, instrument)))
        if not kept:
            return None
        try:
            new = self._read(vendor, raw, instrument, calendar, at)
        except SourceFault as fault:
            return f"{REVISED}{fault.message}"
        anchor = next(one for one in kept if one.fetched_at >= kept[-1].fetched_at - ANCHORED)
        for base in (kept[-1], anchor) if anchor is not kept[-1] else (anchor,):
            with suppress(SourceFault):  # a document that cannot be read any more is no base
                old = self.records_of(vendor, instrument, base, calendar, base.fetched_at)
                found = revision(vendor.name, old, new, base.fetched_at)
                if found is not None:
                    return found
        return None

    def _parse(self, place: int, sha256: str, instrument: Instrument, calendar: Calendar, fetched_at: datetime) -> Records:
        return self._read(self.vendors[place], self._archive.document(sha256), instrument, calendar, fetched_at)

    def _read(self, vendor: Vendor, raw: bytes, instrument: Instrument, calendar: Calendar, at: datetime) -> Records:
        """A document's records. Raises SourceFault, also where it holds what no reader was made for."""
        try:
            return vendor.parse(raw, instrument, calendar, at)
        except UNREADABLE as fault:
            message = f"{vendor.name}'s {vendor.topic} of {instrument.symbol} hold what cannot be read ({type(fault).__name__})"
            raise SourceFault(message, fix="run `alphaagent data fetch` again later") from fault


def _asked(vendor: Vendor, instrument: Instrument, seen: Seen | None) -> Fetched | None:
    """What a vendor answers. Raises VendorFault, also where its answer holds what no reader was made for, or its name cannot be asked for."""
    try:
        return vendor.fetch(instrument, seen)
    except UsageFault as fault:
        raise VendorFault("not_configured", fault.message, fix=fault.fix) from fault
    except UNREADABLE as fault:
        message = f"{vendor.name} answers about {instrument.symbol} with what cannot be read ({type(fault).__name__})"
        raise VendorFault("schema", message, fix="try again later") from fault


def _series(vendor: Vendor, instrument: Instrument) -> Series:
    return Series(vendor.name, vendor.topic, instrument.id)


def after_holes(records: Records) -> Records:
    """What follows the last broken row, where that is enough to measure: a hole of years ago is no reason to see nothing."""
    broken = [fault.session for fault in records.faults if fault.session is not None]
    if not records.bars or len(broken) < len(records.faults) or not broken:
        return records
    whole = tuple(bar for bar in records.bars if bar.session > max(broken))
    return replace(records, bars=whole, faults=()) if len(whole) >= ENOUGH_SESSIONS else records


def _judged(vendor: Vendor, instrument: Instrument, told: Told, session: date) -> Supplied:
    records = told.records
    broken = [fault for fault in records.faults if fault.session is None or fault.session <= session]
    if broken:
        more = f" (and {len(broken) - 1} more rows)" if len(broken) > 1 else ""
        return Supplied(vendor.name, Status.FAILED, note=f"{broken[0].where}: {broken[0].message}{more}")
    if not any((records.bars, records.facts, records.articles, records.coming)):
        note = told.note or f"{vendor.name} has no {vendor.topic} of {instrument.symbol} before this instant"
        return Supplied(vendor.name, Status.STALE if told.status is Status.STALE else Status.EMPTY, records, note)
    return Supplied(vendor.name, told.status, records, told.note)
