"""Yahoo's statements: dated at the fetch, mapped to the concepts that the measures know, in the statement's own currency."""

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from alphaagent.domain.market import Fact, Instrument, InstrumentKind, Records
from alphaagent.errors import SourceFault, VendorFault
from alphaagent.evidence.admission import admit
from alphaagent.evidence.fundamentals import CONCEPTS, Filed, debt_now, instant_now, trailing_now
from alphaagent.evidence.live.vendors.yahoo import YahooStatements
from alphaagent.evidence.live.vendors.yahoo_statements import LINES
from tests.snapshot_folder import ACME, recorded_calendar
from tests.vendors.server import Page
from tests.vendors.yahoo import Listing
from tests.vendors.yahoo_desk import YahooDesk, yahoo_desk

FETCHED = datetime(2025, 2, 21, 12, tzinfo=UTC)
CALENDAR = recorded_calendar()
PARSER = YahooStatements(None)  # type: ignore[arg-type]  # parsing asks nothing
YEAR, QUARTER = ("2024-09-30", "12M", "USD"), ("2024-12-31", "3M", "USD")
STATEMENTS = {
    "annual": {
        "TotalRevenue": [("2023-09-30", "12M", "USD", 383285000000), (*YEAR, 391035000000)],
        "DilutedEPS": [(*YEAR, 6.08)],
        "DilutedAverageShares": [(*YEAR, 15408095000)],
        "LongTermDebt": [(*YEAR, 85750000000)],
        "CurrentDebt": [(*YEAR, 20879000000)],
        "EBITDA": [(*YEAR, 134661000000)],
    },
    "quarterly": {"TotalRevenue": [(*QUARTER, 124300000000)], "CurrentAssets": [(*QUARTER, 133240000000)]},
    "trailing": {"TotalRevenue": [("2024-12-31", "TTM", "USD", 395760000000)]},
}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[YahooDesk]:
    with yahoo_desk(tmp_path) as made:
        made.player.listings["ACME"] = Listing("Acme Corporation", statements=STATEMENTS)
        yield made


def fetched(desk: YahooDesk) -> Records:
    came = desk.statements.fetch(ACME, None)
    assert came is not None
    return desk.statements.parse(came.raw or b"", ACME, CALENDAR, FETCHED)


def parsed(line: str, *point: str | None, series: str = "annual") -> Records:
    return PARSER.parse(json.dumps({"symbol": "ACME", "points": {series: {line: [point]}}}).encode(), ACME, CALENDAR, FETCHED)


def test_every_line_stands_for_a_concept_that_the_measures_know() -> None:
    known = {concept for concepts in CONCEPTS.values() for concept in concepts}
    assert {concept for concept, _ in LINES.values()} <= known
    for name in ("revenue", "operating_income", "net_income", "pretax_income", "income_tax", "interest_expense", "eps", "diluted_shares", "cash", "securities"):
        assert {concept for concept, _ in LINES.values()} & set(CONCEPTS[name])


def test_facts_are_dated_at_the_fetch_and_carry_no_accession(desk: YahooDesk) -> None:
    facts = fetched(desk).facts
    assert {(fact.filed, fact.known_at, fact.form, fact.accession) for fact in facts} == {(date(2025, 2, 21), FETCHED, "as known now", "")}
    assert Fact("Revenues", "USD", date(2023, 10, 1), date(2024, 9, 30), Decimal(391035000000), date(2025, 2, 21), "as known now", "", FETCHED) in facts


def test_a_decision_about_the_past_sees_none_of_them(desk: YahooDesk) -> None:
    assert admit(fetched(desk), FETCHED, date(2025, 2, 20)).facts == ()


def test_units_are_the_statements_currency_shares_and_both(desk: YahooDesk) -> None:
    units = {fact.concept: fact.unit for fact in fetched(desk).facts}
    assert units["Revenues"] == "USD"
    assert units["EarningsPerShareDiluted"] == "USD/shares"
    assert units["WeightedAverageNumberOfDilutedSharesOutstanding"] == "shares"


def test_the_measures_find_twelve_months_debt_and_instants(desk: YahooDesk) -> None:
    filed = Filed(fetched(desk).facts, "USD")
    on = date(2025, 2, 21)
    revenue, debt, assets = trailing_now(filed, "revenue", on), debt_now(filed, on), instant_now(filed, "current_assets", on)
    assert revenue is not None
    assert debt is not None
    assert assets is not None
    assert (revenue.value, revenue.end) == (Decimal(395760000000), date(2024, 12, 31))
    assert debt.value == Decimal(106629000000)
    assert (assets.value, assets.facts[0].start) == (Decimal(133240000000), None)


