"""News from the RSS and Atom feeds of config/feeds.yaml, all of them one vendor.

Chosen on purpose: feeds forget, so the document kept is everything seen so far (feed_collection.py), and one feed that fails takes nothing from the
others nor from what it gave before. An article is known when its feed says that it was published; one dated ahead of the fetch, and one without a
date, counts as undated. What is no article and what speaks of others is left out when the document is read, not when it is kept, so that better
rules can read old documents again.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, time
from types import MappingProxyType
from urllib.parse import urlsplit

from alphaagent.domain.base import sha256_hex
from alphaagent.domain.market import Article, Instrument, Records
from alphaagent.errors import SourceFault, VendorFault
from alphaagent.evidence.headline import LEGAL_FORMS, CompanyNames
from alphaagent.evidence.live.feed_collection import Collection, FeedState, collected
from alphaagent.evidence.live.feed_landing import is_landing_page
from alphaagent.evidence.live.feed_reading import Entry, read_document
from alphaagent.evidence.live.feed_subject import speaks_of
from alphaagent.evidence.live.feeds_config import Feed
from alphaagent.evidence.live.filing_words import filing_title
from alphaagent.evidence.live.vendor import Fetched, Seen, Topic
from alphaagent.evidence.live.wire import Wire
from alphaagent.evidence.sources.feed import published_at
from alphaagent.ports import Calendar

ACCEPT = "application/rss+xml, application/atom+xml, application/xml;q=0.9, text/xml;q=0.8"
EDGAR_MIDNIGHT = time(5, tzinfo=UTC)
EDGAR_OPENS = time(11, tzinfo=UTC)
"""Midnight and six in the morning in New York, an hour later in summer: a filing taken in late bears the next day, on which it is published."""
US_MARKETS = ("XNAS", "XNYS", "XASE", "ARCX", "BATS", "IEXG")
GOOD = ("ok", "unchanged")


@dataclass(frozen=True, slots=True)
class _Asked:
    """What one feed gave: how it stands, its entries, and why it failed if it did."""

    state: FeedState
    entries: tuple[Entry, ...] = ()
    fault: VendorFault | None = None


def yahoo_symbol(instrument: Instrument) -> str:
    """What Yahoo calls it: its own name for it where it has one, a dash before a share class, a market's ending as it stands."""
    given = dict(instrument.vendor_symbols).get("yahoo")
    american = instrument.mic in US_MARKETS
    return given or (instrument.symbol.replace(".", "-").replace("/", "-") if american else instrument.symbol)


class Feeds:
    """The vendor of news. `wires` asks some hosts otherwise than `wire`, each with limits and rests of its own; `address` stands in for every host."""

    name = "feeds"
    topic: Topic = "news"

    def __init__(
        self,
        feeds: Sequence[Feed],
        wire: Wire,
        *,
        wires: Mapping[str, Wire] = MappingProxyType({}),
        address: str | None = None,
        symbol_of: Callable[[Instrument], str] = yahoo_symbol,
    ) -> None:
        self._feeds = tuple(feeds)
        self._wire = wire
        self._wires = wires
        self._address = address
        self._symbol_of = symbol_of

    def not_asked(self, instrument: Instrument) -> str | None:
        return None if self._addresses(instrument) else f"no feed is configured for {instrument.symbol}"

    def fetch(self, instrument: Instrument, before: Seen | None) -> Fetched | None:
        asked = self._addresses(instrument)
        if not asked:
            return None
        earlier, notes = _earlier(before)
        with ThreadPoolExecutor(max_workers=len(asked)) as pool:
            came = list(pool.map(lambda one: self._asked(one[0], one[1], earlier), asked))
        if not any(one.state.ended in GOOD for one in came):
            _refuse_failure(came)
            if earlier is None:
                return None
        return _fetched(came, earlier, before, notes)

    def parse(self, raw: bytes, instrument: Instrument, calendar: Calendar, fetched_at: datetime) -> Records:
        collection, company = Collection.read(raw), CompanyNames.of(instrument)
        dated, undated, off_topic = [], 0, 0
        for entry in collection.entries:
            state = collection.state(entry.feed)
            at = _known_at(entry, calendar)
            if state is None or not _is_article(entry, state, company):
                off_topic += 1
            elif at is None or at > fetched_at:
                undated += 1
            else:
                dated.append(_article(entry, state, instrument, at))
        dated.sort(key=lambda article: (article.known_at, article.guid))
        return Records(articles=tuple(dated), undated=undated, off_topic=off_topic)

    def _addresses(self, instrument: Instrument) -> list[tuple[Feed, str]]:
        fields = {"ticker": instrument.symbol, "symbol": self._symbol_of(instrument), "cik": instrument.cik, "name": _searched_name(instrument)}
        filled = ((feed, feed.filled(fields)) for feed in self._feeds if feed.is_for(instrument))
        return [(feed, address) for feed, address in filled if address is not None]

    def _asked(self, feed: Feed, address: str, earlier: Collection | None) -> _Asked:
        before = earlier.state(feed.name) if earlier else None
        asked = sha256_hex(address.encode())
        validators = before.validators if before and before.asked == asked else {}
        state = FeedState(
            name=feed.name,
            asked=asked,
            kind=feed.kind,
            own=bool(feed.tickers),
            ended="ok",
            validators=validators,
            title=before.title if before else "",
            home=before.home if before else "",
        )
        try:
            return self._answered(feed, address, state)
        except VendorFault as fault:
            return _Asked(state.model_copy(update={"ended": fault.kind}), fault=fault)

    def _answered(self, feed: Feed, address: str, state: FeedState) -> _Asked:
        answer = self._wires.get(feed.host, self._wire).get(self._placed(address), state.validators, accept=ACCEPT)
        if answer is None:
            return _Asked(state.model_copy(update={"ended": "absent"}))
        if answer.unchanged:
            return _Asked(state.model_copy(update={"ended": "unchanged"}))
        document = read_document(answer.body, feed.name)
        read = {"title": document.title, "home": document.home, "validators": dict(answer.validators)}
        return _Asked(state.model_copy(update=read), document.entries)

    def _placed(self, address: str) -> str:
        if self._address is None:
            return address
        parts = urlsplit(address)
        return f"{self._address}{parts.path}{f'?{parts.query}' if parts.query else ''}"


