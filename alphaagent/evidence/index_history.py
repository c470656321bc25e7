"""The recorded closes of a market index, as context beside an instrument's own prices.

An index says how the market moved, not how the name did: its item carries no weight, and where it does not reach it is `not_applicable`
and no hole. Only closes of sessions completed at the instant of the decision are read, and a gap or a broken row up to there is a fault.
"""

from datetime import date
from decimal import Decimal
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from alphaagent.domain.base import measured
from alphaagent.domain.evidence import EvidenceItem, Status
from alphaagent.domain.market import RowFault
from alphaagent.errors import SourceFault
from alphaagent.evidence import technicals as t
from alphaagent.evidence.gathered import Gathered, Supplied
from alphaagent.evidence.items import Measure, lost_item, measure_item
from alphaagent.evidence.sources.snapshot import read_listed
from alphaagent.evidence.sources.table import read_rows
from alphaagent.ports import Calendar

SYMBOL = "SPX"
INDEX_COLUMNS = ("date", "close")
INDEX_PATH = f"index/{SYMBOL}.csv"
LAGS = (1, 5, 21, 63, 252)
COMPARED_SESSIONS = 63
CACHED_DOCUMENTS = 4
Closes = tuple[tuple[date, Decimal], ...]


class IndexHistory:
    """The S&P 500 of a snapshot folder; it speaks for instruments that trade in `markets` and for no others."""

    source: str = "snapshot"

    def __init__(self, folder: Path, markets: frozenset[str]) -> None:
        self._folder = folder
        self._markets = markets

    def known(self, session: date, calendar: Calendar) -> tuple[Closes, tuple[RowFault, ...]]:  # noqa: ARG002 - what is recorded does not change
        """The closes as they were known after a session, and the rows that cannot be used. Raises SourceFault."""
        return self._recorded

    @cached_property
    def _recorded(self) -> tuple[Closes, tuple[RowFault, ...]]:
        raw = read_listed(self._folder, INDEX_PATH)
        return ((), ()) if raw is None else _parsed(raw)

    def covers(self, mic: str) -> bool:
        return mic in self._markets

    def closes(self, mic: str, session: date, calendar: Calendar) -> tuple[Decimal, ...]:
        """The closes up to a completed session, one a session; none where that session has no close. Raises SourceFault on unusable rows."""
        if not self.covers(mic):
            return ()
        recorded, faults = self.known(session, calendar)
        for fault in faults:
            if fault.session is None or fault.session <= session:
                raise SourceFault(f"{fault.where}: {fault.message}", fix="restore the file, or mend the row")
        known = [(day, close) for day, close in recorded if day <= session]
        if not known or known[-1][0] != session:
            return ()
        _refuse_gaps([day for day, _ in known], calendar)
        return tuple(close for _, close in known)

    def change(self, mic: str, session: date, calendar: Calendar) -> Decimal | None:
        """The change from the session before; None where it is not known, broken rows included: what asks for it then blocks."""
        try:
            closes = self.closes(mic, session, calendar)
        except SourceFault:
            return None
        return round(closes[-1] / closes[-2] - 1, 6) if len(closes) > 1 else None


@lru_cache(maxsize=CACHED_DOCUMENTS)
def _parsed(raw: bytes) -> tuple[Closes, tuple[RowFault, ...]]:
    """What a document says, kept by its content."""
    rows, faults = read_rows(raw, INDEX_PATH, INDEX_COLUMNS, "date", lambda row: (row.day("date"), row.positive("close")))
    return tuple(pair for _, pair in rows), tuple(faults)


def _refuse_gaps(days: list[date], calendar: Calendar) -> None:
    """Raises SourceFault unless the dates are consecutive sessions."""
    ascending = all(earlier < later for earlier, later in pairwise(days)) and all(map(calendar.is_session, days))
    if not ascending or calendar.sessions_between(days[0], days[-1]) + 1 != len(days):
        raise SourceFault(f"{INDEX_PATH} has not one row a session from {days[0]} to {days[-1]}", fix="restore the file")


def index_item(g: Gathered, index: IndexHistory, own_change: float | None) -> EvidenceItem:
    """The item of kind `index`. `own_change` is the name's own over 63 sessions to the last completed one, None where it is not known."""
    try:
        closes = index.closes(g.instrument.mic, g.session, g.calendar)
    except SourceFault as fault:
        return lost_item(g, "get_price_history", "index", Supplied(index.source, Status.FAILED, note=fault.message), "")
    if not closes:
        return lost_item(g, "get_price_history", "index", Supplied(index.source, Status.NOT_APPLICABLE, note=_absence(g, index)), "")
    closed = g.calendar.closes(g.session)
    return measure_item(g, "get_price_history", Supplied(index.source, Status.OK), _measure(g, closes, own_change), event_at=closed, known_at=closed)


def _absence(g: Gathered, index: IndexHistory) -> str:
    if not index.covers(g.instrument.mic):
        return f"{SYMBOL} is no index of {g.instrument.mic}"
    return f"no close of {SYMBOL} is recorded for {g.session}"


def _measure(g: Gathered, closes: tuple[Decimal, ...], own_change: float | None) -> Measure:
    series = np.array([float(close) for close in closes])
    changes = {lag: t.change(series, lag) for lag in LAGS}
    market = changes[COMPARED_SESSIONS]
    relative = None if own_change is None or market is None else own_change - market
    payload: dict[str, Any] = {"index": SYMBOL, "session": str(g.session), "close": measured(closes[-1])}
    payload |= {f"change_{lag}": measured(change) for lag, change in changes.items()}
    payload["relative_63"] = measured(relative)
    said = ", ".join(f"{Decimal(payload[f'change_{lag}']):+.1%} over {lag}" for lag in LAGS if payload[f"change_{lag}"] is not None)
    words = f"{SYMBOL} {Decimal(payload['close']):,.2f} at the close of {g.session}" + (f"; {said} sessions" if said else "")
    if relative is not None:
        words += f"; the name {Decimal(payload['relative_63']):+.1%} against it over {COMPARED_SESSIONS}"
    return Measure("index", payload, words)
