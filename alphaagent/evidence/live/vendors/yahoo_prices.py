"""Daily bars, splits, dividends and the last trade, by yfinance.

Yahoo divides its prices by every split up to the day that it is asked, also where it is told not to adjust, and multiplies volumes; what it calls
unadjusted is not adjusted for dividends. So parsing undoes the splits that the same document lists, and a split that is booked overnight
leaves the bars before it as they were. Its prices are 32-bit numbers written as 64-bit ones (239.65 comes as 239.64999389648438): they are read as
the shortest decimal that is the same 32-bit number.
"""

import json
import math
import re
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from functools import lru_cache
from typing import Any

from alphaagent.domain.market import Bar, CorporateAction, Instrument, LastPrice, Records, RowFault
from alphaagent.errors import SourceFault, VendorFault
from alphaagent.evidence.live.vendor import Fetched, Seen, Topic
from alphaagent.evidence.live.vendors.yahoo_frames import COLUMNS, document_of_history, history_of
from alphaagent.evidence.live.vendors.yahoo_markets import VENDOR, yahoo_symbol
from alphaagent.evidence.live.vendors.yahoo_session import YahooSession
from alphaagent.evidence.sources.table import BadRow
from alphaagent.ports import Calendar

PERIOD = "10y"
"""A valuation needs five years before an `as_of`, which may itself lie some years back; ten are one request and 200 kB."""
PLACES = 4
CASH_PLACES = 6
SINGLE = Decimal(2) ** -23
"""The step between 32-bit numbers, as a fraction at most: what was divided and is multiplied again is right to half of it."""
DIGITS = range(6, 10)
"""How many digits a 32-bit number may need."""
NOISE = Decimal("0.0001")
"""How far, as a fraction, an open or a close may lie outside high and low and be taken for the nearer of the two."""
PLAIN_RATIO = Decimal("1.5")
"""A split of less moves the price no more than news does, so that the price does not tell whether it was counted."""
CACHED_DOCUMENTS = 32
PRICES = ("open", "high", "low", "close")
_NUMBER = re.compile(r"-?[0-9]{1,18}(?:\.[0-9]{1,30})?", re.ASCII)


class YahooPrices:
    """The prices of one instrument, one document of about ten years."""

    name = VENDOR
    topic: Topic = "prices"

    def __init__(self, session: YahooSession) -> None:
        self._session = session

    def not_asked(self, instrument: Instrument) -> str | None:  # noqa: ARG002 - the socket's signature
        return None

    def fetch(self, instrument: Instrument, before: Seen | None) -> Fetched | None:  # noqa: ARG002 - nothing of Yahoo's can be asked for by what has changed
        came = self._session.ask(yahoo_symbol(instrument), lambda ticker: history_of(ticker, PERIOD))
        if came is None or came.value[0].empty:
            return None
        asked, told = yahoo_symbol(instrument), str(came.value[1].get("symbol"))
        if told.upper() != asked.upper():
            raise VendorFault("schema", f"{VENDOR} was asked about {asked} and answers about {told[:20]!a}", fix="try again later")
        return Fetched(document_of_history(*came.value))

    def parse(self, raw: bytes, instrument: Instrument, calendar: Calendar, fetched_at: datetime) -> Records:
        return _parsed(raw, instrument.symbol, instrument.currency, calendar, fetched_at)


@dataclass(frozen=True, slots=True)
class Split:
    ex_date: date
    ratio: Decimal


@lru_cache(maxsize=CACHED_DOCUMENTS)
def _parsed(raw: bytes, symbol: str, currency: str, calendar: Calendar, fetched_at: datetime) -> Records:
    meta, rows = _read(raw, symbol)
    if meta.get("currency") != currency:
        raise SourceFault(
            f"{VENDOR} prices {symbol} in {str(meta.get('currency'))[:10]!a}, the instrument is in {currency}", fix="correct the instrument's currency"
        )
    # What is only announced has divided nothing yet; on its day it has, before the first trade.
    found = Found(symbol, calendar, [split for split in _splits(rows) if split.ex_date <= fetched_at.date()])
    found.take(rows)
    return Records(
        bars=tuple(found.bars), actions=tuple(sorted(found.actions, key=_order)), last_prices=_last_price(meta, fetched_at), faults=tuple(found.faults)
    )


