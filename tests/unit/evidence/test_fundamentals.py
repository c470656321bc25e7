"""What was filed so far: the latest period, its latest filing, and twelve months out of years and years to date."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alphaagent.domain.market import Fact
from alphaagent.evidence.fundamentals import Filed, Name, debt_now, earnings_now, instant_now, split_ratio, trailing_now
from tests.unit.evidence.measure_builders import dividend, filing, split

ON = date(2020, 12, 1)
OLD_REVENUE, NEW_REVENUE = "SalesRevenueNet", "RevenueFromContractWithCustomerExcludingAssessedTax"
PRETAX_NEW = "IncomeLossFromContinuingOperationsBeforeIncomeTaxesExtraordinaryItemsNoncontrollingInterest"
PRETAX_OLD = "IncomeLossFromContinuingOperationsBeforeIncomeTaxesMinorityInterestAndIncomeLossFromEquityMethodInvestments"

YEAR = filing("2020-02-20", "10-K", ("OperatingIncomeLoss", "2019-01-01", "2019-12-31", 100))
QUARTERS = filing(
    "2020-08-05",
    "10-Q",
    ("OperatingIncomeLoss", "2020-01-01", "2020-06-30", 70),
    ("OperatingIncomeLoss", "2020-04-01", "2020-06-30", 40),
    ("OperatingIncomeLoss", "2019-01-01", "2019-06-30", 45),
    ("OperatingIncomeLoss", "2019-04-01", "2019-06-30", 25),
)


def trailing(*facts: Fact, name: str = "operating_income", on: date = ON) -> Decimal | None:
    figure = trailing_now(Filed(facts, "USD"), name, on)  # type: ignore[arg-type]
    return None if figure is None else figure.value


def test_at_an_annual_filing_the_twelve_months_are_the_year() -> None:
    assert trailing(*YEAR) == 100


def test_at_a_quarterly_filing_they_are_the_year_to_date_plus_the_year_less_the_year_to_date_before() -> None:
    figure = trailing_now(Filed((*YEAR, *QUARTERS), "USD"), "operating_income", ON)

    assert figure is not None
    assert (figure.value, figure.end, figure.newest.form) == (100 + 70 - 45, date(2020, 6, 30), "10-Q")


def test_years_of_52_and_53_weeks_join() -> None:
    year = filing("2016-10-26", "10-K", ("OperatingIncomeLoss", "2015-09-27", "2016-09-24", 60))
    quarter = filing("2017-02-01", "10-Q", ("OperatingIncomeLoss", "2016-09-25", "2016-12-31", 23), ("OperatingIncomeLoss", "2015-09-27", "2015-12-26", 24))

    assert trailing(*year, *quarter, on=date(2017, 2, 15)) == 60 + 23 - 24


@pytest.mark.parametrize("lost", range(3))
def test_without_one_of_the_three_periods_the_twelve_months_are_missing(lost: int) -> None:
    facts = [*YEAR, QUARTERS[0], QUARTERS[2]]
    del facts[lost]

    assert trailing(*facts) == (100 if lost == 1 else None)


def test_a_quarter_alone_is_no_year() -> None:
    assert trailing(*filing("2020-08-05", "10-Q", ("OperatingIncomeLoss", "2020-04-01", "2020-06-30", 40))) is None


def test_the_latest_filing_of_the_latest_period_counts() -> None:
    amended = filing("2020-05-01", "10-K/A", ("OperatingIncomeLoss", "2019-01-01", "2019-12-31", 90))
    older_period = filing("2020-06-01", "8-K", ("OperatingIncomeLoss", "2018-01-01", "2018-12-31", 55))

    assert trailing(*YEAR, *amended, *older_period) == 90


def test_a_period_that_ended_too_long_ago_is_not_current() -> None:
    assert trailing(*YEAR, on=date(2021, 4, 4)) == 100
    assert trailing(*YEAR, on=date(2021, 4, 5)) is None


def test_a_concept_that_changed_its_name_joins_across_the_names() -> None:
    year = filing("2018-11-05", "10-K", ("Revenues", "2017-10-01", "2018-09-29", 265))
    quarter = filing("2019-01-30", "10-Q", (NEW_REVENUE, "2018-09-30", "2018-12-29", 84), (NEW_REVENUE, "2017-10-01", "2017-12-30", 88))

    assert trailing(*year, *quarter, name="revenue", on=date(2019, 2, 15)) == 265 + 84 - 88


def test_of_two_names_in_one_filing_the_total_is_taken() -> None:
    both = filing("2020-02-20", "10-K", (NEW_REVENUE, "2019-01-01", "2019-12-31", 180), ("Revenues", "2019-01-01", "2019-12-31", 200))

    assert trailing(*both, name="revenue") == 200


def test_one_name_for_all_three_periods_goes_before_a_mix() -> None:
    year = filing("2020-02-20", "10-K", (OLD_REVENUE, "2019-01-01", "2019-12-31", 100), ("Revenues", "2019-01-01", "2019-12-31", 130))
    quarter = filing("2020-05-05", "10-Q", (OLD_REVENUE, "2020-01-01", "2020-03-31", 30), (OLD_REVENUE, "2019-01-01", "2019-03-31", 20))

    assert trailing(*year, *quarter, name="revenue") == 110


def test_money_in_another_currency_is_missing_and_not_converted() -> None:
    euros = filing("2020-02-20", "20-F", ("OperatingIncomeLoss", "2019-01-01", "2019-12-31", 100), unit="EUR")

    assert trailing(*euros) is None
    assert Filed(euros, "USD").latest is None


def test_earnings_are_net_income_where_it_was_filed() -> None:
    facts = filing(
        "2020-02-20",
        "10-K",
        *((name, "2019-01-01", "2019-12-31", n) for name, n in (("NetIncomeLoss", 70), (PRETAX_NEW, 100), ("IncomeTaxExpenseBenefit", 20))),
    )
    figure = earnings_now(Filed(facts, "USD"), ON)

    assert figure is not None
    assert figure.value == 70


def test_earnings_are_pretax_income_less_tax_where_net_income_was_not_filed_for_the_period() -> None:
    year = filing(
        "2020-02-20",
        "10-K",
        *((name, "2019-01-01", "2019-12-31", n) for name, n in (("NetIncomeLoss", 80), (PRETAX_OLD, 100), ("IncomeTaxExpenseBenefit", 20))),
    )
    quarter = filing(
        "2020-05-05",
        "10-Q",
        *((PRETAX_NEW, f"{y}-01-01", f"{y}-03-31", n) for y, n in ((2020, 30), (2019, 24))),
        *(("IncomeTaxExpenseBenefit", f"{y}-01-01", f"{y}-03-31", n) for y, n in ((2020, 6), (2019, 5))),
    )
    figure = earnings_now(Filed((*year, *quarter), "USD"), ON)

    assert figure is not None
    assert (figure.value, figure.end) == (106 - 21, date(2020, 3, 31))


def test_earnings_without_a_tax_are_missing() -> None:
    assert earnings_now(Filed(filing("2020-02-20", "10-K", (PRETAX_NEW, "2019-01-01", "2019-12-31", 100)), "USD"), ON) is None


@pytest.mark.parametrize(
    ("numbers", "debt"),
    [
        ({"LongTermDebt": 50, "LongTermDebtNoncurrent": 45, "LongTermDebtCurrent": 5}, 50),
        ({"LongTermDebtNoncurrent": 45, "LongTermDebtCurrent": 5}, 50),
        ({"LongTermDebt": 50, "CommercialPaper": 8}, 58),
        ({"LongTermDebtNoncurrent": 45}, None),
        ({"CommercialPaper": 8}, None),
        ({}, None),
    ],
)
def test_debt_is_all_long_term_debt_and_short_borrowings_and_missing_where_a_part_is(numbers: dict[str, int], debt: int | None) -> None:
    facts = filing("2020-08-05", "10-Q", *((name, None, "2020-06-30", n) for name, n in numbers.items()))
    figure = debt_now(Filed(facts, "USD"), ON)

    assert (figure and figure.value) == debt


def test_a_balance_sheet_figure_is_that_of_the_latest_date() -> None:
    facts = filing("2020-08-05", "10-Q", ("StockholdersEquity", None, "2020-06-30", 9), ("StockholdersEquity", None, "2019-12-31", 7))
    figure = instant_now(Filed(facts, "USD"), "equity", ON)

    assert figure is not None
    assert figure.value == 9


def test_the_latest_fact_is_the_newest_filing_of_the_latest_period() -> None:
    recast = filing("2020-09-01", "8-K", ("OperatingIncomeLoss", "2019-01-01", "2019-12-31", 99))

    assert Filed((*YEAR, *QUARTERS, *recast), "USD").latest in QUARTERS


@given(st.permutations([*YEAR, *QUARTERS]))
def test_the_order_in_which_facts_arrive_does_not_matter(facts: list[Fact]) -> None:
    assert trailing(*facts) == 125


def test_splits_count_after_the_first_date_and_up_to_the_second() -> None:
    actions = [split(date(2020, 1, day), ratio) for day, ratio in ((2, "2"), (3, "3"), (6, "5"))] + [dividend(date(2020, 1, 3), "1")]

    assert split_ratio(actions, date(2020, 1, 2), date(2020, 1, 3)) == 3
    assert split_ratio(actions, date(2020, 1, 6), date(2020, 1, 7)) == 1


def test_periods_join_where_their_dates_are_a_day_or_two_off() -> None:
    quarter = filing("2020-05-05", "10-Q", ("OperatingIncomeLoss", "2020-01-02", "2020-03-31", 30), ("OperatingIncomeLoss", "2019-01-03", "2019-03-31", 20))

    assert trailing(*YEAR, *quarter) == 110


@pytest.mark.parametrize(
    ("name", "concept"),
    [
        ("eps", "EarningsPerShareBasicAndDiluted"),
        ("diluted_shares", "WeightedAverageNumberOfShareOutstandingBasicAndDiluted"),
        ("revenue", "Revenue"),
        ("operating_income", "ProfitLossFromOperatingActivities"),
        ("net_income", "ProfitLossAttributableToOwnersOfParent"),
        ("pretax_income", "ProfitLossBeforeTax"),
        ("income_tax", "IncomeTaxExpenseContinuingOperations"),
        ("eps", "DilutedEarningsLossPerShare"),
        ("diluted_shares", "AdjustedWeightedAverageShares"),
    ],
)
def test_a_company_without_dilution_and_one_under_ifrs_have_their_own_names_for_a_figure(name: str, concept: str) -> None:
    assert trailing(*filing("2020-02-20", "20-F", (concept, "2019-01-01", "2019-12-31", "1.5")), name=name) == Decimal("1.5")


@pytest.mark.parametrize(
    ("name", "concept"),
    [
        ("securities", "AvailableForSaleSecuritiesDebtSecuritiesCurrent"),
        ("securities", "DebtSecuritiesCurrent"),
        ("cash", "CashAndCashEquivalents"),
        ("current_assets", "CurrentAssets"),
        ("current_liabilities", "CurrentLiabilities"),
        ("equity", "EquityAttributableToOwnersOfParent"),
    ],
)
def test_a_balance_has_other_names_too(name: Name, concept: str) -> None:
    figure = instant_now(Filed(filing("2020-02-20", "20-F", (concept, None, "2019-12-31", 7)), "USD"), name, ON)
    assert figure is not None
    assert figure.value == 7
