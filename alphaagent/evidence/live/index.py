"""The market index in live data: the same S&P 500 as in the recorded data, from the vendor of prices."""

from datetime import date, timedelta
from pathlib import Path

from alphaagent.domain.market import Instrument, RowFault
from alphaagent.evidence.index_history import SYMBOL, Closes, IndexHistory
from alphaagent.evidence.live.source import LiveSource
from alphaagent.ports import Calendar

INDEX = Instrument(
    id=f"INDEX:{SYMBOL}", symbol=SYMBOL, name="S&P 500", mic="XNYS", currency="USD", kind="index", vendor_symbols=(("yahoo", "^GSPC"), ("stooq", "^spx"))
)
MEASURED_SESSIONS = 300
"""As many as the longest of its measures needs, and some; one gap years ago is no reason to know nothing."""


class LiveIndex(IndexHistory):
    """It speaks for instruments that trade in `markets` and for no others."""

    def __init__(self, prices: LiveSource, markets: frozenset[str]) -> None:
        super().__init__(Path(), markets)
        self._prices = prices
        vendor, _ = prices.vendor_for(INDEX)
        self._vendor = vendor
        self.source = vendor.name if vendor else "nobody"

    def known(self, session: date, calendar: Calendar) -> tuple[Closes, tuple[RowFault, ...]]:
        if self._vendor is None:
            return (), ()
        records = self._prices.told(self._vendor, INDEX, calendar.closes(session) + timedelta(seconds=1), calendar).records
        return tuple((bar.session, bar.close) for bar in records.bars[-MEASURED_SESSIONS:]), records.faults