def _searched_name(instrument: Instrument) -> str:
    """The company's name as it is searched for: without its legal form."""
    words = instrument.name.replace(",", " ").split()
    while len(words) > 1 and words[-1].rstrip(".").lower() in LEGAL_FORMS:
        words.pop()
    return " ".join(words)


def _earlier(before: Seen | None) -> tuple[Collection | None, tuple[str, ...]]:
    """What was collected before; nothing, and a note, where that cannot be read."""
    if before is None:
        return None, ()
    try:
        return Collection.read(before.raw), ()
    except SourceFault as fault:
        return None, (f"{fault.message}; it begins anew",)


def _refuse_failure(came: Sequence[_Asked]) -> None:
    """Raises the first fault, with the words of all; nothing where every feed says that it does not know the instrument."""
    faults = [(one.state.name, one.fault) for one in came if one.fault is not None]
    if not faults:
        return
    first = faults[0][1]
    waits = [fault.retry_after_seconds for _, fault in faults if fault.retry_after_seconds is not None]
    told = "; ".join(_told(name, fault) for name, fault in faults)
    raise VendorFault(first.kind, f"no feed could be read: {told}", fix=first.fix, retry_after_seconds=max(waits, default=None))


def _told(name: str, fault: VendorFault) -> str:
    return f"{name} ({fault.kind}): {fault.message}"


def _fetched(came: Sequence[_Asked], earlier: Collection | None, before: Seen | None, notes: tuple[str, ...]) -> Fetched:
    names = [one.state.name for one in came]
    notes = (*notes, *(_told(one.state.name, one.fault) for one in came if one.fault is not None))
    notes = (*notes, *(f"{one.state.name} (absent): the feed is not there" for one in came if one.state.ended == "absent"))
    entries = collected(
        earlier.entries if earlier else (), before.fetched_at if before and earlier else None, (entry for one in came for entry in one.entries), names
    )
    made = Collection(feeds=tuple(one.state for one in came), entries=entries)
    if earlier is not None and made.keys <= earlier.keys and names == [state.name for state in earlier.feeds]:
        return Fetched(None, notes=notes)
    return Fetched(made.written(), notes=notes)


def _known_at(entry: Entry, calendar: Calendar) -> datetime | None:
    """When an entry was published. A filing that bears a later day than its date was published on that day."""
    at = entry.at or published_at(entry.dated, calendar)
    if at is None or entry.filed is None or datetime.combine(entry.filed, EDGAR_MIDNIGHT) <= at:
        return at
    return max(at, datetime.combine(entry.filed, EDGAR_OPENS))


def _is_article(entry: Entry, state: FeedState, company: CompanyNames) -> bool:
    """Whether an entry is an article at all, and one that speaks of the company or of the market."""
    if state.kind == "filing":
        return entry.form is not None
    title = entry.title or entry.summary
    if is_landing_page(title, entry.link, state.home, (entry.publisher, state.title), company):
        return False
    return state.own or speaks_of(title, entry.summary, company)


def _article(entry: Entry, state: FeedState, instrument: Instrument, at: datetime) -> Article:
    filing = state.kind == "filing" and entry.form is not None
    return Article(
        guid=entry.guid,
        title=filing_title(instrument.name, entry.form or "", entry.items) if filing else entry.title,
        summary="" if filing else entry.summary,
        link=entry.link,
        publisher="SEC EDGAR" if filing else entry.publisher,
        origin="filing" if filing else "press",
        accession=entry.accession,
        published_at=at,
        known_at=at,
        taint=entry.taint,
    )
