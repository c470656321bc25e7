"""Settlement of whole portfolios: due orders oldest first, then whatever else happened to the shares that are held.

A name whose source fails waits, and is told; everything else is settled.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime

from alphaagent.desk import Desk, halt_if_told, recorded_instrument, refuse_if_halted, stop_if_unsound
from alphaagent.domain.portfolio import Order, Portfolio
from alphaagent.errors import BooksUnsound, NoEvidence, SourceFault, UsageFault
from alphaagent.execution.settlement import Acted, Settled, Unsettled
from alphaagent.ports import Store

Happened = Settled | Acted | Unsettled
UNREADABLE = (SourceFault, NoEvidence)


def settle(desk: Desk, as_of: datetime, portfolio: str | None = None) -> tuple[Happened, ...]:
    """Brings every portfolio up to as_of: orders that are due, splits, dividends and mergers of what is held. One transaction an order."""
    if desk.existing_store() is None:
        return ()
    store = desk.store()
    refuse_if_halted(desk, store)
    stop_if_unsound(store, as_of, desk.check_books)
    with store.read() as books:
        chosen = [one for one in books.portfolios() if portfolio in (None, one.name)]
    if portfolio is not None and not chosen:
        raise UsageFault(f"there is no portfolio {portfolio!r}", fix=f"run `alphaagent portfolio create {portfolio}`")
    return tuple(done for one in chosen for done in settle_portfolio(desk, store, one, as_of))


def settle_portfolio(desk: Desk, store: Store, portfolio: Portfolio, as_of: datetime) -> tuple[Happened, ...]:
    """Brings one portfolio up to as_of, in the order in which things happened."""
    settler, done, waiting = desk.settler(), [], {}
    with store.read() as books:
        due = settler.due(books, portfolio, as_of)
        named = (*books.held_instruments(portfolio), *books.instruments([order.instrument_id for order in due]))
    desk.prepare(named, as_of)
    for order in due:
        try:
            opens, happened = _settle_order(desk, store, portfolio, order, as_of)
        except UNREADABLE as fault:
            instrument = next(one for one in named if one.id == order.instrument_id)
            opens, happened = desk.calendar_of(instrument).opens(order.fill_session), [Unsettled(portfolio.name, order.symbol, fault)]
        done += happened
        if opens is not None:
            waiting[order.instrument_id] = opens
    with store.write() as books:
        done += settler.bring_up_to(books, portfolio, as_of, waiting=waiting)
    return tuple(_each_once(done))


def _each_once(done: Iterable[Happened]) -> Iterator[Happened]:
    """The same, with a name that could not be read several times told once."""
    told: set[str] = set()
    for one in done:
        if not isinstance(one, Unsettled):
            yield one
        elif one.symbol not in told:
            told.add(one.symbol)
            yield one


def _settle_order(desk: Desk, store: Store, portfolio: Portfolio, order: Order, as_of: datetime) -> tuple[datetime | None, list[Happened]]:
    """One order in one transaction, with what happened to the shares before it; and the open for which it still waits, None where it does not."""
    settler, stored = desk.settler(), store.decision(order.decision_id)
    if stored is None:
        raise BooksUnsound(f"the order {order.id} belongs to no decision", fix="run `alphaagent audit verify`")
    instrument = recorded_instrument(desk, stored.record)
    opens = desk.calendar_of(instrument).opens(order.fill_session)
    if opens >= as_of:
        return opens, []
    with store.write() as books:
        if order.id not in {one.id for one in settler.due(books, portfolio, as_of)}:
            return None, []  # another run has settled it since it was read
        done: list[Happened] = list(settler.bring_up_to(books, portfolio, opens, ordered=(instrument,)))
        result = settler.settle(books, stored.record, portfolio, instrument, order, as_of)
        halt_if_told(books, result.ruling if result else None, as_of)
    return (None, [*done, result]) if result else (opens, done)


def exit_code(done: Iterable[Happened]) -> int:
    """The worst of what could not be settled; 0 where all was."""
    return max((one.fault.exit_code for one in done if isinstance(one, Unsettled)), default=0)
