"""An evidence pack out of the measures that a test cares about; everything else has a plain default."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from alphaagent.domain.evidence import EvidenceItem, EvidencePack, Status, ToolName, evidence_item

AS_OF = datetime(2020, 3, 16, 20, 0, 1, tzinfo=UTC)
CLOSE = AS_OF - timedelta(seconds=1)
TESTS = ("operating_income", "revenue_growth", "margin", "net_debt", "interest_cover", "current_ratio", "dilution")
PORTFOLIO: dict[str, Any] = {
    "portfolio": "default",
    "currency": "USD",
    "cash": "100000.0",
    "equity": "100000.0",
    "quantity": "0.0",
    "pending": "0.0",
    "position_value": "0.0",
    "position_weight": "0.0",
    "budget": "5000.0",
    "risk_profile": "medium",
    "acted_flags": [],
}
PRICES: dict[str, dict[str, Any]] = {
    "history": {"sessions": 300},
    "volatility": {"sigma": "0.25"},
    "momentum": {"p_21": "100.0", "p_252": "100.0"},
    "trend": {"close": "100.0", "sma50": "100.0", "sma200": "100.0"},
    "drawdown": {"drawdown": "0.125"},
    "reversal": {"close": "100.0", "p_5": "100.0"},
    "base_rate": {"p0": "0.55"},
}
"""Measures that make every price factor 0."""


def item(tool: ToolName, kind: str, payload: Mapping[str, Any], *, status: Status = Status.OK, summary: str | None = None) -> EvidenceItem:
    return evidence_item(
        decision_as_of=AS_OF,
        ticker="ACME",
        tool=tool,
        kind=kind,
        event_at=CLOSE,
        known_at=CLOSE,
        source="a test",
        status=status,
        summary=f"{kind} as measured" if summary is None else summary,
        payload=dict(payload),
    )


def price_items(changes: Mapping[str, Mapping[str, Any]], status: Status = Status.OK, summary: str | None = None) -> list[EvidenceItem]:
    """The price measures; `changes` overrides single figures, by kind."""
    return [item("get_price_history", kind, payload | changes.get(kind, {}), status=status, summary=summary) for kind, payload in PRICES.items()]


def health_items(passed: Sequence[bool | None], flags: Iterable[tuple[str, str]] = (), percentile: str | None = "0.5") -> list[EvidenceItem]:
    """Quality tests by their verdicts, hard flags as (flag, accession), and the percentile of the valuation."""
    tests = [item("get_financial_health", f"test.{name}", {"test": name, "passed": verdict}) for name, verdict in zip(TESTS, passed, strict=False)]
    raised = [item("get_financial_health", "hard_flag", {"flag": flag, "accession": accession}) for flag, accession in flags]
    status = Status.EMPTY if percentile is None else Status.OK
    return [*tests, *raised, item("get_financial_health", "valuation", {"percentile": percentile}, status=status)]


def news_items(score: str | None = "0.0", headlines: Sequence[str] = ()) -> list[EvidenceItem]:
    """The summed score and one headline per single score, newest first."""
    stories = [item("get_news_sentiment", "headline", {"title": f"story {n}", "score": one, "weight": "1.0"}) for n, one in enumerate(headlines)]
    return [*stories, item("get_news_sentiment", "news", {"score": score}, status=Status.EMPTY if score is None else Status.OK)]


def lost(tool: ToolName, kind: str, status: Status = Status.FAILED) -> list[EvidenceItem]:
    """What is left of a supply that failed."""
    return [item(tool, kind, {"reason": "the file is broken"}, status=status, summary=f"{kind} lost: the file is broken")]


LOST_FILINGS = lost("get_financial_health", "fundamentals")
LOST_NEWS = lost("get_news_sentiment", "news")


def portfolio_item(**changes: Any) -> EvidenceItem:
    return item("get_portfolio", "portfolio", PORTFOLIO | changes)


def holding(weight: str, equity: str = "100000", price: str = "100") -> dict[str, Any]:
    """Portfolio figures of a position of that weight."""
    value = Decimal(weight) * Decimal(equity)
    return {"quantity": str(value / Decimal(price)), "position_value": str(value), "position_weight": weight, "equity": equity}


def pack(
    prices: Mapping[str, Mapping[str, Any]] | None = None,
    health: Sequence[EvidenceItem] | None = None,
    news: Sequence[EvidenceItem] | None = None,
    *,
    price_status: Status = Status.OK,
    price_summary: str | None = None,
    **portfolio: Any,
) -> EvidencePack:
    """A sealed pack; by default every factor is 0 and the book is 100,000 in cash."""
    items = (
        *price_items(prices or {}, price_status, price_summary),
        *(news_items() if news is None else news),
        *(health_items([True, True, False, False]) if health is None else health),
        portfolio_item(**portfolio),
    )
    return EvidencePack(ticker="ACME", instrument_id="XNAS:ACME", as_of=AS_OF, session="2020-03-16", items=items).sealed()


BULLISH: dict[str, dict[str, Any]] = {
    "momentum": {"p_21": "200.0"},
    "trend": {"close": "150.0", "sma50": "130.0"},
    "drawdown": {"drawdown": "0.0"},
}
"""Momentum and trend near 1, drawdown 1."""
BEARISH: dict[str, dict[str, Any]] = {
    "momentum": {"p_21": "50.0"},
    "trend": {"close": "60.0", "sma50": "80.0"},
    "drawdown": {"drawdown": "0.5"},
}
