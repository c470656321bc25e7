"""Live prices for the guard, the marks and the fills, out of the same observations as the evidence, so that the two cannot disagree.

Whatever is asked of the past is answered by what spoke for that instant. A row that cannot be used raises where it is asked for: a price next to a
broken row is no price.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, time, timedelta
from operator import attrgetter
from typing import Protocol

from alphaagent.domain.market import Bar, CorporateAction, Instrument, Quote, Records, RowFault
from alphaagent.errors import SourceFault
from alphaagent.evidence.admission import admit
from alphaagent.evidence.live.source import LiveSource
from alphaagent.evidence.sources.own_prices import OwnPrices
from alphaagent.ports import Calendar, Clock

AFTER_THE_CLOSE = timedelta(hours=1)
"""When a session's bar is looked up: after its last corrections."""
_SESSION = attrgetter("session")


class Identities(Protocol):
    """Who a ticker is."""

    def resolve(self, ticker: str, on: date) -> tuple[Instrument, ...]: ...
    def tickers(self) -> tuple[str, ...]: ...


class LiveMarket:
    """MarketData over live prices; `own` prices take their place where the user has any."""

    def __init__(
        self, prices: LiveSource, identities: Identities, calendar_of: Callable[[Instrument], Calendar], clock: Clock, own: OwnPrices | None = None
    ) -> None:
        self._prices = prices
        self._identities = identities
        self._calendar_of = calendar_of
        self._clock = clock
        self._own = own
        self._described: dict[str, Instrument] = {}

    def owns(self, instrument: Instrument) -> bool:
        """Whether the user's own prices speak for an instrument, so that no vendor is asked for any."""
        return self._own is not None and self._own.has(instrument)

    def resolve(self, ticker: str, on: date) -> tuple[Instrument, ...]:
        return self._identities.resolve(ticker, on)

    def tickers(self) -> tuple[str, ...]:
        return self._identities.tickers()

    def quote(self, instrument: Instrument, as_of: datetime) -> Quote | None:
        records, source = self._known(instrument, as_of)
        _refuse(records.faults)
        if not records.bars:
            return None
        last = records.bars[-1]
        return Quote(price=last.close, session=last.session, known_at=last.known_at, source=source)

    def bar(self, instrument: Instrument, session: date) -> Bar | None:
        """The bar of a session that is over; None before, and where there is none."""
        at = min(self._clock.now(), self._calendar_of(instrument).closes(session) + AFTER_THE_CLOSE)
        records, _ = self._known(instrument, at)
        place = bisect_left(records.bars, session, key=_SESSION)
        found = records.bars[place] if place < len(records.bars) and records.bars[place].session == session else None
        _refuse(fault for fault in records.faults if fault.session == session or (found is None and fault.session is None))
        return found

    def bars_before(self, instrument: Instrument, as_of: datetime, count: int) -> tuple[Bar, ...]:
        records, _ = self._known(instrument, as_of)
        found = records.bars[-count:]
        _refuse(fault for fault in records.faults if found and (fault.session is None or found[0].session <= fault.session <= found[-1].session))
        return found

    def actions(self, instrument: Instrument, after: date, upto: date) -> tuple[CorporateAction, ...]:
        at = min(self._clock.now(), datetime.combine(upto, time.max, UTC))
        records, _ = self._known(instrument, at)
        _refuse(fault for fault in records.faults if fault.session is None or after < fault.session <= upto)
        return tuple(action for action in records.actions if after < action.ex_date <= upto)

    def last_session(self, instrument: Instrument) -> date | None:
        records, _ = self._known(instrument, self._clock.now())
        return records.bars[-1].session if records.bars else None

    def _known(self, instrument: Instrument, as_of: datetime) -> tuple[Records, str]:
        """What was known of an instrument before an instant, and from whom. Raises SourceFault where nobody can tell."""
        calendar = self._calendar_of(instrument)
        if self._own is not None and self._own.has(instrument):
            raw = self._own.fetch(instrument)
            records = Records() if raw is None else self._own.parse(raw, instrument, calendar)
            return admit(records, as_of, calendar.last_completed(as_of)), self._own.name
        instrument = self._as_described(instrument)
        vendor, reason = self._prices.vendor_for(instrument)
        if vendor is None:
            raise SourceFault(f"no vendor has prices of {instrument.symbol}: {reason}", fix="give prices of your own by data.own_prices")
        return self._prices.told(vendor, instrument, as_of, calendar).records, vendor.name

    def _as_described(self, instrument: Instrument) -> Instrument:
        """An instrument of the books as it is described today: the books do not keep what vendors call it."""
        if instrument.id not in self._described:
            found = self._identities.resolve(instrument.symbol, self._clock.now().date())
            same = (one for one in found if one.id == instrument.id and one.currency == instrument.currency)
            self._described[instrument.id] = next(same, instrument)
        return self._described[instrument.id]


def _refuse(faults: Iterable[RowFault]) -> None:
    """SourceFault on the first fault, if there is one."""
    for fault in faults:
        raise SourceFault(f"{fault.where}: {fault.message}", fix="run `alphaagent data fetch` again later, or give prices of your own")
