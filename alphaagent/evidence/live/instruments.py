"""Who a ticker is, in live data: what the user wrote, then what is recorded, then the SEC's list, and only then a vendor's directory.

Chosen on purpose: an earlier answer stands, so that an instrument has one id in live and in recorded data. The list and the directory speak of
today. Where an earlier place knows a ticker from some day on, they are not asked who had it before; where it knows it up to some day, they tell
who has it since. What is no share and no fund is refused by its form, before anything is asked over the network.
"""

import re
from collections.abc import Callable, Iterable
from datetime import date

from alphaagent.domain.market import Instrument
from alphaagent.errors import UsageFault
from alphaagent.evidence.sources.instruments import named, normal_ticker, valid_on

UNLISTED = {"OTCM": "trades over the counter", "XXXX": "is on no exchange that the SEC names"}
_FORMS = (
    (re.compile(r".*=F"), "a future"),
    (re.compile(r".*=X"), "a currency pair"),
    (re.compile(r".*=.*"), "no share"),
    (re.compile(r"[A-Z0-9]{2,10}[-/](USD[TC]?|EUR|GBP|JPY|BTC|ETH)"), "a pair of a cryptocurrency"),
    (re.compile(r"\^.*"), "an index"),
)
Index = dict[str, list[Instrument]]


class LiveInstruments:
    """Resolves tickers as `ports.MarketData.resolve` does."""

    def __init__(
        self,
        described: tuple[Instrument, ...],
        recorded: tuple[Instrument, ...],
        tickers: Callable[[], tuple[Instrument, ...]],
        ask: Callable[[str], Instrument | None],
        completed: Callable[[Instrument], Instrument] = lambda instrument: instrument,
    ) -> None:
        """`tickers` gives the archived list, the same object while it is the same; `completed` adds what is archived of a company of that list."""
        self._described = described
        self._recorded = tuple(instrument for instrument in recorded if instrument.id not in {one.id for one in described})
        self._tickers = tickers
        self._ask = ask
        self._completed = completed
        self._indexed: tuple[tuple[Instrument, ...], Index] = ((), {})

    def resolve(self, ticker: str, on: date) -> tuple[Instrument, ...]:
        """Every instrument that a ticker names on a date: none, one, or an ambiguity. Raises UsageFault on what is not traded here."""
        told = (*named(ticker, self._described), *named(ticker, self._recorded))
        for place in (self._described, self._recorded):
            found = tuple(instrument for instrument in place if instrument in told and valid_on(instrument, on))
            if found:
                return found
        refuse_form(ticker)
        if any(instrument.valid_from is not None and on < instrument.valid_from for instrument in told):
            return ()
        return self._of_today(normal_ticker(ticker), told)

    def tickers(self) -> tuple[str, ...]:
        """What can be asked for without a network."""
        return tuple(sorted({instrument.symbol for instrument in (*self._described, *self._recorded)}))

    def _of_today(self, ticker: str, told: tuple[Instrument, ...]) -> tuple[Instrument, ...]:
        listed = _besides(self._index().get(ticker, ()), told)
        _refuse_unlisted(ticker, listed)
        if listed and all(instrument.kind != "other" for instrument in listed):
            return tuple(map(self._completed, listed))
        asked = self._ask(ticker)
        if asked is None:
            return tuple(map(self._completed, listed))
        number = listed[0].cik if len(listed) == 1 else None
        return _besides((self._completed(asked.model_copy(update={"cik": asked.cik or number})),), told)

    def _index(self) -> Index:
        """The list by ticker, made once as long as it is the same list."""
        listed = self._tickers()
        if listed is not self._indexed[0]:
            index: Index = {}
            for instrument in listed:
                for name in {instrument.symbol, *instrument.aliases}:
                    index.setdefault(normal_ticker(name), []).append(instrument)
            self._indexed = (listed, index)
        return self._indexed[1]


def refuse_form(ticker: str) -> None:
    """Raises UsageFault where a ticker's form says that it is no share and no fund."""
    for form, what in _FORMS:
        if form.fullmatch(ticker.upper()):
            raise UsageFault(f"{ticker} is {what}; shares and exchange-traded funds are supported", fix="ask for a share or an exchange-traded fund")


def _refuse_unlisted(ticker: str, listed: Iterable[Instrument]) -> None:
    for instrument in listed:
        if instrument.mic in UNLISTED:
            message = f"{ticker} ({instrument.name}) {UNLISTED[instrument.mic]}; what is listed on an exchange is supported"
            raise UsageFault(message, fix="ask for a listed share, or describe it in instruments.yaml if it is one")


def _besides(found: Iterable[Instrument], known: Iterable[Instrument]) -> tuple[Instrument, ...]:
    """Those that are not among the known ones, by id or by the company's SEC number."""
    ids, numbers = {instrument.id for instrument in known}, {instrument.cik for instrument in known} - {None}
    return tuple(instrument for instrument in found if instrument.id not in ids and instrument.cik not in numbers)
