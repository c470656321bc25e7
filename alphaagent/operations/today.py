"""Everything that the first page shows: the morning digest, and what it leaves to other commands. Nothing is written and nobody is asked.

Chosen on purpose: with recorded data today is the books' own time, the latest of all portfolios; with live data it is now.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from alphaagent.bootstrap import Workplace
from alphaagent.domain.digest import Digest, PortfolioNight
from alphaagent.domain.performance import change, share_earned
from alphaagent.domain.portfolio import Portfolio
from alphaagent.domain.record import DecisionRecord
from alphaagent.domain.spend import SpendLine, SpendTotal
from alphaagent.errors import AlphaAgentError, UsageFault
from alphaagent.guard.rules.e10_market_stress import MarketStress
from alphaagent.ledger.listing import DecisionFilter
from alphaagent.operations.digest import gather as gather_digest
from alphaagent.operations.equity import Course, course
from alphaagent.operations.preview import NextRun, next_run

RECENT = 100
"""Decisions over which the share of substitutes is counted."""
MOST_BLOCKS = 20
MOST_SWEEPS = 40


@dataclass(frozen=True, slots=True)
class Breaker:
    """Rule E10: the market's own fall stops what opens."""

    index: str
    """`none` where the mandate names none."""
    most_fall: Decimal
    change: Decimal | None
    """Of the last completed session; None where it is not known, which stops what opens as well."""


@dataclass(frozen=True, slots=True)
class PortfolioToday:
    """One portfolio: what its night was, and what its day made."""

    night: PortfolioNight
    nav: Decimal | None
    earned: Decimal | None
    """Since the close of the session before, in money; the owner's payments left out."""
    earned_share: Decimal | None
    """The same, time-weighted."""
    invested: Decimal | None
    """What is held at its marks; None where something has no price."""
    unpriced: Mapping[str, str]
    """Of what is held without a price: why, by symbol."""
    breaker: Breaker | None
    """None where the mandate is not there any more."""


@dataclass(frozen=True, slots=True)
class Today:
    """The whole page."""

    digest: Digest
    before: date
    """The session whose close the day is held against."""
    portfolios: tuple[PortfolioToday, ...]
    sweeps: Sequence[dict[str, Any]]
    """The passes of the last session, newest first."""
    earlier_sweep: dict[str, Any] | None
    """The last pass before them, where there is none of the last session."""
    blocks: tuple[DecisionRecord, ...]
    provenance: Mapping[str, int]
    """How the recent decisions came to be, by how many."""
    spend_day: date
    spent: SpendTotal
    spend_lines: tuple[SpendLine, ...]
    budgets: Mapping[str, Decimal]
    budgets_fault: str | None
    """Why the portfolios' files cannot be read."""
    run: NextRun


def gather(workplace: Workplace) -> Today:
    """Everything. Raises UsageFault where there are no portfolios yet."""
    store, calendar = workplace.required_store(), workplace.calendar
    with store.read() as books:
        portfolios = books.portfolios()
    if not portfolios:
        raise UsageFault("there is no portfolio in these books yet", fix="run `alphaagent sweep`, or `alphaagent decide TICKER`")
    digest = gather_digest(workplace, None, None)
    before = calendar.previous_session(digest.session)
    day = workplace.clock.now().date()
    passes = store.sweeps(MOST_SWEEPS)
    recent = [one for one in passes if one["as_of"] and datetime.fromisoformat(one["as_of"]) >= digest.since]
    made = {one.name: one for one in portfolios}
    budgets, fault = _budgets(workplace)
    return Today(
        digest=digest,
        before=before,
        portfolios=tuple(_portfolio(workplace, made[night.name], night, calendar.closes(before), digest) for night in digest.portfolios),
        sweeps=recent,
        earlier_sweep=passes[0] if passes and not recent else None,
        blocks=_blocks(workplace, digest),
        provenance=_provenance(workplace),
        spend_day=day,
        spent=store.spent_on(day),
        spend_lines=store.spend_lines(day),
        budgets=budgets,
        budgets_fault=fault,
        run=next_run(workplace),
    )


def _portfolio(workplace: Workplace, portfolio: Portfolio, night: PortfolioNight, close: datetime, digest: Digest) -> PortfolioToday:
    done = course(workplace, portfolio.name, since=close, until=digest.at)
    first, last = done.points[0], done.points[-1]
    return PortfolioToday(
        night=night,
        nav=last.nav,
        earned=change(first, last),
        earned_share=share_earned(first, last),
        invested=None if last.nav is None else last.nav - done.account.cash,
        unpriced=_unpriced(done),
        breaker=_breaker(workplace, portfolio, digest.session),
    )


def _unpriced(done: Course) -> dict[str, str]:
    held = {position.symbol for position in done.account.positions}
    return {symbol: why for symbol, why in done.faults.items() if symbol in held}


def _breaker(workplace: Workplace, portfolio: Portfolio, session: date) -> Breaker | None:
    """E10 of the portfolio's mandate, with the index as the guard would see it."""
    mandate = workplace.desk.mandates.get(portfolio.mandate)
    if mandate is None:
        return None
    rule = next(one for one in mandate.rules if isinstance(one, MarketStress))
    if rule.index == "none":
        return Breaker(rule.index, rule.max_fall_fraction, None)
    return Breaker(rule.index, rule.max_fall_fraction, workplace.desk.index.change("XNYS", session, workplace.calendar))


def _blocks(workplace: Workplace, digest: Digest) -> tuple[DecisionRecord, ...]:
    """What the guard refused in the last session, newest first."""
    store = workplace.required_store()
    events = [event for event in store.events(("decision",), digest.since, digest.at) if event["outcome"] == "BLOCK"]
    found = (store.decision(event["decision_id"]) for event in reversed(events[-MOST_BLOCKS:]))
    return tuple(one.record for one in found if one is not None)


def _provenance(workplace: Workplace) -> dict[str, int]:
    counts: dict[str, int] = {}
    for row in workplace.required_store().decision_rows(DecisionFilter(), RECENT):
        counts[row["provenance"]] = counts.get(row["provenance"], 0) + 1
    return counts


def _budgets(workplace: Workplace) -> tuple[dict[str, Decimal], str | None]:
    try:
        files = workplace.portfolio_files
    except AlphaAgentError as fault:
        return {}, fault.message
    return {name: file.daily_spend_usd for name, file in files.items() if file.daily_spend_usd is not None}, None
