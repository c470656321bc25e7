"""Plays Yahoo in the shape of its recorded answers: the cookie, the crumb, charts, statements and coming events, as of an instant that can be set.

The charts are the snapshot's bars, adjusted the way Yahoo adjusts: prices divided and volumes multiplied by every split up to the instant, and each
price a 32-bit number.
"""

import csv
import json
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from fractions import Fraction
from functools import cache
from typing import Any
from urllib.parse import unquote
from zoneinfo import ZoneInfo

from tests.snapshot_folder import RECORDED, recorded_calendar
from tests.vendors.server import Asked, Page

CRUMB = "Pl4y.Crumb/1"
COOKIE = "A3=d=played"
NEW_YORK = ZoneInfo("America/New_York")
CALENDAR = recorded_calendar()


@dataclass
class Listing:
    """What Yahoo knows under one symbol."""

    name: str
    exchange: str = "NMS"
    exchange_name: str = "NasdaqGS"
    kind: str = "EQUITY"
    currency: str = "USD"
    zone: str = "America/New_York"
    sector: str | None = "Technology"
    industry: str | None = "Semiconductors"
    events: dict[str, Any] = field(default_factory=dict)
    statements: Mapping[str, Mapping[str, Iterable[tuple[str, str, str, float]]]] = field(default_factory=dict)
    """By series and line: period end, its length, currency, value."""


LISTINGS = {
    "AAPL": Listing("Apple Inc.", industry="Consumer Electronics"),
    "NVDA": Listing("NVIDIA Corporation"),
    "GOOG": Listing("Alphabet Inc.", sector="Communication Services", industry="Internet Content & Information"),
}


class YahooPlayer:
    """`now` is the instant that is played; `listings` what there is; `since` where the charts begin. `change` may alter a chart before it is sent."""

    def __init__(self, now: datetime, listings: Mapping[str, Listing] = LISTINGS) -> None:
        self.now = now
        self.listings = dict(listings)
        self.crumb = CRUMB
        self.since = date.min
        self.change: Callable[[dict[str, Any]], None] = lambda result: None

    def __call__(self, asked: Asked) -> Page | None:
        head, _, symbol = unquote(asked.path).rpartition("/")
        match head:
            case "" if symbol == "":
                return Page(b"", 404, "text/html", {"set-cookie": f"{COOKIE}; Path=/"})
            case "" if symbol == "consent":
                return Page(b"<html><body>nothing to agree to</body></html>", 200, "text/html")
            case "/v1/test":
                return Page(self.crumb.encode(), 200, "text/plain") if COOKIE in asked.headers.get("cookie", "") else Page(b"", 200, "text/plain")
            case "/v8/finance/chart":
                return self._of(symbol, "chart", self._chart)
            case "/v10/finance/quoteSummary":
                return self._of(symbol, "quoteSummary", self._summary) if self._may(asked) else refused()
            case "/v7/finance":
                return page({"quoteResponse": {"result": [], "error": None}}) if self._may(asked) else refused()
            case "/ws/fundamentals-timeseries/v1/finance/timeseries":
                return page({"timeseries": {"result": self._series(symbol, asked.query["type"].split(",")), "error": None}})
        return None

    def _may(self, asked: Asked) -> bool:
        return asked.query.get("crumb") == self.crumb and COOKIE in asked.headers.get("cookie", "")

    def _of(self, symbol: str, envelope: str, result: Callable[[str, Listing], dict[str, Any]]) -> Page:
        listing = self.listings.get(symbol)
        if listing is None:
            error = {"code": "Not Found", "description": "No data found, symbol may be delisted"}
            return page({envelope: {"result": None, "error": error}}, 404)
        return page({envelope: {"result": [result(symbol, listing)], "error": None}})

    def _chart(self, symbol: str, listing: Listing) -> dict[str, Any]:
        rows = [row for row in bars_of(symbol) if row.day >= self.since and CALENDAR.opens(row.day) <= self.now]
        today = self.now.astimezone(NEW_YORK).date()
        known = [action for action in actions_of(symbol) if self.since <= action.day <= today]
        result: dict[str, Any] = {"meta": self._meta(symbol, listing, rows), "indicators": {"quote": [{}]}}
        if rows:
            result |= {"timestamp": [int(CALENDAR.opens(row.day).timestamp()) for row in rows], "indicators": indicators(rows, known)}
        if known:
            result["events"] = events(known)
        self.change(result)
        return result

    def _meta(self, symbol: str, listing: Listing, rows: list["Row"]) -> dict[str, Any]:
        meta: dict[str, Any] = {
            "currency": listing.currency,
            "symbol": symbol,
            "exchangeName": listing.exchange,
            "fullExchangeName": listing.exchange_name,
            "instrumentType": listing.kind,
            "firstTradeDate": 345479400,
            "hasPrePostMarketData": True,
            "gmtoffset": -18000,
            "timezone": "EST",
            "exchangeTimezoneName": listing.zone,
            "longName": listing.name,
            "shortName": listing.name,
            "priceHint": 2,
            "dataGranularity": "1d",
            "range": "10y",
            "validRanges": ["1d", "5d", "1mo", "3mo", "6mo", "1y", "2y", "5y", "10y", "ytd", "max"],
        }
        if rows:
            at = min(self.now, CALENDAR.closes(rows[-1].day) + timedelta(seconds=1))
            meta |= {"regularMarketPrice": float(rows[-1].prices[3]), "regularMarketTime": int(at.timestamp())}
        return meta

    def _summary(self, symbol: str, listing: Listing) -> dict[str, Any]:
        profile = {key: value for key, value in (("sector", listing.sector), ("industry", listing.industry)) if value is not None}
        return {
            "calendarEvents": {"maxAge": 1, "earnings": {"earningsDate": [], "isEarningsDateEstimate": False}, **listing.events},
            "assetProfile": {"maxAge": 86400, **profile},
            "quoteType": {"symbol": symbol, "quoteType": listing.kind},
        }

    def _series(self, symbol: str, types: list[str]) -> list[dict[str, Any]]:
        listing = self.listings.get(symbol)
        return [] if listing is None or not listing.statements else [timeseries(symbol, kind, listing.statements) for kind in types]


