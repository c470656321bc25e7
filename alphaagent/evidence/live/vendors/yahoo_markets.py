"""How Yahoo writes things: its codes of exchanges, the endings of its symbols, and an instrument's symbol in its spelling.

Only exchanges stand here whose sessions are known to the desk, because a price on a day that nobody can place is no evidence. A symbol goes into
an address only by the allow-list grammar below; one that looks like an ISIN is refused, because the library would search for it by name.
"""

import re
from dataclasses import dataclass

from alphaagent.domain.market import Instrument
from alphaagent.errors import UsageFault

VENDOR = "yahoo"
_SYMBOL = re.compile(r"(?=.{1,20}\Z)\^?[A-Z0-9]+(?:[.=-][A-Z0-9]+)*")
_ISIN = re.compile(r"[A-Z]{2}[A-Z0-9]{9}[0-9]")
HONG_KONG, HONG_KONG_DIGITS = "XHKG", 4


@dataclass(frozen=True, slots=True)
class Market:
    """One of Yahoo's exchanges: its market identifier code, the ending of its symbols without the point, and the time zone of its days."""

    mic: str
    ending: str
    zone: str


_NEW_YORK, _BERLIN, _SEOUL = "America/New_York", "Europe/Berlin", "Asia/Seoul"
MARKETS: dict[str, Market] = {
    **{code: Market("XNAS", "", _NEW_YORK) for code in ("NMS", "NGM", "NCM", "NAS")},
    "NYQ": Market("XNYS", "", _NEW_YORK),
    "ASE": Market("XASE", "", _NEW_YORK),
    "PCX": Market("ARCX", "", _NEW_YORK),
    "BTS": Market("BATS", "", _NEW_YORK),
    "TOR": Market("XTSE", "TO", "America/Toronto"),
    "LSE": Market("XLON", "L", "Europe/London"),
    "IOB": Market("XLON", "IL", "Europe/London"),
    "ISE": Market("XDUB", "IR", "Europe/Dublin"),
    "GER": Market("XETR", "DE", _BERLIN),
    "FRA": Market("XFRA", "F", _BERLIN),
    "STU": Market("XSTU", "SG", _BERLIN),
    "HAM": Market("XHAM", "HM", _BERLIN),
    "DUS": Market("XDUS", "DU", _BERLIN),
    "PAR": Market("XPAR", "PA", "Europe/Paris"),
    "AMS": Market("XAMS", "AS", "Europe/Amsterdam"),
    "BRU": Market("XBRU", "BR", "Europe/Brussels"),
    "LIS": Market("XLIS", "LS", "Europe/Lisbon"),
    "MCE": Market("XMAD", "MC", "Europe/Madrid"),
    "MIL": Market("XMIL", "MI", "Europe/Rome"),
    "EBS": Market("XSWX", "SW", "Europe/Zurich"),
    "VIE": Market("XWBO", "VI", "Europe/Vienna"),
    "STO": Market("XSTO", "ST", "Europe/Stockholm"),
    "HEL": Market("XHEL", "HE", "Europe/Helsinki"),
    "CPH": Market("XCSE", "CO", "Europe/Copenhagen"),
    "OSL": Market("XOSL", "OL", "Europe/Oslo"),
    "ICE": Market("XICE", "IC", "Atlantic/Reykjavik"),
    "WSE": Market("XWAR", "WA", "Europe/Warsaw"),
    "PRA": Market("XPRA", "PR", "Europe/Prague"),
    "BUD": Market("XBUD", "BD", "Europe/Budapest"),
    "IST": Market("XIST", "IS", "Europe/Istanbul"),
    "TLV": Market("XTAE", "TA", "Asia/Jerusalem"),
    "SAU": Market("XSAU", "SR", "Asia/Riyadh"),
    "JNB": Market("XJSE", "JO", "Africa/Johannesburg"),
    "BSE": Market("XBOM", "BO", "Asia/Kolkata"),
    "HKG": Market(HONG_KONG, "HK", "Asia/Hong_Kong"),
    "SHH": Market("XSHG", "SS", "Asia/Shanghai"),
    "TAI": Market("XTAI", "TW", "Asia/Taipei"),
    "JPX": Market("XTKS", "T", "Asia/Tokyo"),
    "KSC": Market("XKRX", "KS", _SEOUL),
    "KOE": Market("XKRX", "KQ", _SEOUL),
    "SES": Market("XSES", "SI", "Asia/Singapore"),
    "SET": Market("XBKK", "BK", "Asia/Bangkok"),
    "KLS": Market("XKLS", "KL", "Asia/Kuala_Lumpur"),
    "JKT": Market("XIDX", "JK", "Asia/Jakarta"),
    "ASX": Market("XASX", "AX", "Australia/Sydney"),
    "NZE": Market("XNZE", "NZ", "Pacific/Auckland"),
    "SAO": Market("BVMF", "SA", "America/Sao_Paulo"),
    "MEX": Market("XMEX", "MX", "America/Mexico_City"),
    "BUE": Market("XBUE", "BA", "America/Buenos_Aires"),
    "SGO": Market("XSGO", "SN", "America/Santiago"),
}
"""By Yahoo's code; of several of one market the first is the one that a symbol without an ending is taken to be of."""

