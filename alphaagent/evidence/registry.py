"""Which source supplies what, and which function is which tool. A vendor joins by one line here."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from alphaagent.domain.evidence import ToolName
from alphaagent.evidence.fundamentals_tool import fundamental_items
from alphaagent.evidence.gather import Tool
from alphaagent.evidence.index_history import IndexHistory
from alphaagent.evidence.lexicon import Lexicon
from alphaagent.evidence.live.site import SEC_HOSTS, MakeVendors, Site, is_the_sec
from alphaagent.evidence.live.vendor import Vendor
from alphaagent.evidence.news_tool import news_items
from alphaagent.evidence.price_tool import market_items, price_items
from alphaagent.evidence.sources.snapshot import SnapshotFundamentals, SnapshotNews, SnapshotPrices
from alphaagent.ports import EvidenceSource, Supply

SOURCES: Mapping[Supply, Callable[[Path], EvidenceSource]] = {"prices": SnapshotPrices, "fundamentals": SnapshotFundamentals, "news": SnapshotNews}
"""Recorded data, by what they supply."""


def _yahoo(site: Site) -> tuple[Vendor, ...]:
    from alphaagent.evidence.live.vendors.yahoo import YahooEvents, YahooPrices, YahooSession, YahooStatements

    session = site.kept(YahooSession(site.gate, site.folder))
    return YahooPrices(session), YahooEvents(session), YahooStatements(session)


def _edgar(site: Site) -> tuple[Vendor, ...]:
    from alphaagent.evidence.live.vendors.edgar import ADDRESS, EdgarFacts

    return (EdgarFacts(site.wire(SEC_HOSTS), site.address(ADDRESS), site.contact),)


def _feeds(site: Site) -> tuple[Vendor, ...]:
    from alphaagent.evidence.live.feeds_config import parse_feeds
    from alphaagent.evidence.live.vendors.feeds import Feeds

    told = parse_feeds(site.feeds, site.feeds_path)
    feeds = tuple(feed for feed in told if site.contact or not is_the_sec(feed.host))
    wires = {host: site.wire_of(host) for host in sorted({feed.host for feed in feeds})}
    return (Feeds(feeds, site.wire(), wires=wires, address=site.limits.address),)


def _stooq(site: Site) -> tuple[Vendor, ...]:
    from alphaagent.evidence.live.vendors.stooq import HOSTS, StooqPrices

    return (StooqPrices(site.wire(HOSTS), key=site.key, address=site.limits.address),)


VENDORS: Mapping[str, MakeVendors] = {"edgar": _edgar, "yahoo": _yahoo, "feeds": _feeds, "stooq": _stooq}
"""Live data, by vendor. For a topic that several supply the first one that is asked about an instrument speaks."""


def tools(lexicon: Lexicon, index: IndexHistory) -> dict[ToolName, Tool]:
    """The evidence tools by the names that agents know them by."""
    return {
        "get_price_history": partial(price_items, index=index),
        "get_news_sentiment": partial(news_items, lexicon=lexicon),
        "get_financial_health": fundamental_items,
        "get_market_price": market_items,
    }
