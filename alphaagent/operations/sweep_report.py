"""What one pass over the watchlists came to. Every ticker of every portfolio has a row: nothing is left out silently."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Literal

from alphaagent import settling
from alphaagent.domain.base import Json, decimal_text, instant_text
from alphaagent.domain.record import DecisionRecord
from alphaagent.errors import AlphaAgentError
from alphaagent.execution.settlement import Acted, Unsettled
from alphaagent.ports import AuditRef, StoredDecision
from alphaagent.settling import Happened

State = Literal["decided", "repeated", "skipped", "failed"]
STATES: tuple[State, ...] = ("decided", "repeated", "skipped", "failed")


@dataclass(frozen=True, slots=True)
class SweepRow:
    """What became of one ticker in one portfolio.

    `decided` in this pass; `repeated`: the slot held its decision already and nothing was placed again; `skipped`: not begun, and why, such as a slot
    that holds the decision of another request;
    `failed`: begun, and what stopped it.
    """

    ticker: str
    state: State
    reason: str | None = None
    """Why it was skipped or failed; else what is worth knowing of the decision, such as why a substitute spoke."""
    fix: str | None = None
    exit_code: int = 0
    """The command line's code for this ticker alone; 0 where there is a decision."""
    fault: str | None = None
    """The name of the fault behind a row that was skipped or failed, such as `ProviderFault`."""
    record: DecisionRecord | None = None
    stored: StoredDecision | None = None
    """What is in the books: ruling, order and audit row. None where nothing was decided."""
    reduce_only: bool = False
    """Held, and not on the watchlist: it may be sold, and nothing is bought."""
    screened: str | None = None
    """With a screen: why this name was, or was not, worth a debate."""


@dataclass(frozen=True, slots=True)
class PassSpend:
    """What models cost a portfolio on the UTC day of the pass, beside its limits. None is no limit."""

    spent: Decimal = Decimal(0)
    """Booked on that day for this portfolio, before and in this pass."""
    reserved: Decimal = Decimal(0)
    budget: Decimal | None = None
    """The portfolio's own, a day."""
    ceiling: Decimal | None = None
    """Of all portfolios together, a day."""
    refused: tuple[str, ...] = ()
    """The tickers whose debate the money did not reach."""


@dataclass(frozen=True, slots=True)
class PortfolioReport:
    """One portfolio's part of a pass."""

    portfolio: str
    as_of: datetime | None
    """None where the pass came to no instant: the rows say why."""
    rows: tuple[SweepRow, ...]
    settled: tuple[Happened, ...] = ()
    """Orders and corporate actions that were due, in the order in which they happened, and the names of which that could not be read."""
    spend: PassSpend = field(default_factory=PassSpend)
    audit: AuditRef | None = None
    """The row of kind `sweep`; None where the pass changed nothing, so that there is nothing to say."""
    unrecorded: AlphaAgentError | None = None
    """Why there is no such row although there was something to say."""

    def counts(self) -> dict[State, int]:
        """How many rows of each state, all four of them."""
        found = Counter(row.state for row in self.rows)
        return {state: found[state] for state in STATES}

    @property
    def exit_code(self) -> int:
        """The worst of the rows, of what could not be settled, and of writing down what all came to."""
        return max(settling.exit_code(self.settled), self.unrecorded.exit_code if self.unrecorded else 0, *(row.exit_code for row in self.rows))

    @property
    def unsettled(self) -> tuple[Unsettled, ...]:
        """The names whose settlement waits."""
        return tuple(one for one in self.settled if isinstance(one, Unsettled))

    @property
    def settled_count(self) -> int:
        """How many orders and corporate actions were settled."""
        return len(self.settled) - len(self.unsettled)


@dataclass(frozen=True, slots=True)
class SweepReport:
    """One pass over all the portfolios that were named."""

    portfolios: tuple[PortfolioReport, ...]

    @property
    def exit_code(self) -> int:
        """The worst of the portfolios, as the command line ends with."""
        return max((one.exit_code for one in self.portfolios), default=0)


def summary(report: PortfolioReport) -> dict[str, Json]:
    """One portfolio's part as plain values: what the audit trail keeps, and what `sweep --json` ends with."""
    spend = report.spend
    return {
        "portfolio": report.portfolio,
        "as_of": instant_text(report.as_of) if report.as_of else None,
        "counts": {str(state): count for state, count in report.counts().items()},
        "exit_code": report.exit_code,
        "rows": [_row(row) for row in report.rows],
        "settled": [_happened(done) for done in report.settled],
        "spend": {
            "spent_usd": decimal_text(spend.spent),
            "reserved_usd": decimal_text(spend.reserved),
            "budget_usd": None if spend.budget is None else decimal_text(spend.budget),
            "ceiling_usd": None if spend.ceiling is None else decimal_text(spend.ceiling),
            "unpaid": spend.refused,
        },
    }


def _row(row: SweepRow) -> dict[str, Json]:
    record, order = row.record, row.stored.order if row.stored else None
    return {
        "ticker": row.ticker,
        "state": row.state,
        "reason": row.reason,
        "exit_code": row.exit_code,
        "error": row.fault,
        "reduce_only": row.reduce_only,
        "screened": row.screened,
        "decision_id": record.decision_id if record else None,
        "provenance": record.provenance if record else None,
        "action": record.proposal.action if record and record.proposal else None,
        "outcome": record.ruling.outcome if record else None,
        "code": record.ruling.code if record else None,
        "order": {"side": order.side, "quantity": decimal_text(order.quantity), "status": order.status} if order else None,
    }


def _happened(done: Happened) -> dict[str, Json]:
    if isinstance(done, Unsettled):
        return {"ticker": done.symbol, "event": "unsettled", "reason": done.fault.message}
    if isinstance(done, Acted):
        return {"ticker": done.instrument.symbol, "event": "frozen" if done.booked.frozen else done.action.kind}
    return {"ticker": done.order.symbol, "event": done.order.status, "decision_id": done.order.decision_id, "reason": done.reason}