@dataclass(frozen=True)
class Row:
    """A bar as traded: open, high, low, close."""

    day: date
    prices: tuple[Fraction, ...]
    volume: int


@dataclass(frozen=True)
class Act:
    day: date
    kind: str
    value: Fraction


@cache
def bars_of(symbol: str) -> tuple[Row, ...]:
    rows = records("bars", symbol)
    return tuple(
        Row(date.fromisoformat(row["date"]), tuple(Fraction(row[name]) for name in ("open", "high", "low", "close")), int(row["volume"])) for row in rows
    )


@cache
def actions_of(symbol: str) -> tuple[Act, ...]:
    return tuple(Act(date.fromisoformat(row["ex_date"]), row["kind"], Fraction(row["value"])) for row in records("actions", symbol))


def records(folder: str, symbol: str) -> list[dict[str, str]]:
    """The rows of one of the snapshot's files; none where there is no such file."""
    path = RECORDED / folder / f"{symbol}.csv"
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines())) if path.exists() else []


def factor(day: date, known: Iterable[Act]) -> Fraction:
    """New shares per share of a day by the splits after it."""
    product = Fraction(1)
    for act in known:
        if act.kind == "split" and act.day > day:
            product *= act.value
    return product


def single(number: Fraction) -> float:
    """The nearest 32-bit number."""
    value: float = struct.unpack("f", struct.pack("f", float(number)))[0]
    return value


def indicators(rows: list[Row], known: list[Act]) -> dict[str, Any]:
    divided = [(row, factor(row.day, known)) for row in rows]
    quote: dict[str, Any] = {name: [single(row.prices[place] / by) for row, by in divided] for place, name in enumerate(("open", "high", "low", "close"))}
    quote["volume"] = [round(row.volume * by) for row, by in divided]
    return {"quote": [quote], "adjclose": [{"adjclose": quote["close"]}]}


def events(known: list[Act]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for act in known:
        at = int(CALENDAR.opens(act.day).timestamp())
        if act.kind == "split":
            numbers = {"numerator": act.value.numerator, "denominator": act.value.denominator}
            found.setdefault("splits", {})[str(at)] = {"date": at, **numbers, "splitRatio": f"{act.value.numerator}:{act.value.denominator}"}
        else:
            found.setdefault("dividends", {})[str(at)] = {"date": at, "amount": round(float(act.value / factor(act.day, known)), 6)}
    return found


def timeseries(symbol: str, kind: str, statements: Mapping[str, Mapping[str, Iterable[tuple[str, str, str, float]]]]) -> dict[str, Any]:
    series = next(name for name in ("annual", "quarterly", "trailing") if kind.startswith(name))
    result: dict[str, Any] = {"meta": {"symbol": [symbol], "type": [kind]}}
    points = [
        {"dataId": 1, "asOfDate": end, "periodType": length, "currencyCode": currency, "reportedValue": {"raw": value, "fmt": str(value)}}
        for end, length, currency, value in statements.get(series, {}).get(kind.removeprefix(series), ())
    ]
    if points:
        ends = [datetime.combine(date.fromisoformat(str(point["asOfDate"])), time(), UTC) for point in points]
        result |= {"timestamp": [int(end.timestamp()) for end in ends], kind: points}
    return result


def page(document: dict[str, Any], status: int = 200) -> Page:
    return Page(json.dumps(document).encode("utf-8"), status, "application/json;charset=utf-8")


def refused() -> Page:
    return page({"finance": {"result": None, "error": {"code": "Unauthorized", "description": "Invalid Crumb"}}}, 401)
