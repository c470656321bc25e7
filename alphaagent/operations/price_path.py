"""The closes around a decision, as they are recorded: what a reader sees months later. Nobody is asked, in live data too.

Chosen on purpose: every close is on the share basis of the decision's own session, so that the price that was decided on is the price in the figure;
the outcome is that of the debate's event, with dividends, as the debaters were asked for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

from alphaagent.bootstrap import Workplace
from alphaagent.debate.prompts import HORIZON
from alphaagent.domain.market import Bar, CorporateAction, Instrument
from alphaagent.domain.record import DecisionRecord
from alphaagent.errors import AlphaAgentError, UsageFault
from alphaagent.evidence.technicals import adjusted_closes
from alphaagent.ports import Calendar

SESSIONS_BEFORE = 120
SHOWN_AFTER = timedelta(days=7)
"""What is shown beyond the horizon's end."""


@dataclass(frozen=True, slots=True)
class PricePath:
    """Closes per share on the basis of `session`, and what came of the event."""

    currency: str
    session: date
    """The last one completed when it was decided."""
    closes: tuple[tuple[date, Decimal], ...]
    splits: tuple[tuple[date, Decimal], ...]
    """Those among the sessions shown: ex-date and new shares per old one."""
    horizon: date
    """The session whose close decides the event, or about that day where the calendar does not reach so far."""
    outcome: Decimal | None
    """The adjusted close of `horizon` against that of `session`, as a fraction; None while it is open."""
    fault: str | None = None
    """Why there are no closes, in words."""


def price_path(workplace: Workplace, record: DecisionRecord) -> PricePath:
    """The closes around a decision. What cannot be read is a reason, not a fault of the page."""
    session = date.fromisoformat(record.request.session)
    try:
        instrument = _instrument(workplace, record)
        calendar = workplace.calendar_of(instrument)
        horizon = _horizon(calendar, session)
        bars, actions = _recorded(workplace, instrument, horizon + SHOWN_AFTER)
        return _path(instrument, session, horizon, bars, actions)
    except AlphaAgentError as fault:
        return PricePath("", session, (), (), _about(session), None, fault.message)


def _instrument(workplace: Workplace, record: DecisionRecord) -> Instrument:
    with workplace.required_store().read() as books:
        found = books.instruments([record.instrument_id])
    if not found:
        raise UsageFault(f"{record.instrument_id} is not in the books")
    return found[0]


def _recorded(workplace: Workplace, instrument: Instrument, last: date) -> tuple[Sequence[Bar], Sequence[CorporateAction]]:
    """Bars enough, and the actions among them, that are on record by now."""
    now, market = workplace.clock.now(), workplace.desk.market
    if workplace.settings.data_mode == "live" and not workplace.room.market.owns(instrument):
        records = workplace.room.sources["prices"].kept(instrument, now, workplace.calendar_of(instrument))
        return records.bars, records.actions
    upto = min(now, datetime.combine(last, time.max, UTC))
    bars = market.bars_before(instrument, upto, SESSIONS_BEFORE + HORIZON + SHOWN_AFTER.days)
    return bars, market.actions(instrument, bars[0].session, upto.date()) if bars else ()


def _horizon(calendar: Calendar, session: date) -> date:
    """The session so many after one; about that day where the calendar ends before."""
    found = session
    for _ in range(HORIZON):
        if found >= calendar.last:
            return _about(session)
        found = calendar.next_session(found)
    return found


def _about(session: date) -> date:
    return session + timedelta(days=HORIZON * 7 // 5)


def _path(instrument: Instrument, session: date, horizon: date, bars: Sequence[Bar], actions: Sequence[CorporateAction]) -> PricePath:
    splits = [action for action in actions if action.kind == "split"]
    before = [bar for bar in bars if bar.session <= session][-SESSIONS_BEFORE:]
    ahead = [bar for bar in bars if session < bar.session <= horizon]
    shown = [*before, *(bar for bar in bars if session < bar.session <= horizon + SHOWN_AFTER)]
    inside = [(split.ex_date, split.value) for split in splits if shown and shown[0].session < split.ex_date <= shown[-1].session]
    closes = tuple((bar.session, bar.close * _ratio(splits, session, bar.session)) for bar in shown)
    outcome = _outcome([*before[-1:], *ahead], actions, session, horizon)
    return PricePath(instrument.currency, session, closes, tuple(inside), horizon, outcome, None if shown else "no prices of it are recorded")


def _ratio(splits: Sequence[CorporateAction], session: date, other: date) -> Decimal:
    """What turns a price of another session into one on the share basis of `session`."""
    ratio = Decimal(1)
    for split in splits:
        if session < split.ex_date <= other:
            ratio *= split.value
        elif other < split.ex_date <= session:
            ratio /= split.value
    return ratio


def _outcome(bars: Sequence[Bar], actions: Sequence[CorporateAction], session: date, horizon: date) -> Decimal | None:
    if not bars or (bars[0].session, bars[-1].session) != (session, horizon):
        return None
    closes = adjusted_closes(bars, actions)
    return round(Decimal(repr(float(closes[-1] / closes[0] - 1))), 6)
