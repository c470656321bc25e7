"""The desk: everything wired, what may be asked of it, and the doors that stand before any decision."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from alphaagent.debate.events import Watch, unwatched
from alphaagent.debate.record import Setup
from alphaagent.domain.base import canonical
from alphaagent.domain.evidence import ToolName
from alphaagent.domain.lots import LotMethod
from alphaagent.domain.market import Instrument
from alphaagent.domain.portfolio import Account, Activity, Portfolio
from alphaagent.domain.record import DecisionRecord, EngineName, PlanName
from alphaagent.domain.ruling import ControlState, GuardSnapshot, Ruling
from alphaagent.domain.spend import SpendLimit
from alphaagent.errors import BooksUnsound, ConfigFault, Halted, NoEvidence, NotBegun, UsageFault
from alphaagent.evidence.gather import SecondSource, Supplier, Tool, recorded
from alphaagent.evidence.index_history import IndexHistory
from alphaagent.evidence.sources.own_prices import OwnPrices
from alphaagent.execution.settlement import Settler
from alphaagent.execution.snapshots import BookState
from alphaagent.guard.evaluate import evaluate
from alphaagent.guard.limits import loosened
from alphaagent.guard.mandate import Mandate
from alphaagent.guard.rules.e10_market_stress import MarketStress
from alphaagent.llm.till import Till
from alphaagent.portfolio_files import PortfolioFile
from alphaagent.ports import Books, Broker, Calendar, Clock, Control, DecisionEngine, EvidenceSource, MarketData, Store, Supply

if TYPE_CHECKING:
    from alphaagent.staffing import Staff

DEFAULT_PORTFOLIO = "default"
BASE_CURRENCY = "USD"


@dataclass(frozen=True, slots=True)
class Ask:
    """One request to decide one ticker."""

    ticker: str
    as_of: datetime
    engine: EngineName = "auto"
    portfolio: str = DEFAULT_PORTFOLIO
    slot: str = "manual"
    plan: PlanName | None = None
    """None: the configured one."""
    reduce_only: bool = False
    """Held, and not among the names that may be bought: the guard refuses what opens."""
    rank: int = 0
    """The place in the queue for the models' money, least first; the ticker decides between equals."""


@dataclass(frozen=True, slots=True)
class Opening:
    """What a portfolio is made with on its first use."""

    cash: Decimal
    mandate: str


