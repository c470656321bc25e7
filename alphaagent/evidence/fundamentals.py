"""Company figures as they stood: what was filed so far, and trailing-twelve-month figures out of it. Pure.

A figure is found by its period's dates: the latest period that is known, then that period's latest filing. The fiscal year and
period named in a filing describe the filing, not the number, and are not used. A concept changes its name over the years, so each
measure has aliases. What was not filed is missing: never zero, never a flag.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Literal

from alphaagent.domain.market import CorporateAction, Fact

Name = Literal[
    "revenue", "operating_income", "net_income", "pretax_income", "income_tax", "interest_expense", "eps", "diluted_shares",
    "cash", "securities", "debt", "debt_noncurrent", "debt_current", "short_debt", "current_assets", "current_liabilities", "equity",
]  # fmt: skip

CONCEPTS: dict[Name, tuple[str, ...]] = {
    "revenue": (
        "Revenues",
        "RevenueFromContractWithCustomerExcludingAssessedTax",
        "RevenueFromContractWithCustomerIncludingAssessedTax",
        "SalesRevenueNet",
        "Revenue",
    ),
    "operating_income": ("OperatingIncomeLoss", "ProfitLossFromOperatingActivities"),
    "net_income": ("NetIncomeLoss", "ProfitLossAttributableToOwnersOfParent"),
    "pretax_income": (
        "IncomeLossFromContinuingOperationsBeforeIncomeTaxesExtraordinaryItemsNoncontrollingInterest",
        "IncomeLossFromContinuingOperationsBeforeIncomeTaxesMinorityInterestAndIncomeLossFromEquityMethodInvestments",
        "ProfitLossBeforeTax",
    ),
    "income_tax": ("IncomeTaxExpenseBenefit", "IncomeTaxExpenseContinuingOperations"),
    "interest_expense": ("InterestExpense", "InterestExpenseNonoperating"),
    "eps": ("EarningsPerShareDiluted", "EarningsPerShareBasicAndDiluted", "DilutedEarningsLossPerShare"),
    "diluted_shares": (
        "WeightedAverageNumberOfDilutedSharesOutstanding",
        "WeightedAverageNumberOfShareOutstandingBasicAndDiluted",
        "AdjustedWeightedAverageShares",
    ),
    "cash": ("CashAndCashEquivalentsAtCarryingValue", "CashAndCashEquivalents"),
    "securities": (
        "MarketableSecuritiesCurrent",
        "AvailableForSaleSecuritiesCurrent",
        "ShortTermInvestments",
        "AvailableForSaleSecuritiesDebtSecuritiesCurrent",
        "DebtSecuritiesCurrent",
    ),
    "debt": ("LongTermDebt",),
    "debt_noncurrent": ("LongTermDebtNoncurrent",),
    "debt_current": ("LongTermDebtCurrent",),
    "short_debt": ("ShortTermBorrowings", "CommercialPaper"),
    "current_assets": ("AssetsCurrent", "CurrentAssets"),
    "current_liabilities": ("LiabilitiesCurrent", "CurrentLiabilities"),
    "equity": ("StockholdersEquity", "EquityAttributableToOwnersOfParent"),
}
"""Each measure's concepts, the preferred one first: where one filing gives several for a period, that one is taken.

US-GAAP's stand before those of IFRS, which foreign companies file under; only what both define alike is here, so IFRS has no debt and no
securities. A company without dilution, as one that makes a loss, files one figure for basic and diluted.
"""

YEAR_DAYS = range(350, 381)
"""A fiscal year of 52 or 53 weeks, or a calendar year."""

PERIOD_TOLERANCE_DAYS = 10
"""How far the same period a year before may lie from 365 days ago: a 53rd week, and the weekday a year ends on."""

JOIN_TOLERANCE_DAYS = 4
"""How far the end of one fiscal year may lie from the day before the next begins."""

USABLE_DAYS = 460
"""A figure whose period ended longer ago is not current: a year, and the time a late annual filing takes."""

Spans = dict[date | None, Fact]
"""The facts of one concept and one period end, by period start; None is a balance-sheet instant."""

Ends = dict[date, Spans]

Fits = Callable[[date, date], bool]
"""Whether a period, from its start and end, is the one sought."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of one period end, and every fact that it was made of."""

    value: Decimal
    end: date
    facts: tuple[Fact, ...]

    @property
    def newest(self) -> Fact:
        """The fact that became known last."""
        return max(self.facts, key=order_of_filing)


