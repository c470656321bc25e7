"""The rows of the dashboard's first page. Pure: records go in, plain values come out; nothing here reads or draws."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from alphaagent.domain.portfolio import Order

if TYPE_CHECKING:
    from alphaagent.operations.preview import Cost, NextName, NextRound
    from alphaagent.operations.today import Breaker, PortfolioToday

Row = dict[str, Any]
WHY_SHOWN = {
    "NotBegun": "not begun: the time of the pass was over, or another run held it",
    "NoEvidence": "there is nothing to decide on",
    "SourceFault": "a source of evidence failed",
    "VendorFault": "a vendor of data failed",
    "ProviderFault": "the model failed, and no substitute is allowed",
    "SpendRefused": "the money for a debate was not there",
    "UsageFault": "the request cannot be met",
    "ConfigFault": "a setting has to be corrected",
    "Halted": "the system was halted",
    "BooksUnsound": "the books cannot be trusted",
}
"""Faults in words, by the name that a pass keeps of them."""


def sweep_rows(sweeps: Iterable[Mapping[str, Any]]) -> list[Row]:
    """One row a pass and portfolio: how many names ended how."""
    return [
        {
            "portfolio": one["portfolio"],
            "as of (UTC)": _minute(one["as_of"]),
            **{state: one["counts"].get(state, 0) for state in ("decided", "repeated", "skipped", "failed")},
            "settled": len(one["settled"]),
            "exit code": one["exit_code"],
        }
        for one in sweeps
    ]


def undone_rows(sweeps: Iterable[Mapping[str, Any]]) -> list[Row]:
    """Every name that a pass skipped or could not do, and why."""
    return [
        {
            "portfolio": one["portfolio"],
            "ticker": row["ticker"],
            "state": row["state"],
            "what happened": WHY_SHOWN.get(row["error"] or "", row["error"] or ""),
            "in its own words": row["reason"] or "",
        }
        for one in sweeps
        for row in one["rows"]
        if row["state"] in ("skipped", "failed")
    ]


def unpaid(sweeps: Iterable[Mapping[str, Any]]) -> list[str]:
    """The names whose debate the money did not reach."""
    return list(dict.fromkeys(ticker for one in sweeps for ticker in one["spend"]["unpaid"]))


def order_rows(orders: Iterable[tuple[str, Order]]) -> list[Row]:
    """Orders that wait, by portfolio; about what they come to at the price of their decision."""
    return [
        {
            "portfolio": portfolio,
            "side": order.side,
            "ticker": order.symbol,
            "shares": float(order.quantity),
            "decided at": float(order.decision_price),
            "about": float(order.quantity * order.decision_price),
            "fills at the open of": order.fill_session.isoformat(),
            "waits for": "approval" if order.status == "pending_approval" else "the open",
            "decision": order.decision_id,
        }
        for portfolio, order in orders
    ]


def next_rows(run: "Sequence[NextRound]") -> list[Row]:
    """Every name that the next pass would ask for."""
    return [
        {"portfolio": one.portfolio, "ticker": name.ticker, "may be": _may_be(name), "what happens": _happens(name, one)} for one in run for name in one.names
    ]


def _may_be(name: "NextName") -> str:
    return "sold only: held, and not on the watchlist" if name.reduce_only else "bought or sold"


def _happens(name: "NextName", one: "NextRound") -> str:
    if name.decided:
        return f"nothing: decided before ({name.decided})"
    return f"a debate, plan {one.plan}" if name.debated else "the heuristic engine decides"


def cost_text(cost: "Cost", budget: Decimal | None) -> str:
    """What a portfolio's debates may come to, in words."""
    if not cost.debates:
        return "nothing: no model will be asked"
    usual = "" if cost.usual is None else f"about {cost.usual:.4f} USD, "
    most = "an unknown price" if cost.most is None else f"at most {cost.most:.4f} USD"
    limit = "" if budget is None else f"; its budget is {budget:f} USD a UTC day"
    return f"{cost.debates} debates: {usual}{most}{limit}"


def breaker_text(breaker: "Breaker | None") -> str:
    """Rule E10 in words."""
    if breaker is None:
        return "its mandate is not in mandate.yaml any more"
    if breaker.index == "none":
        return "market breaker (E10) off: its mandate names no index"
    if breaker.change is None:
        return f"market breaker (E10) ON: the change of {breaker.index} is not known, so nothing is opened"
    fell = f"{breaker.index} {breaker.change * 100:+.2f}%, the limit is −{breaker.most_fall * 100:f}%"
    return f"market breaker (E10) {'ON: ' if breaker.change <= -breaker.most_fall else 'quiet: '}{fell}"


def substitutes(provenance: Mapping[str, int]) -> tuple[int, int]:
    """How many of the recent decisions a substitute made, and of how many."""
    return provenance.get("fallback", 0), sum(provenance.values())


def decided(portfolios: "Iterable[PortfolioToday]") -> dict[str, int]:
    """Decisions of the last session by action, over all portfolios."""
    counts: dict[str, int] = {}
    for one in portfolios:
        for action, count in one.night.actions.items():
            counts[action] = counts.get(action, 0) + count
    return counts


def price_age(prices: tuple[str, date | None] | None, session: date) -> str:
    """How far the prices reach, by the name whose end first."""
    if prices is None:
        return "no name needs a price"
    ticker, last = prices
    if last is None:
        return f"no prices of {ticker}"
    return f"prices to {last}, the last session" if last >= session else f"prices of {ticker} end on {last}, before {session}"


def _minute(text: str | None) -> str:
    return "" if text is None else f"{datetime.fromisoformat(text):%Y-%m-%d %H:%M}"
