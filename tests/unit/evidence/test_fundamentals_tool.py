"""The items of get_financial_health: payloads, dates, and what is unknown or lost."""

from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from alphaagent.domain.evidence import EvidenceItem, Status
from alphaagent.domain.market import Fact
from alphaagent.evidence.fundamentals_tool import fundamental_items
from alphaagent.evidence.gathered import Gathered
from tests.unit.evidence.measure_builders import bars_of, closes_at, filing, gathered, opens

SHARES = "WeightedAverageNumberOfDilutedSharesOutstanding"
SESSION = date(2020, 3, 31)


def two_years(filed: str = "2020-02-20", form: str = "10-K", equity: float = 400) -> tuple[Fact, ...]:
    """A company with all seven figures on file for 2019 and 2018."""
    flows = {"Revenues": (1000, 900), "OperatingIncomeLoss": (200, 150), "NetIncomeLoss": (150, 110), "InterestExpense": (20, 20), SHARES: (50, 50)}
    balance = {"LongTermDebt": 300, "CashAndCashEquivalentsAtCarryingValue": 80, "MarketableSecuritiesCurrent": 40, "StockholdersEquity": equity}
    spans = (("2019-01-01", "2019-12-31"), ("2018-01-01", "2018-12-31"))
    return filing(
        filed,
        form,
        *((concept, *span, number) for concept, numbers in flows.items() for span, number in zip(spans, numbers, strict=True)),
        *((concept, None, "2019-12-31", number) for concept, number in {**balance, "AssetsCurrent": 300, "LiabilitiesCurrent": 200}.items()),
    )


def company(facts: tuple[Fact, ...] | None = None, **kwargs: object) -> Gathered:
    return gathered(bars_of([60.0] * 30, last=SESSION), facts=two_years() if facts is None else facts, **kwargs)  # type: ignore[arg-type]


def by_kind(g: Gathered) -> dict[str, EvidenceItem]:
    return {item.kind: item for item in fundamental_items(g)}


def test_the_bear_alone_gets_seven_tests_the_valuation_and_the_filing() -> None:
    items = fundamental_items(company())

    assert [item.kind for item in items] == [
        "test.operating_income",
        "test.revenue_growth",
        "test.margin",
        "test.net_debt",
        "test.interest_cover",
        "test.current_ratio",
        "test.dilution",
        "valuation",
        "filing",
    ]
    assert {(item.tool, item.sides, item.source) for item in items} == {("get_financial_health", ("bear",), "filings-test")}


def test_a_test_carries_its_number_its_threshold_and_its_filing() -> None:
    facts = two_years()
    item = by_kind(company(facts))["test.margin"]

    assert item.payload == {
        "test": "margin",
        "passed": True,
        "value": "0.2",
        "threshold": "0.166667",
        "unit": "ratio",
        "period_end": "2019-12-31",
        "filed": "2020-02-20",
        "accession": facts[0].accession,
    }
    assert item.summary == "Operating margin over twelve months 20.0%, asked above 16.7%: passed (period to 2019-12-31)"


def test_an_item_is_dated_at_its_periods_end_and_known_from_the_session_after_its_filing() -> None:
    item = by_kind(company())["test.operating_income"]

    assert (item.as_of, item.known_at) == (datetime(2019, 12, 31, tzinfo=UTC), opens(date(2020, 2, 21)))


def test_an_unknown_test_is_empty_and_names_the_concept_that_is_missing() -> None:
    item = by_kind(company(tuple(fact for fact in two_years() if fact.concept != "InterestExpense")))["test.interest_cover"]

    assert item.status is Status.EMPTY
    assert (item.payload["passed"], item.payload["value"], item.payload["period_end"], item.payload["filed"]) == (None, None, None, None)
    assert item.summary == "Interest cover unknown: interest expense (InterestExpense) not on file"


def test_no_interest_to_pay_is_said_and_not_a_number() -> None:
    facts = tuple(fact for fact in two_years() if fact.concept != "InterestExpense")
    free = filing("2020-02-20", "10-K", ("InterestExpense", "2019-01-01", "2019-12-31", 0))
    item = by_kind(company((*facts, *free)))["test.interest_cover"]

    assert (item.payload["passed"], item.payload["value"]) == (True, None)
    assert "no interest to pay" in item.summary


def test_the_filing_has_the_latest_figures_in_one_item() -> None:
    facts = two_years()

    assert by_kind(company(facts))["filing"].payload == {
        "form": "10-K",
        "period_end": "2019-12-31",
        "filed": "2020-02-20",
        "accession": facts[0].accession,
        "revenue_ttm": "1000.0",
        "operating_income_ttm": "200.0",
        "earnings_ttm": "150.0",
        "operating_margin": "0.2",
        "cash": "80.0",
        "debt": "300.0",
        "equity": "400.0",
        "diluted_shares": "50.0",
    }


