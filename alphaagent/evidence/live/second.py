"""A second opinion on the last close: another vendor's, or the user's own files'."""

from datetime import date, datetime
from decimal import Decimal

from alphaagent.domain.evidence import Status
from alphaagent.domain.market import Instrument
from alphaagent.evidence.gather import Supplier
from alphaagent.evidence.gathered import SecondOpinion
from alphaagent.ports import Calendar

TOLERANCE = Decimal("0.01")
"""How far apart two vendors' closes of one session may lie and still be one close; the mandate's E8 has a bound of its own."""


class Second:
    """Asks one supplier of prices for nothing but its last close."""

    def __init__(self, name: str, supplier: Supplier) -> None:
        self._name = name
        self._supplier = supplier

    def __call__(self, calendar: Calendar, instrument: Instrument, as_of: datetime, session: date) -> SecondOpinion:
        told = self._supplier(calendar, instrument, as_of, session)
        bar = told.records.bars[-1] if told.records.bars else None
        if told.status is Status.OK and bar is not None:
            return SecondOpinion(self._name, bar.session, bar.close, TOLERANCE, Status.OK)
        status = Status.FAILED if told.status in (Status.FAILED, Status.STALE, Status.CONFLICT) else Status.EMPTY
        return SecondOpinion(self._name, None, None, TOLERANCE, status, told.note or f"{self._name} has no close of {instrument.symbol}")
