"""Facts from the SEC: the same as the recorded ones, exact, each from the session after its filing; and every bad mood of its server."""

import csv
import gzip
import json
import os
import time
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from alphaagent.clock import SessionTable
from alphaagent.domain.market import Fact, Instrument, Records
from alphaagent.errors import VendorFault
from alphaagent.evidence.live.gate import Gate
from alphaagent.evidence.live.limits import VendorLimits
from alphaagent.evidence.live.vendor import Seen
from alphaagent.evidence.live.vendors.edgar import USED, EdgarFacts
from alphaagent.evidence.live.wire import Wire
from alphaagent.evidence.sources.instruments import read_instruments
from alphaagent.evidence.sources.snapshot import SnapshotFundamentals, SnapshotPrices
from alphaagent.evidence.valuation import earnings_steps
from tests.unit.evidence.measure_builders import CALENDAR, opens, weekdays
from tests.vendors.edgar import SNAPSHOT, Edgar
from tests.vendors.server import VendorServer, serving

FETCHED = datetime(2026, 7, 1, tzinfo=UTC)
CONTACT = "Ada Lovelace ada@example.org"
BY_SYMBOL = {instrument.symbol: instrument for instrument in read_instruments(SNAPSHOT)}
AAPL = BY_SYMBOL["AAPL"]
FACTS_PATH = "/api/xbrl/companyfacts/CIK0000320193.json"
RECORDED_SESSIONS = SessionTable.parse((SNAPSHOT / "sessions.csv").read_text(encoding="utf-8"))
REFERENCE = os.environ.get("ALPHAAGENT_REFERENCE_DATA")


@pytest.fixture
def edgar() -> Edgar:
    return Edgar()


@pytest.fixture
def server(edgar: Edgar) -> Iterator[VendorServer]:
    with serving(edgar) as running:
        yield running


@pytest.fixture
def vendor_of(server: VendorServer) -> Iterator[Callable[..., EdgarFacts]]:
    wires = []

    def made(contact: str | None = CONTACT, agent: str = f"AlphaAgent/1.0 ({CONTACT})", **limits: object) -> EdgarFacts:
        settings = VendorLimits.model_validate({"requests_per_second": 50, "seconds": 1, "megabytes": 8, "attempts": 1, **limits})
        wires.append(Wire(Gate("edgar", settings, lambda _: None), agent, hosts=("www.sec.gov",)))
        return EdgarFacts(wires[-1], server.address, contact)

    yield made
    for wire in wires:
        wire.close()


def pure() -> EdgarFacts:
    """A vendor that only parses."""
    return EdgarFacts(Wire(Gate("edgar", VendorLimits(), lambda _: None), "nobody"), "http://127.0.0.1:9", CONTACT)


def parsed(document: object, instrument: Instrument = AAPL, calendar: SessionTable = CALENDAR) -> Records:
    return pure().parse(json.dumps(document).encode(), instrument, calendar, FETCHED)


def row(**changes: Any) -> dict[str, Any]:
    whole = {"start": "2013-01-01", "end": "2013-12-31", "val": 1000, "accn": "0000320193-14-000001", "form": "10-K", "filed": "2014-02-03", **changes}
    return {key: value for key, value in whole.items() if value is not ...}


def facts(*rows: dict[str, Any], concept: str = "NetIncomeLoss", unit: str = "USD", taxonomy: str = "us-gaap") -> dict[str, Any]:
    return {"cik": 320193, "entityName": "Apple Inc.", "facts": {taxonomy: {concept: {"label": "", "description": "", "units": {unit: list(rows)}}}}}


