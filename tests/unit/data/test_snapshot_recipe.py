"""The recipe brings prices back to what was traded, finds dividends and no phantoms, and its headlines say what was filed."""

import csv
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from datetime import date
from decimal import ROUND_HALF_UP, Decimal

import pytest
from recipe.companies import COMPANIES
from recipe.filings import FiledFact, Pair, reports
from recipe.news import per_share_clause, revenue_clause, title
from recipe.prices import Day, as_traded, dividends, later_ratio, on_grid, worst_return_gap

from tests.snapshot_folder import RECORDED

APPLE = COMPANIES[0]


def day(session: str, close: str, adjusted: str, volume: str = "2800") -> Day:
    price = Decimal(close)
    return Day(date.fromisoformat(session), (price, price, price, price), Decimal(volume), Decimal(adjusted))


@pytest.mark.parametrize(
    ("session", "ratio"), [("2013-01-02", 28), ("2014-06-06", 28), ("2014-06-09", 4), ("2020-08-28", 4), ("2020-08-31", 1), ("2023-09-21", 1)]
)
def test_a_session_stands_before_the_splits_after_it(session: str, ratio: int) -> None:
    assert later_ratio(date.fromisoformat(session), APPLE.splits) == ratio


def test_a_price_before_a_split_is_rounded_to_the_cent_and_its_volume_divided() -> None:
    traded = as_traded(day("2013-01-02", "19.6082", "16.7912", "560518000"), APPLE.splits)
    assert (traded.close, traded.volume) == (Decimal("549.03"), Decimal(20018500))


def test_a_price_without_a_later_split_stays_as_it_is() -> None:
    original = day("2023-09-21", "173.9312", "173.9312")
    assert as_traded(original, APPLE.splits) == original


def test_a_volume_that_does_not_divide_stops_the_recipe() -> None:
    with pytest.raises(ValueError, match="does not divide by 28"):
        as_traded(day("2013-01-02", "19.6082", "16.7912", "15"), APPLE.splits)


def test_a_fall_of_the_factor_is_a_dividend_on_the_shares_of_its_ex_date() -> None:
    rows = [day("2020-08-06", "113.9025", "111.6788"), day("2020-08-07", "111.1125", "109.1397"), day("2020-08-10", "112.7275", "110.7261")]
    (paid,) = dividends(rows, APPLE.splits)
    assert (paid.ex_date, paid.amount) == (date(2020, 8, 7), Decimal("0.82"))
    assert abs(paid.derived - paid.amount) < paid.bound


def test_rounding_alone_is_no_dividend() -> None:
    assert dividends([day("2021-01-04", "10.0000", "9.0000"), day("2021-01-05", "10.0001", "9.0000"), day("2021-01-06", "10.0000", "9.0000")], ()) == []


@pytest.mark.parametrize(
    ("derived", "bound", "amount"),
    [("2.65046", "0.006", "2.65"), ("3.29004", "0.006", "3.29"), ("0.09784", "0.0008", "0.0975"), ("0.20503", "0.0002", "0.205")],
)
def test_an_amount_lies_on_the_coarsest_grid_within_its_error(derived: str, bound: str, amount: str) -> None:
    assert on_grid(Decimal(derived), Decimal(bound)) == Decimal(amount)


def test_an_amount_on_no_grid_stops_the_recipe() -> None:
    with pytest.raises(ValueError, match="no plausible dividend"):
        on_grid(Decimal("0.2012"), Decimal("0.0002"))


def test_a_missing_dividend_shows_in_the_returns() -> None:
    rows = [day("2021-05-06", "129.74", "127.8472"), day("2021-05-07", "130.21", "128.5283")]
    paid = dividends(rows, ())
    assert [item.amount for item in paid] == [Decimal("0.22")]
    assert worst_return_gap(rows, rows, (), paid) < 1
    assert worst_return_gap(rows, rows, (), []) > 100


