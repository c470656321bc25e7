"""What a ticker is, by Yahoo: for listings that the desk does not know otherwise.

The chart says on which exchange a symbol is listed, what it is and what its price is in; the profile of a company adds its sector. Only shares, funds
and indices of exchanges whose sessions are known are taken; anything else is refused by what it is.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from alphaagent.domain.market import Instrument, InstrumentKind
from alphaagent.errors import SourceFault, UsageFault, VendorFault
from alphaagent.evidence.live.vendor import Fetched, Seen
from alphaagent.evidence.live.vendors.yahoo_frames import canonical, history_of, stated
from alphaagent.evidence.live.vendors.yahoo_markets import (
    INDEX_MARKETS,
    MARKETS,
    OVER_THE_COUNTER,
    VENDOR,
    checked_symbol,
    symbol_of_ticker,
    yahoo_symbol,
)
from alphaagent.evidence.live.vendors.yahoo_session import YahooSession
from alphaagent.evidence.sources.instruments import normal_ticker
from alphaagent.evidence.sources.plain_text import plain_text

PERIOD = "5d"
MAX_NAME_CHARACTERS = 120
MAX_SECTOR_CHARACTERS = 60
ONLY = "ask for a share or a fund that is listed on an exchange"
REFUSED = {
    "FUTURE": "a future",
    "CURRENCY": "a currency pair",
    "CRYPTOCURRENCY": "a cryptocurrency",
    "MUTUALFUND": "a mutual fund, which is not traded on an exchange",
    "OPTION": "an option",
    "MONEYMARKET": "a money market fund, which is not traded on an exchange",
}
_CURRENCY = re.compile(r"[A-Z]{3}|GBp|ZAc|ILA", re.ASCII)
_BOND_WORDS = r"[- ]?(?:term|duration|maturity|dated|income|bond|treasury bond|treasury etf|govt|government|corporate|muni\w*|credit|tips|gilt)\b"
_INVERSE = re.compile(rf"\b(?:inverse|bear|ultrashort|(?<!ultra )(?<!ultra-)short(?!{_BOND_WORDS}))\b|(?<![\w.])-[1-5](?:\.\d+)?x\b", re.IGNORECASE)
_LEVERAGED = re.compile(r"\b(?:(?:1\.\d+|[2-5](?:\.\d+)?)x|ultrapro|ultra(?![- ]?short)|leveraged)\b", re.IGNORECASE)
PROFILE = "assetProfile"


class YahooDirectory:
    """`fetch` asks what a ticker is, `parse` makes an instrument of the answer."""

    name = VENDOR

    def __init__(self, session: YahooSession) -> None:
        self._session = session

    def fetch(self, ticker: str, before: Seen | None) -> Fetched | None:  # noqa: ARG002 - nothing of Yahoo's can be asked for by what has changed
        """What Yahoo says of a ticker in any spelling; None where it knows nothing of it. Raises VendorFault, or UsageFault on what is no ticker."""
        symbol = symbol_of_ticker(ticker)
        came = self._session.ask(symbol, lambda ticker: history_of(ticker, PERIOD))
        if came is None:
            return None
        meta = stated(came.value[1])
        profile, notes = self._profile(symbol) if meta["instrumentType"] == "EQUITY" else ({}, ())
        return Fetched(canonical({"symbol": symbol, "meta": meta, "profile": profile}), notes=notes)

    def parse(self, raw: bytes, ticker: str) -> Instrument:
        """The instrument. Raises UsageFault where a ticker names something that is not supported, SourceFault on an unreadable document."""
        symbol, meta, profile = _read(raw, ticker)
        kind, mic = _kind(ticker, meta), _mic(ticker, meta)
        currency = str(meta.get("currency"))
        if not _CURRENCY.fullmatch(currency):
            raise UsageFault(f"{ticker} is priced in {currency[:10]!a}, which is no currency", fix=ONLY)
        own = normal_ticker(symbol)
        bare = Instrument(id=f"{mic}:{own}", symbol=own, name=_name(meta, own), mic=mic, currency=currency, kind=kind, sector=_sector(profile))
        return bare if yahoo_symbol(bare) == symbol else bare.model_copy(update={"vendor_symbols": ((VENDOR, symbol),)})

    def _profile(self, symbol: str) -> tuple[Mapping[str, str], tuple[str, ...]]:
        """The sector and the industry of a company; what did not come is noted, and the company is still what it is."""
        try:
            came = self._session.ask(symbol, lambda ticker: ticker.get_info())
        except VendorFault as fault:
            return {}, (f"the profile of {symbol} did not come: {fault.message}",)
        results = () if came is None else [document[key]["result"] for key, document in came.documents if key == "quoteSummary"]
        found = next((result[0].get(PROFILE) for result in results if result and isinstance(result[0], dict)), None)
        told = found if isinstance(found, dict) else {}
        return {key: told[key] for key in ("sector", "industry") if isinstance(told.get(key), str)}, ()


def _read(raw: bytes, ticker: str) -> tuple[str, Mapping[str, Any], Mapping[str, Any]]:
    try:
        document = json.loads(raw.decode("utf-8"))
        symbol, meta, profile = document["symbol"], document["meta"], document["profile"]
        if not isinstance(symbol, str) or not isinstance(meta, dict) or not isinstance(profile, dict):
            raise ValueError("another shape")
        return checked_symbol(symbol), meta, profile
    except (ValueError, KeyError, TypeError, RecursionError) as fault:
        raise SourceFault(f"the document of what {VENDOR} says of {ticker} cannot be read ({fault})", fix="fetch it again") from None


def _kind(ticker: str, meta: Mapping[str, Any]) -> InstrumentKind:
    match meta.get("instrumentType"):
        case "EQUITY":
            return "common"
        case "ETF":
            return _fund_kind(" ".join(str(meta.get(key) or "") for key in ("longName", "shortName")))
        case "INDEX":
            return "index"
        case other:
            what = REFUSED.get(str(other), f"what {VENDOR} calls {str(other)[:30]!a}")
            raise UsageFault(f"{ticker} is {what}; only shares and funds that are listed on an exchange are supported", fix=ONLY)


def _fund_kind(name: str) -> InstrumentKind:
    """A fund's kind by the words of its name, which is all that is said of it; a fund that is both is inverse."""
    if _INVERSE.search(name):
        return "inverse_etf"
    return "leveraged_etf" if _LEVERAGED.search(name) else "etf"


def _mic(ticker: str, meta: Mapping[str, Any]) -> str:
    code = str(meta.get("exchangeName"))
    if code in OVER_THE_COUNTER:
        raise UsageFault(f"{ticker} is traded over the counter ({code}), not on an exchange", fix=ONLY)
    market = MARKETS.get(INDEX_MARKETS.get(code, code) if meta.get("instrumentType") == "INDEX" else code)
    if market is None:
        place = str(meta.get("fullExchangeName") or code)[:40]
        raise UsageFault(f"{ticker} is listed on {place!a}, whose sessions are not known here", fix="ask for a listing on another exchange")
    return market.mic


def _name(meta: Mapping[str, Any], symbol: str) -> str:
    return plain_text(str(meta.get("longName") or meta.get("shortName") or ""), MAX_NAME_CHARACTERS) or symbol


def _sector(profile: Mapping[str, Any]) -> str | None:
    """Banks and insurers by their industry, because their figures are read in another way; all others by their sector."""
    industry = plain_text(str(profile.get("industry") or ""), MAX_SECTOR_CHARACTERS)
    for word in ("Banks", "Insurance"):
        if industry.startswith(word):
            return word
    return plain_text(str(profile.get("sector") or ""), MAX_SECTOR_CHARACTERS) or None
