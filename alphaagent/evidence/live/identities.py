"""Who a ticker is, out of the archive: the SEC's list, a company's own page, and a vendor's directory, each kept like any other document."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Protocol

from alphaagent.domain.market import Instrument, Records
from alphaagent.errors import SourceFault
from alphaagent.evidence.live.archive import Archive
from alphaagent.evidence.live.source import LiveSource
from alphaagent.evidence.live.vendor import Fetched, Seen, Topic
from alphaagent.ports import Calendar, Clock

EVERYBODY = Instrument(id="*", symbol="*", name="everything that is listed", mic="XNYS", currency="USD", kind="other")


class Directory(Protocol):
    """What a ticker is, by a vendor."""

    def fetch(self, ticker: str, before: Seen | None) -> Fetched | None: ...
    def parse(self, raw: bytes, ticker: str) -> Instrument: ...


class Paper:
    """A document about identity, as a vendor's topic: it is fetched and kept, and holds no evidence."""

    topic: Topic = "identity"

    def __init__(self, name: str, fetch: Callable[[Instrument, Seen | None], Fetched | None]) -> None:
        self.name = name
        self._fetch = fetch

    def not_asked(self, instrument: Instrument) -> str | None:  # noqa: ARG002 - whoever asks knows
        return None

    def fetch(self, instrument: Instrument, before: Seen | None) -> Fetched | None:
        return self._fetch(instrument, before)

    def parse(self, raw: bytes, instrument: Instrument, calendar: Calendar, fetched_at: datetime) -> Records:  # noqa: ARG002
        return Records()


class Papers:
    """The three kinds of papers. `read_list` and `complete` read what the SEC wrote; `directory` is asked about a ticker that nobody lists."""

    def __init__(
        self,
        archive: Archive,
        clock: Clock,
        calendar: Callable[[], Calendar],
        *,
        listing: Callable[[Seen | None], Fetched],
        read_list: Callable[[bytes], tuple[Instrument, ...]],
        page: Callable[[Instrument, Seen | None], Fetched | None],
        complete: Callable[[bytes, Instrument], Instrument],
        directory: Directory,
        asks: bool = True,
    ) -> None:
        self._calendar = calendar
        self._read_list, self._complete, self._directory = read_list, complete, directory
        self._list = Paper("edgar", lambda _, before: listing(before))
        self._page = Paper("edgar", page)
        self._entry = Paper("yahoo", lambda instrument, before: directory.fetch(instrument.symbol, before))
        self._source = LiveSource("identity", (self._list, self._page, self._entry), archive, clock, asks=asks)
        self._listed: tuple[Instrument, ...] | None = None
        self._completed: dict[str, Instrument] = {}

    def tickers(self) -> tuple[Instrument, ...]:
        """The SEC's list, once a process; empty where it cannot be had, for there are others to ask."""
        if self._listed is None:
            self._listed = ()
            with suppress(SourceFault):
                raw = self._source.document(self._list, EVERYBODY, self._calendar())
                self._listed = () if raw is None else self._read_list(raw)
        return self._listed

    def completed(self, instrument: Instrument) -> Instrument:
        """An instrument with what its own page adds; as it is where the page cannot be had."""
        if instrument.cik is None:
            return instrument
        if instrument.id not in self._completed:
            self._completed[instrument.id] = instrument
            with suppress(SourceFault):
                raw = self._source.document(self._page, instrument, self._calendar())
                self._completed[instrument.id] = instrument if raw is None else self._complete(raw, instrument)
        return self._completed[instrument.id]

    def ask(self, ticker: str) -> Instrument | None:
        """What the directory says; None where it knows nothing of it. Raises VendorFault, and UsageFault on what is not supported."""
        stub = EVERYBODY.model_copy(update={"id": f"?:{ticker}", "symbol": ticker})
        raw = self._source.document(self._entry, stub, self._calendar())
        return None if raw is None else self._directory.parse(raw, ticker)
