"""Settings become a desk with everything wired. This is the only importer of the registries."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alphaagent.clock import SessionTable, WallClock
from alphaagent.domain.base import fingerprint
from alphaagent.domain.text import inert
from alphaagent.errors import ConfigFault, NoEvidence, UsageFault
from alphaagent.settings import Settings, load_settings, read_yaml

if TYPE_CHECKING:
    from alphaagent.desk import Desk
    from alphaagent.evidence.snapshot_status import FileStatus
    from alphaagent.guard.mandate import Mandate
    from alphaagent.ledger.store import SqlStore
    from alphaagent.ports import StoredDecision


@dataclass(frozen=True)
class Workplace:
    """What a command needs, each part made when it is first used: `show` reads the books and never loads a price."""

    settings: Settings

    @classmethod
    def open(cls) -> "Workplace":
        """From the environment and the configuration files. Raises ConfigFault."""
        return cls(load_settings())

    @cached_property
    def clock(self) -> WallClock:
        return WallClock()

    @cached_property
    def mandates(self) -> "dict[str, Mandate]":
        """The mandates of mandate.yaml, each validated."""
        from alphaagent.guard.mandate import parse_mandates

        return parse_mandates(self.settings.mandates.document, str(self.settings.mandates.path))

    def mandates_of(self, file: Path | None) -> "tuple[Path, dict[str, Mandate]]":
        """The mandates of a file, or of the one in use, and where it stands. Raises ConfigFault."""
        from alphaagent.guard.mandate import parse_mandates

        path = file or self.settings.mandates.path
        return path, parse_mandates(read_yaml(path), str(path))

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
        self._refuse_thin_provision()
        lexicon = Lexicon.parse(settings.lexicon.document, str(settings.lexicon.path))
        return Desk(
            clock=self.clock,
            calendar=self.calendar,
            market=SnapshotMarket(folder, self.calendar),
            sources={supply: make(folder) for supply, make in SOURCES[settings.data].items()},
            tools=tools(lexicon),
            engines={name: make() for name, make in ENGINES.items()},
            mandates=self.mandates,
            broker=SimulatedBroker(settings.execution.slippage_bps, settings.execution.fee_bps),
            store=self.store,
            existing_store=self.existing_store,
            slot_patience_seconds=float(settings.slots.wait_seconds),
            sleep=time.sleep,
            provider=settings.provider,
            allow_fallback=settings.allow_fallback,
            starting_cash=settings.portfolio.starting_cash,
            default_mandate=settings.portfolio.mandate,
            lot_method=settings.portfolio.lot_method,
            configuration=self._configuration(lexicon.fingerprint()),
            halt_file=settings.halt_file,
            halt_variable=settings.halt_variable,
        )

    def store(self) -> "SqlStore":
        """The books, made where they are missing."""
        return self._store

    def existing_store(self) -> "SqlStore | None":
        """The books where there are some, for reading only; whoever is told that there are none pays for no database library."""
        return self._reader if Path(self.settings.database_url.removeprefix("sqlite:///")).exists() else None

    @cached_property
    def _store(self) -> "SqlStore":
        from alphaagent.ledger.store import SqlStore

        return SqlStore.open(self.settings.database_url, self.clock)

    @cached_property
    def _reader(self) -> "SqlStore | None":
        from alphaagent.ledger.store import SqlStore

        return SqlStore.open_existing(self.settings.database_url, self.clock)

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
        if at > self.clock.now():
            raise UsageFault(f"--as-of {text} lies in the future", fix="choose a past instant")
        if not self.calendar.closes(self.calendar.first) < at <= self.calendar.closes(self.calendar.last) + timedelta(days=1):
            raise self._outside(text)
        return at

    def _instant(self, text: str) -> datetime:
        try:
            day = date.fromisoformat(text)
        except ValueError:
            return _literal(text)
        if day > self.clock.now().date():
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

    def stored_decision(self, name: str) -> "StoredDecision":
        """A decision by id, or the newest by `last`. Raises UsageFault."""
        store = self.required_store()
        newest = store.decisions(limit=1) if name == "last" else ()
        stored = newest[0] if newest else store.decision(name)
        if stored is None and name == "last":
            raise UsageFault("there is no decision in these books yet", fix="run `alphaagent decide TICKER` first")
        if stored is None:
            raise UsageFault(f"there is no decision {inert(name[:60])!r} in these books", fix="take an id that `alphaagent decide` printed, or `last`")
        return stored

    def listed_decisions(
        self, ticker: str | None, since: str | None, engine: str | None, outcome: str | None, portfolio: str | None, *, limit: int
    ) -> "Sequence[dict[str, Any]]":
        """The decisions that pass the filters, newest first. Raises UsageFault on a filter that cannot match."""
        from alphaagent.ledger.listing import DecisionFilter

        try:
            day = date.fromisoformat(since) if since else None
        except ValueError:
            raise UsageFault(f"--since {since!r} is no date", fix="write 2020-03-16") from None
        if engine not in (None, "crew", "heuristic"):
            raise UsageFault(f"--engine {engine!r} is no engine that decides", fix="use crew or heuristic")
        return self.required_store().decision_rows(DecisionFilter(ticker, day, engine, outcome.upper() if outcome else None, portfolio), limit)

    def data_status(self) -> "tuple[FileStatus, ...]":
        """Every recorded file against the manifest."""
        from alphaagent.evidence.snapshot_status import snapshot_status

        return snapshot_status(self._snapshot())

    def rule_titles(self) -> dict[str, str]:
        """The guard's rules by id, in words."""
        from alphaagent.guard.registry import RULES

        return {"A": "Strict parser"} | {name: rule.title for name, rule in RULES.items()}

    def _refuse_thin_provision(self) -> None:
        """What the cash rule provides for must cover what a fill may cost, or a fill could overdraw the account."""
        from alphaagent.guard.rules.h9_cash import CashCap

        worst = (self.settings.execution.slippage_bps + self.settings.execution.fee_bps) / 10_000
        for mandate in self.mandates.values():
            provided = next(rule.slippage_fraction for rule in mandate.rules if isinstance(rule, CashCap))
            if worst > provided:
                message = f"execution.slippage_bps and fee_bps add up to {worst:%}, more than H9.slippage_fraction {provided:%} of the mandate {mandate.name}"
                raise ConfigFault(message, fix="lower the execution costs or raise H9.slippage_fraction")

    def _configuration(self, lexicon: str) -> str:
        """Hash of what shapes a result besides the evidence: mandates, lexicon, execution, data mode, fallback."""
        settings, mandates = self.settings, {name: mandate.limits_hash for name, mandate in self.mandates.items()}
        return fingerprint([mandates, lexicon, settings.execution, settings.data, settings.provider, settings.allow_fallback])


def _literal(text: str) -> datetime:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise UsageFault(f"--as-of {text!r} is neither a date nor an instant", fix="write 2020-03-16 or 2020-03-16T20:00:01Z") from None
    if at.tzinfo is None:
        raise UsageFault(f"--as-of {text!r} has no time zone", fix="add Z or an offset, or give the date alone")
    return at
