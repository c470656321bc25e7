"""Who files with the SEC: the list of tickers and a company's own page."""

import gzip
import json
import os
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from alphaagent.domain.market import Instrument
from alphaagent.errors import VendorFault
from alphaagent.evidence.live.gate import Gate
from alphaagent.evidence.live.limits import VendorLimits
from alphaagent.evidence.live.vendor import Seen
from alphaagent.evidence.live.vendors.edgar_companies import Company, EdgarSubmissions, EdgarTickers, FormerName, read_company, read_tickers
from alphaagent.evidence.live.vendors.sic import SECTORS, sector_of
from alphaagent.evidence.live.wire import Wire
from alphaagent.evidence.sources.instruments import read_instruments
from tests.vendors.edgar import INDUSTRIES, SNAPSHOT, Edgar
from tests.vendors.server import VendorServer, serving

CONTACT = "Ada Lovelace ada@example.org"
RECORDED = read_instruments(SNAPSHOT)
AAPL = next(instrument for instrument in RECORDED if instrument.symbol == "AAPL")
PAGE, LIST = "/submissions/CIK0000320193.json", "/files/company_tickers_exchange.json"
FETCHED = datetime(2026, 7, 1, tzinfo=UTC)
REFERENCE = os.environ.get("ALPHAAGENT_REFERENCE_DATA")


@pytest.fixture
def server() -> Iterator[VendorServer]:
    with serving(Edgar()) as running:
        yield running


@pytest.fixture
def wire_of() -> Iterator[Callable[..., Wire]]:
    wires = []

    def made(agent: str = f"AlphaAgent/1.0 ({CONTACT})") -> Wire:
        limits = VendorLimits.model_validate({"requests_per_second": 50, "seconds": 1, "megabytes": 8, "attempts": 1})
        wires.append(Wire(Gate("edgar", limits, lambda _: None), agent))
        return wires[-1]

    yield made
    for wire in wires:
        wire.close()


def page(**changes: Any) -> Company:
    return read_company(json.dumps({**Edgar().document(PAGE), **changes}).encode(), "0000320193")


def listed(*rows: tuple[object, ...], fields: tuple[str, ...] = ("cik", "name", "ticker", "exchange")) -> dict[str, Instrument]:
    document = {"fields": list(fields), "data": [list(row) for row in rows]}
    return {instrument.symbol: instrument for instrument in read_tickers(json.dumps(document).encode())}


def test_a_page_says_who_a_company_is_and_was() -> None:
    company = page()
    assert (company.name, company.industry, company.sector, company.fiscal_year_end) == ("Apple Inc.", "Electronic Computers", "Technology", "0926")
    assert (company.tickers, company.exchanges) == (("AAPL",), ("Nasdaq",))
    assert company.former_names == (
        FormerName("APPLE COMPUTER INC", date(1994, 1, 26), date(2007, 1, 4)),
        FormerName("APPLE INC", date(2007, 1, 10), date(2019, 8, 5)),
    )


def test_days_are_filing_days_whatever_the_instant_of_acceptance_says() -> None:
    recent = {
        "form": ["8-K", "10-Q", "8-K", "8-K/A", "4"],
        "filingDate": ["2024-05-02", "2024-05-03", "2024-02-01", "2024-02-05", "not a day"],
        "items": ["2.02,9.01", "", "5.02", "2.02", ""],
        "acceptanceDateTime": ["2024-05-03T01:00:00.000Z"] * 5,
    }
    company = page(filings={"recent": recent})
    assert (company.results_days, company.report_days) == ((date(2024, 5, 2),), (date(2024, 5, 3),))


def test_what_a_page_leaves_out_is_not_known() -> None:
    company = page(
        sic=None, sicDescription=None, formerNames=[{"name": "X"}, "Y", {"name": "Z", "from": None, "to": "2001-01-01"}], tickers=None, fiscalYearEnd=None
    )
    assert (company.sector, company.industry, company.former_names, company.tickers, company.fiscal_year_end) == (None, "", (), (), None)


def test_names_on_a_page_are_plain_text() -> None:
    assert page(name="Apple <b>Inc</b>\u200b.\n" + "x" * 1000).name.startswith("Apple Inc .")
    assert len(page(name="x" * 1000).name) == 200


def test_a_sector_is_taken_where_there_was_none() -> None:
    assert page().described(AAPL.model_copy(update={"sector": None})).sector == "Technology"
    assert page().described(AAPL.model_copy(update={"sector": "Fruit"})).sector == "Fruit"
    assert page(sic="9999").described(AAPL.model_copy(update={"sector": None})).sector is None


