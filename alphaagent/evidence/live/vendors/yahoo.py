"""Yahoo, through yfinance: prices, coming events, statements as known now, and what a ticker is. All of them share one session and its gate."""

from alphaagent.evidence.live.vendors.yahoo_directory import YahooDirectory
from alphaagent.evidence.live.vendors.yahoo_events import YahooEvents
from alphaagent.evidence.live.vendors.yahoo_markets import yahoo_symbol
from alphaagent.evidence.live.vendors.yahoo_prices import YahooPrices
from alphaagent.evidence.live.vendors.yahoo_session import YahooSession
from alphaagent.evidence.live.vendors.yahoo_statements import YahooStatements

__all__ = ["YahooDirectory", "YahooEvents", "YahooPrices", "YahooSession", "YahooStatements", "yahoo_symbol"]