@pytest.mark.parametrize("symbol", ["AAPL", "GOOG", "MSFT", "NVDA"])
def test_the_facts_are_those_of_the_recorded_snapshot(symbol: str) -> None:
    instrument, recorded = BY_SYMBOL[symbol], SnapshotFundamentals(SNAPSHOT)
    raw = recorded.fetch(instrument)
    assert raw is not None
    expected = [fact for fact in recorded.parse(raw, instrument, CALENDAR).facts if fact.concept in USED]
    found = parsed(Edgar().document(f"/api/xbrl/companyfacts/CIK{instrument.cik}.json"), instrument)
    assert found.faults == ()
    assert sorted(found.facts, key=repr) == sorted(expected, key=repr)
    assert [fact.known_at for fact in found.facts] == sorted(fact.known_at for fact in expected)


def test_a_fact_is_exact_and_counts_from_the_open_of_the_session_after_its_filing() -> None:
    raw = json.dumps(facts(row(val="EPS", filed="2014-01-31"), concept="EarningsPerShareDiluted", unit="USD/shares")).replace('"EPS"', "5.6800000000000000001")
    (fact,) = pure().parse(raw.encode(), AAPL, CALENDAR, FETCHED).facts
    assert fact == Fact(
        "EarningsPerShareDiluted",
        "USD/shares",
        date(2013, 1, 1),
        date(2013, 12, 31),
        Decimal("5.6800000000000000001"),
        date(2014, 1, 31),
        "10-K",
        "0000320193-14-000001",
        opens(date(2014, 2, 3)),
    )


def test_a_restatement_is_another_fact_and_every_form_counts() -> None:
    restated = row(val=900, filed="2014-06-02", form="8-K", accn="0000320193-14-000077")
    found = parsed(facts(row(), restated)).facts
    assert [(fact.form, fact.value) for fact in found] == [("10-K", 1000), ("8-K", 900)]


def test_what_no_measure_uses_is_left_out() -> None:
    for document in (facts(row(), concept="Goodwill"), facts(row(), unit="USD/PartnershipUnit"), facts(row(), taxonomy="dei"), facts()):
        assert parsed(document) == Records()


def test_a_foreign_companys_facts_keep_their_name_and_their_money() -> None:
    (fact,) = parsed(facts(row(form="20-F"), concept="ProfitLossAttributableToOwnersOfParent", unit="EUR", taxonomy="ifrs-full")).facts
    assert (fact.concept, fact.unit, fact.form) == ("ProfitLossAttributableToOwnersOfParent", "EUR", "20-F")


@pytest.mark.parametrize("slip", [{"end": "2014-02-04"}, {"start": "2014-01-01"}])
def test_a_period_that_its_filing_cannot_know_of_is_left_out(slip: dict[str, str]) -> None:
    assert parsed(facts(row(**slip))) == Records()


def test_a_filing_before_the_calendar_counts_from_its_first_open_and_one_at_its_end_not_yet() -> None:
    calendar = SessionTable((day, opens(day), opens(day)) for day in weekdays(date(2014, 3, 3), date(2014, 6, 2)))
    last = row(filed="2014-06-02", accn="0000320193-14-000002")
    (fact,) = parsed(facts(row(), last), calendar=calendar).facts
    assert (fact.filed, fact.known_at) == (date(2014, 2, 3), opens(date(2014, 3, 3)))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"val": "1000"}, None),
        ({"val": "much"}, "val 'much' is not a number"),
        ({"val": True}, "val 'True' is not a number"),
        ({"val": 10**18}, "val '1000000000000000000' is out of all bounds"),
        ({"val": ...}, "val 'None' is not a number"),
        ({"end": ...}, "the row has no end"),
        ({"end": "2013-W52-2"}, "end '2013-W52-2' is not a date"),
        ({"start": 2013}, "start '2013' is not a date"),
        ({"accn": "1"}, "accn '1' is not of the expected form"),
        ({"form": "10-K\n"}, "form '10-K\\n' is not of the expected form"),
    ],
)
def test_a_row_that_cannot_be_used_is_a_fault_known_when_the_fact_would_have_been(change: dict[str, Any], said: str | None) -> None:
    records = parsed(facts(row(**change)))
    (fault,) = records.faults
    assert records.facts == ()
    assert (fault.where, fault.session, fault.known_at) == ("NetIncomeLoss in USD, row 1", date(2014, 2, 3), opens(date(2014, 2, 4)))
    assert fault.message == (said or "val '1000' is not a number")


