"""The seven tests and the hard flags: passed, failed or unknown, at and around each threshold."""

from datetime import date
from decimal import Decimal

import pytest

from alphaagent.domain.market import CorporateAction, Fact
from alphaagent.evidence.fundamentals import Filed
from alphaagent.evidence.quality import Verdict, flags, verdicts
from tests.unit.evidence.measure_builders import filing, split

ON = date(2020, 6, 1)
SHARES = "WeightedAverageNumberOfDilutedSharesOutstanding"


def years(concept: str, now: float, before: float | None = None) -> tuple[tuple[str, str, str, float], ...]:
    earlier = () if before is None else ((concept, "2018-01-01", "2018-12-31", before),)
    return ((concept, "2019-01-01", "2019-12-31", now), *earlier)


def instants(**numbers: float) -> tuple[tuple[str, None, str, float], ...]:
    return tuple((concept, None, "2019-12-31", number) for concept, number in numbers.items())


def annual(*numbers: tuple[str, str | None, str, float]) -> tuple[Fact, ...]:
    return filing("2020-02-20", "10-K", *numbers)


def judged(test: str, facts: tuple[Fact, ...], actions: tuple[CorporateAction, ...] | None = ()) -> Verdict:
    return next(verdict for verdict in verdicts(Filed(facts, "USD"), "USD", actions, ON) if verdict.test == test)


@pytest.mark.parametrize(("income", "passed"), [(1, True), (0, False), (-5, False)])
def test_operating_income_is_above_zero(income: float, passed: bool) -> None:
    verdict = judged("operating_income", annual(*years("OperatingIncomeLoss", income)))

    assert (verdict.passed, verdict.value, verdict.threshold, verdict.unit) == (passed, income, 0, "USD")


@pytest.mark.parametrize(("now", "passed"), [(101, True), (100, False), (99, False)])
def test_revenue_is_above_that_of_a_year_before(now: float, passed: bool) -> None:
    verdict = judged("revenue_growth", annual(*years("Revenues", now, 100)))

    assert (verdict.passed, verdict.value, verdict.threshold) == (passed, now, 100)


def test_revenue_a_year_before_is_as_last_restated() -> None:
    first = filing("2019-02-20", "10-K", ("Revenues", "2018-01-01", "2018-12-31", 100))

    assert judged("revenue_growth", (*first, *annual(*years("Revenues", 101, 105)))).passed is False


@pytest.mark.parametrize(("income", "passed"), [(21, True), (20, False)])
def test_the_margin_is_above_that_of_a_year_before(income: float, passed: bool) -> None:
    verdict = judged("margin", annual(*years("Revenues", 200, 100), *years("OperatingIncomeLoss", income, 10)))

    assert (verdict.passed, verdict.threshold, verdict.unit) == (passed, Decimal("0.1"), "ratio")


def test_a_margin_without_last_years_income_names_it_once() -> None:
    verdict = judged("margin", annual(*years("Revenues", 200, 100), *years("OperatingIncomeLoss", 20)))

    assert (verdict.passed, verdict.missing) == (None, ("operating income (OperatingIncomeLoss) a year before",))


@pytest.mark.parametrize(
    ("debt", "cash", "securities", "income", "passed"),
    [
        (100, 30, 30, 10, True),
        (101, 30, 30, 10, False),
        (50, 30, 30, -10, True),
        (70, 30, 30, -10, False),
        (70, 30, None, 10, True),
        (71, 30, None, 10, None),
        (30, 30, None, None, True),
        (100, 30, 30, None, None),
        (None, 30, 30, 10, None),
        (100, None, 30, 10, None),
    ],
)
def test_net_debt_is_at_most_four_years_of_operating_income(debt: float, cash: float, securities: float, income: float, passed: bool | None) -> None:
    named = {"LongTermDebt": debt, "CashAndCashEquivalentsAtCarryingValue": cash, "MarketableSecuritiesCurrent": securities}
    balance = instants(**{name: number for name, number in named.items() if number is not None})
    facts = annual(*balance, *(years("OperatingIncomeLoss", income) if income is not None else ()))

    assert judged("net_debt", facts).passed is passed


