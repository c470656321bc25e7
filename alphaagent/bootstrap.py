"""Settings become a desk with everything wired. This is the only importer of the registries."""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from alphaagent.clock import DEFAULT_EXCHANGE, US_MARKETS, Calendars, SessionTable, WallClock, exchange_of, exchange_sessions
from alphaagent.domain.base import fingerprint
from alphaagent.domain.text import inert
from alphaagent.errors import AlphaAgentError, ConfigFault, UsageFault
from alphaagent.settings import Settings, contained_crewai, load_settings
from alphaagent.yaml_files import read_yaml

if TYPE_CHECKING:
    from alphaagent.debate.record import Transcript
    from alphaagent.desk import Desk
    from alphaagent.domain.debate import EngineResult
    from alphaagent.domain.evidence import EvidencePack
    from alphaagent.domain.market import Instrument
    from alphaagent.evidence.live.room import LiveRoom
    from alphaagent.evidence.snapshot_status import FileStatus
    from alphaagent.evidence.sources.own_prices import OwnPrices
    from alphaagent.guard.mandate import Mandate
    from alphaagent.ledger.store import SqlStore
    from alphaagent.moments import Moments
    from alphaagent.notify.targets import Notify
    from alphaagent.portfolio_files import PortfolioFile
    from alphaagent.ports import StoredDecision
    from alphaagent.staffing import Staff

SESSIONS_TO_FILL_ON, A_YEAR = timedelta(days=30), timedelta(days=365)
OLDEST_SESSION = date(1990, 1, 2)
FIRST_LIVE_SESSION = date(2009, 1, 2)
"""Companies began to file figures that a program can read in that year."""


