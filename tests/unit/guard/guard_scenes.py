"""A healthy evening in one place: every test changes one thing in it."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from alphaagent.domain.portfolio import Activity
from alphaagent.domain.ruling import GuardSnapshot, RuleTrace, Ruling
from alphaagent.guard.evaluate import evaluate
from alphaagent.guard.mandate import Mandate

NOW = datetime(2025, 3, 3, 21, 0, 1, tzinfo=UTC)
DEFAULT = Mandate(name="default")

_DECIDE: dict[str, Any] = {
    "stage": "decide",
    "ticker": "ACME",
    "candidates": ("XNAS:ACME",),
    "instrument_id": "XNAS:ACME",
    "symbol": "ACME",
    "names": ("ACME", "XNAS:ACME", "XNAS:ACME.A"),
    "instrument_kind": "common",
    "sector": "Industrials",
    "listed": True,
    "quote_currency": "USD",
    "portfolio_currency": "USD",
    "provenance": "crew",
    "execution_mode": "live",
    "portfolio_kind": "paper",
    "control_state": "ACTIVE",
    "books_checked": True,
    "book_time": NOW,
    "calendar_first": date(2020, 1, 2),
    "calendar_last": date(2026, 12, 31),
    "last_completed_session": date(2025, 3, 3),
    "bar_session": date(2025, 3, 3),
    "fill_session": date(2025, 3, 4),
    "price": Decimal(100),
    "decided_at": NOW,
    "bar_volume": 1_000_000,
    "flat_bars": 0,
    "median_volume": Decimal(10) ** 12,
    "median_dollar_volume": Decimal(10) ** 14,
    "cash": Decimal(50_000),
    "sector_exposure": Decimal(0),
    "gross_exposure": Decimal(0),
    "activity": Activity(),
    "scheduled": False,
    "reduce_only": False,
    "budget": Decimal(5_000),
    "evidence_count": 12,
    "evidence_age_sessions": 0,
    "tainted": (),
    "debate_class": "mixed",
    "debate_gap": Decimal("0.04"),
    "equity": Decimal(100_000),
    "settled_cash": Decimal(50_000),
    "reserved_cash": Decimal(0),
    "held": Decimal(20),
    "pending_buy": Decimal(0),
    "pending_sell": Decimal(0),
    "base_rate": Decimal("0.55"),
    "rule_driven": False,
}


def mandate(**limits: dict[str, Any]) -> Mandate:
    """The default mandate with some rules' limits changed: `mandate(H4={"max_order_fraction": "0.03"})`."""
    return Mandate.parse("default", {"rules": limits}, "test")


def deciding(limits: Mandate = DEFAULT, **changes: Any) -> GuardSnapshot:
    """The decide stage: 20 shares held at 100, NAV 100,000, cash 50,000; the close before is the price."""
    price = changes.get("price", _DECIDE["price"])
    return GuardSnapshot(**{**_DECIDE, "prior_close": price, "approved_limits_hash": limits.limits_hash, **changes})


def settling(limits: Mandate = DEFAULT, **changes: Any) -> GuardSnapshot:
    """The settle stage of an order of 10 shares at the next session's open."""
    order = {
        "stage": "settle",
        "bar_session": date(2025, 3, 4),
        "due_session": date(2025, 3, 4),
        "quantity": Decimal(10),
        "close_all": False,
        "decision_price": changes.get("price", _DECIDE["price"]),
        "actions": (),
    }
    return deciding(limits, **{**order, **changes})


def text(action: str = "BUY", amount: str = "1000", sentiment: str = "NEUTRAL", **more: str) -> str:
    """A proposal's text; `amount` and `more` are JSON literals as written."""
    extra = "".join(f',"{key}":{value}' for key, value in more.items())
    return f'{{"action":"{action}","amount":{amount},"sentiment":"{sentiment}","reasoning":{json.dumps("because")}{extra}}}'


def judge(proposal: str | None = None, snapshot: GuardSnapshot | None = None, limits: Mandate = DEFAULT, now: datetime = NOW) -> Ruling:
    """The ruling on the healthy evening, or on what a test changed in it."""
    return evaluate(text() if proposal is None else proposal, deciding(limits) if snapshot is None else snapshot, limits, now)


def line(ruling: Ruling, rule: str) -> RuleTrace:
    """One rule's line of the trace."""
    return next(trace for trace in ruling.rules if trace.id == rule)