def test_a_figure_that_was_not_filed_is_null_in_the_filing() -> None:
    payload = by_kind(company(tuple(fact for fact in two_years() if fact.concept != "LongTermDebt")))["filing"].payload

    assert payload["debt"] is None


def test_a_young_valuation_is_empty_with_its_yield_and_known_at_the_close() -> None:
    item = by_kind(company())["valuation"]

    assert item.status is Status.EMPTY
    assert item.payload == {"earnings_yield": "0.05", "percentile": None, "samples": 1, "years": "0.083333", "eps_ttm": "3.0", "price": "60.0"}
    assert item.known_at == closes_at(SESSION)
    assert item.summary == "Earnings yield 5.0%; its own history covers 0.1 years and 5 are needed"


def test_without_prices_the_valuation_is_unknown_and_the_tests_stand() -> None:
    items = by_kind(gathered(facts=two_years(), session=SESSION, prices=Status.FAILED, note=None))

    assert (items["valuation"].status, items["valuation"].payload["price"]) == (Status.EMPTY, None)
    assert items["test.dilution"].payload["passed"] is True


@pytest.mark.parametrize("status", [Status.STALE, Status.CONFLICT])
def test_a_valuation_on_doubtful_prices_says_so_and_the_tests_stand(status: Status) -> None:
    g = company(prices=status)
    items = by_kind(replace(g, prices=replace(g.prices, note="fetched nine days ago")))

    assert (items["valuation"].status, items["test.margin"].status, items["filing"].status) == (status, Status.OK, Status.OK)
    assert items["valuation"].summary.startswith(f"the price is {status.value}: fetched nine days ago: Earnings yield 5.0%")
    assert items["valuation"].source == items["filing"].source


def test_filings_that_are_stale_themselves_say_that_first() -> None:
    item = by_kind(company(prices=Status.CONFLICT, fundamentals=Status.STALE, note="fetched nine days ago"))["valuation"]

    assert (item.status, item.summary.startswith("fetched nine days ago: Earnings yield")) == (Status.STALE, True)


def test_negative_equity_is_a_hard_flag() -> None:
    facts = two_years(equity=-400)
    item = by_kind(company(facts))["hard_flag"]

    assert item.payload == {"flag": "negative_equity", "value": "-400.0", "threshold": "0.0", "filed": "2020-02-20", "accession": facts[0].accession}


def test_an_amended_annual_report_is_a_hard_flag_with_its_age_in_sessions() -> None:
    item = by_kind(company((*two_years(), *two_years("2020-03-17", "10-K/A"))))["hard_flag"]

    assert (item.payload["flag"], item.payload["value"], item.payload["threshold"]) == ("restatement", 10, 252)


def test_a_sound_company_has_no_hard_flag() -> None:
    assert "hard_flag" not in by_kind(company())


@pytest.mark.parametrize("status", [Status.FAILED, Status.EMPTY, Status.NOT_APPLICABLE])
def test_a_lost_supply_is_one_item_with_the_reason(status: Status) -> None:
    (item,) = fundamental_items(gathered(session=SESSION, fundamentals=status, note="no filings for a fund"))

    assert (item.kind, item.status, item.payload) == ("fundamentals", status, {"reason": "no filings for a fund"})
    assert item.as_of == item.known_at == closes_at(SESSION)


def test_a_supply_without_a_usable_fact_is_empty() -> None:
    (item,) = fundamental_items(company(filing("2020-02-20", "10-K", ("GoodwillOfOurs", None, "2019-12-31", 1))))

    assert (item.kind, item.status) == ("fundamentals", Status.EMPTY)


def test_a_filing_counts_from_the_session_after_it_and_not_before() -> None:
    before, after = (
        by_kind(gathered(bars_of([60.0] * 30, last=day), facts=(*two_years(), *two_years("2020-03-17", "10-K/A"))))
        for day in (date(2020, 3, 17), date(2020, 3, 18))
    )

    assert "hard_flag" not in before
    assert "hard_flag" in after


def in_sector(sector: str | None, **changes: object) -> Gathered:
    g = company()
    return replace(g, instrument=g.instrument.model_copy(update={"sector": sector, **changes}))


@pytest.mark.parametrize("sector", ["banks", "Insurance", "REAL ESTATE"])
def test_where_debt_is_the_trade_three_tests_say_nothing_and_are_no_hole(sector: str) -> None:
    items = by_kind(in_sector(sector))
    pointless = {kind for kind, item in items.items() if item.status is Status.NOT_APPLICABLE}
    assert pointless == {"test.net_debt", "test.interest_cover", "test.current_ratio"}
    assert {(items[kind].payload["passed"], items[kind].payload["value"]) for kind in pointless} == {(None, None)}
    assert items["test.net_debt"].summary == f"Net debt is no test of a company in {sector}"


@pytest.mark.parametrize("sector", [None, "Technology", "Bank equipment", ""])
def test_every_other_company_is_put_to_all_seven_tests(sector: str | None) -> None:
    assert {item.status for kind, item in by_kind(in_sector(sector)).items() if kind.startswith("test.")} == {Status.OK}


