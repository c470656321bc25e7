"""Facts as filed, and what one report says against the year before.

Both figures of a comparison come from the same filing, which puts them on one share basis and one accounting basis. Earnings per
share that a filing's data lacks are (pretax income - tax) / diluted shares, to the cent as a company reports them.
"""

import csv
import gzip
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

REGISTRY_FILE = "sec_pit/derived/fundamentals_pit_registry.csv.gz"
REPORT_DAYS = {"10-Q": (75, 105), "10-K": (350, 380)}
YEAR_DAYS = (350, 380)
REVENUE = ("Revenues", "SalesRevenueNet", "RevenueFromContractWithCustomerExcludingAssessedTax")
PER_SHARE = "EarningsPerShareDiluted"
PRETAX = (
    "IncomeLossFromContinuingOperationsBeforeIncomeTaxesExtraordinaryItemsNoncontrollingInterest",
    "IncomeLossFromContinuingOperationsBeforeIncomeTaxesMinorityInterestAndIncomeLossFromEquityMethodInvestments",
)
TAX = "IncomeTaxExpenseBenefit"
DILUTED_SHARES = "WeightedAverageNumberOfDilutedSharesOutstanding"
Period = tuple[date, date]


@dataclass(frozen=True)
class FiledFact:
    """One row of the registry, its value as written there."""

    concept: str
    unit: str
    start: date | None
    end: date
    value: str
    filed: date
    form: str
    accession: str


@dataclass(frozen=True)
class Pair:
    """A figure and the same figure of the year before, out of one filing."""

    now: Decimal
    before: Decimal


@dataclass(frozen=True)
class Report:
    """A 10-Q or 10-K: the period that it reports, and its two comparisons; `derived` where the earnings per share were computed."""

    form: str
    filed: date
    accession: str
    period: Period
    revenue: Pair
    per_share: Pair
    derived: bool


def read_facts(folder: Path, symbol: str, filed_before: date) -> list[FiledFact]:
    """The facts of one company filed before a date, sorted by filing."""
    with gzip.open(folder / REGISTRY_FILE, "rt", encoding="utf-8", newline="") as file:
        facts = [_fact(row) for row in csv.DictReader(file) if row["ticker"] == symbol]
    kept = (fact for fact in facts if fact.filed < filed_before)
    return sorted(kept, key=lambda fact: (fact.filed, fact.accession, fact.concept, fact.end, fact.start or date.min))


def _fact(row: dict[str, str]) -> FiledFact:
    return FiledFact(
        concept=row["concept"],
        unit=row["unit"],
        start=date.fromisoformat(row["start"]) if row["start"] else None,
        end=date.fromisoformat(row["end"]),
        value=row["value"],
        filed=date.fromisoformat(row["filed"]),
        form=row["form"],
        accession=row["accession"],
    )


def reports(facts: Sequence[FiledFact], first: date, last: date, forms: Sequence[str] = tuple(REPORT_DAYS)) -> list[Report]:
    """Every report of these forms, amendments included, filed from `first` to `last`, in order."""
    filings: dict[str, list[FiledFact]] = {}
    for fact in facts:
        if first <= fact.filed <= last and fact.form.removesuffix("/A") in forms:
            filings.setdefault(fact.accession, []).append(fact)
    return [_report(filing) for filing in filings.values()]


def _report(filing: Sequence[FiledFact]) -> Report:
    """ValueError, naming the filing, where it does not carry the figures of a comparison."""
    head = filing[0]
    values = {(fact.concept, (fact.start, fact.end)): Decimal(fact.value) for fact in filing if fact.start is not None}
    try:
        now, before = _compared_periods(values, REPORT_DAYS[head.form.removesuffix("/A")])
        revenue = _revenue(values, now, before)
        filed = _pair(values, PER_SHARE, now, before)
        per_share = filed or Pair(_derived_per_share(values, now), _derived_per_share(values, before))
    except (LookupError, StopIteration) as fault:
        raise ValueError(f"{head.form} {head.accession} filed {head.filed} lacks a figure: {fault}") from fault
    return Report(head.form, head.filed, head.accession, now, revenue, per_share, derived=filed is None)


def _compared_periods(values: Iterable[tuple[str, Period]], days: tuple[int, int]) -> tuple[Period, Period]:
    """The latest revenue period of the report's own length, and the one that ended a year earlier."""
    periods = sorted({period for concept, period in values if concept in REVENUE and _within(period[0], period[1], days)}, key=lambda period: period[::-1])
    now = periods[-1]
    return now, next(period for period in periods if _within(period[1], now[1], YEAR_DAYS))


def _within(start: date, end: date, days: tuple[int, int]) -> bool:
    return days[0] <= (end - start).days <= days[1]


def _revenue(values: dict[tuple[str, Period], Decimal], now: Period, before: Period) -> Pair:
    """Revenue under the first name that the filing uses for both periods; names changed over the years."""
    pairs = (_pair(values, concept, now, before) for concept in REVENUE)
    return next(pair for pair in pairs if pair is not None)


def _pair(values: dict[tuple[str, Period], Decimal], concept: str, now: Period, before: Period) -> Pair | None:
    if (concept, now) not in values or (concept, before) not in values:
        return None
    return Pair(values[concept, now], values[concept, before])


def _derived_per_share(values: dict[tuple[str, Period], Decimal], period: Period) -> Decimal:
    pretax = next(values[concept, period] for concept in PRETAX if (concept, period) in values)
    earnings = pretax - values[TAX, period]
    return (earnings / values[DILUTED_SHARES, period]).quantize(Decimal("0.01"), ROUND_HALF_UP)