@dataclass(frozen=True)
class Workplace:
    """What a command needs, each part made when it is first used: `show` reads the books and never loads a price."""

    settings: Settings
    only_looks: bool = False
    """Whoever only looks asks no vendor, and checks the books as a whole when it suits."""

    @classmethod
    def open(cls, *, only_looks: bool = False) -> "Workplace":
        """From the environment and the configuration files. Raises ConfigFault."""
        return cls(load_settings(), only_looks)

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
    def portfolio_files(self) -> "dict[str, PortfolioFile]":
        """The portfolios that are swept, by name. Raises ConfigFault, also where a file names a mandate or a plan that is not there."""
        from alphaagent.debate.config import parse_debate
        from alphaagent.evidence.sources.instruments import normal_ticker
        from alphaagent.portfolio_files import read_portfolios, refuse_unknown_names

        settings = self.settings
        files = read_portfolios(settings.portfolios, normal_ticker)
        plans = parse_debate(settings.debate.document, str(settings.debate.path)).plans
        refuse_unknown_names(files, settings.portfolios, self.mandates, plans)
        return files

    @cached_property
    def calendars(self) -> Calendars:
        """The sessions of every exchange that the snapshot was recorded over."""
        return Calendars(self._sessions)

    @property
    def calendar(self) -> SessionTable:
        """The sessions of the New York exchanges, for what belongs to no instrument."""
        return self.calendars.of(DEFAULT_EXCHANGE)

    def calendar_of(self, instrument: "Instrument") -> SessionTable:
        """The sessions of the exchange that an instrument trades on."""
        return self.calendars.of(instrument.mic)

    def exchanges(self) -> dict[str, SessionTable]:
        """The session table of every exchange that a known instrument trades on, by its code."""
        market, today = self.desk.market, self.clock.now().date()
        mics = {one.mic for ticker in market.tickers() for one in market.resolve(ticker, today)}
        return {exchange: self.calendars.of(exchange) for exchange in sorted(map(exchange_of, mics))}

    def _sessions(self, exchange: str) -> SessionTable:
        name = "sessions.csv" if exchange == DEFAULT_EXCHANGE else f"sessions_{exchange}.csv"
        path, span = self._snapshot() / name, self._span
        if span and not path.exists():
            return exchange_sessions(exchange, *span)
        try:
            recorded = SessionTable.parse(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as fault:
            raise ConfigFault(f"the sessions of {exchange}, {path}, cannot be read: {fault}", fix="restore the snapshot") from None
        if span is None or (recorded.first <= span[0] and span[1] <= recorded.last):
            return recorded
        return recorded.extended(exchange_sessions(exchange, min(span[0], recorded.first), max(span[1], recorded.last)))

    @cached_property
    def notify(self) -> "Notify":
        """Who is to hear of what. Raises ConfigFault."""
        from alphaagent.notify.targets import parse_notify

        return parse_notify(self.settings.notify.document, str(self.settings.notify.path))

    @cached_property
    def own_prices(self) -> "OwnPrices | None":
        """The folder of own prices, where one is configured."""
        if self.settings.own_prices is None:
            return None
        from alphaagent.evidence.sources.own_prices import OwnPrices

        return OwnPrices(self.settings.own_prices, self._snapshot())

    @cached_property
    def _span(self) -> tuple[date, date] | None:
        """Which dates a calendar must reach beyond what is recorded: those of live data, or of own prices and some more to fill orders on."""
        if self.settings.data_mode == "live":
            return FIRST_LIVE_SESSION, self.clock.now().date() + A_YEAR
        span = self.own_prices.span() if self.own_prices else None
        if span is None:
            return None
        last = min(span[1] + SESSIONS_TO_FILL_ON, self.clock.now().date() + A_YEAR)
        return max(span[0], OLDEST_SESSION), max(last, OLDEST_SESSION + A_YEAR)

    @cached_property
    def desk(self) -> "Desk":
        """Everything wired for deciding and settling."""
        from alphaagent.desk import Desk
        from alphaagent.engines.registry import ENGINES
        from alphaagent.evidence.lexicon import Lexicon
        from alphaagent.evidence.registry import tools
        from alphaagent.execution.brokers.simulated import SimulatedBroker
        from alphaagent.runs import RunFiles

        settings = self.settings
        self._refuse_thin_provision()
        lexicon = Lexicon.parse(settings.lexicon.document, str(settings.lexicon.path))
        data = self._recorded_data() if settings.data_mode == "snapshot" else self._live_data()
        return Desk(
            **data,
            clock=self.clock,
            calendar_of=self.calendar_of,
            own_prices=self._replacing_prices,
            tools=tools(lexicon, data["index"]),
            engines={name: make() for name, make in ENGINES.items()},
            mandates=self.mandates,
            broker=SimulatedBroker(settings.execution.slippage_bps, settings.execution.fee_bps),
            store=self.store,
            existing_store=self.existing_store,
            slot_patience_seconds=float(settings.slots.wait_seconds),
            sleep=time.sleep,
            staff=lambda: self.staff,
            markers=new_markers,
            hang_up=hang_up,
            watch=RunFiles.of(settings.home).watch,
            provider=settings.models.provider,
            allow_fallback=settings.allow_fallback,
            daily_spend=settings.models.daily_spend,
            starting_cash=settings.portfolio.starting_cash,
            default_mandate=settings.portfolio.mandate,
            lot_method=settings.portfolio.lot_method,
            configuration=self._configuration(lexicon.fingerprint()),
            halt_file=settings.halt_file,
            halt_variable=settings.halt_variable,
            check_books=None if self.only_looks else lambda: self._books_fault,
            portfolio_files=lambda: self.portfolio_files,
        )

    def _recorded_data(self) -> dict[str, Any]:
        """What the desk takes from the snapshot."""
        from alphaagent.evidence.index_history import IndexHistory
        from alphaagent.evidence.registry import SOURCES
        from alphaagent.evidence.sources.snapshot_market import SnapshotMarket

        folder = self._snapshot()
        market = SnapshotMarket(folder, self.calendar_of, self.own_prices)
        return {"market": market, "sources": {supply: make(folder) for supply, make in SOURCES.items()}, "index": IndexHistory(folder, US_MARKETS)}

    def _live_data(self) -> dict[str, Any]:
        """What the desk takes from live vendors."""
        from alphaagent.evidence.live.index import LiveIndex

        room = self.room
        index = LiveIndex(room.sources["prices"], US_MARKETS)
        return {"market": room.market, "sources": {}, "index": index, "live": room.suppliers(), "second": room.second, "prepare": room.prepare}

    @cached_property
    def room(self) -> "LiveRoom":
        """Live data. Raises UsageFault where the data are recorded."""
        if self.settings.data_mode != "live":
            raise UsageFault("the data are recorded, and this is for live data", fix="set ALPHAAGENT_DATA to live")
        from alphaagent.evidence.registry import VENDORS
        from alphaagent.livedata import live_room

        return live_room(self.settings, VENDORS, self.calendar_of, self.clock, self.own_prices, self._snapshot(), asks=not self.only_looks)

    @property
    def _replacing_prices(self) -> "OwnPrices | None":
        """Own prices, where they are not kept for a second opinion."""
        return None if self.settings.data_mode == "live" and self.settings.data.second_source == "own" else self.own_prices

    @cached_property
    def staff(self) -> "Staff | None":
        """The crew that the settings name. Raises ConfigFault where it cannot be used."""
        if self.settings.models.is_silent:
            return None
        from alphaagent.guard.intake import parse_proposal
        from alphaagent.llm.registry import PROVIDERS
        from alphaagent.staffing import staff

        return staff(self.settings, PROVIDERS, lambda raw, ticker: parse_proposal(raw, ticker=ticker), contained_crewai)

    def store(self) -> "SqlStore":
        """The books, made where they are missing."""
        return self._store

    def existing_store(self) -> "SqlStore | None":
        """The books where there are some, for reading only; whoever is told that there are none pays for no database library."""
        return self._reader if self.has_books else None

    @property
    def has_books(self) -> bool:
        """Whether there are books already, of whatever release."""
        return Path(self.settings.database_url.removeprefix("sqlite:///")).exists()

    @cached_property
    def _store(self) -> "SqlStore":
        from alphaagent.ledger.store import SqlStore

        return SqlStore.open(self.settings.database_url, self.clock, routes=self.notify.routes)

    def close(self) -> None:
        """Gives the books back and ends the connections of live data, where there were any."""
        for name in ("_store", "_reader", "room"):
            opened = self.__dict__.pop(name, None)
            if opened is not None:
                opened.close()

    @cached_property
    def _reader(self) -> "SqlStore | None":
        from alphaagent.ledger.store import SqlStore

        return SqlStore.open_existing(self.settings.database_url, self.clock)

    @cached_property
    def _books_fault(self) -> str | None:
        """What the verifier finds wrong with the books as they stand when this process first looks; afterwards the quick check suffices."""
        from alphaagent.ledger.verify import verify

        report = verify(self.settings.database_url)
        return next((finding.message for finding in report.findings), None) if report.exit_code not in (0, 10) else None

    def required_store(self) -> "SqlStore":
        """The books. Raises UsageFault where there are none yet."""
        store = self.existing_store()
        if store is None:
            raise UsageFault(f"there are no books yet at {self.settings.database_url}", fix="run `alphaagent decide TICKER` first, or set ALPHAAGENT_HOME")
        return store

    @property
    def when(self) -> "Moments":
        """What `--as-of` means here."""
        from alphaagent.moments import Moments

        return Moments(self.desk, self.calendar_of, self.calendar, self._refresh if self.settings.data_mode == "live" else None)

    def _refresh(self, tickers: list[str]) -> None:
        """Fetches everything about these tickers that does not hold any more; one that nobody knows is told of where it is decided."""
        today = self.clock.now().date()
        found = {one.id: one for ticker in tickers for one in self._resolved(ticker, today)}
        self.room.refresh(list(found.values()))

    def _resolved(self, ticker: str, on: date) -> "tuple[Instrument, ...]":
        with suppress(AlphaAgentError):
            return self.desk.market.resolve(ticker, on)
        return ()

    def moment(self, text: str | None) -> datetime:
        """`--as-of` where it belongs to no ticker."""
        return self.when.moment(text)

    def moments(self, text: str | None, tickers: list[str]) -> list[datetime]:
        """`--as-of` for each ticker."""
        return self.when.moments(text, tickers)

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

    def transcript(self, stored: "StoredDecision") -> "Transcript | None":
        """The transcript of a decision's debate; None where no model took part."""
        from alphaagent.debate.record import read_transcript

        content = self.required_store().transcript(stored.record.decision_id) if stored.record.transcript_sha256 else None
        return None if content is None else read_transcript(content)

    def debate_again(self, pack: "EvidencePack", transcript: "Transcript") -> "tuple[EngineResult | None, Transcript]":
        """Holds a recorded debate again, without a socket. Raises ReplayDiffers, or ConfigFault where its client is not installed."""
        from alphaagent.guard.intake import parse_proposal
        from alphaagent.llm.registry import PROVIDERS
        from alphaagent.staffing import recorded_crew

        crew = recorded_crew(transcript.setup, PROVIDERS, lambda raw, ticker: parse_proposal(raw, ticker=ticker), contained_crewai)
        debated = crew.again(pack, transcript)
        return debated.result, debated.transcript

    def listed_decisions(self, limit: int, **filters: str | None) -> "Sequence[dict[str, Any]]":
        """The decisions that pass the filters, newest first. Raises UsageFault on a filter that cannot match."""
        from alphaagent.ledger.listing import asked_for

        return self.required_store().decision_rows(asked_for(**filters), limit)

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
        """Hash of what shapes a result besides the evidence: mandates, lexicon, execution, data mode, fallback; what a crew adds to it, its staff says."""
        settings, mandates = self.settings, {name: mandate.limits_hash for name, mandate in self.mandates.items()}
        return fingerprint([mandates, lexicon, settings.execution, settings.data_mode, settings.allow_fallback])


def hang_up() -> None:
    """Ends the model calls of this process."""
    from alphaagent.engines.crew.engine import hang_up as end_calls

    end_calls()


def new_markers() -> dict[str, str]:
    """A private word for each debater, which nobody could guess and which means nothing."""
    return {side: f"ref-{token_hex(8)}" for side in ("bull", "bear")}