def test_lines_that_stand_for_nothing_are_not_kept(desk: YahooDesk) -> None:
    came = desk.statements.fetch(ACME, None)
    assert b"EBITDA" not in ((came and came.raw) or b"")


def test_a_company_asks_five_times_and_one_without_statements_twice(desk: YahooDesk) -> None:
    desk.statements.fetch(ACME, None)
    assert [count for path, count in desk.server.seen.items() if "timeseries" in path] == [5]
    desk.player.listings["NONE"] = Listing("None at all")
    assert desk.statements.fetch(ACME.model_copy(update={"symbol": "NONE"}), None) is None
    assert [count for path, count in desk.server.seen.items() if "NONE" in path] == [2]


def test_a_company_without_trailing_figures_has_the_others(desk: YahooDesk) -> None:
    desk.player.listings["ACME"] = Listing("Acme Corporation", statements={"annual": STATEMENTS["annual"]})
    assert {fact.end for fact in fetched(desk).facts} == {date(2024, 9, 30), date(2023, 9, 30)}


def test_what_fails_half_way_is_no_document(desk: YahooDesk) -> None:
    asked: list[str] = []

    def failing(request: Any) -> Page | None:
        if "timeseries" in request.path:
            asked.append(request.path)
        return Page(b"", 503) if len(asked) == 3 else None

    desk.server.players = (failing, *desk.server.players)
    with pytest.raises(VendorFault) as caught:
        desk.statements.fetch(ACME, None)
    assert caught.value.kind == "unavailable"
    assert len(asked) == 3


@pytest.mark.parametrize(
    ("end", "length", "start"),
    [
        ("2024-09-30", "12M", date(2023, 10, 1)),
        ("2024-02-29", "12M", date(2023, 3, 1)),
        ("2023-02-28", "3M", date(2022, 12, 1)),
        ("2024-12-31", "6M", date(2024, 7, 1)),
        ("2024-05-30", "3M", date(2024, 2, 29)),
        ("2024-03-15", "3M", date(2023, 12, 16)),
        ("2024-12-31", "TTM", date(2024, 1, 1)),
    ],
)
def test_a_period_begins_so_many_months_before_its_end(end: str, length: str, start: date) -> None:
    (fact,) = parsed("TotalRevenue", end, length, "USD", "5").facts
    assert fact.start == start


def test_of_two_that_speak_of_one_period_the_annual_one_counts() -> None:
    points = {series: {"TotalRevenue": [["2024-09-30", length, "USD", value]]} for series, length, value in (("trailing", "TTM", "2"), ("annual", "12M", "1"))}
    (fact,) = PARSER.parse(json.dumps({"points": points}).encode(), ACME, CALENDAR, FETCHED).facts
    assert fact.value == 1


def test_another_currency_is_told_and_not_converted() -> None:
    (fact,) = parsed("DilutedEPS", "2024-12-31", "12M", "TWD", "45.25").facts
    assert (fact.unit, fact.value) == ("TWD/shares", Decimal("45.25"))


@pytest.mark.parametrize(
    ("point", "message"),
    [
        (("soon", "12M", "USD", "5"), "period end 'soon' is not a date"),
        (("2024-12-31", "13M", "USD", "5"), "period '13M' is not of so many months"),
        (("2024-12-31", "12M", "None", "5"), "currency 'None' is none"),
        (("2024-12-31", "12M", "USD", None), "the value is no number"),
    ],
)
def test_a_point_that_cannot_be_used_is_a_fault(point: tuple[str | None, ...], message: str) -> None:
    (fault,) = parsed("TotalRevenue", *point).faults
    assert (fault.message, fault.known_at) == (message, FETCHED)
    assert fault.where == "yahoo's statements of ACME, annual TotalRevenue 1"


@pytest.mark.parametrize("kind", ["etf", "leveraged_etf", "inverse_etf", "index"])
def test_what_is_no_company_is_not_asked(kind: InstrumentKind) -> None:
    fund = Instrument(id="ARCX:SPY", symbol="SPY", name="SPY", mic="ARCX", currency="USD", kind=kind)
    assert PARSER.not_asked(fund) == "SPY files no statements of its own"
    assert PARSER.not_asked(ACME) is None


@pytest.mark.parametrize("raw", [b"", b"[]", b"{}", b'{"points":[]}', b'{"points":{"annual":[]}}', b'{"points":{"annual":{"TotalRevenue":1}}}', b"\xff"])
def test_a_document_that_is_none_is_refused(raw: bytes) -> None:
    with pytest.raises(SourceFault, match="cannot be read"):
        PARSER.parse(raw, ACME, CALENDAR, FETCHED)
