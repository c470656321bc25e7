"""The earnings yield on one share basis, and its rank among what was known before."""

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alphaagent.domain.market import Bar, CorporateAction, Fact
from alphaagent.evidence.valuation import MIN_SAMPLES, SAMPLE_SESSIONS, Valuation, mid_rank, valuation
from tests.unit.evidence.measure_builders import bars_of, filing, opens, split

SHARES = "WeightedAverageNumberOfDilutedSharesOutstanding"


def year(number: int, earnings: float, shares: float = 10) -> tuple[Fact, ...]:
    """The annual filing for a calendar year, on 20 February after it."""
    span = (f"{number}-01-01", f"{number}-12-31")
    return filing(f"{number + 1}-02-20", "10-K", ("NetIncomeLoss", *span, earnings), (SHARES, *span, shares))


def valued(facts: tuple[Fact, ...], bars: tuple[Bar, ...], actions: tuple[CorporateAction, ...] = ()) -> Valuation:
    return valuation(facts, bars, actions, "USD")


def seven_years(price: float = 100.0) -> tuple[Bar, ...]:
    return bars_of([price] * (7 * 252), first=date(2011, 1, 3))


YEAR_2010 = ("2010-01-01", "2010-12-31")
MARCH_2011 = bars_of([25.0], first=date(2011, 3, 1))
SEVEN_FILINGS = tuple(fact for n in range(2010, 2017) for fact in year(n, 100))


def test_the_yield_is_earnings_per_diluted_share_over_the_close_as_traded() -> None:
    got = valued(year(2010, 50), bars_of([25.0], first=date(2011, 3, 1)))

    assert (got.eps_ttm, got.earnings_yield, got.price) == (5, Decimal("0.2"), 25)


def test_a_split_after_the_filing_brings_the_earnings_to_the_new_shares() -> None:
    bars = bars_of([700.0, 100.0], first=date(2014, 6, 6))
    got = valued(year(2013, 397.5), bars, (split(date(2014, 6, 9), "7"),))

    assert got.eps_ttm == Decimal("39.75") / 7


def test_a_split_after_the_last_bar_does_not_count() -> None:
    bars = bars_of([700.0], first=date(2014, 6, 6))

    assert valued(year(2013, 397.5), bars, (split(date(2014, 6, 9), "7"),)).eps_ttm == Decimal("39.75")


def test_a_split_leaves_the_history_of_the_yield_as_it_was() -> None:
    bars, day = seven_years(), date(2014, 6, 9)
    traded = tuple(replace(bar, close=bar.close * 7) if bar.session < day else bar for bar in bars)
    facts = tuple(replace(fact, value=fact.value / 7) if fact.unit == "shares" and fact.filed < day else fact for fact in SEVEN_FILINGS)
    changed, plain = valued(facts, traded, (split(day, "7"),)), valued(SEVEN_FILINGS, bars)

    assert round(changed.earnings_yield or 0, 12) == round(plain.earnings_yield or 0, 12)
    assert (changed.samples, plain.percentile) == (plain.samples, Decimal("0.5"))


def test_without_diluted_shares_the_years_earnings_per_share_are_taken() -> None:
    facts = filing("2011-02-20", "10-K", ("EarningsPerShareDiluted", "2010-01-01", "2010-12-31", "5.25"))

    assert valued(facts, bars_of([25.0], first=date(2011, 3, 1))).eps_ttm == Decimal("5.25")


def test_without_earnings_there_is_no_yield() -> None:
    got = valued((), bars_of([25.0]))

    assert (got.eps_ttm, got.earnings_yield, got.percentile, got.samples) == (None, None, None, 0)


def test_earnings_that_are_too_old_are_no_earnings() -> None:
    assert valued(year(2010, 50), bars_of([25.0], first=date(2012, 4, 5))).earnings_yield is None


def test_samples_stand_21_sessions_apart_and_need_a_filing_known_at_their_close() -> None:
    bars = bars_of([25.0] * 64, first=date(2011, 3, 1))
    after_two = replace_known(year(2010, 50), bars[-1 - 2 * SAMPLE_SESSIONS])

    assert valued(year(2010, 50), bars).samples == 3
    assert valued(after_two, bars).samples == 1


def replace_known(facts: tuple[Fact, ...], bar: Bar) -> tuple[Fact, ...]:
    """The same facts, known exactly at the close of a bar: too late for it."""
    return tuple(replace(fact, known_at=bar.known_at) for fact in facts)


def test_under_five_years_of_samples_there_is_no_percentile() -> None:
    first = date(2011, 2, 22)
    enough = bars_of([100.0] * (MIN_SAMPLES * SAMPLE_SESSIONS + 1), first=first)

    assert valued(SEVEN_FILINGS, enough).percentile is not None
    assert valued(SEVEN_FILINGS, enough).years == 5
    assert valued(SEVEN_FILINGS, enough[1:]).percentile is None
    assert valued(SEVEN_FILINGS, enough[1:]).earnings_yield is not None


