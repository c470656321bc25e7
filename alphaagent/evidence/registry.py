"""Which source supplies what, and which function is which tool. A vendor joins by one line here."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from alphaagent.domain.evidence import ToolName
from alphaagent.evidence.fundamentals_tool import fundamental_items
from alphaagent.evidence.gather import Tool
from alphaagent.evidence.index_history import IndexHistory
from alphaagent.evidence.lexicon import Lexicon
from alphaagent.evidence.news_tool import news_items
from alphaagent.evidence.price_tool import market_items, price_items
from alphaagent.evidence.sources.snapshot import SnapshotFundamentals, SnapshotNews, SnapshotPrices
from alphaagent.ports import EvidenceSource, Supply

SOURCES: Mapping[Supply, Callable[[Path], EvidenceSource]] = {"prices": SnapshotPrices, "fundamentals": SnapshotFundamentals, "news": SnapshotNews}
"""Recorded data, by what they supply."""


def tools(lexicon: Lexicon, index: IndexHistory) -> dict[ToolName, Tool]:
    """The evidence tools by the names that agents know them by."""
    return {
        "get_price_history": partial(price_items, index=index),
        "get_news_sentiment": partial(news_items, lexicon=lexicon),
        "get_financial_health": fundamental_items,
        "get_market_price": market_items,
    }