@pytest.mark.parametrize("stated", ["today", ...])
def test_a_row_without_a_filing_date_is_a_fault_without_an_instant(stated: Any) -> None:
    (fault,) = parsed(facts(row(filed=stated))).faults
    assert (fault.session, fault.known_at) == (None, None)


def test_the_same_row_again_is_nothing_and_another_value_in_one_filing_is_a_fault() -> None:
    records = parsed(facts(row(), row(frame="CY2013"), row(val=1001)))
    assert [fact.value for fact in records.facts] == [1000]
    assert [fault.message for fault in records.faults] == ["one filing states two values for the period to 2013-12-31"]


@pytest.mark.parametrize(
    "document",
    [
        *([], {"facts": []}, {"v2": {"rows": []}}, {"cik": 1, "facts": {}}, {"facts": {"us-gaap": {}}}),
        *({"cik": 320193, "facts": {"us-gaap": []}}, {"cik": 320193, "facts": {"us-gaap": {"NetIncomeLoss": {}}}}, facts() | {"cik": "789019"}),
        {"cik": 320193, "facts": {"us-gaap": {"NetIncomeLoss": {"units": {"USD": {}}}}}},
    ],
)
def test_a_document_of_another_shape_or_company_is_refused(document: object) -> None:
    with pytest.raises(VendorFault) as caught:
        parsed(document)
    assert caught.value.kind == "schema"


@pytest.mark.parametrize("raw", [b"", b"<html>", b"[" * 100_000, b"\xff\xfe{\x00}\x00", b'{"cik": 320193, "facts": NaN}', b"1e99999999999999999999"])
def test_what_is_no_json_is_refused(raw: bytes) -> None:
    with pytest.raises(VendorFault) as caught:
        pure().parse(raw, AAPL, CALENDAR, FETCHED)
    assert caught.value.kind == "malformed"


def test_what_came_can_be_parsed_and_is_not_sent_again(vendor_of: Callable[..., EdgarFacts], edgar: Edgar, server: VendorServer) -> None:
    vendor = vendor_of()
    edgar.upto = date(2014, 1, 1)
    came = vendor.fetch(AAPL, None)
    assert came is not None
    assert came.raw is not None
    assert max(fact.filed for fact in vendor.parse(came.raw, AAPL, CALENDAR, FETCHED).facts) == date(2013, 10, 30)
    seen = Seen(came.raw, FETCHED, came.validators)
    unchanged = vendor.fetch(AAPL, seen)
    assert unchanged is not None
    assert (unchanged.raw, dict(unchanged.validators)) == (None, dict(came.validators))
    edgar.upto = None
    newer = vendor.fetch(AAPL, seen)
    assert newer is not None
    assert newer.raw not in (None, came.raw)
    assert server.seen[FACTS_PATH] == 3


def test_a_company_without_facts_is_an_absence(vendor_of: Callable[..., EdgarFacts]) -> None:
    assert vendor_of().fetch(BY_SYMBOL["AMZN"], None) is None


def test_without_a_contact_the_sec_is_not_asked(vendor_of: Callable[..., EdgarFacts], server: VendorServer) -> None:
    with pytest.raises(VendorFault) as caught:
        vendor_of(contact=None).fetch(AAPL, None)
    assert (caught.value.kind, server.seen.total()) == ("not_configured", 0)
    assert caught.value.fix == "set data.contact in alphaagent.yaml to a name and an e-mail address, as the SEC asks"


