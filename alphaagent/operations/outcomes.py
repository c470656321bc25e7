"""What happened after each decision: gathered from the books and the prices on record. Nothing is written and nobody is asked.

Chosen on purpose: two things are measured and kept apart. The *gain* is what a share made that was bought where the decision's order would fill, at the
first open after it, and held to the close of the horizon. The *event* is the one that a probability was stated of: that close above the last close
before the decision. Both are of adjusted prices, as the evidence adjusts them: splits taken out, dividends put back in on their ex-date. The horizon is
counted in sessions of the instrument's own exchange. Blocked and clipped decisions count like any other, for it is the judgement that is looked at.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from typing import Literal, NamedTuple

from alphaagent.bootstrap import Workplace
from alphaagent.clock import SessionTable
from alphaagent.debate.prompts import HORIZON
from alphaagent.domain.market import Bar, CorporateAction, Instrument
from alphaagent.errors import AlphaAgentError
from alphaagent.evidence.technicals import adjusted_closes
from alphaagent.ledger.review import Decided

MORE_THAN_ALL = 100_000
State = Literal["resolved", "waiting", "no_prices", "unclear", "no_action"]


class Outcome(NamedTuple):
    """One decision and what came of it."""

    decided: Decided
    state: State
    ends: date | None
    """The session whose close decides; None where the known calendar ends before."""
    gain: float | None = None
    """As a fraction, from the first open after the decision to the close of `ends`."""
    rose: bool | None = None
    """Whether that close is above the last one before the decision."""


@dataclass(frozen=True, slots=True)
class Prices:
    """One instrument's adjusted prices by session, and the ex-dates of what nobody can put into a number."""

    opens: Mapping[date, float]
    closes: Mapping[date, float]
    breaks: tuple[date, ...]


NONE = Prices({}, {}, ())


def prices(bars: Sequence[Bar], actions: Sequence[CorporateAction]) -> Prices:
    """Opens and closes on the basis of the last bar. Raises SourceFault where a price or an action leaves no value."""
    if not bars:
        return NONE
    closes = adjusted_closes(bars, actions).tolist()
    opens = {bar.session: float(bar.open) * close / float(bar.close) for bar, close in zip(bars, closes, strict=True)}
    breaks = tuple(action.ex_date for action in actions if action.kind not in ("split", "dividend"))
    return Prices(opens, {bar.session: close for bar, close in zip(bars, closes, strict=True)}, breaks)


def horizons(calendar: SessionTable) -> dict[date, date]:
    """The session that decides, by the session that was decided on; without those that the calendar ends before."""
    return dict(zip(calendar.sessions, calendar.sessions[HORIZON:], strict=False))


def came_of(decided: Decided, known: Prices, calendar: SessionTable, ends: Mapping[date, date], now: datetime) -> Outcome:
    """The outcome of one decision. Pure."""
    session = date.fromisoformat(decided.session)
    last = ends.get(session)
    if decided.action is None:
        return Outcome(decided, "no_action", last)
    if last is None:
        return Outcome(decided, "no_prices", None)
    if calendar.closes(last) >= now:
        return Outcome(decided, "waiting", last)
    opened = known.opens.get(calendar.first_opening_after(decided.as_of))
    before, after = known.closes.get(session), known.closes.get(last)
    if opened is None or before is None or after is None or opened <= 0:
        return Outcome(decided, "no_prices", last)
    if any(session < day <= last for day in known.breaks):
        return Outcome(decided, "unclear", last)
    return Outcome(decided, "resolved", last, after / opened - 1, after > before)


def gather(workplace: Workplace) -> tuple[Outcome, ...]:
    """The outcome of every decision in the books, newest first. Prices that cannot be read are prices that are not there."""
    store, now = workplace.required_store(), workplace.clock.now()
    by_instrument: dict[str, list[Decided]] = defaultdict(list)
    for one in store.decided():
        by_instrument[one.instrument_id].append(one)
    with store.read() as books:
        known = {one.id: one for one in books.instruments(tuple(by_instrument))}
    ends = cache(horizons)
    found: list[Outcome] = []
    for id_, rows in by_instrument.items():
        instrument = known.get(id_)
        calendar = workplace.calendar if instrument is None else workplace.calendar_of(instrument)
        priced = NONE if instrument is None else _prices_of(workplace, instrument, now)
        found.extend(came_of(row, priced, calendar, ends(calendar), now) for row in rows)
    return tuple(sorted(found, key=lambda one: -one.decided.seq))


def _prices_of(workplace: Workplace, instrument: Instrument, now: datetime) -> Prices:
    try:
        return prices(*_recorded(workplace, instrument, now))
    except AlphaAgentError:
        return NONE


def _recorded(workplace: Workplace, instrument: Instrument, now: datetime) -> tuple[Sequence[Bar], Sequence[CorporateAction]]:
    """Every bar and action on record by now; in live data those of the archive, of which no vendor is asked."""
    market = workplace.desk.market
    if workplace.settings.data_mode == "live" and not workplace.room.market.owns(instrument):
        records = workplace.room.sources["prices"].kept(instrument, now, workplace.calendar_of(instrument))
        return records.bars, records.actions
    return market.bars_before(instrument, now, MORE_THAN_ALL), market.actions(instrument, date.min, now.date())