@pytest.mark.parametrize("currency", ["GBp", "GBP", "EUR"])
def test_facts_in_another_unit_than_the_price_are_refused_and_named(currency: str) -> None:
    """A dollar figure of the company is no figure of a share in pence, and one of an ordinary share none of an ADS."""
    (item,) = fundamental_items(in_sector(None, currency=currency))
    assert (item.kind, item.status) == ("fundamentals", Status.EMPTY)
    assert item.summary == f"fundamentals absent: the facts on file are in USD, the price in {currency}; nothing is converted"


def traded_as(ratio: str | None, facts: tuple[Fact, ...], **changes: object) -> dict[str, EvidenceItem]:
    g = company(facts)
    return by_kind(replace(g, instrument=g.instrument.model_copy(update={"ads_ratio": None if ratio is None else Decimal(ratio), **changes})))


def test_a_foreign_company_has_no_valuation_until_somebody_says_what_the_traded_share_is() -> None:
    """Earnings per ordinary share under the price of a depositary share would be out by their ratio."""
    item = traded_as(None, two_years(form="20-F"))["valuation"]
    assert (item.status, item.payload["eps_ttm"], item.payload["earnings_yield"]) == (Status.EMPTY, None, None)
    assert item.summary == (
        "Valuation refused: the company files 20-F: whether the traded share is an ADS and of how many shares is not stated; set ads_ratio in instruments.yaml"
    )


def test_the_earnings_of_a_depositary_share_are_converted_and_it_is_said() -> None:
    item = traded_as("8", two_years(form="20-F"))["valuation"]
    assert (item.payload["eps_ttm"], item.payload["earnings_yield"], item.payload["ads_ratio"]) == ("24.0", "0.4", "8.0")
    assert item.summary == "Earnings yield 40.0% with one traded share for 8 of those on file; its own history covers 0.1 years and 5 are needed"


def test_an_ordinary_share_of_a_foreign_company_is_valued_as_it_is() -> None:
    item = traded_as("1", two_years(form="20-F"))["valuation"]
    assert (item.payload["eps_ttm"], item.payload["ads_ratio"]) == ("3.0", "1.0")
    assert item.summary == "Earnings yield 5.0%; its own history covers 0.1 years and 5 are needed"


def test_a_ranked_valuation_says_the_ratio_too() -> None:
    years = [(f"{n}-01-01", f"{n}-12-31") for n in range(2013, 2020)]
    facts = tuple(fact for span in years for fact in filing(f"{int(span[0][:4]) + 1}-02-20", "20-F", ("NetIncomeLoss", *span, 150), (SHARES, *span, 50)))
    g = gathered(bars_of([60.0] * 1400, last=SESSION), facts=facts)
    item = by_kind(replace(g, instrument=g.instrument.model_copy(update={"ads_ratio": Decimal("0.5")})))["valuation"]
    assert item.status is Status.OK
    assert item.summary.startswith("Earnings yield 2.5% (1.50 a share on 60.00 with one traded share for 0.5 of those on file), above 50% of ")


def test_a_ratio_holds_for_what_was_filed_since_it_is_valid() -> None:
    before, since = (traded_as("8", two_years(), valid_from=day)["valuation"] for day in (date(2020, 2, 21), date(2020, 2, 20)))
    assert (before.payload["eps_ttm"], since.payload["eps_ttm"]) == (None, "24.0")
    assert traded_as("1", two_years(), valid_from=date(2020, 2, 21))["valuation"].payload["eps_ttm"] == "3.0"


@pytest.mark.parametrize(("ratio", "form", "known"), [(None, "10-K", True), (None, "20-F", False), ("1", "20-F", True), ("8", "10-K", False)])
def test_splits_of_a_depositary_share_are_not_held_against_the_shares_on_file(ratio: str | None, form: str, known: bool) -> None:
    older = tuple(replace(fact, filed=date(2019, 2, 20)) for fact in two_years(form=form) if fact.end.year == 2018)
    newer = tuple(fact for fact in two_years(form=form) if fact.end.year == 2019)
    item = traded_as(ratio, (*older, *newer))["test.dilution"]
    assert (item.payload["passed"] is not None) is known
    assert known or "the splits between two filings" in item.summary


@pytest.mark.parametrize(("filed_on", "flagged"), [("2007-01-25", False), ("2006-06-01", False), ("2007-12-28", True)])
def test_an_amendment_older_than_the_calendar_is_as_old_as_it_is(filed_on: str, flagged: bool) -> None:
    """The calendar of these tests begins in 2008: what was amended a year before it is no news of its first week."""
    session = date(2008, 3, 3)
    facts = two_years(filed_on, "10-K/A")
    g = gathered(bars_of([60.0] * 30, last=session), facts=facts)
    assert ("hard_flag" in by_kind(g)) is flagged
