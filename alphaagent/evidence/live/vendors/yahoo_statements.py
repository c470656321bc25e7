"""A company's statements as Yahoo has them now, for companies that file none with the SEC.

Yahoo says nothing of when a number was filed, and puts restated ones in the place of the first. So every fact is dated at the fetch: a decision
about the past never sees one. The library's statements are asked, and the answers that it had are what is kept, because its tables drop the
currency and the length of the period. Of what it calls trailing there is one period, the latest twelve months, which quarters alone do not give.
"""

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Literal

from alphaagent.domain.market import Fact, Instrument, Records, RowFault
from alphaagent.errors import SourceFault, VendorFault
from alphaagent.evidence.live.vendor import Fetched, Seen, Topic
from alphaagent.evidence.live.vendors.yahoo_frames import canonical, plain
from alphaagent.evidence.live.vendors.yahoo_markets import VENDOR, yahoo_symbol
from alphaagent.evidence.live.vendors.yahoo_session import YahooSession
from alphaagent.evidence.sources.table import BadRow
from alphaagent.ports import Calendar

FORM = "as known now"
Kind = Literal["flow", "instant", "shares", "per share"]
LINES: dict[str, tuple[str, Kind]] = {
    "TotalRevenue": ("Revenues", "flow"),
    "OperatingIncome": ("OperatingIncomeLoss", "flow"),
    "NetIncome": ("NetIncomeLoss", "flow"),
    "PretaxIncome": ("IncomeLossFromContinuingOperationsBeforeIncomeTaxesExtraordinaryItemsNoncontrollingInterest", "flow"),
    "TaxProvision": ("IncomeTaxExpenseBenefit", "flow"),
    "InterestExpense": ("InterestExpense", "flow"),
    "InterestExpenseNonOperating": ("InterestExpenseNonoperating", "flow"),
    "DilutedEPS": ("EarningsPerShareDiluted", "per share"),
    "DilutedAverageShares": ("WeightedAverageNumberOfDilutedSharesOutstanding", "shares"),
    "CashAndCashEquivalents": ("CashAndCashEquivalentsAtCarryingValue", "instant"),
    "OtherShortTermInvestments": ("ShortTermInvestments", "instant"),
    "LongTermDebt": ("LongTermDebtNoncurrent", "instant"),
    "CurrentDebt": ("LongTermDebtCurrent", "instant"),
    "CurrentAssets": ("AssetsCurrent", "instant"),
    "CurrentLiabilities": ("LiabilitiesCurrent", "instant"),
    "StockholdersEquity": ("StockholdersEquity", "instant"),
}
"""Yahoo's line, the US-GAAP concept that it stands for here, and what it is. Its long-term debt is what is not due within the year, and its current
debt has the short-term borrowings in it, so that nothing stands for these alone."""
SERIES = ("annual", "trailing", "quarterly")
"""Of two that speak of one period the first counts."""
ENVELOPE = "timeseries"
_LENGTH = re.compile(r"([1-9]|1[0-2])M", re.ASCII)
_CURRENCY = re.compile(r"[A-Z]{3}", re.ASCII)


class YahooStatements:
    """Annual and quarterly figures, and those of the latest twelve months, of one company."""

    name = VENDOR
    topic: Topic = "fundamentals"

    def __init__(self, session: YahooSession) -> None:
        self._session = session

    def not_asked(self, instrument: Instrument) -> str | None:
        return None if instrument.kind in ("common", "other") else f"{instrument.symbol} files no statements of its own"

    def fetch(self, instrument: Instrument, before: Seen | None) -> Fetched | None:  # noqa: ARG002 - nothing of Yahoo's can be asked for by what has changed
        symbol = yahoo_symbol(instrument)
        came = self._session.ask(symbol, _statements)
        points = {} if came is None else _points(document for envelope, document in came.documents if envelope == ENVELOPE)
        return Fetched(canonical({"symbol": symbol, "points": points})) if points else None

    def parse(self, raw: bytes, instrument: Instrument, calendar: Calendar, fetched_at: datetime) -> Records:  # noqa: ARG002 - the socket's signature
        facts: dict[tuple[str, str, date | None, date], Fact] = {}
        faults = []
        for series, line, number, point in _read(raw, instrument):
            try:
                fact = _fact(series, line, point, fetched_at)
            except BadRow as bad:
                faults.append(RowFault(f"{VENDOR}'s statements of {instrument.symbol}, {series} {line} {number}", str(bad), None, fetched_at))
            else:
                facts.setdefault((fact.concept, fact.unit, fact.start, fact.end), fact)
        return Records(facts=tuple(facts.values()), faults=tuple(faults))


