"""The portfolio as evidence for the CIO: cash, position, budget, risk profile."""

from dataclasses import dataclass
from decimal import Decimal

from alphaagent.domain.base import decimal_text, measured
from alphaagent.domain.evidence import EvidenceItem, Status, evidence_item
from alphaagent.evidence.gathered import Gathered


@dataclass(frozen=True, slots=True)
class PortfolioView:
    """What the CIO may know of the book. Money in the portfolio's currency, weight as a fraction of NAV, pending orders counted in it."""

    name: str
    currency: str
    cash: Decimal
    equity: Decimal
    quantity: Decimal
    price: Decimal
    pending: Decimal
    """Shares in pending orders, bought less sold."""
    budget: Decimal
    risk_profile: str
    acted_flags: tuple[str, ...]


def portfolio_items(gathered: Gathered, view: PortfolioView) -> tuple[EvidenceItem, ...]:
    """One item, kind `portfolio`, known at the last close."""
    at = gathered.calendar.closes(gathered.session)
    value = view.quantity * view.price
    weight = (view.quantity + view.pending) * view.price / view.equity if view.equity > 0 else Decimal(0)
    payload = {
        "portfolio": view.name,
        "currency": view.currency,
        "cash": decimal_text(view.cash),
        "equity": measured(view.equity),
        "quantity": decimal_text(view.quantity),
        "pending": decimal_text(view.pending),
        "position_value": measured(value),
        "position_weight": measured(weight),
        "budget": decimal_text(view.budget),
        "risk_profile": view.risk_profile,
        "acted_flags": list(view.acted_flags),
    }
    summary = (
        f"{view.name}: NAV {view.equity:,.2f} {view.currency}, cash {view.cash:,.2f}, {decimal_text(view.quantity)} shares held "
        f"({weight:.1%} of NAV with pending orders), budget {view.budget:,.2f}, {view.risk_profile} risk"
    )
    item = evidence_item(
        decision_as_of=gathered.as_of,
        ticker=gathered.ticker,
        tool="get_portfolio",
        kind="portfolio",
        event_at=at,
        known_at=at,
        source="ledger",
        status=Status.OK,
        summary=summary,
        payload=payload,
    )
    return (item,)