def test_the_sectors_are_those_of_the_recorded_instruments() -> None:
    assert {instrument.symbol: sector_of(INDUSTRIES[instrument.symbol][0]) for instrument in RECORDED} == {
        instrument.symbol: instrument.sector for instrument in RECORDED
    }


@pytest.mark.parametrize(
    ("code", "sector"),
    [
        *(("6021", "Banks"), ("6211", "Banks"), ("6331", "Insurance"), ("6798", "Real estate"), ("1311", "Energy"), ("2911", "Energy"), ("4911", "Utilities")),
        *(
            ("3711", "Autos"),
            ("4813", "Telecoms"),
            ("8731", "Health care"),
            ("0100", "Agriculture"),
            ("0", None),
            ("9995", None),
            ("", None),
            ("12345", None),
            ("x", None),
        ),
    ],
)
def test_an_industry_is_a_sector(code: str, sector: str | None) -> None:
    assert sector_of(code) == sector


def test_the_sectors_stand_in_ascending_order() -> None:
    firsts = [first for first, _ in SECTORS]
    assert firsts == sorted(set(firsts))


@pytest.mark.parametrize(
    "change",
    [
        {"cik": "0000789019"},
        {"name": None},
        {"filings": None},
        {"filings": {"recent": {"form": ["4"], "filingDate": [], "items": []}}},
        {"filings": {"recent": {}}},
    ],
)
def test_a_page_of_another_shape_or_company_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(VendorFault) as caught:
        page(**change)
    assert caught.value.kind == "schema"


def test_a_page_comes_and_is_not_sent_again(server: VendorServer, wire_of: Callable[..., Wire]) -> None:
    vendor = EdgarSubmissions(wire_of(), server.address, CONTACT)
    came = vendor.fetch(AAPL, None)
    assert came is not None
    assert came.raw is not None
    assert read_company(came.raw, "0000320193") == page()
    unchanged = vendor.fetch(AAPL, Seen(came.raw, FETCHED, came.validators))
    assert unchanged is not None
    assert unchanged.raw is None
    assert vendor.fetch(AAPL.model_copy(update={"cik": "0000000001"}), None) is None


def test_a_company_without_a_number_has_no_page() -> None:
    vendor = EdgarSubmissions(Wire(Gate("edgar", VendorLimits(), lambda _: None), "nobody"), "http://127.0.0.1:9", CONTACT)
    assert vendor.not_asked(AAPL) is None
    assert vendor.not_asked(AAPL.model_copy(update={"cik": None})) == "no SEC number of AAPL is known"


def test_the_list_gives_every_ticker_its_id_its_number_and_its_market() -> None:
    found = {instrument.symbol: instrument for instrument in read_tickers(json.dumps(Edgar().document(LIST)).encode())}
    assert {symbol: (found[symbol].id, found[symbol].cik) for symbol in ("AAPL", "BRK.B", "CBOE")} == {
        "AAPL": ("XNAS:AAPL", "0000320193"),
        "BRK.B": ("XNYS:BRK.B", "0001067983"),
        "CBOE": ("BATS:CBOE", "0001374310"),
    }
    for instrument in RECORDED:
        assert instrument.mic == "XLON" or found[instrument.symbol].id == instrument.id


def test_what_is_on_no_exchange_says_so() -> None:
    found = listed((1, "A Co", "AA", "OTC"), (2, "B Co", "BB", None), (3, "C Co", "CC", "Mars"))
    assert [instrument.mic for instrument in found.values()] == ["OTCM", "XXXX", "XXXX"]


@pytest.mark.parametrize(
    ("family", "kinds"),
    [
        (("Apple Inc.", "AAPL"), {"AAPL": "common"}),
        (("BERKSHIRE HATHAWAY INC", "BRK-B", "BRK-A"), {"BRK.B": "common", "BRK.A": "common"}),
        (("HEICO CORP", "HEI", "HEI-A"), {"HEI": "common", "HEI.A": "common"}),
        (("Iron Horse Acquisition", "IRHO", "IRHOU", "IRHOR"), {"IRHO": "common", "IRHOU": "other", "IRHOR": "other"}),
        (("PUBLIC STORAGE", "PSA", "PSA-PS"), {"PSA": "common", "PSA.PS": "other"}),
        (("BANK OF MONTREAL", "BMO", "FNGU"), {"BMO": "other", "FNGU": "other"}),
        (("SPDR S&P 500 ETF TRUST", "SPY"), {"SPY": "other"}),
        (("ProShares Trust II", "UVXY", "BOIL"), {"UVXY": "other", "BOIL": "other"}),
        (("Heartland BancShares Inc", "HTLD"), {"HTLD": "common"}),
        (("Somebody Corp", "SOMB-WT"), {"SOMB.WT": "other"}),
    ],
)
def test_only_what_is_plainly_a_share_is_called_one(family: tuple[str, ...], kinds: dict[str, str]) -> None:
    name, *tickers = family
    assert {symbol: instrument.kind for symbol, instrument in listed(*((7, name, ticker, "NYSE") for ticker in tickers)).items()} == kinds


