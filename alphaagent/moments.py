"""What `--as-of` means: a date is one second after that session's close, an instant is taken literally, nothing is the last that is known."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from alphaagent.clock import SessionTable
from alphaagent.desk import Desk
from alphaagent.domain.market import Instrument
from alphaagent.errors import NoEvidence, UsageFault

JUST_AFTER_CLOSE = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Moments:
    """Instants as the command line means them."""

    desk: Desk
    calendar_of: Callable[[Instrument], SessionTable]
    """The sessions of the exchange that an instrument trades on."""
    calendar: SessionTable
    """The sessions of the New York exchanges, for what belongs to no instrument."""
    refresh: Callable[[list[str]], None] | None = None
    """Live data: fetches everything about these tickers that does not hold any more. None: the data are recorded."""

    def moment(self, text: str | None) -> datetime:
        """`--as-of` where it belongs to no ticker: a date is one second after New York's close; nothing is the last recorded session."""
        if text is not None:
            return self._instant(text, self.calendar)
        if self.refresh is not None:
            return self.desk.clock.now()
        last = [day for day in self._last_sessions(self.desk.market.tickers()) if self.calendar.is_session(day)]
        if not last:
            raise NoEvidence("no prices are recorded here", fix="restore the snapshot, or give --as-of")
        return self.calendar.closes(max(last)) + JUST_AFTER_CLOSE

    def settling_moment(self, portfolio: str | None) -> datetime | None:
        """How far `settle` goes unless told: the close of the last fill session of the pending orders, inside the recorded data; None for none.

        Going to the end of the data would book years of dividends, and a book does not go back.
        """
        store = self.desk.existing_store()
        if store is None:
            return None
        with store.read() as books:
            chosen = [one for one in books.portfolios() if portfolio in (None, one.name)]
            sessions = [order.fill_session for one in chosen for order in books.account(one).pending]
        if portfolio is not None and not chosen:
            raise UsageFault(f"there is no portfolio {portfolio!r}", fix=f"run `alphaagent portfolio create {portfolio}`")
        if not sessions:
            return None
        day = max(sessions)
        session = day if self.calendar.is_session(day) else self.calendar.previous_session(day)
        return min(self.calendar.closes(session) + JUST_AFTER_CLOSE, self.moment(None))

    def moments(self, text: str | None, tickers: list[str]) -> list[datetime]:
        """`--as-of` for each ticker: a date is one second after that session's close on its own exchange; nothing is their last common session."""
        if text is not None:
            return [self._instant(text, self._calendar_for(ticker, text)) for ticker in tickers]
        if self.refresh is not None:
            return [self.live_moment(None, tickers)] * len(tickers)
        session = self._last_common(tickers)
        return [self._calendar_for(ticker, session.isoformat()).closes(session) + JUST_AFTER_CLOSE for ticker in tickers]

    def live_moment(self, text: str | None, tickers: list[str]) -> datetime:
        """Now, after everything has been fetched: what was fetched just before is what is known. With `text`, that instant, and nothing is fetched."""
        if text is not None:
            return self._instant(text, self.calendar)
        if self.refresh is None:
            raise UsageFault("the data are recorded, and this is for live data", fix="set ALPHAAGENT_DATA to live")
        self.refresh(tickers)
        return self.desk.clock.now()

    def common(self, text: str | None, tickers: list[str]) -> datetime:
        """One instant for all of these, each of whose sessions is then its own exchange's last: a date is one second after the latest close on it
        among their exchanges; nothing is their last common session, or now where the data are live.
        """
        if text is None:
            return self.live_moment(None, tickers) if self.refresh is not None else max(self.moments(None, tickers))
        calendars = list(dict.fromkeys(self._calendar_for(ticker, text) for ticker in tickers))
        meant = [calendar for calendar in calendars if _is_meant(text, calendar)] or calendars[:1]
        return max(self._instant(text, calendar) for calendar in meant)

    def _calendar_for(self, ticker: str, text: str) -> SessionTable:
        """The calendar of what a ticker names around an instant; New York's where it names nothing, which the decision then says."""
        with suppress(ValueError, UsageFault):
            for instrument in self.desk.market.resolve(ticker, date.fromisoformat(text[:10])):
                return self.calendar_of(instrument)
        return self.calendar

    def _instant(self, text: str, calendar: SessionTable) -> datetime:
        at = self._close_or_literal(text, calendar)
        if at > self.desk.clock.now():
            raise UsageFault(f"--as-of {text} lies in the future", fix="choose a past instant")
        if not calendar.closes(calendar.first) < at <= calendar.closes(calendar.last) + timedelta(days=1):
            raise self._outside(text, calendar)
        return at

    def _close_or_literal(self, text: str, calendar: SessionTable) -> datetime:
        try:
            day = date.fromisoformat(text)
        except ValueError:
            return _literal(text)
        if day > self.desk.clock.now().date():
            raise UsageFault(f"--as-of {text} lies in the future", fix="choose a past date")
        if not calendar.first <= day <= calendar.last:
            raise self._outside(text, calendar)
        return calendar.closes(day) + JUST_AFTER_CLOSE

    def _outside(self, text: str, calendar: SessionTable) -> NoEvidence:
        who = "the snapshot holds" if self.refresh is None else "live data hold"
        return NoEvidence(f"{who} nothing for {text}: its sessions run from {calendar.first} to {calendar.last}", fix="choose a date inside")

    def _last_common(self, tickers: list[str]) -> date:
        """The last session up to which every ticker has prices and which all their exchanges hold."""
        last = self._last_sessions(tickers)
        if not last:
            raise NoEvidence(f"no prices of {', '.join(tickers)} here", fix=f"known tickers: {', '.join(self.desk.market.tickers())}")
        session, text = min(last), min(last).isoformat()
        calendars = [self._calendar_for(ticker, text) for ticker in tickers]
        while not all(calendar.is_session(session) for calendar in calendars):
            session = calendars[0].previous_session(session)
        return session

    def _last_sessions(self, tickers: Iterable[str]) -> list[date]:
        market, today = self.desk.market, self.desk.clock.now().date()
        named = (instrument for ticker in tickers for instrument in market.resolve(ticker, today))
        return [session for instrument in named if (session := market.last_session(instrument))]


def _is_meant(text: str, calendar: SessionTable) -> bool:
    """Whether a date is one of a calendar's sessions; an instant is as good for any."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return True
    return calendar.first <= day <= calendar.last and calendar.is_session(day)


def _literal(text: str) -> datetime:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise UsageFault(f"--as-of {text!r} is neither a date nor an instant", fix="write 2020-03-16 or 2020-03-16T20:00:01Z") from None
    if at.tzinfo is None:
        raise UsageFault(f"--as-of {text!r} has no time zone", fix="add Z or an offset, or give the date alone")
    try:
        return at.astimezone(UTC)
    except OverflowError:
        raise UsageFault(f"--as-of {text!r} lies outside of the calendar", fix="write an instant of this century") from None