def order_of_filing(fact: Fact) -> tuple[datetime, date, str]:
    return fact.known_at, fact.filed, fact.accession


class Filed:
    """Everything filed so far, by measure, concept and period; of several filings of one period the latest.

    Money in another currency than `currency`, and units that a measure is not in, are left out: they are missing, not converted.
    """

    def __init__(self, facts: Iterable[Fact], currency: str) -> None:
        self._units = {currency, "shares", f"{currency}/shares"}
        self._concepts: dict[str, Ends] = {concept: {} for concepts in CONCEPTS.values() for concept in concepts}
        self._aliases: dict[Name, list[Ends]] = {name: [self._concepts[concept] for concept in concepts] for name, concepts in CONCEPTS.items()}
        self.latest: Fact | None = None
        """The newest filing's fact of the latest period."""
        for fact in facts:
            self.add(fact)

    def add(self, fact: Fact) -> None:
        """Takes in one more fact, in any order."""
        ends = self._concepts.get(fact.concept)
        if ends is None or fact.unit not in self._units:
            return
        spans = ends.get(fact.end)
        if spans is None:
            spans = ends[fact.end] = {}
        known = spans.get(fact.start)
        if known is None or order_of_filing(fact) >= order_of_filing(known):
            spans[fact.start] = fact
        latest = self.latest
        if latest is None or fact.end > latest.end or (fact.end == latest.end and order_of_filing(fact) >= order_of_filing(latest)):
            self.latest = fact

    def last_end(self, name: Name) -> date | None:
        """The latest period end that is known of a measure."""
        return max((max(ends) for ends in self._aliases[name] if ends), default=None)

    def instant(self, name: Name, end: date) -> Figure | None:
        """A balance-sheet figure of one date."""
        fact = _latest_of(self._aliases[name], end, None)
        return None if fact is None else Figure(fact.value, end, (fact,))

    def trailing(self, name: Name, end: date) -> Figure | None:
        """The twelve months to `end`: of one concept if it can be, else across the measure's aliases."""
        known = [ends for ends in self._aliases[name] if end in ends]
        figure = next((figure for ends in known if (figure := _trailing([ends], end))), None)
        return figure or (_trailing(self._aliases[name], end) if known and len(self._aliases[name]) > 1 else None)

    def year_before(self, name: Name, end: date) -> date | None:
        """The period end that is a measure's own, a year before another."""
        return next((day for day in _around(end - timedelta(365), PERIOD_TOLERANCE_DAYS) if any(day in ends for ends in self._aliases[name])), None)

    def shortest(self, name: Name, end: date, days: int | None = None) -> Fact | None:
        """The fact of the shortest period ending at `end`; with `days`, of a period about that long."""
        starts = {start for ends in self._aliases[name] for start in ends.get(end, ()) if start is not None}
        fitting = [start for start in starts if days is None or abs((end - start).days - days) <= PERIOD_TOLERANCE_DAYS]
        return _latest_of(self._aliases[name], end, max(fitting)) if fitting else None


