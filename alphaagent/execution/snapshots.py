"""What the guard is shown, put together from the book and the market in one place for each stage."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Literal

from alphaagent.domain.debate import DebateClass
from alphaagent.domain.market import CorporateAction, Instrument
from alphaagent.domain.portfolio import Account, Activity, Order
from alphaagent.domain.ruling import ControlState, Effective, ExecutionMode, GuardSnapshot, Provenance
from alphaagent.execution.trading import Trading
from alphaagent.ports import Calendar


@dataclass(frozen=True, slots=True)
class BookState:
    """The book inside the transaction that will act on the ruling."""

    account: Account
    equity: Decimal
    control_state: ControlState
    control_sources: tuple[str, ...]
    books_fault: str | None
    limits_on_file: str | None
    marks: Mapping[str, Decimal | None] = field(default_factory=dict)
    sectors: Mapping[str, str | None] = field(default_factory=dict)
    """Of what is held or pending, by instrument id."""
    frozen: Mapping[str, str] = field(default_factory=dict)
    """Why an instrument must not be traded, by its id."""
    activity: Activity | None = None
    """decide: of the session, as far as it concerns the instrument in question."""


@dataclass(frozen=True, slots=True)
class Seen:
    """decide: what the engine stood on and was shown."""

    evidence_count: int
    evidence_age_sessions: int
    tainted: tuple[str, ...]
    budget: Decimal


@dataclass(frozen=True, slots=True)
class Argued:
    """decide: what the exchange behind the proposal came to."""

    debate_class: DebateClass | Literal["none"] | None
    """None where a debate should have a class and has none, which blocks what opens."""
    gap: Decimal | None


NO_DEBATE = Argued("none", None)


@dataclass(frozen=True, slots=True)
class Beside:
    """decide: what the evidence says beside its measures, and of its prices as a whole; the fields are those of the snapshot."""

    second_price: Decimal | None = None
    """On the share basis of the price."""
    second_missing: str | None = None
    earnings_in_sessions: int | None = None
    earnings_unknown: str | None = None
    prices_doubt: str | None = None


@dataclass(frozen=True, slots=True)
class Subject:
    """What is to be ruled on."""

    ticker: str
    candidates: tuple[str, ...]
    instrument: Instrument
    provenance: Provenance
    execution_mode: ExecutionMode
    base_rate: Decimal | None
    rule_driven: bool


def decide_snapshot(
    subject: Subject,
    book: BookState,
    calendar: Calendar,
    traded: Trading,
    *,
    at: datetime,
    session: date,
    bar_session: date,
    fill_session: date,
    price: Decimal,
    scheduled: bool,
    reduce_only: bool,
    seen: Seen | None,
    argued: Argued,
    beside: Beside = Beside(),
    index_change: Decimal | None = None,
) -> GuardSnapshot:
    """Stage decide: the last close is the price and the proposal's amount the wish. `seen` is None before the engine has spoken."""
    sold = book.activity.last_sell_session if book.activity else None
    return _snapshot(subject, book, calendar, traded, None, fill_session).model_copy(
        update={
            "stage": "decide",
            "last_completed_session": session,
            "bar_session": bar_session,
            "price": price,
            "index_change": index_change,
            "decided_at": at,
            "activity": book.activity,
            "sessions_since_sell": None if sold is None else calendar.sessions_between(sold, session),
            "scheduled": scheduled,
            "reduce_only": reduce_only,
            "evidence_count": seen.evidence_count if seen else None,
            "evidence_age_sessions": seen.evidence_age_sessions if seen else None,
            "tainted": seen.tainted if seen else None,
            "debate_class": argued.debate_class,
            "debate_gap": argued.gap,
            "budget": seen.budget if seen else None,
            "second_price": beside.second_price,
            "second_missing": beside.second_missing,
            "earnings_in_sessions": beside.earnings_in_sessions,
            "earnings_unknown": beside.earnings_unknown,
            "prices_doubt": beside.prices_doubt,
        }
    )