def test_whoever_does_not_say_who_he_is_is_refused_and_told_where_to_say_it(vendor_of: Callable[..., EdgarFacts]) -> None:
    with pytest.raises(VendorFault) as caught:
        vendor_of(agent="AlphaAgent/1.0").fetch(AAPL, None)
    assert caught.value.kind == "refused"
    assert "data.contact" in str(caught.value.fix)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"cik": None}, "no SEC number of AAPL is known"),
        ({"cik": "../../x"}, "the SEC number of AAPL, '../../x', is no number"),
        ({"kind": "etf"}, "AAPL files no statements of its own"),
        ({"kind": "index"}, "AAPL files no statements of its own"),
        ({}, None),
    ],
)
def test_who_files_nothing_or_cannot_be_looked_up_is_not_asked_about(change: dict[str, Any], reason: str | None) -> None:
    assert pure().not_asked(AAPL.model_copy(update=change)) == reason


def test_a_number_goes_into_no_address_unless_it_is_one() -> None:
    with pytest.raises(VendorFault):
        pure().fetch(AAPL.model_copy(update={"cik": "../../x"}), None)


@pytest.mark.parametrize("split", [date(2014, 6, 9), date(2020, 8, 31)])
def test_apples_price_to_earnings_is_sensible_on_both_sides_of_its_splits(split: date) -> None:
    """Earnings as filed under prices as traded: on one share basis the multiple does not jump by seven or by four overnight."""
    steps = earnings_steps(parsed(Edgar().document(FACTS_PATH)).facts, "USD")
    prices = SnapshotPrices(SNAPSHOT)
    raw = prices.fetch(AAPL)
    assert raw is not None
    traded = prices.parse(raw, AAPL, RECORDED_SESSIONS)
    around = [bar for bar in traded.bars if abs((bar.session - split).days) <= 5]
    multiples = []
    for bar in around:
        eps = [step for step in steps if step.known_at < bar.known_at][-1].on(bar.session, traded.actions)
        assert eps is not None
        multiples.append(bar.close / eps)
    assert around[0].session < split < around[-1].session
    assert all(10 < multiple < 45 for multiple in multiples)
    assert max(multiples) < min(multiples) * Decimal("1.2")


def test_ten_megabytes_are_no_burden() -> None:
    rows = [row(accn=f"0000320193-14-{number:06d}", frame="CY2013Q4I", fy=2013, fp="FY") for number in range(6_000)]
    units = {"USD": rows}
    document = facts() | {"facts": {"us-gaap": {"NetIncomeLoss": {"units": units}, **{f"Other{n}": {"units": units} for n in range(9)}}}}
    raw = json.dumps(document).encode()
    assert len(raw) > 9_000_000
    began = time.thread_time()
    assert len(pure().parse(raw, AAPL, CALENDAR, FETCHED).facts) == 6_000
    assert time.thread_time() - began < 3


@pytest.mark.skipif(REFERENCE is None, reason="ALPHAAGENT_REFERENCE_DATA names no folder of reference data")
@pytest.mark.parametrize("symbol", ["AAPL", "NVDA", "GOOGL", "TSLA"])
def test_whole_documents_give_the_facts_of_the_reference(symbol: str) -> None:
    folder = Path(str(REFERENCE)) / "sec"
    raw = gzip.decompress((folder / "companyfacts" / f"{symbol}.json.gz").read_bytes())
    instrument = AAPL.model_copy(update={"symbol": symbol, "cik": str(json.loads(raw)["cik"])})
    calendar = SessionTable((day, opens(day), opens(day)) for day in weekdays(date(2000, 1, 3), date(2030, 12, 31)))
    records = pure().parse(raw, instrument, calendar, FETCHED)
    found = {(f.concept, f.unit, str(f.start or ""), str(f.end), float(f.value), f.form, str(f.filed), f.accession) for f in records.facts}
    with gzip.open(folder / "fundamentals_pit.csv.gz", "rt", encoding="utf-8") as table:
        rows = [line for line in csv.DictReader(table) if line["ticker"] == symbol and line["concept"] in USED]
    names = ("concept", "unit", "start", "end", "val", "form", "filed", "accn")
    expected = {tuple(float(line[name]) if name == "val" else line[name] for name in names) for line in rows}
    concepts = {line["concept"] for line in rows}
    assert records.faults == ()
    assert len(concepts) > 10
    assert {fact for fact in found if fact[0] in concepts} == expected