@dataclass(frozen=True, slots=True)
class Desk:
    """Everything wired; `bootstrap` is the only maker."""

    clock: Clock
    calendar_of: Callable[[Instrument], Calendar]
    """The sessions of the exchange that an instrument trades on."""
    market: MarketData
    sources: Mapping[Supply, EvidenceSource]
    """Of recorded data; none where the data are live."""
    own_prices: OwnPrices | None
    """Prices that take the place of any other's, by the user's own choice."""
    tools: Mapping[ToolName, Tool]
    index: IndexHistory
    engines: Mapping[str, DecisionEngine]
    mandates: Mapping[str, Mandate]
    broker: Broker
    store: Callable[[], Store]
    """Opens the books, making them where they are missing."""
    existing_store: Callable[[], Store | None]
    slot_patience_seconds: float
    """How long to wait for another run that is deciding the same slot."""
    sleep: Callable[[float], None]
    staff: "Callable[[], Staff | None]"
    """The crew that is configured, made when it is first asked for; None where no model is. Raises ConfigFault."""
    markers: Callable[[], Mapping[str, str]]
    """A private word for each debater, new for every debate."""
    provider: str | None
    """As named: None where nobody named one."""
    allow_fallback: bool
    daily_spend: Decimal | None
    """The ceiling in USD on what models may cost on a UTC day; None for none."""
    starting_cash: Decimal
    default_mandate: str
    lot_method: LotMethod
    configuration: str
    halt_file: Path
    halt_variable: bool
    hang_up: Callable[[], None] = lambda: None
    """Ends the model calls of every debate that is going on."""
    till: Till = field(default_factory=Till)
    tell_asking: Callable[[Setup, Decimal | None], None] = lambda _setup, _most: None
    """Hears of every debate right before its first request: how it is set up, and the most that it can cost in USD where that is known."""
    watch: Watch = unwatched
    """Opens the stream of every debate that ends in a decision; a dry run writes nothing, and has none."""
    live: Mapping[Supply, Supplier] | None = None
    """Of live data; None where the data are recorded."""
    second: SecondSource | None = None
    """Who is asked for the last close as well; None for nobody."""
    prepare: Callable[[Iterable[Instrument], datetime], None] = lambda _instruments, _as_of: None
    """Fetches the prices that an instant needs, so that nobody waits for a vendor while the books are locked; a failure shows where they are used."""
    check_books: Callable[[], str | None] | None = None
    """Why the books as a whole cannot be trusted, or None: every link of the chain and every posting, once a process."""
    portfolio_files: Callable[[], Mapping[str, PortfolioFile]] = dict
    """What config/portfolios says of portfolios, by name. Raises ConfigFault."""
    spend_limits: Callable[[str], tuple[SpendLimit, ...]] | None = None
    """What a portfolio's debates may come to on a day, by its name; None for what its file says."""
    at_once: int | None = None
    """How many tickers are heard at once; None as configured."""
    begin: Callable[[], None] = lambda: None
    """Called before a ticker is heard and before a debate is paid for. Raises NotBegun where nothing more may begin."""

    @property
    def plain_opening(self) -> Opening:
        """What a portfolio is made with that has no file."""
        return Opening(self.starting_cash, self.default_mandate)

    def opening(self, name: str) -> Opening | None:
        """What a portfolio is made with on its first use; None where it has to be made by hand: it is not `default` and has no file."""
        file = self.portfolio_files().get(name)
        if file is None:
            return self.plain_opening if name == DEFAULT_PORTFOLIO else None
        return Opening(self.starting_cash if file.cash is None else file.cash, file.mandate or self.default_mandate)

    def limits_on_spend(self, portfolio: str) -> tuple[SpendLimit, ...]:
        """What limits a portfolio's debates besides the ceiling over all of them."""
        if self.spend_limits is not None:
            return self.spend_limits(portfolio)
        file = self.portfolio_files().get(portfolio)
        return (daily_budget(portfolio, file.daily_spend_usd),) if file is not None and file.daily_spend_usd is not None else ()

    def suppliers_of(self, instrument: Instrument) -> Mapping[Supply, Supplier]:
        """Where the evidence on an instrument comes from: its prices out of the user's own folder where they are there."""
        suppliers = dict(self.live) if self.live is not None else {supply: recorded(source) for supply, source in self.sources.items()}
        if self.own_prices is not None and self.own_prices.has(instrument):
            suppliers["prices"] = recorded(self.own_prices)
        return suppliers

    def mandate(self, name: str) -> Mandate:
        """A mandate by name. Raises ConfigFault that lists the names there are."""
        if name not in self.mandates:
            raise ConfigFault(f"the mandate {name!r} is not in mandate.yaml", fix=f"use one of: {', '.join(sorted(self.mandates))}")
        return self.mandates[name]

    def control(self, stored: Control | None) -> tuple[ControlState, tuple[str, ...]]:
        """The kill switch: the strictest of database, file flag and environment; a missing database row is HALTED."""
        sources = [("file", self.halt_file.exists()), ("environment", self.halt_variable), ("database", stored is None or stored.state == "HALTED")]
        halted = tuple(name for name, on in sources if on)
        if halted:
            return "HALTED", halted
        return ("REDUCING", ("database",)) if stored and stored.state == "REDUCING" else ("ACTIVE", ())

    def control_without_books(self) -> tuple[ControlState, tuple[str, ...]]:
        """The kill switch where no books exist yet: file flag and environment alone."""
        return self.control(Control("ACTIVE", "", datetime.min.replace(tzinfo=UTC)))

    def patience(self) -> Callable[[float], None]:
        """A wait that gives up: raises NotBegun once `slot_patience_seconds` have been waited in all."""
        waited = 0.0

        def wait(seconds: float) -> None:
            nonlocal waited
            if waited >= self.slot_patience_seconds:
                raise NotBegun(f"another run has been deciding this slot for {waited:.0f} seconds", fix="try again later, or use another --slot")
            self.sleep(seconds)
            waited += seconds

        return wait

    def settler(self) -> Settler:
        """Settlement with this desk's guard."""
        return Settler(self.market, self.calendar_of, self.broker, self._judge, self.control, self.lot_method, self._index_of_record, _approved)

    def index_change(self, mandate: Mandate, instrument: Instrument, session: date) -> Decimal | None:
        """The index's change on a completed session, where the mandate configures one for E10."""
        if all(rule.index == "none" for rule in mandate.rules if isinstance(rule, MarketStress)):
            return None
        return self.index.change(instrument.mic, session, self.calendar_of(instrument))

    def _index_of_record(self, record: DecisionRecord, instrument: Instrument, session: date) -> Decimal | None:
        """The same under the mandate that a decision was recorded with."""
        return self.index_change(Mandate.from_record(record.mandate, record.decision_id), instrument, session)

    def _judge(self, record: DecisionRecord, snapshot: GuardSnapshot, at: datetime) -> Ruling:
        return evaluate(record.result.proposal_text, snapshot, Mandate.from_record(record.mandate, record.decision_id), at)


