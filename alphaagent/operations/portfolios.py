"""Opening, funding and looking at portfolios."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from alphaagent.desk import Desk, create_portfolio
from alphaagent.domain.base import instant_text
from alphaagent.domain.portfolio import Account, Portfolio
from alphaagent.domain.text import safe_name
from alphaagent.errors import UsageFault
from alphaagent.execution.marks import equity, mark, rolled_forward
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
    fault: str | None
    """Why the books cannot be trusted; None where they can."""


def make(desk: Desk, name: str, cash: Decimal, mandate: str | None, at: datetime) -> Portfolio:
    """A new portfolio with its opening deposit. Raises UsageFault where the name is taken."""
    safe_name("the portfolio's name", name)
    with desk.store().write() as books:
        if books.portfolio(name):
            raise UsageFault(f"there is a portfolio {name!r} already", fix="choose another name, or `alphaagent portfolio deposit`")
        return create_portfolio(desk, books, name, mandate or desk.default_mandate, cash, at)


def deposit(store: Store, name: str, amount: Decimal, at: datetime | None) -> AuditRef:
    """Cash in, at book time unless another instant is given. Raises UsageFault before the book time."""
    with store.write() as books:
        portfolio = named(books, name)
        book_time = books.account(portfolio).book_time
        if at is not None and at < book_time:
            raise UsageFault(f"{instant_text(at)} lies before the book time {instant_text(book_time)}: a book does not go back", fix="give a later --as-of")
        return books.deposit(portfolio, amount, at or book_time)


def state(desk: Desk, store: Store, name: str, at: datetime | None) -> PortfolioState:
    """A portfolio with its holdings at their marks; at book time unless another instant is given."""
    with store.read() as books:
        portfolio = named(books, name)
        account, held = books.account(portfolio, at=at), books.held_instruments(portfolio)
        moment = at or account.book_time + JUST_AFTER
        account = rolled_forward(desk.market, account, held, moment)
        marks = {instrument.id: mark(desk.market, instrument, moment) for instrument in held}
        return PortfolioState(at or account.book_time, account, marks, equity(account, held, marks), books.soundness_fault())


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
