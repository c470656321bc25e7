"""What the guard is shown and what it answers."""

from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from alphaagent.domain.base import Frozen, Instant
from alphaagent.domain.debate import DebateClass
from alphaagent.domain.market import InstrumentKind
from alphaagent.domain.portfolio import Activity

Mode = Literal["eod", "live"]
Stage = Literal["decide", "settle", "approve"]
ControlState = Literal["ACTIVE", "REDUCING", "HALTED"]
Provenance = Literal["crew", "heuristic", "fallback", "repaired"]
ExecutionMode = Literal["live", "scripted", "replay", "backtest"]


SINCE_4: dict[str, Any] = {"since": "4"}
"""Mark of what a snapshot shows only since that version of the guard."""


class Outcome(StrEnum):
    APPROVE = "APPROVE"
    CLIP = "CLIP"
    BLOCK = "BLOCK"


class Effective(Frozen):
    """What happened to a company's shares between the decision and the fill."""

    kind: Literal["split", "dividend", "rename", "merger", "unknown"]
    ex_date: date
    value: Decimal
    """Split: new shares per old share. Dividend: cash per share. Anything else: whatever its source says."""


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
    names: tuple[str, ...] | None = None
    """Every spelling of the instrument: symbol, aliases, id, each as written and with its share class after a point."""
    instrument_kind: InstrumentKind | None = None
    sector: str | None = None
    """None where it is not known; all unknown ones count as one sector."""
    listed: bool | None = None
    """Whether the listing is valid in the session that the order fills in."""
    frozen: str | None = None
    """Why the instrument must not be traded although it is listed: a halt, a suspension, an action that nobody has resolved."""
    quote_currency: str | None = None
    portfolio_currency: str | None = None
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
    decided_at: Instant | None = None
    due_session: date | None = None
    """settle: the first session that opens after the decision."""
    prior_close: Decimal | None = None
    """The close before `price`, on its share basis."""
    bar_volume: int | None = None
    """Shares traded in the session of `price`."""
    flat_bars: int | None = None
    """How many of the last known bars in a row are identical and without volume."""
    median_volume: Decimal | None = None
    """Median of the last 20 sessions' volume, on the share basis of `price`; None where there are fewer."""
    median_dollar_volume: Decimal | None = None
    second_price: Decimal | None = None
    """The same price from another source; None where none is configured or where it gave none."""
    second_missing: str | None = Field(None, json_schema_extra=SINCE_4)
    """decide: why a second source that is configured gave no price to compare."""
    prices_doubt: str | None = Field(None, json_schema_extra=SINCE_4)
    """decide: why the supply of prices is not to be relied on (stale, or in conflict with itself), in words; None where it is sound."""
    index_change: Decimal | None = None
    """Change of the market index on the last completed session as a fraction; None where the mandate names none or it is not known."""
    actions: tuple[Effective, ...] | None = None
    """settle: what took effect after the decision and up to the fill."""

    equity: Decimal | None = None
    """NAV: cash plus positions at their marks; every holding must have a mark."""
    cash: Decimal | None = None
    settled_cash: Decimal | None = None
    reserved_cash: Decimal | None = None
    """Set aside by *other* pending orders."""
    held: Decimal | None = None
    pending_buy: Decimal | None = None
    """Shares of this instrument in other pending BUY orders."""
    pending_sell: Decimal | None = None
    sector_exposure: Decimal | None = None
    """What is held in the instrument's sector, at its marks, and in other pending BUY orders."""
    gross_exposure: Decimal | None = None
    """The same over all sectors."""
    activity: Activity | None = None
    """decide: what the portfolio has decided and ordered in this session."""
    sessions_since_sell: int | None = None
    """Sessions since the last order to sell this instrument was decided; None where there is none."""
    scheduled: bool | None = None
    """decide: whether a schedule asked, and not a person."""
    reduce_only: bool = Field(False, json_schema_extra=SINCE_4)
    """decide: whether the name is held and not among those that the run may buy."""
    budget: Decimal | None = None
    """decide: the most that an opening order may be, as the engine was shown it."""

    evidence_count: int | None = None
    evidence_age_sessions: int | None = None
    """Sessions between the newest evidence and the last completed session."""
    tainted: tuple[str, ...] | None = None
    """Ids of tainted evidence that was counted or relied on."""
    debate_class: DebateClass | Literal["none"] | None = None
    """decide: what the debate came to; `none` where no model debated or the plan has no exchange."""
    debate_gap: Decimal | None = None
    """decide: how far apart the two sides' probabilities were in the debate's last round; None where there was no debate."""
    earnings_in_sessions: int | None = Field(None, json_schema_extra=SINCE_4)
    """decide: sessions from the last completed one to the next stated earnings, 0 on their day; None where no date is known."""
    earnings_unknown: str | None = Field(None, json_schema_extra=SINCE_4)
    """decide: why that date is not known, or may not be relied on; None also where nothing supplies dates ahead."""
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
    """In words, for a person; on a pass only where something is worth knowing."""


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