def settle_snapshot(
    subject: Subject,
    book: BookState,
    calendar: Calendar,
    traded: Trading,
    order: Order,
    *,
    bar_session: date,
    open_price: Decimal,
    actions: Iterable[CorporateAction],
    index_change: Decimal | None = None,
) -> GuardSnapshot:
    """Stage settle: the fill session's open is the price and the pending order's quantity the wish."""
    return _snapshot(subject, book, calendar, traded, order, order.fill_session).model_copy(
        update={
            "stage": "settle",
            "last_completed_session": calendar.previous_session(order.fill_session),
            "bar_session": bar_session,
            "price": open_price,
            "index_change": index_change,
            "decision_price": order.decision_price,
            "decided_at": order.decided_at,
            "due_session": calendar.first_opening_after(order.decided_at),
            "actions": tuple(Effective(kind=action.kind, ex_date=action.ex_date, value=action.value) for action in actions),
            "quantity": order.quantity,
            "close_all": order.close_all,
        }
    )


def _snapshot(subject: Subject, book: BookState, calendar: Calendar, traded: Trading, own: Order | None, fill_session: date) -> GuardSnapshot:
    """What both stages share; the order under judgement is not counted against itself."""
    others = [order for order in book.account.pending if own is None or order.id != own.id]
    mine = [order for order in others if order.instrument_id == subject.instrument.id]
    instrument, exposures = subject.instrument, _exposures(book, others)
    in_sector = [value for id_, value in exposures.items() if book.sectors.get(id_, instrument.sector) == instrument.sector]
    return GuardSnapshot(
        stage="decide",
        ticker=subject.ticker,
        candidates=subject.candidates,
        instrument_id=instrument.id,
        symbol=instrument.symbol,
        names=_names(instrument),
        instrument_kind=instrument.kind,
        sector=instrument.sector,
        listed=(instrument.valid_from or fill_session) <= fill_session <= (instrument.valid_to or fill_session),
        frozen=book.frozen.get(instrument.id),
        quote_currency=instrument.currency,
        portfolio_currency=book.account.portfolio.currency,
        provenance=subject.provenance,
        execution_mode=subject.execution_mode,
        portfolio_kind=book.account.portfolio.kind,
        control_state=book.control_state,
        control_sources=book.control_sources,
        books_fault=book.books_fault,
        books_checked=True,
        book_time=book.account.book_time,
        approved_limits_hash=book.limits_on_file,
        calendar_first=calendar.first,
        calendar_last=calendar.last,
        fill_session=fill_session,
        prior_close=traded.prior_close,
        bar_volume=traded.bar_volume,
        flat_bars=traded.flat_bars,
        median_volume=traded.median_volume,
        median_dollar_volume=traded.median_dollar_volume,
        equity=book.equity,
        cash=book.account.cash,
        settled_cash=book.account.settled_cash,
        reserved_cash=sum((order.reserved for order in others), Decimal(0)),
        held=book.account.held(subject.instrument.id),
        pending_buy=sum((order.quantity for order in mine if order.side == "BUY"), Decimal(0)),
        pending_sell=sum((order.quantity for order in mine if order.side == "SELL"), Decimal(0)),
        sector_exposure=sum(in_sector, Decimal(0)),
        gross_exposure=sum(exposures.values(), Decimal(0)),
        base_rate=subject.base_rate,
        rule_driven=subject.rule_driven,
    )


def _exposures(book: BookState, others: Iterable[Order]) -> dict[str, Decimal]:
    """What each instrument is worth: held at its mark, and in pending BUY orders at the price at which they were decided."""
    worth: defaultdict[str, Decimal] = defaultdict(Decimal)
    for position in book.account.positions:
        worth[position.instrument_id] += position.quantity * (book.marks.get(position.instrument_id) or Decimal(0))
    for order in others:
        if order.side == "BUY":
            worth[order.instrument_id] += order.quantity * order.decision_price
    return worth


def _names(instrument: Instrument) -> tuple[str, ...]:
    """Every spelling of an instrument: symbol, aliases and id, as written and with the share class after a point."""
    written = {instrument.symbol, instrument.id, *instrument.aliases}
    return tuple(sorted(written | {name.upper().replace("-", ".").replace("/", ".") for name in written}))


def order_id(decision_id: str) -> str:
    """One decision has at most one order."""
    return decision_id.replace("dec_", "ord_", 1)