def _approved(record: DecisionRecord) -> str:
    """The hash of the limits that an order was approved under, as these rules write it."""
    return Mandate.approved_hash(record.mandate, record.ruling.limits_hash, record.decision_id)


def resolve(desk: Desk, ticker: str, as_of: datetime) -> tuple[Instrument, date]:
    """The one instrument behind a ticker and its exchange's last session completed at as_of. Raises NoEvidence or UsageFault."""
    found = _named(desk, ticker, as_of)
    if not found:
        if desk.live is not None:
            raise NoEvidence(f"{ticker} is unknown to every vendor asked", fix="check the spelling, or describe it in config/instruments.yaml")
        raise NoEvidence(f"{ticker} is unknown here", fix=f"known tickers: {', '.join(desk.market.tickers())}")
    if len(found) > 1:
        raise UsageFault(f"{ticker} is ambiguous at {as_of.date()}: {', '.join(one.id for one, _ in found)}", fix="use one of these ids")
    return found[0]


def _named(desk: Desk, ticker: str, as_of: datetime) -> list[tuple[Instrument, date]]:
    """Every instrument that the ticker names on the last session of its own exchange, with that session."""
    before = as_of - timedelta(days=1)
    around = {one.id: one for day in (as_of.date(), before.date()) for one in desk.market.resolve(ticker, day)}
    dated = [(one, desk.calendar_of(one).last_completed(as_of)) for one in around.values()]
    return [(one, session) for one, session in dated if one in desk.market.resolve(ticker, session)]


def refuse_if_halted(desk: Desk, store: Store) -> None:
    """Raises Halted: a halted system evaluates nothing and calls no model."""
    with store.read() as books:
        stored = books.control()
    state, sources = desk.control(stored)
    if state == "HALTED":
        reason = f": {stored.reason}" if stored and stored.reason and "database" in sources else ""
        raise Halted(f"the system is halted by {' and '.join(sources)}{reason}", fix=_resume_hint(desk, sources))


def _resume_hint(desk: Desk, sources: tuple[str, ...]) -> str:
    hints = {
        "database": "run `alphaagent resume --reason WHY`",
        "file": f"remove {desk.halt_file.name} from the data folder",
        "environment": "unset ALPHAAGENT_HALT",
    }
    return ", then ".join(hints[source] for source in sources)


def daily_budget(portfolio: str, usd: Decimal) -> SpendLimit:
    """A portfolio's own budget, in words."""
    fix = f"raise daily_spend_usd in portfolios/{portfolio}.yaml, or wait for the next UTC day; `alphaagent spend` shows what it went to"
    return SpendLimit(f"the budget of {portfolio}", usd, fix)


def find_portfolio(desk: Desk, books: Books, name: str) -> Portfolio | None:
    """The portfolio of that name; None where the first decision will make it: `default`, or one with a file. Raises UsageFault."""
    found = books.portfolio(name)
    if found is None and desk.opening(name) is None:
        names = ", ".join(one.name for one in books.portfolios()) or "none yet"
        raise UsageFault(f"there is no portfolio {name!r} (there is: {names})", fix=f"run `alphaagent portfolio create {name}`")
    return found