def test_a_share_cheaper_than_ever_ranks_at_the_top() -> None:
    bars = seven_years()

    assert valued(SEVEN_FILINGS, (*bars[:-1], replace(bars[-1], close=Decimal(50)))).percentile == 1
    assert valued(SEVEN_FILINGS, (*bars[:-1], replace(bars[-1], close=Decimal(200)))).percentile == 0


def test_a_restatement_changes_no_sample_before_it_was_known() -> None:
    bars = seven_years()
    known = opens(bars[-1].session) - timedelta(days=2)
    restated = tuple(replace(fact, value=fact.value * 9, known_at=known, filed=known.date()) for fact in SEVEN_FILINGS if fact.concept == "NetIncomeLoss")
    got = valued((*SEVEN_FILINGS, *restated), bars)

    assert (got.earnings_yield, got.percentile) == (Decimal("0.9"), 1)


def test_ties_count_one_half() -> None:
    assert mid_rank(Decimal(2), [Decimal(n) for n in (1, 2, 2, 3)]) == Decimal("0.5")


@given(st.lists(st.integers(-5, 5), min_size=1), st.integers(-5, 5))
def test_a_rank_and_the_rank_of_the_opposite_add_up_to_one(sample: list[int], value: int) -> None:
    up = mid_rank(Decimal(value), [Decimal(n) for n in sample])
    down = mid_rank(Decimal(-value), [Decimal(-n) for n in sample])

    assert abs(up + down - 1) < Decimal("1e-20")


def test_earnings_are_not_set_against_the_shares_of_another_period() -> None:
    newer = filing("2011-05-02", "10-Q", (SHARES, "2011-01-01", "2011-03-31", 12))

    assert valued((*year(2010, 50), *newer), bars_of([25.0], first=date(2011, 5, 10))).eps_ttm is None


def test_earnings_per_share_of_several_filings_are_not_added_up() -> None:
    annual = filing("2011-02-20", "10-K", ("EarningsPerShareDiluted", "2010-01-01", "2010-12-31", "5"))
    quarters = (("EarningsPerShareDiluted", f"{n}-01-01", f"{n}-03-31", "1") for n in (2010, 2011))

    assert valued((*annual, *filing("2011-05-02", "10-Q", *quarters)), bars_of([25.0], first=date(2011, 5, 10))).eps_ttm is None


def foreign(form: str = "20-F", filed: str = "2011-02-20") -> tuple[Fact, ...]:
    """A year of a company that files under IFRS."""
    return filing(filed, form, ("ProfitLossAttributableToOwnersOfParent", *YEAR_2010, 50), ("AdjustedWeightedAverageShares", *YEAR_2010, 10))


@pytest.mark.parametrize("form", ["20-F", "20-F/A", "40-F", "6-K"])
def test_earnings_of_a_foreign_company_are_set_against_no_price_until_the_ratio_is_stated(form: str) -> None:
    got = valued(foreign(form), MARCH_2011)

    assert (got.eps_ttm, got.earnings_yield, got.percentile, got.figure) == (None, None, None, None)
    assert got.refused == (
        f"the company files {form}: whether the traded share is an ADS and of how many shares is not stated; set ads_ratio in instruments.yaml"
    )


@pytest.mark.parametrize(("ratio", "eps"), [("1", "5"), ("8", "40"), ("0.25", "1.25")])
def test_earnings_are_those_of_as_many_shares_as_the_traded_one_stands_for(ratio: str, eps: str) -> None:
    for facts in (foreign(), year(2010, 50), filing("2011-02-20", "20-F", ("DilutedEarningsLossPerShare", *YEAR_2010, "5"))):
        got = valuation(facts, MARCH_2011, (), "USD", Decimal(ratio))
        assert (got.eps_ttm, got.earnings_yield, got.refused) == (Decimal(eps), Decimal(eps) / 25, None)


def test_the_history_has_no_sample_of_a_foreign_filing_without_a_ratio() -> None:
    then_domestic = (*foreign(), *year(2011, 50))
    bars = bars_of([25.0] * 300, first=date(2011, 3, 1))
    got = valued(then_domestic, bars)

    assert got.earnings_yield == Decimal("0.2")
    assert got.samples == sum(bar.known_at > opens(date(2012, 2, 21)) for bar in bars[-22::-21])
    assert valuation(then_domestic, bars, (), "USD", Decimal(1)).samples == len(bars[-22::-21])


def test_a_split_of_what_stands_for_several_shares_is_ambiguous_until_the_next_filing() -> None:
    bars, actions = bars_of([25.0] * 20, first=date(2011, 3, 1)), (split(date(2011, 3, 10), "2"),)
    torn = valuation(foreign(), bars, actions, "USD", Decimal(8))

    assert (torn.eps_ttm, torn.refused) == (None, "the traded share was split since the filing, and whether the shares that it stands for were is not stated")
    assert valuation(foreign(filed="2011-03-10"), bars, actions, "USD", Decimal(8)).eps_ttm == 40
    assert valuation(foreign(), bars, actions, "USD", Decimal(1)).eps_ttm == Decimal("2.5")