@pytest.mark.parametrize(("interest", "passed", "cover"), [(10, False, 3), (9, True, Decimal(30) / 9), (0, True, None)])
def test_interest_is_covered_more_than_three_times(interest: float, passed: bool, cover: Decimal | None) -> None:
    verdict = judged("interest_cover", annual(*years("OperatingIncomeLoss", 30), *years("InterestExpense", interest)))

    assert (verdict.passed, verdict.value) == (passed, cover)


def test_interest_is_set_against_the_income_of_its_own_period() -> None:
    quarter = filing("2020-05-01", "10-Q", ("OperatingIncomeLoss", "2020-01-01", "2020-03-31", 1), ("OperatingIncomeLoss", "2019-01-01", "2019-03-31", 29))
    verdict = judged("interest_cover", (*annual(*years("OperatingIncomeLoss", 30), *years("InterestExpense", 5)), *quarter))

    assert (verdict.value, verdict.figures[0].end) == (6, date(2019, 12, 31))


@pytest.mark.parametrize(("assets", "passed"), [(51, True), (50, False)])
def test_the_current_ratio_is_above_one(assets: float, passed: bool) -> None:
    assert judged("current_ratio", annual(*instants(AssetsCurrent=assets, LiabilitiesCurrent=50))).passed is passed


@pytest.mark.parametrize(("now", "passed"), [(102, True), (103, False), (90, True)])
def test_diluted_shares_are_up_at_most_two_percent(now: float, passed: bool) -> None:
    assert judged("dilution", annual(*years(SHARES, now, 100))).passed is passed


def quarters_around_a_split() -> tuple[Fact, ...]:
    """100 shares filed a year ago, 404 filed after a split of 4:1."""
    return (*filing("2019-05-01", "10-Q", (SHARES, "2019-01-01", "2019-03-31", 100)), *filing("2020-05-01", "10-Q", (SHARES, "2020-01-01", "2020-03-31", 404)))


def test_a_split_between_two_filings_is_not_dilution() -> None:
    verdict = judged("dilution", quarters_around_a_split(), (split(date(2019, 9, 2), "4"),))

    assert (verdict.passed, verdict.value) == (True, Decimal("0.01"))


def test_share_counts_of_two_filings_cannot_be_compared_where_no_splits_are_known() -> None:
    assert judged("dilution", quarters_around_a_split(), None).passed is None


def test_share_counts_of_one_filing_are_on_one_basis_by_themselves() -> None:
    assert judged("dilution", annual(*years(SHARES, 101, 100)), None).passed is True


def test_without_a_filing_all_is_unknown_and_says_what_is_missing() -> None:
    found = verdicts(Filed((), "USD"), "USD", (), ON)

    assert [verdict.passed for verdict in found] == [None] * 7
    assert all(verdict.missing and verdict.value is None for verdict in found)
    assert found[4].missing == ("interest expense (InterestExpense)",)


def raised(facts: tuple[Fact, ...], age: int = 0) -> list[str]:
    return [flag.flag for flag in flags(Filed(facts, "USD"), facts, ON, lambda _: age)]


@pytest.mark.parametrize(("equity", "expected"), [(-1, ["negative_equity"]), (0, []), (1, [])])
def test_negative_equity_is_flagged(equity: float, expected: list[str]) -> None:
    assert raised(annual(*instants(StockholdersEquity=equity))) == expected


def test_equity_that_was_not_filed_is_no_flag() -> None:
    assert raised(annual(*years("Revenues", 100))) == []


@pytest.mark.parametrize(
    ("form", "age", "expected"),
    [("10-K/A", 252, ["restatement"]), ("10-Q/A", 1, ["restatement"]), ("10-K/A", 253, []), ("8-K/A", 1, []), ("10-K", 1, [])],
)
def test_an_amended_report_is_flagged_for_252_sessions(form: str, age: int, expected: list[str]) -> None:
    assert raised(filing("2020-03-20", form, *years("Revenues", 100)), age) == expected


def test_shares_filed_after_a_split_are_on_the_new_basis_though_their_period_ended_before() -> None:
    quarter = filing("2020-05-01", "10-Q", (SHARES, "2020-01-01", "2020-03-31", 404))
    before = filing("2019-05-01", "10-Q", (SHARES, "2019-01-01", "2019-03-31", 100))

    assert judged("dilution", (*before, *quarter), (split(date(2020, 4, 15), "4"),)).value == Decimal("0.01")