@pytest.mark.parametrize(
    ("now", "before", "clause"),
    [
        ("1.10", "1.00", "earnings per share up 10.0%"),
        ("0.90", "1.00", "earnings per share down 10.0%"),
        ("1.00", "1.00", "earnings per share unchanged"),
        ("0.10", "-0.10", "earnings per share after a loss the year before"),
        ("-0.10", "0.10", "loss per share after earnings the year before"),
        ("-0.10", "-0.20", "loss per share narrowed"),
        ("-0.20", "-0.10", "loss per share widened"),
    ],
)
def test_earnings_are_compared_by_percent_only_where_both_are_earnings(now: str, before: str, clause: str) -> None:
    assert per_share_clause(Pair(Decimal(now), Decimal(before))) == clause


def test_a_change_that_rounds_to_nothing_is_unchanged() -> None:
    assert revenue_clause(Pair(Decimal("100000"), Decimal("100001"))) == "revenue unchanged on the year"


def fact(concept: str, start: str, end: str, value: str, form: str = "10-Q") -> FiledFact:
    return FiledFact(concept, "USD", date.fromisoformat(start), date.fromisoformat(end), value, date(2021, 8, 2), form, "0000000001-21-000001")


def quarter(*extra: FiledFact, revenue: str = "SalesRevenueNet", form: str = "10-Q") -> list[FiledFact]:
    """A filing with the quarter and the half-year to June, each with its year before."""
    quarters = [fact(revenue, "2021-04-01", "2021-06-30", "110", form), fact(revenue, "2020-04-01", "2020-06-30", "100", form)]
    halves = [fact(revenue, "2021-01-01", "2021-06-30", "200", form), fact(revenue, "2020-01-01", "2020-06-30", "250", form)]
    return [*quarters, *halves, *extra]


def per_share(name: str = "EarningsPerShareDiluted") -> Iterable[FiledFact]:
    return fact(name, "2021-04-01", "2021-06-30", "2"), fact(name, "2020-04-01", "2020-06-30", "1")


@pytest.mark.parametrize("concept", ["Revenues", "SalesRevenueNet", "RevenueFromContractWithCustomerExcludingAssessedTax"])
def test_revenue_is_found_under_each_of_its_names(concept: str) -> None:
    (report,) = reports(quarter(*per_share(), revenue=concept), date(2021, 1, 1), date(2021, 12, 31))
    assert report.revenue == Pair(Decimal(110), Decimal(100))


def test_the_headline_is_of_the_quarter_and_not_of_the_half_year() -> None:
    (report,) = reports(quarter(*per_share()), date(2021, 1, 1), date(2021, 12, 31))
    assert title(APPLE, report) == "Apple 10-Q for the quarter to June 2021: revenue up 10.0% on the year; earnings per share up 100.0%"


def test_an_amendment_is_named_as_one() -> None:
    amended = [FiledFact(**{**vars(item), "form": "10-Q/A"}) for item in quarter(*per_share())]
    (report,) = reports(amended, date(2021, 1, 1), date(2021, 12, 31))
    assert title(APPLE, report).startswith("Apple 10-Q/A for the quarter to June 2021: ")


def test_only_quarterly_and_annual_reports_inside_the_range_are_told() -> None:
    other_form = [FiledFact(**{**vars(item), "form": "8-K"}) for item in quarter(*per_share())]
    assert reports(other_form, date(2021, 1, 1), date(2021, 12, 31)) == []
    assert reports(quarter(*per_share()), date(2021, 8, 3), date(2021, 12, 31)) == []


def test_a_report_without_the_figures_stops_the_recipe_and_is_named() -> None:
    with pytest.raises(ValueError, match="10-Q 0000000001-21-000001 filed 2021-08-02 lacks a figure"):
        reports(quarter(), date(2021, 1, 1), date(2021, 12, 31))


