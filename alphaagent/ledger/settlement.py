"""What becomes of an order, and of what is held when a company acts: fills, orders that end without one, splits, dividends, mergers."""

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Literal

from sqlmodel import Session, col, select

from alphaagent.domain.base import canonical, decimal_text
from alphaagent.domain.lots import LotMethod
from alphaagent.domain.market import CorporateAction, Instrument
from alphaagent.domain.portfolio import Order, OrderStatus, Portfolio
from alphaagent.domain.ruling import GuardSnapshot, Outcome, Ruling
from alphaagent.errors import AlphaAgentError, BooksUnsound, UsageFault
from alphaagent.ledger import accounts, freezes, postings, rows
from alphaagent.ledger.decisions import refuse_other_snapshot
from alphaagent.ledger.holdings import Booking
from alphaagent.ledger.journal import Journal, is_booked
from alphaagent.ledger.schema import GuardResultRow, InstrumentRow, LotChoiceRow, OrderRow, PortfolioRow
from alphaagent.ledger.units import from_units, to_micros, to_units
from alphaagent.ports import ActionBooked, AuditRef

CLOSED_UNFILLED = (OrderStatus.EXPIRED, OrderStatus.REJECTED, OrderStatus.CANCELLED)


@dataclass(frozen=True, slots=True)
class Fill:
    """What was paid, when, and when the cash moves."""

    price: Decimal
    fee: Decimal
    at: datetime
    settle_on: date
    lot_method: LotMethod


def record_fill(journal: Journal, order: Order, snapshot: GuardSnapshot, ruling: Ruling, fill: Fill) -> AuditRef:
    """The trade of what the ruling of stage settle let through."""
    row = open_order(journal.session, order.id)
    if ruling.outcome is Outcome.BLOCK or ruling.quantity_out <= 0:
        raise AlphaAgentError(f"order {order.id} was not approved at settlement and cannot be filled")
    portfolio = _portfolio(journal.session, row)
    quantity = to_units(ruling.quantity_out)
    _refuse_oversell(journal.session, row, quantity, fill.at)
    _refuse_other_currency(journal.session, row, portfolio)
    price, fee = to_units(fill.price), to_units(fill.fee)
    legs = postings.trade(order.side, row.instrument_id, portfolio.currency, quantity=quantity, price=price, fee=fee, settle_on=fill.settle_on)
    ruled = _rule(journal, row, snapshot, ruling)
    booked = journal.book(portfolio, "trade", legs, fill.at, fill.settle_on, decision_id=row.decision_id)
    chosen = LotChoiceRow(txn_id=booked.txn.id or 0, method=fill.lot_method)
    journal.insert(chosen)
    row.status, row.filled_quantity, row.price, row.closed_at = OrderStatus.FILLED.value, quantity, price, to_micros(fill.at)
    journal.update(row)
    return journal.append(
        "fill",
        fill.at,
        portfolio=portfolio.name,
        ticker=snapshot.ticker,
        decision_id=row.decision_id,
        ruling=ruling,
        rows=(ruled, chosen),
        order=row,
        booked=booked,
        detail={"price": decimal_text(fill.price), "fee": decimal_text(fill.fee)},
    )


def record_unfilled(
    journal: Journal, order: Order, status: OrderStatus, reason: str, at: datetime, snapshot: GuardSnapshot | None, ruling: Ruling | None
) -> AuditRef:
    """An order that ended without a fill; with a ruling where the guard refused it."""
    row = open_order(journal.session, order.id)
    if status not in CLOSED_UNFILLED:
        raise AlphaAgentError(f"an order without a fill cannot become {status.value}")
    ruled = (_rule(journal, row, snapshot, ruling),) if snapshot and ruling else ()
    row.status, row.closed_at = status.value, to_micros(at)
    journal.update(row)
    return journal.append(
        "unfilled",
        at,
        portfolio=_portfolio(journal.session, row).name,
        ticker=snapshot.ticker if snapshot else row.symbol,
        decision_id=row.decision_id,
        ruling=ruling if ruled else None,
        rows=ruled,
        order=row,
        detail={"status": status.value, "reason": reason},
    )


