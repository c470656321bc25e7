"""The dates ahead that Yahoo states for a company: when earnings are due, and from when on its share trades without the dividend.

The library's calendar is asked, and the answer that it had is what is kept: it turns instants into dates of the machine's own time zone, by which the
ex-dividend date of an American share (midnight, UTC) is a day early in New York.
"""

import json
from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from alphaagent.domain.market import ComingEvent, Instrument, Records
from alphaagent.errors import SourceFault, VendorFault
from alphaagent.evidence.live.vendor import Fetched, Seen, Topic
from alphaagent.evidence.live.vendors.yahoo_frames import canonical
from alphaagent.evidence.live.vendors.yahoo_markets import VENDOR, yahoo_symbol, zone_of
from alphaagent.evidence.live.vendors.yahoo_session import YahooSession
from alphaagent.ports import Calendar

ENVELOPE, MODULE = "quoteSummary", "calendarEvents"
MIDNIGHT = 86_400


class YahooEvents:
    """The coming events of one instrument; a document without a date where Yahoo states none."""

    name = VENDOR
    topic: Topic = "events"

    def __init__(self, session: YahooSession) -> None:
        self._session = session

    def not_asked(self, instrument: Instrument) -> str | None:
        return f"{instrument.symbol} is an index: it reports no earnings and pays no dividend" if instrument.kind == "index" else None

    def fetch(self, instrument: Instrument, before: Seen | None) -> Fetched | None:  # noqa: ARG002 - nothing of Yahoo's can be asked for by what has changed
        came = self._session.ask(yahoo_symbol(instrument), lambda ticker: ticker.calendar)
        found = None if came is None else came.first(ENVELOPE)
        return None if found is None else Fetched(_document(found))

    def parse(self, raw: bytes, instrument: Instrument, calendar: Calendar, fetched_at: datetime) -> Records:  # noqa: ARG002 - the socket's signature
        earnings, ex_dividend = _read(raw, instrument)
        zone = ZoneInfo(zone_of(instrument.mic))
        today = fetched_at.astimezone(zone).date()
        days = sorted(_day(seconds, zone) for seconds in earnings)
        stated = [ComingEvent("earnings", days[0], days[-1], fetched_at)] if days else []
        stated += [ComingEvent("ex_dividend", day, day, fetched_at) for day in (_day(seconds, zone) for seconds in ex_dividend)]
        return Records(coming=tuple(event for event in stated if event.last_day >= today))


def _document(found: Any) -> bytes:
    events = found.get(MODULE) if isinstance(found, dict) else None
    earnings = events.get("earnings", {}) if isinstance(events, dict) else None
    if not isinstance(events, dict) or not isinstance(earnings, dict):
        raise VendorFault("schema", f"{VENDOR}'s answer has no {MODULE}", fix="see the wiki's Live-Data page")
    dates = earnings.get("earningsDate", [])
    ex_dividend = [] if events.get("exDividendDate") is None else [events["exDividendDate"]]
    if not isinstance(dates, list) or not all(isinstance(at, int) and not isinstance(at, bool) for at in (*dates, *ex_dividend)):
        raise VendorFault("schema", f"{VENDOR} writes its dates in another way than agreed", fix="see the wiki's Live-Data page")
    return canonical({"earnings": dates, "earnings_estimated": earnings.get("isEarningsDateEstimate") is True, "ex_dividend": ex_dividend})


def _read(raw: bytes, instrument: Instrument) -> tuple[Sequence[int], Sequence[int]]:
    try:
        document = json.loads(raw.decode("utf-8"))
        earnings, ex_dividend = document["earnings"], document["ex_dividend"]
        for seconds in (*earnings, *ex_dividend):
            datetime.fromtimestamp(seconds, UTC)
        return earnings, ex_dividend
    except (ValueError, KeyError, TypeError, OverflowError, OSError, RecursionError) as fault:
        raise SourceFault(f"the document of {VENDOR}'s events of {instrument.symbol} cannot be read ({fault})", fix="fetch it again") from None


def _day(seconds: int, zone: ZoneInfo) -> date:
    """The date of an instant: midnight is a date without a time, whatever the zone; any other is read where the share is listed."""
    return datetime.fromtimestamp(seconds, UTC if seconds % MIDNIGHT == 0 else zone).date()