def _trailing(aliases: Sequence[Ends], end: date) -> Figure | None:
    """The year where one ends here; else the year to date, plus the last year, less the year to date a year before."""
    start = min((start for ends in aliases for start in ends.get(end, ()) if start is not None and (end - start).days < YEAR_DAYS.stop), default=None)
    if start is None or (now := _latest_of(aliases, end, start)) is None:
        return None
    if (end - start).days in YEAR_DAYS:
        return Figure(now.value, end, (now,))
    year = _near(aliases, start - timedelta(1), JOIN_TOLERANCE_DAYS, lambda first, last: (last - first).days in YEAR_DAYS)
    if year is None or (opened := year.start) is None:
        return None
    before = _near(aliases, end - timedelta(365), PERIOD_TOLERANCE_DAYS, lambda first, _: abs((first - opened).days) <= JOIN_TOLERANCE_DAYS)
    return None if before is None else Figure(now.value + year.value - before.value, end, (now, year, before))


def _near(aliases: Sequence[Ends], end: date, tolerance: int, fits: Fits) -> Fact | None:
    """The fact of the fitting period that ends nearest to a date."""
    for day in _around(end, tolerance):
        for start in [start for ends in aliases if day in ends for start in ends[day]]:
            if start is not None and fits(start, day):
                return _latest_of(aliases, day, start)
    return None


def _around(day: date, tolerance: int) -> Iterator[date]:
    """A date, then those around it, the nearest first."""
    yield day
    for distance in range(1, tolerance + 1):
        yield day - timedelta(distance)
        yield day + timedelta(distance)


def _latest_of(aliases: Sequence[Ends], end: date, start: date | None) -> Fact | None:
    """The last filed fact of one period; of one filing the preferred alias's."""
    found = [ends[end][start] for ends in aliases if end in ends and start in ends[end]]
    return max(found, key=order_of_filing) if len(found) > 1 else next(iter(found), None)


def current_end(filed: Filed, name: Name, on: date) -> date | None:
    """The latest period end of a measure, unless it is too long before a date to speak of it."""
    end = filed.last_end(name)
    return end if end is not None and (on - end).days <= USABLE_DAYS else None


def trailing_now(filed: Filed, name: Name, on: date) -> Figure | None:
    """The latest twelve months that a measure is known for."""
    end = current_end(filed, name, on)
    return None if end is None else filed.trailing(name, end)


def instant_now(filed: Filed, name: Name, on: date) -> Figure | None:
    """The latest balance-sheet figure of a measure."""
    end = current_end(filed, name, on)
    return None if end is None else filed.instant(name, end)


def earnings_now(filed: Filed, on: date) -> Figure | None:
    """Net income of the latest twelve months; where it was not filed for them, pretax income less tax."""
    ends = [end for name in ("net_income", "pretax_income") if (end := current_end(filed, name, on))]
    if not ends:
        return None
    end = max(ends)
    return filed.trailing("net_income", end) or combined(filed.trailing("pretax_income", end), filed.trailing("income_tax", end), -1)


def debt_now(filed: Filed, on: date) -> Figure | None:
    """Long-term debt with its current part, and short-term borrowings where there are any on file within their usable time.

    A company without short-term borrowings files none, so their absence alone does not make the total unknown.
    """
    ends = [end for name in ("debt", "debt_noncurrent") if (end := current_end(filed, name, on))]
    if not ends:
        return None
    end = max(ends)
    long = filed.instant("debt", end) or combined(filed.instant("debt_noncurrent", end), filed.instant("debt_current", end), 1)
    if long is None:
        return None
    return combined(long, filed.instant("short_debt", end) or instant_now(filed, "short_debt", on), 1) or long


def combined(first: Figure | None, second: Figure | None, sign: Literal[1, -1]) -> Figure | None:
    """The sum or the difference of two figures, dated as the first; None where either is missing."""
    if first is None or second is None:
        return None
    return Figure(first.value + sign * second.value, first.end, first.facts + second.facts)


def split_ratio(actions: Iterable[CorporateAction], after: date, upto: date) -> Decimal:
    """New shares per old share by the splits effective in (after, upto]."""
    ratio = Decimal(1)
    for action in actions:
        if action.kind == "split" and after < action.ex_date <= upto:
            ratio *= action.value
    return ratio