class Found:
    """The bars, actions and faults in the rows of one document; what lies outside the calendar is left out."""

    def __init__(self, symbol: str, calendar: Calendar, splits: Sequence[Split]) -> None:
        self._symbol = symbol
        self._calendar = calendar
        self._splits = splits
        self.bars: list[Bar] = []
        self.actions: list[CorporateAction] = []
        self.faults: list[RowFault] = []

    def take(self, rows: Iterable[Mapping[str, str | None]]) -> None:
        for number, row in enumerate(rows, start=1):
            where = f"{VENDOR}'s prices of {self._symbol}, row {number}"
            try:
                day = _day(row)
            except BadRow as bad:
                self.faults.append(RowFault(where, str(bad), None))
                continue
            if self._calendar.first <= day <= self._calendar.last:
                self._take_row(where, day, row)

    def _take_row(self, where: str, day: date, row: Mapping[str, str | None]) -> None:
        in_session = self._calendar.is_session(day)
        if not in_session and _says_nothing(row):
            return
        known_at = self._calendar.closes(day) if in_session else None
        try:
            if not in_session:
                raise BadRow(f"date {day} is no session of the exchange")
            if self.bars and self.bars[-1].session >= day:
                raise BadRow(f"date {day} stands after {self.bars[-1].session}")
            actions = self._actions(day, row)
            try:
                bar = self._bar(day, row)
            except BadRow:
                self.actions += actions
                raise
            self._refuse_undivided(bar)
            self.actions += actions
            self.bars.append(bar)
        except BadRow as bad:
            self.faults.append(RowFault(where, str(bad), day, known_at))

    def _bar(self, day: date, row: Mapping[str, str | None]) -> Bar:
        factor = self._factor(day)
        open_, high, low, close = (_price(row, name, factor) for name in PRICES)
        if high < low:
            raise BadRow(f"high {high} is below low {low}")
        volume = _number(row, "volume")
        if volume < 0:
            raise BadRow(f"volume {volume} is below zero")
        return Bar(
            session=day,
            open=_within("open", open_, low, high),
            high=high,
            low=low,
            close=_within("close", close, low, high),
            volume=int((volume / factor).to_integral_value(ROUND_HALF_EVEN)),
            known_at=self._calendar.closes(day),
        )

    def _refuse_undivided(self, bar: Bar) -> None:
        """BadRow where a split is listed and the price falls by it all the same: the prices before were not divided, and what was undone was not done."""
        for split in self._splits:
            if split.ex_date == bar.session and self.bars and not 1 / PLAIN_RATIO < split.ratio < PLAIN_RATIO:
                fall = math.log(self.bars[-1].close / split.ratio / bar.open)
                if abs(fall - math.log(split.ratio)) < abs(fall):
                    raise BadRow(f"the prices before {bar.session} are not divided by the split of {split.ratio} that is listed for it")
                if abs(fall + math.log(split.ratio)) < abs(fall):
                    raise BadRow(f"a split of {split.ratio} is listed for {bar.session}, and the price as traded does not show it")

    def _actions(self, day: date, row: Mapping[str, str | None]) -> list[CorporateAction]:
        known_at, found = self._calendar.opens(day), []
        split, dividend = _action(row, "split"), _action(row, "dividend")
        if split:
            found.append(CorporateAction("split", day, split, known_at))
        if dividend:
            factor = self._factor(day)
            cash = _rounded(dividend * factor, CASH_PLACES if factor == 1 else PLACES)
            found.append(CorporateAction("dividend", day, cash, known_at))
        return found

    def _factor(self, day: date) -> Decimal:
        """New shares per share of a day, by the splits after it."""
        factor = Decimal(1)
        for split in self._splits:
            if split.ex_date > day:
                factor *= split.ratio
        return factor


def _read(raw: bytes, symbol: str) -> tuple[Mapping[str, Any], list[Mapping[str, str | None]]]:
    """What is said of the instrument, and the rows by column. Raises SourceFault on what is no such document."""
    try:
        document = json.loads(raw.decode("utf-8"))
        meta, columns, rows = document["meta"], document["columns"], document["rows"]
        if columns != ["date", *COLUMNS] or not isinstance(meta, dict):
            raise ValueError("other columns")
        return meta, [dict(zip(columns, row, strict=True)) for row in rows]
    except (ValueError, KeyError, TypeError, RecursionError) as fault:
        raise SourceFault(f"the document of {VENDOR}'s prices of {symbol} cannot be read ({fault})", fix="fetch it again") from None


