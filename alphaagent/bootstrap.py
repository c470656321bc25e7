"""Settings become a desk with everything wired. This is the only importer of the registries."""

import time
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from alphaagent.clock import SessionTable, WallClock
from alphaagent.domain.base import fingerprint
from alphaagent.errors import ConfigFault, NoEvidence, UsageFault
from alphaagent.settings import Settings, load_settings

if TYPE_CHECKING:
    from alphaagent.desk import Desk
    from alphaagent.guard.mandate import Mandate
    from alphaagent.ledger.store import SqlStore


@dataclass(frozen=True)
class Workplace:
    """What a command needs, each part made when it is first used: `show` reads the books and never loads a price."""

    settings: Settings

    @classmethod
    def open(cls) -> "Workplace":
        """From the environment and the configuration files. Raises ConfigFault."""
        return cls(load_settings())

    @cached_property
    def mandates(self) -> "dict[str, Mandate]":
        """The mandates of mandate.yaml, each validated."""
        from alphaagent.guard.mandate import parse_mandates

        return parse_mandates(self.settings.mandates.document, str(self.settings.mandates.path))

    @cached_property
    def calendar(self) -> SessionTable:
        """The sessions that the snapshot was recorded over."""
        path = self._snapshot() / "sessions.csv"
        try:
            return SessionTable.parse(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as fault:
            raise ConfigFault(f"{path} cannot be read: {fault}", fix="restore the snapshot") from None

    @cached_property
    def desk(self) -> "Desk":
        """Everything wired for deciding and settling."""
        from alphaagent.desk import Desk
        from alphaagent.engines.registry import ENGINES
        from alphaagent.evidence.lexicon import Lexicon
        from alphaagent.evidence.registry import SOURCES, tools
        from alphaagent.evidence.sources.snapshot_market import SnapshotMarket
        from alphaagent.execution.brokers.simulated import SimulatedBroker

        settings, folder = self.settings, self._snapshot()
        lexicon = Lexicon.parse(settings.lexicon.document, str(settings.lexicon.path))
        return Desk(
            clock=WallClock(),
            calendar=self.calendar,
            market=SnapshotMarket(folder, self.calendar),
            sources={supply: make(folder) for supply, make in SOURCES[settings.data].items()},
            tools=tools(lexicon),
            engines={name: make() for name, make in ENGINES.items()},
            mandates=self.mandates,
            broker=SimulatedBroker(settings.execution.slippage_bps, settings.execution.fee_bps),
            store=self.store,
            existing_store=self.existing_store,
            wait=time.sleep,
            provider=settings.provider,
            allow_fallback=settings.allow_fallback,
            starting_cash=settings.portfolio.starting_cash,
            default_mandate=settings.portfolio.mandate,
            configuration=self._configuration(lexicon.fingerprint()),
            halt_file=settings.halt_file,
            halt_variable=settings.halt_variable,
        )

    def store(self) -> "SqlStore":
        """The books, made where they are missing."""
        from alphaagent.ledger.store import SqlStore

        return SqlStore.open(self.settings.database_url)

    def existing_store(self) -> "SqlStore | None":
        """The books where there are some."""
        from alphaagent.ledger.store import SqlStore

        return SqlStore.open_existing(self.settings.database_url)

    def required_store(self) -> "SqlStore":
        """The books. Raises UsageFault where there are none yet."""
        store = self.existing_store()
        if store is None:
            raise UsageFault(f"there are no books yet at {self.settings.database_url}", fix="run `alphaagent decide TICKER` first, or set ALPHAAGENT_HOME")
        return store

    def moment(self, text: str | None, tickers: list[str]) -> datetime:
        """`--as-of` as an instant: a date is one second after that session's close; nothing is the last session common to the tickers."""
        if text is None:
            return self.calendar.closes(self._last_common(tickers)) + timedelta(seconds=1)
        at = self._instant(text)
        if at > WallClock().now():
            raise UsageFault(f"--as-of {text} lies in the future", fix="choose a past instant")
        if not self.calendar.closes(self.calendar.first) < at <= self.calendar.closes(self.calendar.last) + timedelta(days=1):
            raise self._outside(text)
        return at

    def _instant(self, text: str) -> datetime:
        try:
            day = date.fromisoformat(text)
        except ValueError:
            return _literal(text)
        if day > WallClock().now().date():
            raise UsageFault(f"--as-of {text} lies in the future", fix="choose a past date")
        if not self.calendar.first <= day <= self.calendar.last:
            raise self._outside(text)
        return self.calendar.closes(day) + timedelta(seconds=1)

    def _outside(self, text: str) -> NoEvidence:
        span = f"{self.calendar.first} to {self.calendar.last}"
        return NoEvidence(f"the snapshot holds nothing for {text}: its sessions run from {span}", fix="choose a date inside")

    def _last_common(self, tickers: list[str]) -> date:
        market, last = self.desk.market, []
        for ticker in tickers:
            sessions = [market.last_session(one) for one in market.resolve(ticker, self.calendar.last)]
            last += [session for session in sessions if session]
        if not last:
            raise NoEvidence(f"no prices of {', '.join(tickers)} here", fix=f"known tickers: {', '.join(market.tickers())}")
        return min(last)

    def _snapshot(self) -> Path:
        if self.settings.snapshot is None:
            raise ConfigFault("no snapshot was found: data/snapshot/manifest.json is missing", fix="set ALPHAAGENT_HOME to a folder with data/snapshot")
        return self.settings.snapshot

    def _configuration(self, lexicon: str) -> str:
        mandates = {name: mandate.limits_hash for name, mandate in self.mandates.items()}
        return fingerprint([mandates, lexicon, self.settings.execution, self.settings.data])


def _literal(text: str) -> datetime:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise UsageFault(f"--as-of {text!r} is neither a date nor an instant", fix="write 2020-03-16 or 2020-03-16T20:00:01Z") from None
    if at.tzinfo is None:
        raise UsageFault(f"--as-of {text!r} has no time zone", fix="add Z or an offset, or give the date alone")
    return at
