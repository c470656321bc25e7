"""Gathers the morning digest: stored records, and the prices that the holdings are worth. Nothing is written and nobody is asked."""

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from alphaagent.bootstrap import Workplace
from alphaagent.desk import Desk
from alphaagent.domain.digest import Digest, Named, PortfolioNight
from alphaagent.domain.market import Instrument
from alphaagent.domain.portfolio import Account, Portfolio
from alphaagent.errors import AlphaAgentError
from alphaagent.execution.marks import equity, mark, rolled_forward
from alphaagent.ledger.store import SqlStore
from alphaagent.ledger.verify import anchor_line
from alphaagent.operations.portfolios import JUST_AFTER, named

KINDS = ("decision", "failure", "corporate_action", "frozen", "unfrozen", "deposit", "withdrawal", "limits_changed", "import")
MOST_UNSENT = 1000


@dataclass(frozen=True, slots=True)
class _Night:
    """The window that a digest looks at."""

    desk: Desk
    store: SqlStore
    at: datetime
    since: datetime
    session: date
    days: tuple[date, ...]
    """UTC days on which models were paid."""
    events: Sequence[dict[str, Any]]


def gather(workplace: Workplace, portfolio: str | None, at: datetime | None) -> Digest:
    """The digest of one portfolio or of all of them; as of now, and with recorded data as of the books' own time. Raises UsageFault."""
    store, desk, calendar = workplace.required_store(), workplace.desk, workplace.calendar
    with store.read() as books:
        chosen = (named(books, portfolio),) if portfolio else books.portfolios()
        stored, fault = books.control(), books.soundness_fault()
        booked = max((books.account(one).book_time for one in chosen), default=workplace.clock.now())
    live = workplace.settings.data_mode == "live"
    moment = at or (workplace.clock.now() if live else booked + JUST_AFTER)
    session = calendar.last_completed(moment)
    since = calendar.opens(session)
    days = _days(since.date(), moment.date()) if live else (workplace.clock.now().date(),)
    night = _Night(desk, store, moment, since, session, days, store.events(KINDS, since, moment))
    control, sources = desk.control(stored)
    return Digest(
        at=moment,
        session=session,
        since=since,
        next_open=calendar.opens(calendar.first_opening_after(moment)),
        control=control,
        control_sources=sources,
        control_reason=stored.reason if stored is not None and stored.state != "ACTIVE" else "",
        books_fault=fault or (desk.check_books() if desk.check_books else None),
        anchor=anchor_line(workplace.settings.database_url),
        spent=sum((store.spent_on(day).booked for day in days), Decimal(0)),
        ceiling=workplace.settings.models.daily_spend,
        unsent=len(store.outbox.unsent(MOST_UNSENT)),
        portfolios=tuple(_of(night, one) for one in chosen if one.opened_at <= moment),
    )


def _days(first: date, last: date) -> tuple[date, ...]:
    return tuple(first + timedelta(days=n) for n in range((last - first).days + 1))


def _of(night: _Night, portfolio: Portfolio) -> PortfolioNight:
    with night.store.read() as books:
        account, held, frozen = books.account(portfolio, at=night.at), books.held_instruments(portfolio), books.frozen_names(portfolio)
        ordered = books.instruments([order.instrument_id for order in account.pending])
    mine = [event for event in night.events if event["portfolio"] == portfolio.name]
    decided = [event for event in mine if event["kind"] == "decision"]
    still = [one for one in held if account.held(one.id)]
    return PortfolioNight(
        name=portfolio.name,
        currency=portfolio.currency,
        equity=_equity(night, account, still),
        cash=account.cash,
        positions=len(account.positions),
        to_fill=account.pending,
        ended=night.store.ended_orders(portfolio, night.since, night.at),
        acts=tuple(_act(event) for event in mine if _changes(event)),
        actions=Counter(event["proposal"]["action"] if event["proposal"] else "none" for event in decided),
        blocks=tuple(Named(event["ticker"], next(iter(event["codes"]), "")) for event in decided if event["outcome"] == "BLOCK"),
        failures=tuple(Named(_tickers(event), next(iter(event["codes"]), "")) for event in mine if event["kind"] == "failure"),
        frozen=tuple(name.symbol for name in frozen),
        spent=sum((line.total.booked for day in night.days for line in night.store.spend_lines(day) if line.portfolio == portfolio.name), Decimal(0)),
        oldest_prices=_oldest_prices(night, {one.id: one for one in (*still, *ordered)}.values()),
    )


def _changes(event: dict[str, Any]) -> bool:
    """Whether an act changed a portfolio otherwise than by an order; the mandate that it was made with is no change."""
    return event["kind"] not in ("decision", "failure") and not (event["kind"] == "limits_changed" and event["detail"]["before"] is None)


def _act(event: dict[str, Any]) -> Named:
    word = {"corporate_action": event["detail"].get("action"), "limits_changed": "new mandate"}.get(event["kind"], event["kind"])
    return Named(event["ticker"] or "", str(word))


def _tickers(event: dict[str, Any]) -> str:
    """Whom a failure concerns: one name, or several of which none was begun."""
    return event["ticker"] or ", ".join(event["detail"].get("tickers", ()))


def _equity(night: _Night, account: Account, held: Sequence[Instrument]) -> Decimal | None:
    """NAV at the marks; None where a price is missing or cannot be read."""
    market = night.desk.market
    with suppress(AlphaAgentError):
        account = rolled_forward(market, account, held, night.at)
        return equity(account, held, {one.id: mark(market, one, night.at) for one in held})
    return None


def _oldest_prices(night: _Night, names: Iterable[Instrument]) -> tuple[str, date | None] | None:
    ends = [(one.symbol, _last_prices(night, one)) for one in names]
    return min(ends, key=lambda pair: (pair[1] or date.min, pair[0])) if ends else None


def _last_prices(night: _Night, instrument: Instrument) -> date | None:
    with suppress(AlphaAgentError):
        last = night.desk.market.last_session(instrument)
        return None if last is None else min(last, night.session)
    return None
