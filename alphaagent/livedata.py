"""Settings and the vendors of the registry become the room of live data."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from alphaagent.clock import SessionTable
from alphaagent.domain.market import Instrument
from alphaagent.errors import ConfigFault
from alphaagent.evidence.gather import recorded
from alphaagent.evidence.live.archive import Archive
from alphaagent.evidence.live.described import parse_instruments
from alphaagent.evidence.live.gate import Gate
from alphaagent.evidence.live.identities import Papers
from alphaagent.evidence.live.index import INDEX
from alphaagent.evidence.live.instruments import LiveInstruments
from alphaagent.evidence.live.limits import parse_limits
from alphaagent.evidence.live.market import LiveMarket
from alphaagent.evidence.live.room import LiveRoom
from alphaagent.evidence.live.second import Second
from alphaagent.evidence.live.site import SEC_HOSTS, MakeVendors, Site
from alphaagent.evidence.live.source import LiveSource
from alphaagent.evidence.live.vendor import Topic, Vendor
from alphaagent.evidence.sources.instruments import read_instruments
from alphaagent.evidence.sources.own_prices import OwnPrices
from alphaagent.ports import Clock
from alphaagent.settings import Settings

TOPICS: tuple[Topic, ...] = ("prices", "fundamentals", "news", "events")
SECOND_ONLY = "stooq"
"""A vendor that gives a second opinion and nothing else."""
CalendarOf = Callable[[Instrument], SessionTable]


def live_room(
    settings: Settings,
    vendors: Mapping[str, MakeVendors],
    calendar_of: CalendarOf,
    clock: Clock,
    own: OwnPrices | None,
    snapshot: Path,
    *,
    asks: bool = True,
) -> LiveRoom:
    """Everything wired; where it does not ask, the archive alone answers. Raises ConfigFault that names the file and the key."""
    limits = parse_limits(settings.vendors.document, str(settings.vendors.path), tuple(vendors))
    gates = {name: Gate(name, limits[name], time.sleep) for name in vendors}
    sites = {name: _site(settings, name, gate) for name, gate in gates.items()}
    made: dict[str, tuple[Vendor, ...]] = {name: make(sites[name]) for name, make in vendors.items()}
    archive = Archive(settings.archive)
    first = [vendor for name, some in made.items() if name != SECOND_ONLY for vendor in some]
    sources = {topic: LiveSource(topic, tuple(one for one in first if one.topic == topic), archive, clock, asks=asks) for topic in TOPICS}
    further = LiveSource("prices", made[SECOND_ONLY], archive, clock, asks=asks) if settings.data.second_source == SECOND_ONLY else None
    described = parse_instruments(settings.instruments.document, str(settings.instruments.path), tuple(vendors))
    papers = _papers(sites, archive, clock, calendar_of, asks=asks)
    identities = LiveInstruments(described, read_instruments(snapshot), papers.tickers, papers.ask, papers.completed)
    replacing = None if settings.data.second_source == "own" else own
    return LiveRoom(
        archive=archive,
        sources=sources,
        gates=gates,
        market=LiveMarket(sources["prices"], identities, calendar_of, clock, replacing),
        second=_second(settings, further, own),
        further=further,
        index=INDEX,
        calendar_of=calendar_of,
        now=clock.now,
        sites=tuple(sites.values()),
    )


def _site(settings: Settings, name: str, gate: Gate) -> Site:
    return Site(
        gate=gate,
        folder=settings.archive.parent / name,
        contact=settings.data.contact,
        key=settings.models.key((f"{name.upper()}_API_KEY",)),
        feeds=settings.feeds.document,
        feeds_path=str(settings.feeds.path),
        sleep=time.sleep,
    )


def _second(settings: Settings, further: LiveSource | None, own: OwnPrices | None) -> Second | None:
    match settings.data.second_source:
        case "own" if own is None:
            raise ConfigFault("data.second_source is 'own' and there are no own prices", fix="set data.own_prices, or data.second_source to null")
        case "own" if own is not None:
            return Second(own.name, recorded(own))
        case "stooq" if further is not None:
            return Second(SECOND_ONLY, further.supply)
    return None


def _papers(sites: Mapping[str, Site], archive: Archive, clock: Clock, calendar_of: CalendarOf, *, asks: bool) -> Papers:
    """Identity, by the SEC and by Yahoo; loaded when a name is asked for that nobody has described."""
    from alphaagent.evidence.live.vendors.edgar import ADDRESS, cik_of
    from alphaagent.evidence.live.vendors.edgar_companies import WWW_ADDRESS, EdgarSubmissions, EdgarTickers, read_company, read_tickers
    from alphaagent.evidence.live.vendors.yahoo import YahooDirectory, YahooSession

    edgar, yahoo = sites["edgar"], sites["yahoo"]
    wire = edgar.wire(SEC_HOSTS)
    submissions = EdgarSubmissions(wire, edgar.address(ADDRESS), edgar.contact)

    def complete(raw: bytes, instrument: Instrument) -> Instrument:
        return read_company(raw, cik_of(instrument)).described(instrument)

    return Papers(
        archive,
        clock,
        lambda: calendar_of(INDEX),
        listing=EdgarTickers(wire, edgar.address(WWW_ADDRESS), edgar.contact).fetch,
        read_list=read_tickers,
        page=submissions.fetch,
        complete=complete,
        directory=YahooDirectory(yahoo.kept(YahooSession(yahoo.gate, yahoo.folder))),
        asks=asks,
    )
