"""Opening, funding and looking at portfolios."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from alphaagent.desk import Desk, create_portfolio
from alphaagent.domain.base import instant_text
from alphaagent.domain.lots import Gain, Lot
from alphaagent.domain.market import Instrument
from alphaagent.domain.portfolio import Account, FrozenName, Portfolio
from alphaagent.domain.text import inert, safe_name
from alphaagent.errors import UsageFault
from alphaagent.execution.marks import equity, mark, rolled_forward, split_ratio
from alphaagent.ports import AuditRef, Books, Store

AMOUNT = re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,18})?")
JUST_AFTER = timedelta(microseconds=1)
"""A close is known strictly after itself; the book time may be that very instant."""


@dataclass(frozen=True, slots=True)
class PortfolioState:
    """A portfolio at one instant: derived account, marks per instrument id, NAV."""

    at: datetime
    account: Account
    marks: Mapping[str, Decimal | None]
    equity: Decimal
    frozen: tuple[FrozenName, ...]
    lots: tuple[Lot, ...]
    """On the share basis of `at`."""
    fault: str | None
    """Why the books cannot be trusted; None where they can."""


def make(desk: Desk, name: str, cash: Decimal, mandate: str | None, at: datetime) -> Portfolio:
    """A new portfolio with its opening deposit. Raises UsageFault where the name is taken."""
    safe_name("the portfolio's name", name)
    with desk.store().write() as books:
        if books.portfolio(name):
            raise UsageFault(f"there is a portfolio {name!r} already", fix="choose another name, or `alphaagent portfolio deposit`")
        return create_portfolio(desk, books, name, mandate or desk.default_mandate, cash, at)


def deposit(desk: Desk, store: Store, name: str, amount: Decimal, at: datetime | None) -> AuditRef:
    """Cash in, at book time unless another instant is given. Raises UsageFault before the book time."""
    with store.write() as books:
        portfolio, moment = _flow_at(desk, books, name, at)
        return books.deposit(portfolio, amount, moment)


def withdraw(desk: Desk, store: Store, name: str, amount: Decimal, at: datetime | None) -> AuditRef:
    """Settled cash that no order has reserved, out. Raises UsageFault that says what is available."""
    with store.write() as books:
        portfolio, moment = _flow_at(desk, books, name, at)
        return books.withdraw(portfolio, amount, moment)


def _flow_at(desk: Desk, books: Books, name: str, at: datetime | None) -> tuple[Portfolio, datetime]:
    """A portfolio brought up to the instant of a flow, so that the book time does not pass over a split unseen."""
    portfolio = named(books, name)
    book_time = books.account(portfolio).book_time
    if at is None:
        return portfolio, book_time
    if at < book_time:
        raise UsageFault(f"{instant_text(at)} lies before the book time {instant_text(book_time)}: a book does not go back", fix="give a later --as-of")
    if desk.settler().due(books, portfolio, at):
        raise UsageFault(f"orders of {name} are due before {instant_text(at)}", fix=f"run `alphaagent settle --as-of {instant_text(at)}` first")
    desk.settler().bring_up_to(books, portfolio, at)
    return portfolio, at


def unfreeze(desk: Desk, store: Store, name: str, ticker: str, reason: str, actor: str) -> FrozenName:
    """Lifts the freeze of a name, audited. Raises UsageFault where it is not frozen, or the reason is empty."""
    if not reason.strip():
        raise UsageFault("the reason is empty", fix="say why in a few words")
    with store.write() as books:
        portfolio = named(books, name)
        frozen = books.frozen_names(portfolio)
        ids = {one.id for one in desk.market.resolve(ticker, books.account(portfolio).book_time.date())}
        found = [one for one in frozen if ticker in (one.symbol, one.instrument_id) or one.instrument_id in ids]
        if not found:
            names = ", ".join(one.symbol for one in frozen) or "nothing"
            raise UsageFault(f"{inert(ticker[:40])!r} is not frozen in portfolio {name}", fix=f"frozen there: {names}")
        books.unfreeze(portfolio, found[0].instrument_id, reason, actor, max(books.account(portfolio).book_time, found[0].since))
        return found[0]


def gains(store: Store, name: str) -> tuple[Gain, ...]:
    """What a portfolio has realised, lot by lot."""
    with store.read() as books:
        return books.gains(named(books, name))


def state(desk: Desk, store: Store, name: str, at: datetime | None) -> PortfolioState:
    """A portfolio with its holdings at their marks; at book time unless another instant is given."""
    with store.read() as books:
        portfolio = named(books, name)
        if at is not None and at < portfolio.opened_at:
            raise UsageFault(f"the portfolio {name} was opened at {instant_text(portfolio.opened_at)}", fix="give a later --as-of, or none")
        account, held = books.account(portfolio, at=at), books.held_instruments(portfolio)
        book_time = account.book_time
        moment = at or book_time + JUST_AFTER
        account = rolled_forward(desk.market, account, held, moment)
        marks = {instrument.id: mark(desk.market, instrument, moment) for instrument in held}
        still = tuple(one for one in held if account.held(one.id))
        lots = _rolled_lots(desk, books.lots(portfolio, at=at), still, book_time, moment)
        frozen = books.frozen_names(portfolio)
        return PortfolioState(
            at or account.book_time,
            account,
            marks,
            equity(account, held, marks),
            frozen,
            lots,
            books.soundness_fault() or (desk.check_books() if desk.check_books else None),
        )


def _rolled_lots(desk: Desk, lots: tuple[Lot, ...], held: tuple[Instrument, ...], booked: datetime, at: datetime) -> tuple[Lot, ...]:
    """The lots on the share basis of an instant, as `rolled_forward` puts the positions."""
    ratios = {one.id: split_ratio(desk.market, one, after=booked, upto=at) for one in held}
    return tuple(lot.model_copy(update={"quantity": lot.quantity * ratios[lot.instrument_id]}) for lot in lots if lot.instrument_id in ratios)


def named(books: Books, name: str) -> Portfolio:
    """The portfolio of that name. Raises UsageFault that lists the names there are."""
    found = books.portfolio(name)
    if found is None:
        names = ", ".join(one.name for one in books.portfolios()) or "none yet"
        raise UsageFault(f"there is no portfolio {name!r} (there is: {names})", fix=f"run `alphaagent portfolio create {name}`")
    return found


def amount(what: str, text: str) -> Decimal:
    """An amount of money as a user wrote it; `what` names the argument. Raises UsageFault."""
    if not AMOUNT.fullmatch(text):
        raise UsageFault(f"{what} is {text[:40]!r}, which is no amount", fix="write digits with a decimal point, such as 2500.00")
    value = Decimal(text)
    if not 0 < value <= Decimal(10) ** 9 or value != value.quantize(Decimal("0.01")):
        raise UsageFault(f"{what} is {text!r}; an amount is above 0, at most 1000000000, with at most two decimals", fix="correct the amount")
    return value
