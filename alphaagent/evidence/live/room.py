"""Everything of live data wired together: who is asked about what, where it is kept, and how it is made ready before anything is locked."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from alphaagent.domain.market import Instrument
from alphaagent.errors import SourceFault, VendorFault
from alphaagent.evidence.gather import Supplier
from alphaagent.evidence.live.archive import Archive, Observation
from alphaagent.evidence.live.gate import Gate
from alphaagent.evidence.live.market import LiveMarket
from alphaagent.evidence.live.source import LiveSource
from alphaagent.evidence.live.vendor import Topic
from alphaagent.ports import Calendar, Supply

AT_ONCE = 8
"""Instruments that are fetched at the same time; each vendor's own limits hold over all of them."""
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
    calendar_of: Callable[[Instrument], Calendar]
    now: Callable[[], datetime]

    def suppliers(self) -> dict[Supply, Supplier]:
        return {topic: source.supply for topic, source in self.sources.items()}

    def prepare(self, instruments: Iterable[Instrument], as_of: datetime) -> None:
        """Fetches the prices that an instant needs; a failure shows where they are used."""
        prices = self.sources["prices"]

        def ready(instrument: Instrument) -> None:
            vendor, _ = prices.vendor_for(instrument)
            if vendor is None:
                return
            try:
                prices.told(vendor, instrument, as_of, self.calendar_of(instrument))
            except SourceFault:
                return

        _all_at_once(ready, tuple(instruments))

    def refresh(self, instruments: Sequence[Instrument], *, force: bool = False, tell: Callable[[Instrument], None] = lambda _: None) -> tuple[Refreshed, ...]:
        """Asks every vendor whose last word does not hold any more (with `force`, every one), in the order of the instruments."""

        def refreshed(instrument: Instrument) -> list[Refreshed]:
            calendar, found = self.calendar_of(instrument), []
            for topic, source in self.sources.items():
                for vendor, (ended, fetched) in source.refresh(instrument, calendar, force=force).items():
                    found.append(Refreshed(instrument, topic, vendor, ended, fetched))
            tell(instrument)
            return found

        return tuple(one for found in _all_at_once(refreshed, tuple(instruments)) for one in found)


def _all_at_once(make: Callable[[Instrument], Made], given: Sequence[Instrument]) -> list[Made]:
    if len(given) < 2:
        return [make(one) for one in given]
    with ThreadPoolExecutor(max_workers=min(AT_ONCE, len(given))) as pool:
        return list(pool.map(make, given))