def _splits(rows: Iterable[Mapping[str, str | None]]) -> tuple[Split, ...]:
    """Every split that the document lists, also where its row is of no use otherwise: the prices before it are divided by it."""
    found = []
    for row in rows:
        try:
            ratio = _action(row, "split")
            if ratio:
                found.append(Split(_day(row), ratio))
        except BadRow:
            continue
    return tuple(found)


def _says_nothing(row: Mapping[str, str | None]) -> bool:
    """A row of holes on a day without trading."""
    return all(row[name] is None for name in PRICES) and all(row[name] in (None, "0") for name in ("split", "dividend"))


def _day(row: Mapping[str, str | None]) -> date:
    try:
        return date.fromisoformat(str(row["date"]))
    except ValueError:
        raise BadRow(f"date {str(row['date'])[:40]!a} is not a date") from None


def _number(row: Mapping[str, str | None], name: str) -> Decimal:
    text = row[name]
    if text is None:
        raise BadRow(f"{name} is missing")
    if not isinstance(text, str) or not _NUMBER.fullmatch(text):
        raise BadRow(f"{name} {str(text)[:40]!a} is not a plain decimal number")
    return Decimal(text)


def _action(row: Mapping[str, str | None], name: str) -> Decimal:
    """A split's ratio or a dividend's cash; 0 where there is none."""
    value = Decimal(0) if row[name] is None else _number(row, name)
    if value < 0:
        raise BadRow(f"{name} {value} is below zero")
    return value


def _price(row: Mapping[str, str | None], name: str, factor: Decimal) -> Decimal:
    """As traded: what Yahoo divided by `factor` is multiplied by it, to as many places as the number was good for."""
    stated = _number(row, name)
    if stated <= 0:
        raise BadRow(f"{name} {stated} is not above zero")
    price = _shortest(stated) if factor == 1 else stated * factor
    places = PLACES if factor == 1 else max(0, min(PLACES, -1 - (price * SINGLE).adjusted()))
    rounded = _rounded(price, places)
    if rounded <= 0:
        raise BadRow(f"{name} {price} is too small to be a price")
    return rounded


def _shortest(number: Decimal) -> Decimal:
    """The shortest decimal that is the same 32-bit number; what is no 32-bit number stays as it is."""
    value = float(number)
    try:
        single = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return number
    if single != value:
        return number
    texts = (f"{value:.{digits}g}" for digits in DIGITS)
    return next((Decimal(text) for text in texts if struct.unpack("f", struct.pack("f", float(text)))[0] == value), number)


def _rounded(number: Decimal, places: int) -> Decimal:
    """Without the zeros that say nothing, so that the same price is written the same."""
    try:
        rounded = number.quantize(Decimal(1).scaleb(-places), ROUND_HALF_EVEN)
    except InvalidOperation:
        raise BadRow(f"{number} is too large to be a price") from None
    return rounded.quantize(Decimal(1)) if rounded == rounded.to_integral_value() else rounded.normalize()


def _within(name: str, price: Decimal, low: Decimal, high: Decimal) -> Decimal:
    """A price between low and high; one outside by rounding alone is taken for the nearer of the two."""
    nearer = min(max(price, low), high)
    if abs(price - nearer) >= NOISE * price and price != nearer:
        raise BadRow(f"{name} {price} lies outside low {low} to high {high}")
    return nearer


def _order(action: CorporateAction) -> tuple[date, bool]:
    return action.ex_date, action.kind != "split"


def _last_price(meta: Mapping[str, Any], fetched_at: datetime) -> tuple[LastPrice, ...]:
    """The last trade. A vendor's clock may run ahead of ours: nothing was traded after it was seen."""
    text, at = meta.get("regularMarketPrice"), meta.get("regularMarketTime")
    try:
        price, traded_at = _number({"last price": text}, "last price"), datetime.fromisoformat(str(at))
    except (BadRow, ValueError):
        return ()
    if price <= 0 or traded_at.tzinfo is None:
        return ()
    return (LastPrice(_rounded(_shortest(price), PLACES), min(traded_at, fetched_at), fetched_at),)