def first_portfolio(desk: Desk, books: Books, name: str, as_of: datetime) -> Portfolio:
    """The portfolio of that name, made just before as_of where this is its first use."""
    found = find_portfolio(desk, books, name)
    if found is not None:
        return found
    opening = desk.opening(name) or desk.plain_opening
    return create_portfolio(desk, books, name, opening.mandate, opening.cash, as_of - timedelta(seconds=1))


def create_portfolio(desk: Desk, books: Books, name: str, mandate: str, cash: Decimal, at: datetime) -> Portfolio:
    """A portfolio with its opening deposit and its mandate on file."""
    chosen = desk.mandate(mandate)
    made = books.create_portfolio(name, currency=BASE_CURRENCY, kind="paper", mandate=mandate, cash=cash, at=at)
    put_on_file(books, made, chosen, at)
    return made


def put_on_file(books: Books, portfolio: Portfolio, mandate: Mandate, at: datetime) -> None:
    """The mandate in force, with the limits that it loosens compared with the one on file."""
    if books.limits_on_file(portfolio) == mandate.limits_hash:
        return
    before = books.limits_document(portfolio)
    looser = loosened(Mandate.from_record(json.loads(before), "the mandate on file"), mandate) if before else ()
    books.record_limits(portfolio, mandate.limits_hash, canonical(mandate.record()), at, looser)


def fresh_book(desk: Desk, name: str, as_of: datetime, existing: Portfolio | None) -> BookState:
    """A book that does not exist yet: its opening cash and nothing else."""
    opened = as_of - timedelta(seconds=1)
    opening = desk.opening(name) or desk.plain_opening
    mandate = existing.mandate if existing else opening.mandate
    portfolio = Portfolio(id=0, name=name, currency=BASE_CURRENCY, kind="paper", mandate=mandate, opened_at=opened)
    account = Account(portfolio=portfolio, book_time=opened, cash=opening.cash, settled_cash=opening.cash, positions=(), pending=())
    state, sources = desk.control_without_books()
    if state == "HALTED":
        raise Halted(f"the system is halted by {' and '.join(sources)}", fix=_resume_hint(desk, sources))
    return BookState(
        account=account,
        equity=opening.cash,
        control_state=state,
        control_sources=sources,
        books_fault=None,
        limits_on_file=desk.mandate(mandate).limits_hash,
        activity=Activity(),
    )


def refuse_if_frozen(books: Books, portfolio: Portfolio, instrument: Instrument) -> None:
    """Raises UsageFault where something has happened to a name that nobody has looked at yet."""
    for name in books.frozen_names(portfolio):
        if name.instrument_id == instrument.id:
            raise UsageFault(
                f"{name.symbol} is frozen in portfolio {portfolio.name}: {name.reason} cannot be booked, so that the holding is not known",
                fix=f"see what happened, then run `alphaagent portfolio unfreeze {portfolio.name} {name.symbol} --reason WHY`",
            )


def recorded_instrument(desk: Desk, record: DecisionRecord) -> Instrument:
    found = [one for one in desk.market.resolve(record.request.ticker, date.fromisoformat(record.request.session)) if one.id == record.instrument_id]
    if not found:
        raise NoEvidence(f"{record.request.ticker} of decision {record.decision_id} is unknown here", fix="restore the data that the decision was made on")
    return found[0]


def stop_if_unsound(store: Store, at: datetime, check_all: Callable[[], str | None] | None = None) -> None:
    """Halts the system, audited, where the books cannot be trusted; `check_all` is the whole check, made once a process. Raises BooksUnsound."""
    with store.read() as books:
        fault = books.soundness_fault()
    if fault is None and check_all is not None:
        fault = check_all()
    if fault is None:
        return
    with store.write() as books:
        books.set_control("HALTED", f"the books are unsound: {fault}", "guard", at)
    raise BooksUnsound(f"the books are unsound: {fault}", fix="run `alphaagent audit verify`, reconcile, then `alphaagent resume --reason WHY`")


def halt_if_told(books: Books, ruling: Ruling | None, at: datetime) -> None:
    if ruling is not None and ruling.halt:
        books.set_control("HALTED", ruling.halt, "guard", at)