RECOMPUTED = [
    ("AAPL", "0001193125-14-277160", "SalesRevenueNet", ("2014-03-30", "2014-06-28"), ("2013-03-31", "2013-06-29")),
    ("AAPL", "0000320193-19-000076", "RevenueFromContractWithCustomerExcludingAssessedTax", ("2019-03-31", "2019-06-29"), ("2018-04-01", "2018-06-30")),
    ("NVDA", "0001045810-16-000353", "Revenues", ("2016-08-01", "2016-10-30"), ("2015-07-27", "2015-10-25")),
    ("NVDA", "0001045810-21-000131", "Revenues", ("2021-05-03", "2021-08-01"), ("2020-04-27", "2020-07-26")),
]
"""Periods written down from the filings; the second and the fourth lie just before and just after a split."""


def filed(ticker: str, accession: str) -> dict[tuple[str, str, str], Decimal]:
    with (RECORDED / "fundamentals" / f"{ticker}.csv").open(encoding="utf-8", newline="") as file:
        return {(row["concept"], row["start"], row["end"]): Decimal(row["value"]) for row in csv.DictReader(file) if row["accession"] == accession}


def headline(ticker: str, accession: str) -> str:
    (found,) = [item for item in ET.parse(RECORDED / "news" / f"{ticker}.xml").iter("item") if item.findtext("guid") == accession]
    return found.findtext("title") or ""


def earnings(facts: dict[tuple[str, str, str], Decimal], period: tuple[str, str]) -> Decimal:
    (pretax,) = [value for (concept, *when), value in facts.items() if concept.startswith("IncomeLossFromContinuing") and tuple(when) == period]
    shares = facts["WeightedAverageNumberOfDilutedSharesOutstanding", *period]
    return ((pretax - facts["IncomeTaxExpenseBenefit", *period]) / shares).quantize(Decimal("0.01"), ROUND_HALF_UP)


def in_words(now: Decimal, before: Decimal) -> str:
    return f"{'up' if now > before else 'down'} {abs(100 * now / before - 100):.1f}%"


@pytest.mark.parametrize(("ticker", "accession", "concept", "now", "before"), RECOMPUTED)
def test_a_recorded_headline_says_what_the_filing_says(ticker: str, accession: str, concept: str, now: tuple[str, str], before: tuple[str, str]) -> None:
    facts = filed(ticker, accession)
    revenue = in_words(facts[concept, *now], facts[concept, *before])
    per_share = in_words(earnings(facts, now), earnings(facts, before))
    assert headline(ticker, accession).endswith(f": revenue {revenue} on the year; earnings per share {per_share}")


def test_the_year_that_a_10_k_reports_is_compared_by_its_filed_earnings() -> None:
    facts = filed("AAPL", "0000320193-20-000096")
    now, before = ("2019-09-29", "2020-09-26"), ("2018-09-30", "2019-09-28")
    revenue = [facts["RevenueFromContractWithCustomerExcludingAssessedTax", *period] for period in (now, before)]
    per_share = [facts["EarningsPerShareDiluted", *period] for period in (now, before)]
    expected = f"Apple 10-K for the year to September 2020: revenue {in_words(*revenue)} on the year; earnings per share {in_words(*per_share)}"
    assert headline("AAPL", "0000320193-20-000096") == expected


@pytest.mark.parametrize("ticker", ["AAPL", "NVDA"])
def test_every_recorded_headline_has_one_form_and_two_clauses(ticker: str) -> None:
    change = r"(up|down) \d+\.\d%|unchanged"
    form = re.compile(rf"(Apple|Nvidia) 10-[QK] for the (quarter|year) to [A-Z][a-z]+ 20\d\d: revenue ({change}) on the year; earnings per share ({change})")
    titles = [item.findtext("title") or "" for item in ET.parse(RECORDED / "news" / f"{ticker}.xml").iter("item")]
    assert [text for text in titles if not form.fullmatch(text)] == []