def test_a_ticker_stays_text_and_what_is_none_is_left_out() -> None:
    found = listed(
        (1, "A", "TRUE", "NYSE"), (2, "B", "NAN", "NYSE"), (3, "C", "1E5", "NYSE"), (4, "D", None, "NYSE"), (5, "E", "A B", "NYSE"), (6, "F", True, "NYSE")
    )
    assert list(found) == ["TRUE", "NAN", "1E5"]


def test_a_ticker_twice_is_one_and_a_ticker_of_two_companies_is_none() -> None:
    assert list(listed((1, "A", "AA", "NYSE"), (1, "A", "AA", "NYSE"), (2, "B", "BB", "NYSE"), (3, "C", "BB", "NYSE"))) == ["AA"]


def test_columns_may_stand_in_another_order() -> None:
    assert listed(("NYSE", "AA", 1, "A Co"), fields=("exchange", "ticker", "cik", "name"))["AA"].name == "A Co"


@pytest.mark.parametrize(
    "document",
    [
        *([], {"v2": {"rows": []}}, {"fields": ["cik", "name", "ticker"], "data": [[1, "A", "AA"]]}),
        *({"fields": ["cik", "name", "ticker", "exchange"], "data": data} for data in ([], {}, [[1, "A", "AA"]], ["AAAA"])),
    ],
)
def test_a_list_of_another_shape_is_refused(document: object) -> None:
    with pytest.raises(VendorFault) as caught:
        read_tickers(json.dumps(document).encode())
    assert caught.value.kind == "schema"


def test_the_list_comes_and_is_not_sent_again(server: VendorServer, wire_of: Callable[..., Wire]) -> None:
    vendor = EdgarTickers(wire_of(), server.address, CONTACT)
    came = vendor.fetch(None)
    assert came.raw is not None
    assert "XNAS:AAPL" in {instrument.id for instrument in read_tickers(came.raw)}
    assert vendor.fetch(Seen(came.raw, FETCHED, came.validators)).raw is None
    assert server.seen[LIST] == 2


def test_a_list_that_is_gone_is_a_fault(wire_of: Callable[..., Wire]) -> None:
    with serving() as empty, pytest.raises(VendorFault) as caught:
        EdgarTickers(wire_of(), empty.address, CONTACT).fetch(None)
    assert caught.value.kind == "schema"


@pytest.mark.parametrize(("mood", "kind"), [("drift", "schema"), ("html", "malformed"), ("403", "refused"), ("503", "unavailable")])
def test_both_fail_by_their_kinds(server: VendorServer, wire_of: Callable[..., Wire], mood: str, kind: str) -> None:
    server.mood(mood)
    wire = wire_of()
    for ask in (lambda: EdgarTickers(wire, server.address, CONTACT).fetch(None), lambda: EdgarSubmissions(wire, server.address, CONTACT).fetch(AAPL, None)):
        with pytest.raises(VendorFault) as caught:
            ask()
        assert caught.value.kind == kind


def test_without_a_contact_neither_is_asked(server: VendorServer, wire_of: Callable[..., Wire]) -> None:
    wire = wire_of()
    for ask in (lambda: EdgarTickers(wire, server.address, None).fetch(None), lambda: EdgarSubmissions(wire, server.address, None).fetch(AAPL, None)):
        with pytest.raises(VendorFault) as caught:
            ask()
        assert caught.value.kind == "not_configured"
    assert server.seen.total() == 0


@pytest.mark.skipif(REFERENCE is None, reason="ALPHAAGENT_REFERENCE_DATA names no folder of reference data")
@pytest.mark.parametrize(
    ("symbol", "sector", "results", "reports"),
    [("AAPL", "Technology", 45, 44), ("MSFT", "Technology", 26, 26), ("NVDA", "Technology", 26, 25), ("TSLA", "Autos", 66, 33)],
)
def test_real_pages_are_read(symbol: str, sector: str, results: int, reports: int) -> None:
    raw = gzip.decompress((Path(str(REFERENCE)) / "sec" / "submissions" / f"{symbol}.json.gz").read_bytes())
    company = read_company(raw, json.loads(raw)["cik"])
    assert (company.sector, company.tickers, company.exchanges) == (sector, (symbol,), ("Nasdaq",))
    assert (len(company.results_days), len(company.report_days)) == (results, reports)
