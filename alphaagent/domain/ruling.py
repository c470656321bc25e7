"""What the guard is shown and what it answers."""

from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import Literal

from alphaagent.domain.base import Frozen, Instant

Mode = Literal["eod", "live"]
Stage = Literal["decide", "settle", "approve"]
ControlState = Literal["ACTIVE", "REDUCING", "HALTED"]
Provenance = Literal["crew", "heuristic", "fallback", "repaired"]
ExecutionMode = Literal["live", "scripted", "replay", "backtest"]


class Outcome(StrEnum):
    APPROVE = "APPROVE"
    CLIP = "CLIP"
    BLOCK = "BLOCK"


class GuardSnapshot(Frozen):
    """Everything that a ruling may depend on. A field that a rule declares and that is None blocks: nothing is guessed.

    Money is in the portfolio's currency, quantities in shares, prices per share.
    """

    mode: Mode = "eod"
    stage: Stage
    ticker: str
    candidates: tuple[str, ...] | None = None
    """Ids of the instruments that the requested ticker resolves to at this instant."""
    instrument_id: str | None = None
    symbol: str | None = None
    provenance: Provenance | None = None
    execution_mode: ExecutionMode | None = None
    portfolio_kind: Literal["paper", "backtest", "live"] | None = None

    control_state: ControlState | None = None
    control_sources: tuple[str, ...] = ()
    """Who says so when the state is not ACTIVE: `database`, `file`, `environment`."""
    books_fault: str | None = None
    """Why the books are unsound; None with `books_checked` means that they are sound."""
    books_checked: bool | None = None
    book_time: Instant | None = None
    approved_limits_hash: str | None = None
    """The hash of the mandate that the books hold on file for this portfolio."""

    calendar_first: date | None = None
    calendar_last: date | None = None
    last_completed_session: date | None = None
    bar_session: date | None = None
    """The session of the bar that `price` comes from."""
    fill_session: date | None = None

    price: Decimal | None = None
    """decide: the last close; settle: the fill session's open, as traded."""
    bid: Decimal | None = None
    ask: Decimal | None = None
    decision_price: Decimal | None = None
    """settle: the price that the decide stage saw, on the share basis of the fill session."""

    equity: Decimal | None = None
    """NAV: cash plus positions at their marks; every holding must have a mark."""
    settled_cash: Decimal | None = None
    reserved_cash: Decimal | None = None
    """Set aside by *other* pending orders."""
    held: Decimal | None = None
    pending_buy: Decimal | None = None
    """Shares of this instrument in other pending BUY orders."""
    pending_sell: Decimal | None = None

    base_rate: Decimal | None = None
    rule_driven: bool | None = None
    quantity: Decimal | None = None
    """settle: the pending order's quantity; decide: None, the proposal's amount counts."""
    close_all: bool | None = None
    """settle: the order sells the whole position."""


class RuleTrace(Frozen):
    """One rule's finding: what it saw, what it allows, and its verdict."""

    id: str
    verdict: Literal["pass", "clip", "block", "not_applicable", "not_configured"]
    code: str | None = None
    value: str | None = None
    limit: str | None = None
    reason: str | None = None
    """In words, for a person; None on a pass."""


class Ruling(Frozen):
    """The guard's answer. `code` is the first reason in rule order; quantities in shares."""

    stage: Stage
    outcome: Outcome
    code: str
    codes: tuple[str, ...]
    rules: tuple[RuleTrace, ...]
    side: Literal["BUY", "SELL"] | None
    quantity_in: Decimal
    quantity_out: Decimal
    price: Decimal | None
    close_all: bool
    halt: str | None = None
    """Set where the finding demands that the whole system stops (unsound books, a bug in the guard): the reason."""
    evaluated_at: Instant
    limits_hash: str
    snapshot_hash: str
    guard_version: str