INDEX_MARKETS: dict[str, str] = {
    **dict.fromkeys(("SNP", "DJI", "NIM", "NYS", "WCB", "CGI", "CXI"), "NYQ"),
    **{"FGI": "LSE", "OSA": "JPX"},
}
"""Codes under which indices alone are listed, with an exchange that keeps the same sessions."""

OVER_THE_COUNTER = frozenset({"PNK", "OQB", "OQX", "OEM", "OID", "OGM", "OBB", "OTC"})
ENDINGS = frozenset(market.ending for market in MARKETS.values() if market.ending) | {"V", "NE", "CN", "SZ", "TWO", "NS", "BE", "MU", "HA", "VN", "AE", "QA"}
"""What follows a symbol's last point where it names a market, also one that is not supported, and is no share class."""


def yahoo_symbol(instrument: Instrument) -> str:
    """What Yahoo calls an instrument. Raises UsageFault where that cannot be a symbol."""
    own = dict(instrument.vendor_symbols).get(VENDOR)
    return checked_symbol(own if own is not None else _spelled(instrument.symbol, _ending_of(instrument.mic), instrument.mic))


def symbol_of_ticker(ticker: str) -> str:
    """What Yahoo calls a ticker that nothing more is known of. Raises UsageFault where that cannot be a symbol."""
    return checked_symbol(_spelled(ticker.upper(), "", "") if ticker.isascii() else ticker)


def checked_symbol(symbol: str) -> str:
    """The symbol itself, where it may stand in an address. Raises UsageFault."""
    if not _SYMBOL.fullmatch(symbol):
        raise UsageFault(f"{symbol[:40]!a} cannot be a symbol of Yahoo's", fix="use 1 to 20 of the letters A-Z, the digits and . ^ = -")
    if _ISIN.fullmatch(symbol):
        raise UsageFault(f"{symbol!a} is the shape of an ISIN, not of a symbol", fix="give the ticker")
    return symbol


def zone_of(mic: str) -> str:
    """The time zone of a market's days; UTC where the market is not known."""
    return next((market.zone for market in MARKETS.values() if market.mic == mic), "UTC")


def _ending_of(mic: str) -> str:
    return next((market.ending for market in MARKETS.values() if market.mic == mic), "")


def _spelled(symbol: str, ending: str, mic: str) -> str:
    """A share class after a dash and the market's ending after a point: a symbol that carries a known ending keeps it."""
    base, point, last = symbol.replace("/", ".").rpartition(".")
    if point and last in ENDINGS and _may_carry(last, mic):
        ending = last
    else:
        base = symbol
    base = base.replace(".", "-").replace("/", "-")
    if mic == HONG_KONG and base.isdigit():
        base = base.zfill(HONG_KONG_DIGITS)
    return f"{base}.{ending}" if ending else base


def _may_carry(ending: str, mic: str) -> bool:
    """Whether the last part of a symbol is a market's ending: of the market that the instrument is listed on, or of any where that is unknown."""
    known = {market.ending for market in MARKETS.values() if market.mic == mic}
    return not known or ending in known
