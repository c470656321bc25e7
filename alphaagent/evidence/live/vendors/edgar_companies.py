"""Who files with the SEC: the list of tickers, one document for everybody, and a company's own page with its industry, names and filings.

Chosen on purpose: dates are filing dates. The instant of acceptance carries a Z and is Eastern time for some companies, so it is not read.
What the list says is as of today: it has no past, and a ticker in it says nothing of who had that ticker before. Names are a stranger's text.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Any

from alphaagent.domain.market import Instrument, InstrumentKind
from alphaagent.errors import UsageFault, VendorFault
from alphaagent.evidence.live.vendor import Fetched, Seen
from alphaagent.evidence.live.vendors.edgar import ask, cik_of, other_shape, read_json, without_number
from alphaagent.evidence.live.vendors.sic import sector_of
from alphaagent.evidence.live.wire import Wire
from alphaagent.evidence.sources.instruments import normal_ticker
from alphaagent.evidence.sources.plain_text import plain_text

WWW_ADDRESS = "https://www.sec.gov"
MARKETS = {"Nasdaq": "XNAS", "NYSE": "XNYS", "CBOE": "BATS"}
OVER_THE_COUNTER, NO_MARKET = "OTCM", "XXXX"
"""Codes of ISO 10383, for what is traded over the counter and for what the list names no exchange of."""
MOST_NAME_CHARACTERS = 200
_COLUMNS = {"cik", "name", "ticker", "exchange"}
_FILINGS = ("form", "filingDate", "items")
_REPORTS = ("10-K", "10-Q", "20-F", "40-F")
_RESULTS = "2.02"
"""The item of an 8-K that announces results."""
_CLASSES = ("A", "B", "C", "D", "E", "F", "G", "H", "J", "K")
_FUND = re.compile(r"\b(?:etfs?|etn|etp|funds?|trust|shares|spdr|proshares|ishares|index)\b", re.IGNORECASE)
_DAY = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:T.*)?")


@dataclass(frozen=True, slots=True)
class FormerName:
    """What a company was called, from the first to the last day on which it filed under it."""

    name: str
    first: date
    last: date


@dataclass(frozen=True, slots=True)
class Company:
    """A company as its page with the SEC describes it. Days are filing days, ascending; the page reaches back about a thousand filings."""

    name: str
    industry: str
    """The industry code in words."""
    sector: str | None
    former_names: tuple[FormerName, ...]
    tickers: tuple[str, ...]
    exchanges: tuple[str, ...]
    fiscal_year_end: str | None
    """Month and day, `0926`."""
    results_days: tuple[date, ...]
    """When it announced results, with whatever else it files under the same item (a carmaker's deliveries)."""
    report_days: tuple[date, ...]
    """When it filed an annual or quarterly report."""

    def described(self, instrument: Instrument) -> Instrument:
        """The instrument with its sector, where it had none."""
        return instrument if instrument.sector or not self.sector else instrument.model_copy(update={"sector": self.sector})


class EdgarSubmissions:
    """A company's page: who it is and what it filed."""

    name = "edgar"

    def __init__(self, wire: Wire, address: str, contact: str | None) -> None:
        self._wire = wire
        self._address = address
        self._contact = contact

    def not_asked(self, instrument: Instrument) -> str | None:
        return without_number(instrument)

    def fetch(self, instrument: Instrument, before: Seen | None) -> Fetched | None:
        number = cik_of(instrument)
        return ask(self._wire, self._contact, f"{self._address}/submissions/CIK{number}.json", before, lambda raw: read_company(raw, number))


class EdgarTickers:
    """The list of all tickers."""

    name = "edgar"

    def __init__(self, wire: Wire, address: str, contact: str | None) -> None:
        self._wire = wire
        self._address = address
        self._contact = contact

    def fetch(self, before: Seen | None) -> Fetched:
        """The list. Raises VendorFault, also where it is not there: it is one document, and always there."""
        fetched = ask(self._wire, self._contact, f"{self._address}/files/company_tickers_exchange.json", before, read_tickers)
        if fetched is None:
            raise VendorFault("schema", "edgar has no list of tickers where it used to be", fix="look for a newer release that knows where it is")
        return fetched


def read_company(raw: bytes, number: str) -> Company:
    """A company's page. Raises VendorFault where it is none, or of another company than `number`."""
    page = read_json(raw)
    if not isinstance(page, dict) or not isinstance(page.get("name"), str) or str(page.get("cik")).zfill(10) != number:
        raise other_shape("it is no page of this company")
    filings = _filings(page)
    return Company(
        name=_text(page["name"]),
        industry=_text(page.get("sicDescription")),
        sector=sector_of(_text(page.get("sic"))),
        former_names=tuple(sorted(_former_names(page.get("formerNames")), key=lambda former: former.first)),
        tickers=_texts(page.get("tickers")),
        exchanges=_texts(page.get("exchanges")),
        fiscal_year_end=_text(page.get("fiscalYearEnd")) or None,
        results_days=_days(day for form, day, items in filings if form == "8-K" and _RESULTS in items.split(",")),
        report_days=_days(day for form, day, _ in filings if form in _REPORTS),
    )


def _filings(page: Mapping[str, Any]) -> list[tuple[str, date, str]]:
    """Form, filing date and items of each filing; the page keeps them as columns."""
    filings = page.get("filings")
    recent = filings.get("recent") if isinstance(filings, dict) else None
    columns = [column for name in _FILINGS if isinstance(column := recent.get(name), list)] if isinstance(recent, dict) else []
    if len(columns) != len(_FILINGS) or len({len(column) for column in columns}) > 1:
        raise other_shape("it has no list of filings")
    dated = [(str(form), _day(filed), str(items)) for form, filed, items in zip(*columns, strict=True)]
    return [(form, filed, items) for form, filed, items in dated if filed is not None]


def _former_names(stated: Any) -> Iterable[FormerName]:
    for former in stated if isinstance(stated, list) else ():
        if isinstance(former, dict):
            name, first, last = _text(former.get("name")), _day(former.get("from")), _day(former.get("to"))
            if name and first and last:
                yield FormerName(name, first, last)


def _day(stated: Any) -> date | None:
    """The date that a text begins with; the time after it is not believed."""
    found = _DAY.fullmatch(stated) if isinstance(stated, str) else None
    with suppress(ValueError):
        return date.fromisoformat(found[1]) if found else None
    return None


def _days(days: Iterable[date]) -> tuple[date, ...]:
    return tuple(sorted(set(days)))


def _text(stated: Any) -> str:
    return plain_text(stated, MOST_NAME_CHARACTERS) if isinstance(stated, str) else ""


def _texts(stated: Any) -> tuple[str, ...]:
    return tuple(filter(None, map(_text, stated))) if isinstance(stated, list) else ()


@lru_cache(maxsize=2)
def read_tickers(raw: bytes) -> tuple[Instrument, ...]:
    """Everything in the list, in its order; what is on no exchange has OTCM or XXXX for its market. Raises VendorFault.

    The list does not say what a thing is. A share is `common`; where the name or the ticker looks like a fund, a preferred share, a warrant
    or a unit, it is `other`, and somebody else has to tell. A ticker that two companies have is left out.
    """
    rows = _ticker_rows(raw)
    companies: dict[str, set[str]] = {}
    for number, _, ticker, _ in rows:
        companies.setdefault(number, set()).add(ticker)
    found = [_instrument(number, name, ticker, exchange, companies[number]) for number, name, ticker, exchange in rows]
    seen = Counter(instrument.id for instrument in found)
    return tuple(instrument for instrument in found if seen[instrument.id] == 1)


def _ticker_rows(raw: bytes) -> list[tuple[str, str, str, str]]:
    """Number, name, ticker and exchange, each row once; what cannot be a ticker is left out."""
    document = read_json(raw)
    fields, data = (document.get(key) for key in ("fields", "data")) if isinstance(document, dict) else (None, None)
    if not isinstance(fields, list) or not isinstance(data, list) or not data or not all(name in fields for name in _COLUMNS):
        raise other_shape("it is no list of tickers")
    rows: dict[tuple[str, str, str, str], None] = {}
    for row in data:
        if not isinstance(row, list) or len(row) != len(fields):
            raise other_shape("a row of its tickers has not as many columns as it names")
        stated = dict(zip(map(str, fields), row, strict=True))
        with suppress(UsageFault):
            rows[str(stated["cik"]).zfill(10), _text(stated["name"]), normal_ticker(_text(stated["ticker"])), _text(stated["exchange"])] = None
    return list(rows)


def _instrument(number: str, name: str, ticker: str, exchange: str, family: set[str]) -> Instrument:
    mic = MARKETS.get(exchange, OVER_THE_COUNTER if exchange == "OTC" else NO_MARKET)
    return Instrument(id=f"{mic}:{ticker}", symbol=ticker, name=name or ticker, mic=mic, currency="USD", kind=_kind(name, ticker, family), cik=number)


def _kind(name: str, ticker: str, family: set[str]) -> InstrumentKind:
    """`common` where nothing speaks against it: no fund's name, and every other ticker of the same company a variation of this one.

    A bank's notes, some of them on three times an index, stand in the list under the bank's own name and number.
    """
    stem, _, suffix = ticker.partition(".")
    varied = all(other.partition(".")[0] == stem if suffix else other.startswith(stem) for other in family)
    return "common" if varied and suffix in ("", *_CLASSES) and not _FUND.search(name) else "other"