def _statements(ticker: Any) -> None:
    """Asks for every statement. The library raises where there is none, which here is no failure: the session has told these apart."""
    from yfinance.exceptions import YFException

    with suppress(YFException):
        for series in ("yearly", "quarterly"):
            ticker.get_income_stmt(freq=series)
            ticker.get_balance_sheet(freq=series)
        with suppress(IndexError):  # it takes the first of the trailing periods without asking whether there is one
            ticker.get_income_stmt(freq="trailing")


def _points(documents: Iterable[Any]) -> dict[str, dict[str, list[list[str | None]]]]:
    """By series and line what is mapped of the answers: period end, its length, currency, value. VendorFault where a point has another shape."""
    found: dict[str, dict[str, list[list[str | None]]]] = {}
    for document in documents:
        for result in document[ENVELOPE]["result"]:
            for key, points in result.items() if isinstance(result, dict) else ():
                series = next((name for name in SERIES if key.startswith(name)), None)
                line = key.removeprefix(series or "")
                if series and line in LINES:
                    found.setdefault(series, {})[line] = [_point(key, point) for point in points or () if point is not None]
    return found


def _point(key: str, point: Any) -> list[str | None]:
    try:
        return [str(point["asOfDate"]), str(point["periodType"]), str(point["currencyCode"]), plain(point["reportedValue"]["raw"])]
    except (KeyError, TypeError):
        raise VendorFault("schema", f"{VENDOR} writes {key} in another way than agreed", fix="see the wiki's Live-Data page") from None


def _read(raw: bytes, instrument: Instrument) -> list[tuple[str, str, int, list[str | None]]]:
    """Every point with its series, its line and its place. Raises SourceFault on what is no such document."""
    try:
        points: Mapping[str, Mapping[str, list[list[str | None]]]] = json.loads(raw.decode("utf-8"))["points"]
        return [
            (series, line, number, point)
            for series in SERIES
            for line, listed in points.get(series, {}).items()
            if line in LINES
            for number, point in enumerate(listed, start=1)
        ]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as fault:
        raise SourceFault(f"the document of {VENDOR}'s statements of {instrument.symbol} cannot be read ({fault})", fix="fetch it again") from None


def _fact(series: str, line: str, point: list[str | None], fetched_at: datetime) -> Fact:
    concept, kind = LINES[line]
    end, currency, value = _end(point[0]), str(point[2]), point[3]
    if not _CURRENCY.fullmatch(currency):
        raise BadRow(f"currency {currency[:20]!a} is none")
    if value is None:
        raise BadRow("the value is no number")
    return Fact(
        concept=concept,
        unit={"shares": "shares", "per share": f"{currency}/shares"}.get(kind, currency),
        start=None if kind == "instant" else _start(end, _months(series, str(point[1]))),
        end=end,
        value=Decimal(value),
        filed=fetched_at.date(),
        form=FORM,
        accession="",
        known_at=fetched_at,
    )


def _end(text: str | None) -> date:
    try:
        return date.fromisoformat(str(text))
    except ValueError:
        raise BadRow(f"period end {str(text)[:20]!a} is not a date") from None


def _months(series: str, length: str) -> int:
    """How long a period is. Twelve months are also written TTM."""
    if series == "trailing" or length == "TTM":
        return 12
    match = _LENGTH.fullmatch(length)
    if match is None:
        raise BadRow(f"period {length[:20]!a} is not of so many months")
    return int(match[1])


def _start(end: date, months: int) -> date:
    """The first day of a period: Yahoo gives ends alone, and moves those of 52 weeks to the end of the month."""
    after = end + timedelta(1)
    place = after.year * 12 + after.month - 1 - months
    first = date(place // 12, place % 12 + 1, 1)
    return first + timedelta(min(after.day, _days_in(first)) - 1)


def _days_in(first: date) -> int:
    return ((first + timedelta(31)).replace(day=1) - first).days
