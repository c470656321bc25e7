"""The recorded snapshot, and own prices over it, as market data for the guard, the marks and the fills.

It reads the same bytes through the same parser as the evidence, so that the two cannot disagree. A row that cannot be used raises
where it is asked for: a price next to a broken row is no price.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable
from datetime import date, datetime
from functools import cached_property
from operator import attrgetter
from pathlib import Path

from alphaagent.domain.market import Bar, CorporateAction, Instrument, Quote, Records, RowFault
from alphaagent.errors import SourceFault
from alphaagent.evidence.admission import admit
from alphaagent.evidence.sources.instruments import named_by, normal_ticker, read_instruments
from alphaagent.evidence.sources.own_prices import OwnPrices
from alphaagent.evidence.sources.snapshot import file_of, read_listed
from alphaagent.evidence.sources.snapshot_rows import Parser, parse_actions, parse_bars
from alphaagent.ports import Calendar

_SESSION = attrgetter("session")
_KNOWN_AT = attrgetter("known_at")


class SnapshotMarket:
    """MarketData over a snapshot folder; `own` prices take the place of the recorded ones where there are any."""

    def __init__(self, folder: Path, calendar_of: Callable[[Instrument], Calendar], own: OwnPrices | None = None) -> None:
        self._folder = folder
        self._calendar_of = calendar_of
        self._own = own

    @cached_property
    def _instruments(self) -> tuple[Instrument, ...]:
        recorded = read_instruments(self._folder)
        return recorded if self._own is None else self._own.instruments(recorded)

    @cached_property
    def _made_up(self) -> tuple[str, ...]:
        """Tickers of own prices that nothing describes."""
        return () if self._own is None else self._own.made_up(self._instruments)

    def resolve(self, ticker: str, on: date) -> tuple[Instrument, ...]:
        if self._own is not None and normal_ticker(ticker) in self._made_up:
            return (self._own.instrument_of(normal_ticker(ticker)),)
        return named_by(ticker, self._instruments, on)

    def tickers(self) -> tuple[str, ...]:
        return tuple(sorted({instrument.symbol for instrument in self._instruments} | set(self._made_up)))

    def quote(self, instrument: Instrument, as_of: datetime) -> Quote | None:
        """The last close known before as_of; SourceFault where any row up to then is broken."""
        calendar = self._calendar_of(instrument)
        if as_of <= calendar.closes(calendar.first):
            return None
        known = admit(self._bars(instrument), as_of, calendar.last_completed(as_of))
        _refuse(known.faults)
        if not known.bars:
            return None
        last = known.bars[-1]
        return Quote(price=last.close, session=last.session, known_at=last.known_at, source="snapshot" if self._owned(instrument) is None else "own")

    def bar(self, instrument: Instrument, session: date) -> Bar | None:
        """The bar of one session; SourceFault where its row is broken, or where it is absent and a row without a date might be it."""
        records = self._bars(instrument)
        found = _at(records.bars, session)
        _refuse(fault for fault in records.faults if fault.session == session or (found is None and fault.session is None))
        return found

    def bars_before(self, instrument: Instrument, as_of: datetime, count: int) -> tuple[Bar, ...]:
        """The last bars known before as_of; SourceFault where a row of their range, or of no readable date, is broken."""
        records = self._bars(instrument)
        end = bisect_left(records.bars, as_of, key=_KNOWN_AT)
        found = records.bars[max(0, end - count) : end]
        _refuse(fault for fault in records.faults if found and (fault.session is None or found[0].session <= fault.session <= found[-1].session))
        return found

    def actions(self, instrument: Instrument, after: date, upto: date) -> tuple[CorporateAction, ...]:
        """Splits and dividends with ex-date in (after, upto]; SourceFault where a row of that range, or of no readable date, is broken."""
        own = self._owned(instrument)
        records = self._read("actions", instrument, parse_actions) if own is None else own.actions(instrument, self._calendar_of(instrument))
        _refuse(fault for fault in records.faults if fault.session is None or after < fault.session <= upto)
        return tuple(action for action in records.actions if after < action.ex_date <= upto)

    def last_session(self, instrument: Instrument) -> date | None:
        bars = self._bars(instrument).bars
        return bars[-1].session if bars else None

    def _bars(self, instrument: Instrument) -> Records:
        own = self._owned(instrument)
        return self._read("bars", instrument, parse_bars) if own is None else own.bars(instrument, self._calendar_of(instrument))

    def _owned(self, instrument: Instrument) -> OwnPrices | None:
        return self._own if self._own is not None and self._own.has(instrument) else None

    def _read(self, supply: str, instrument: Instrument, parse: Parser) -> Records:
        path = file_of(supply, instrument)
        raw = read_listed(self._folder, path)
        return Records() if raw is None else parse(raw, path, self._calendar_of(instrument))


def _at(bars: tuple[Bar, ...], session: date) -> Bar | None:
    place = bisect_left(bars, session, key=_SESSION)
    return bars[place] if place < len(bars) and bars[place].session == session else None


def _refuse(faults: Iterable[RowFault]) -> None:
    """SourceFault on the first fault, if there is one."""
    for fault in faults:
        raise SourceFault(f"{fault.where}: {fault.message}", fix="restore the file, or mend the row")
