"""The seven tests of quality and the hard flags, over what was filed. Pure.

The tests are those of Piotroski (2000) in spirit: few, binary, each with its number, its threshold and its filing. A test whose
figures were not filed is unknown, and a flag is only raised by a figure that was.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from alphaagent.domain.market import CorporateAction, Fact
from alphaagent.evidence.fundamentals import (
    CONCEPTS,
    Figure,
    Filed,
    Name,
    combined,
    current_end,
    debt_now,
    instant_now,
    order_of_filing,
    split_ratio,
    trailing_now,
)

MAX_NET_DEBT_YEARS = Decimal(4)
"""Net debt, in years of operating income."""
MIN_INTEREST_COVER = Decimal(3)
MIN_CURRENT_RATIO = Decimal(1)
MAX_DILUTION = Decimal("0.02")
RESTATEMENT_SESSIONS = 252

SAYS_NOTHING: dict[str, frozenset[str]] = {
    "banks": frozenset({"net_debt", "interest_cover", "current_ratio"}),
    "insurance": frozenset({"net_debt", "interest_cover", "current_ratio"}),
    "real estate": frozenset({"net_debt", "interest_cover", "current_ratio"}),
}
"""The tests that mean nothing for a sector: to a bank or an insurer borrowing is the trade itself, and its balance sheet is not
divided into current and other; property is financed by long debt and earns before a depreciation that operating income takes off."""

ANNUAL_OR_QUARTERLY = ("10-K", "10-Q", "20-F", "40-F")


@dataclass(frozen=True, slots=True)
class Verdict:
    """One test: `passed` is None where it is unknown or says nothing; `missing` then names what was not filed, `sector` for which it is no test."""

    test: str
    unit: str
    passed: bool | None = None
    value: Decimal | None = None
    threshold: Decimal | None = None
    figures: tuple[Figure, ...] = ()
    missing: tuple[str, ...] = ()
    sector: str | None = None


@dataclass(frozen=True, slots=True)
class Flag:
    """Something that no score outweighs. Value and threshold are money (Decimal) or sessions (int)."""

    flag: str
    value: Decimal | int
    threshold: Decimal | int
    fact: Fact


def verdicts(filed: Filed, currency: str, actions: Sequence[CorporateAction] | None, on: date, sector: str | None = None) -> tuple[Verdict, ...]:
    """The seven tests as of a date, in a fixed order. `actions` is None where no splits are known, as without prices."""
    pointless = SAYS_NOTHING.get((sector or "").casefold(), frozenset())
    return tuple(
        Verdict(verdict.test, verdict.unit, sector=sector) if verdict.test in pointless else verdict for verdict in _verdicts(filed, currency, actions, on)
    )


def _verdicts(filed: Filed, currency: str, actions: Sequence[CorporateAction] | None, on: date) -> tuple[Verdict, ...]:
    return (
        operating_income(filed, currency, on),
        revenue_growth(filed, currency, on),
        margin(filed, on),
        net_debt(filed, currency, on),
        interest_cover(filed, on),
        current_ratio(filed, on),
        dilution(filed, actions, on),
    )


def operating_income(filed: Filed, currency: str, on: date) -> Verdict:
    """Operating income of the last twelve months above zero."""
    income = trailing_now(filed, "operating_income", on)
    if income is None:
        return _unknown("operating_income", currency, "operating_income")
    return Verdict("operating_income", currency, income.value > 0, income.value, Decimal(0), (income,))


def revenue_growth(filed: Filed, currency: str, on: date) -> Verdict:
    """Revenue of the last twelve months above that of the twelve months a year before."""
    now, before = _pair(filed, "revenue", current_end(filed, "revenue", on))
    if now is None or before is None:
        return Verdict("revenue_growth", currency, missing=_lacking("revenue", (now, before)))
    return Verdict("revenue_growth", currency, now.value > before.value, now.value, before.value, (now, before))


def margin(filed: Filed, on: date) -> Verdict:
    """Operating margin of the last twelve months above that of a year before; both of revenue's periods."""
    end = current_end(filed, "revenue", on)
    revenue, income = _pair(filed, "revenue", end), _pair(filed, "operating_income", end)
    now, before = (quotient(part, whole) for part, whole in zip(income, revenue, strict=True))
    if now is None or before is None:
        return Verdict("margin", "ratio", missing=(*_lacking("revenue", revenue), *_lacking("operating_income", income)) or ("a revenue above zero",))
    return Verdict("margin", "ratio", now.value > before.value, now.value, before.value, (now, before))


def net_debt(filed: Filed, currency: str, on: date) -> Verdict:
    """Debt less cash and current marketable securities, at one date, at most four years of operating income.

    Without the securities net debt is overstated: a pass holds all the same, a failure is then unknown.
    """
    debt = debt_now(filed, on)
    net = None if debt is None else combined(debt, filed.instant("cash", debt.end), -1)
    if debt is None or net is None:
        return _unknown("net_debt", currency, "debt" if debt is None else "cash")
    less = combined(net, filed.instant("securities", debt.end), -1)
    net = less or net
    income = trailing_now(filed, "operating_income", on)
    if income is None and net.value > 0:
        return _unknown("net_debt", currency, "operating_income")
    limit = None if income is None else MAX_NET_DEBT_YEARS * income.value
    figures = (net,) if income is None else (net, income)
    if net.value <= 0 or (limit is not None and net.value <= limit):
        return Verdict("net_debt", currency, True, net.value, limit, figures)
    return Verdict("net_debt", currency, False, net.value, limit, figures) if less else _unknown("net_debt", currency, "securities")