def record_action(journal: Journal, portfolio: Portfolio, instrument: Instrument, action: CorporateAction, at: datetime) -> ActionBooked | None:
    """An action on what was held before its ex-date's open, once; one that cannot be booked freezes what is held or ordered."""
    key = f"{portfolio.id}|{instrument.id}|{action.kind}|{action.ex_date.isoformat()}"
    if is_booked(journal.session, key):
        return None
    # What is bought at that open comes without the dividend and on the new share basis; a dividend of a split's own date is per new share.
    held = accounts.holdings_before_open(journal.session, portfolio.id, to_micros(action.known_at), on=action.ex_date).quantity(instrument.id)
    if not action.bookable:
        if not held and not freezes.is_ordered(journal.session, portfolio, instrument, action.known_at):
            return None
        frozen = freezes.freeze(journal, portfolio, instrument, action, key)
        return ActionBooked(frozen, frozen=True) if frozen else None
    legs = _action_legs(held, instrument, action)
    if not legs:
        return None
    kind: Literal["split", "dividend", "merger"] = action.kind  # type: ignore[assignment]
    booked = journal.book(portfolio, kind, legs, action.known_at, action.ex_date, action_key=key)
    detail = {"action": action.kind, "ex_date": action.ex_date.isoformat(), "value": decimal_text(action.value), "instrument": instrument.id}
    ref = journal.append("corporate_action", at, portfolio=portfolio.name, ticker=instrument.symbol, booked=booked, detail=detail)
    shares, cash = (from_units(sum(leg.amount for leg in legs if leg.kind == kind_)) for kind_ in ("position", "cash"))
    return ActionBooked(ref, frozen=False, shares=shares, cash=cash)


def _action_legs(held: int, instrument: Instrument, action: CorporateAction) -> tuple[postings.Leg, ...]:
    if not held:
        return ()
    if action.kind == "split":
        return postings.split(held, action.value, instrument.id, action.ex_date)
    if action.kind == "merger":
        return postings.merger(held, action.value, instrument.id, instrument.currency, action.ex_date)
    return postings.dividend(held, action.value, instrument.currency, action.ex_date)


def would_book(held: int, instrument: Instrument, action: CorporateAction) -> Booking | None:
    """What an action would be booked as, of so many millionths of a share; None where it changes nothing or cannot be booked."""
    legs = _action_legs(held, instrument, action) if action.bookable else ()
    if not legs:
        return None
    cash, shares = (sum(leg.amount for leg in legs if leg.kind == kind) for kind in ("cash", "position"))
    return Booking(action.kind, cash, action.ex_date, instrument.id if shares else None, shares, action.ex_date)


def due_orders(session: Session, portfolio: Portfolio | None, fill_by: date) -> tuple[Order, ...]:
    """Pending orders whose fill session is at or before a date, oldest first."""
    query = select(OrderRow).where(OrderRow.status == OrderStatus.PENDING.value, OrderRow.fill_session <= fill_by.isoformat())
    if portfolio is not None:
        query = query.where(OrderRow.portfolio_id == portfolio.id)
    return tuple(rows.order(row) for row in session.exec(query.order_by(col(OrderRow.decided_at), col(OrderRow.id))))


def open_order(session: Session, order_id: str) -> OrderRow:
    """The row of an order that still waits. UsageFault where it does not, so that nothing is filled twice."""
    row = session.get(OrderRow, order_id)
    if row is None:
        raise UsageFault(f"the ledger has no order {order_id}")
    if row.status not in accounts.OPEN:
        raise UsageFault(f"order {order_id} is {row.status} already", fix="read the pending orders again")
    return row


def _portfolio(session: Session, order: OrderRow) -> Portfolio:
    row = session.get(PortfolioRow, order.portfolio_id)
    if row is None:
        raise BooksUnsound(f"order {order.id} belongs to no portfolio")
    return rows.portfolio(row)


def _rule(journal: Journal, order: OrderRow, snapshot: GuardSnapshot, ruling: Ruling) -> GuardResultRow:
    refuse_other_snapshot(snapshot, ruling)
    journal.keep(canonical(snapshot))
    row = rows.guard_row(order.decision_id, ruling)
    journal.insert(row)
    return row


def _refuse_oversell(session: Session, order: OrderRow, quantity: int, at: datetime) -> None:
    # The guard has decided on this; the ledger is the last line and never books shares that are not there.
    if order.side != "SELL":
        return
    held = accounts.holdings(session, order.portfolio_id, None, on=at.date()).quantity(order.instrument_id)
    if quantity > held:
        raise AlphaAgentError(f"order {order.id} would sell {from_units(quantity)} of {order.symbol}; {from_units(held)} are held")


def _refuse_other_currency(session: Session, order: OrderRow, portfolio: Portfolio) -> None:
    instrument = session.get(InstrumentRow, order.instrument_id)
    if instrument is None or instrument.currency != portfolio.currency:
        raise UsageFault(f"{order.symbol} does not trade in {portfolio.currency}, the currency of portfolio {portfolio.name}")
