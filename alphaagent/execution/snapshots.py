"""What the guard is shown, put together from the book and the market in one place for each stage."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from alphaagent.domain.market import Instrument
from alphaagent.domain.portfolio import Account, Order
from alphaagent.domain.ruling import ControlState, ExecutionMode, GuardSnapshot, Provenance
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
    subject: Subject, book: BookState, calendar: Calendar, *, session: date, bar_session: date, fill_session: date, price: Decimal
) -> GuardSnapshot:
    """Stage decide: the last close is the price and the proposal's amount the wish."""
    return _snapshot(subject, book, calendar, None).model_copy(
        update={
            "stage": "decide",
            "last_completed_session": session,
            "bar_session": bar_session,
            "fill_session": fill_session,
            "price": price,
        }
    )


def settle_snapshot(subject: Subject, book: BookState, calendar: Calendar, order: Order, *, bar_session: date, open_price: Decimal) -> GuardSnapshot:
    """Stage settle: the fill session's open is the price and the pending order's quantity the wish."""
    return _snapshot(subject, book, calendar, order).model_copy(
        update={
            "stage": "settle",
            "last_completed_session": calendar.previous_session(order.fill_session),
            "bar_session": bar_session,
            "fill_session": order.fill_session,
            "price": open_price,
            "decision_price": order.decision_price,
            "quantity": order.quantity,
            "close_all": order.close_all,
        }
    )


def _snapshot(subject: Subject, book: BookState, calendar: Calendar, own: Order | None) -> GuardSnapshot:
    """What both stages share; the order under judgement is not counted against itself."""
    others = [order for order in book.account.pending if own is None or order.id != own.id]
    mine = [order for order in others if order.instrument_id == subject.instrument.id]
    return GuardSnapshot(
        stage="decide",
        ticker=subject.ticker,
        candidates=subject.candidates,
        instrument_id=subject.instrument.id,
        symbol=subject.instrument.symbol,
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
        equity=book.equity,
        settled_cash=book.account.settled_cash,
        reserved_cash=sum((order.reserved for order in others), Decimal(0)),
        held=book.account.held(subject.instrument.id),
        pending_buy=sum((order.quantity for order in mine if order.side == "BUY"), Decimal(0)),
        pending_sell=sum((order.quantity for order in mine if order.side == "SELL"), Decimal(0)),
        base_rate=subject.base_rate,
        rule_driven=subject.rule_driven,
    )


def order_id(decision_id: str) -> str:
    """One decision has at most one order."""
    return decision_id.replace("dec_", "ord_", 1)
