"""Everything of live data wired together: who is asked about what, where it is kept, and how it is made ready before anything is locked."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import TypeVar

from alphaagent.domain.evidence import Status
from alphaagent.domain.market import Instrument
from alphaagent.errors import AlphaAgentError, SourceFault, VendorFault
from alphaagent.evidence.gather import Supplier
from alphaagent.evidence.live.archive import Archive, Observation
from alphaagent.evidence.live.gate import Gate
from alphaagent.evidence.live.market import LiveMarket
from alphaagent.evidence.live.second import Second
from alphaagent.evidence.live.site import Site
from alphaagent.evidence.live.source import LiveSource
from alphaagent.evidence.live.vendor import Topic
from alphaagent.ports import Calendar, Supply

AT_ONCE = 8
"""Instruments that are fetched at the same time; each vendor's own limits hold over all of them."""
SUPPLIES: tuple[Supply, ...] = ("prices", "fundamentals", "news", "events")
Made = TypeVar("Made")
Ended = Observation | VendorFault | str
"""What came of asking: an observation, a failure, or why nobody was asked."""


@dataclass(frozen=True, slots=True)
class Refreshed:
    """One vendor asked about one topic of one instrument, or not."""

    instrument: Instrument
    topic: Topic
    vendor: str
    ended: Ended
    fetched: bool
    """Whether it was asked just now; an observation that still holds is not fetched again."""


@dataclass(frozen=True, slots=True)
class LiveRoom:
    """Made by `bootstrap`, from the vendors in the registry."""

    archive: Archive
    sources: Mapping[Topic, LiveSource]
    gates: Mapping[str, Gate]
    market: LiveMarket
    second: Second | None
    """Who is asked for the last close as well."""
    further: LiveSource | None
    """The vendor behind `second`, where it is one."""
    index: Instrument
    """What stands for the market: its prices are fetched with every refresh."""
    calendar_of: Callable[[Instrument], Calendar]
    now: Callable[[], datetime]
    sites: Sequence[Site] = ()
    """Of the vendors, with their connections."""

    def close(self) -> None:
        """Ends the connections to every vendor."""
        for site in self.sites:
            site.close()

    def suppliers(self) -> dict[Supply, Supplier]:
        return {supply: self.sources[supply].supply for supply in SUPPLIES}

    def index_closes(self, as_of: datetime) -> tuple[tuple[date, Decimal], ...]:
        """The closes of the index that were known before an instant; none where nobody tells."""
        prices, calendar = self.sources["prices"], self.calendar_of(self.index)
        told = prices.supply(calendar, self.index, as_of, calendar.last_completed(as_of))
        return tuple((bar.session, bar.close) for bar in told.records.bars) if told.status is Status.OK else ()

    def prepare(self, instruments: Iterable[Instrument], as_of: datetime) -> None:
        """Fetches the prices that an instant needs; a failure shows where they are used."""
        prices = self.sources["prices"]

        def ready(instrument: Instrument) -> None:
            vendor, _ = prices.vendor_for(instrument)
            if vendor is None or self.market.owns(instrument):
                return
            try:
                prices.told(vendor, instrument, as_of, self.calendar_of(instrument))
            except SourceFault:
                return

        _all_at_once(ready, tuple(instruments))

    def refresh(self, instruments: Sequence[Instrument], *, force: bool = False, tell: Callable[[Instrument], None] = lambda _: None) -> tuple[Refreshed, ...]:
        """Asks every vendor whose last word does not hold any more (with `force`, every one), in the order of the instruments."""

        def refreshed(instrument: Instrument) -> list[Refreshed]:
            found = []
            for topic, source in self._asked(instrument):
                try:
                    answers = source.refresh(instrument, self.calendar_of(instrument), force=force)
                except AlphaAgentError as fault:
                    answers = {source.vendors[0].name: (VendorFault("not_configured", fault.message, fix=fault.fix), False)}
                found += [Refreshed(instrument, topic, vendor, ended, fetched) for vendor, (ended, fetched) in answers.items()]
            if instrument != self.index:
                tell(instrument)
            return found

        everything = (*instruments, self.index) if instruments else ()
        return tuple(one for found in _all_at_once(refreshed, everything) for one in found)

    def _asked(self, instrument: Instrument) -> list[tuple[Topic, LiveSource]]:
        """The topics that a refresh of an instrument goes through; of the index only its prices."""
        if instrument == self.index:
            return [("prices", self.sources["prices"])]
        further: list[tuple[Topic, LiveSource]] = [("prices", self.further)] if self.further is not None else []
        return [pair for pair in (*self.sources.items(), *further) if pair[0] != "prices" or not self.market.owns(instrument)]


def _all_at_once(make: Callable[[Instrument], Made], given: Sequence[Instrument]) -> list[Made]:
    if len(given) < 2:
        return [make(one) for one in given]
    with ThreadPoolExecutor(max_workers=min(AT_ONCE, len(given))) as pool:
        return list(pool.map(make, given))