def interest_cover(filed: Filed, on: date) -> Verdict:
    """Operating income above three times interest expense, both of the period that interest was last filed for.

    No interest to pay is a pass without a number.
    """
    interest = trailing_now(filed, "interest_expense", on)
    income = None if interest is None else filed.trailing("operating_income", interest.end)
    if interest is None or income is None:
        return _unknown("interest_cover", "ratio", "interest_expense" if interest is None else "operating_income")
    if interest.value <= 0:
        return Verdict("interest_cover", "ratio", True, None, MIN_INTEREST_COVER, (interest, income))
    cover = income.value / interest.value
    return Verdict("interest_cover", "ratio", cover > MIN_INTEREST_COVER, cover, MIN_INTEREST_COVER, (interest, income))


def current_ratio(filed: Filed, on: date) -> Verdict:
    """Current assets above current liabilities at the latest date that has both."""
    assets = instant_now(filed, "current_assets", on)
    ratio = None if assets is None else quotient(assets, filed.instant("current_liabilities", assets.end))
    if ratio is None:
        return _unknown("current_ratio", "ratio", "current_assets" if assets is None else "current_liabilities")
    return Verdict("current_ratio", "ratio", ratio.value > MIN_CURRENT_RATIO, ratio.value, MIN_CURRENT_RATIO, (ratio,))


def dilution(filed: Filed, actions: Sequence[CorporateAction] | None, on: date) -> Verdict:
    """Diluted shares up at most 2% on the same period a year before, both on the share basis of `on`.

    Two counts of one filing date are on one basis by themselves; others cannot be compared where no splits are known.
    """
    end = current_end(filed, "diluted_shares", on)
    now = None if end is None else filed.shortest("diluted_shares", end)
    before = None if now is None else _year_earlier(filed, now)
    if now is None or before is None or before.value <= 0:
        return _unknown("dilution", "ratio", "diluted_shares", "" if now is None else " a year before")
    if actions is None and now.filed != before.filed:
        return Verdict("dilution", "ratio", missing=("the splits between two filings",))
    old, new = (fact.value * split_ratio(actions or (), fact.filed, on) for fact in (before, now))
    growth = new / old - 1
    figures = tuple(Figure(fact.value, fact.end, (fact,)) for fact in (now, before))
    return Verdict("dilution", "ratio", growth <= MAX_DILUTION, growth, MAX_DILUTION, figures)


def _year_earlier(filed: Filed, now: Fact) -> Fact | None:
    """The share count of an equally long period a year before."""
    end = filed.year_before("diluted_shares", now.end)
    return None if end is None or now.start is None else filed.shortest("diluted_shares", end, (now.end - now.start).days)


def _pair(filed: Filed, name: Name, end: date | None) -> tuple[Figure | None, Figure | None]:
    """The twelve months to a date and those to the year before, as both are known now."""
    if end is None:
        return None, None
    earlier = filed.year_before(name, end)
    return filed.trailing(name, end), None if earlier is None else filed.trailing(name, earlier)


def _lacking(name: Name, pair: tuple[Figure | None, Figure | None]) -> tuple[str, ...]:
    """Which of a measure's two years is not on file; the year before goes without saying where this one is missing."""
    now, before = pair
    return (_concepts(name),) if now is None else (f"{_concepts(name)} a year before",) if before is None else ()


def quotient(part: Figure | None, whole: Figure | None) -> Figure | None:
    """One figure over another; None where either is missing or the whole is not above zero."""
    if part is None or whole is None or whole.value <= 0:
        return None
    return Figure(part.value / whole.value, part.end, part.facts + whole.facts)


def _unknown(test: str, unit: str, name: Name, when: str = "") -> Verdict:
    return Verdict(test, unit, missing=(f"{_concepts(name)}{when}",))


def _concepts(name: Name) -> str:
    """A measure in words, with the concept that would have given it."""
    return f"{name.replace('_', ' ')} ({CONCEPTS[name][0]})"


def flags(filed: Filed, facts: Iterable[Fact], on: date, sessions_since: Callable[[date], int]) -> tuple[Flag, ...]:
    """Negative equity at the latest balance date; a 10-K or 10-Q amended within 252 sessions. Only what is there."""
    equity = instant_now(filed, "equity", on)
    raised = [Flag("negative_equity", equity.value, Decimal(0), equity.newest)] if equity is not None and equity.value < 0 else []
    amended = max((fact for fact in facts if fact.form.endswith("/A") and fact.form.startswith(ANNUAL_OR_QUARTERLY)), key=order_of_filing, default=None)
    if amended is not None and (age := sessions_since(amended.filed)) <= RESTATEMENT_SESSIONS:
        raised.append(Flag("restatement", age, RESTATEMENT_SESSIONS, amended))
    return tuple(raised)
