"""The sockets. A source, an engine, a calendar, a clock, market data and a store are anything that has these shapes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Literal, Protocol

from alphaagent.domain.debate import EngineResult
from alphaagent.domain.evidence import EvidencePack
from alphaagent.domain.lots import Gain, Lot, LotMethod, OpeningLot
from alphaagent.domain.market import Bar, CorporateAction, Instrument, Quote, Records
from alphaagent.domain.portfolio import Account, Activity, FrozenName, Order, OrderStatus, Portfolio, PortfolioKind
from alphaagent.domain.record import DecisionRecord, Usage
from alphaagent.domain.ruling import ControlState, GuardSnapshot, Ruling
from alphaagent.domain.spend import SpendAsk, SpendLimit, SpendRef, SpendTotal
from alphaagent.domain.sweep import Swept

Supply = Literal["prices", "fundamentals", "news", "events"]


class Clock(Protocol):
    """The only thing that knows what time it is."""

    def now(self) -> datetime:
        """Aware UTC."""
        ...


class Calendar(Protocol):
    """The sessions of one exchange. Every instant is aware UTC; a date outside `first`..`last` raises UsageFault."""

    def __hash__(self) -> int:
        """A calendar is part of the key of what is parsed by it."""
        ...

    @property
    def first(self) -> date: ...
    @property
    def last(self) -> date: ...
    def is_session(self, day: date) -> bool: ...
    def opens(self, session: date) -> datetime: ...
    def closes(self, session: date) -> datetime: ...
    def next_session(self, day: date) -> date:
        """The first session strictly after a date."""
        ...

    def previous_session(self, day: date) -> date:
        """The last session strictly before a date."""
        ...

    def last_completed(self, at: datetime) -> date:
        """The last session whose close is strictly before an instant."""
        ...

    def first_opening_after(self, at: datetime) -> date:
        """The first session whose open is at or after an instant: where an order decided then fills."""
        ...

    def sessions_between(self, earlier: date, later: date) -> int:
        """How many sessions lie in (earlier, later]."""
        ...


class EvidenceSource(Protocol):
    """Where one supply of evidence comes from. `fetch` touches the world and `parse` is pure."""

    @property
    def name(self) -> str: ...
    @property
    def supplies(self) -> Supply: ...
    def fetch(self, instrument: Instrument) -> bytes | None:
        """The raw document; None where the source has nothing for this instrument. Raises SourceFault."""
        ...

    def parse(self, raw: bytes, instrument: Instrument, calendar: Calendar) -> Records:
        """Dated records in order of known_at; unusable rows become `faults`. Raises SourceFault on an unreadable document."""
        ...


class MarketData(Protocol):
    """Prices for the guard, the marks and the fills; nothing known at or after `as_of` is returned."""

    def resolve(self, ticker: str, on: date) -> tuple[Instrument, ...]:
        """Every instrument that a ticker or alias names on a date: none, one, or an ambiguity."""
        ...

    def tickers(self) -> tuple[str, ...]: ...
    def quote(self, instrument: Instrument, as_of: datetime) -> Quote | None:
        """The last close known strictly before as_of, as traded."""
        ...

    def bar(self, instrument: Instrument, session: date) -> Bar | None: ...
    def bars_before(self, instrument: Instrument, as_of: datetime, count: int) -> tuple[Bar, ...]:
        """The last bars known strictly before as_of, at most `count`, oldest first."""
        ...

    def actions(self, instrument: Instrument, after: date, upto: date) -> tuple[CorporateAction, ...]:
        """Corporate actions with ex-date in (after, upto], in order."""
        ...

    def last_session(self, instrument: Instrument) -> date | None:
        """The last session with a bar."""
        ...


class DecisionEngine(Protocol):
    """A pack goes in; raw proposal text and two cases come out. Raises ProviderFault."""

    @property
    def name(self) -> Literal["heuristic", "crew"]: ...
    def decide(self, pack: EvidencePack, *, reducing_only: bool = False) -> EngineResult:
        """`reducing_only`: a purchase becomes a HOLD that says so."""
        ...


@dataclass(frozen=True, slots=True)
class Fill:
    """What a broker did: price per share and fee in the portfolio's currency."""

    price: Decimal
    fee: Decimal


class Broker(Protocol):
    """Turns an order and the price of its session's open into a fill."""

    def fill(self, side: Literal["BUY", "SELL"], quantity: Decimal, open_price: Decimal) -> Fill: ...


@dataclass(frozen=True, slots=True)
class Control:
    """The kill switch as the database holds it."""

    state: ControlState
    reason: str
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class AuditRef:
    seq: int
    hash: str


@dataclass(frozen=True, slots=True)
class ActionBooked:
    """What a corporate action did to a portfolio: what shares and cash changed by, or that the name is frozen because nobody can tell."""

    audit: AuditRef
    frozen: bool
    shares: Decimal = Decimal(0)
    cash: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class StoredDecision:
    """A decision as the store gives it back, with what became of it since."""

    record: DecisionRecord
    audit: AuditRef
    order: Order | None
    rulings: tuple[tuple[GuardSnapshot, Ruling], ...]
    """One per stage, in the order in which they were made."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A slot that this run holds; nobody else can decide it until it is finished or released."""

    key: str
    token: str


class Books(Protocol):
    """The ledger inside one transaction. Under `Store.write()` all of it commits together or not at all."""

    def portfolio(self, name: str) -> Portfolio | None: ...
    def portfolios(self) -> tuple[Portfolio, ...]: ...
    def create_portfolio(self, name: str, *, currency: str, kind: PortfolioKind, mandate: str, cash: Decimal, at: datetime) -> Portfolio: ...
    def deposit(self, portfolio: Portfolio, amount: Decimal, at: datetime) -> AuditRef: ...
    def withdraw(self, portfolio: Portfolio, amount: Decimal, at: datetime) -> AuditRef:
        """Settled, unreserved cash goes back to the owner; UsageFault where there is less."""
        ...

    def refuse_import(self, portfolio: Portfolio) -> None:
        """Raises UsageFault where a portfolio has a decision or has held anything."""
        ...

    def record_import(self, portfolio: Portfolio, lots: Sequence[OpeningLot], cash: Decimal, source_sha256: str, at: datetime) -> AuditRef:
        """Holdings and cash as the opening of a portfolio, in one transaction; UsageFault where it has a decision or has held anything."""
        ...

    def account(self, portfolio: Portfolio, *, at: datetime | None = None) -> Account:
        """The derived state; with `at`, from the postings and orders made up to that instant."""
        ...

    def activity(self, portfolio: Portfolio, instrument_id: str, session: date, at: datetime) -> Activity:
        """What the portfolio has decided and ordered in a session up to an instant, with what concerns one instrument."""
        ...

    def control(self) -> Control | None:
        """None where the state is missing or unreadable, which means HALTED."""
        ...

    def set_control(self, state: ControlState, reason: str, actor: str, at: datetime) -> AuditRef | None:
        """Changes the kill switch; None, and no audit row, where nothing changes."""
        ...

    def soundness_fault(self) -> str | None:
        """The O(1) check of rule B2: the chain's head, the balance, the schema. None where all is sound."""
        ...

    def limits_on_file(self, portfolio: Portfolio) -> str | None: ...
    def limits_document(self, portfolio: Portfolio) -> bytes | None:
        """The mandate on file, as it was given to `record_limits`."""
        ...

    def record_limits(self, portfolio: Portfolio, limits_hash: str, document: bytes, at: datetime, looser: Sequence[str] = ()) -> AuditRef | None:
        """Puts a mandate on file; where it differs from the one before, an audit row `limits_changed` that names the limits that got looser."""
        ...

    def record_decision(self, claim: Claim, record: DecisionRecord, order: Order | None, transcript: bytes | None = None) -> AuditRef:
        """Decision, ruling, order, blobs, audit row and the slot's end, in this transaction. UsageFault where the claim has been lost.

        AlphaAgentError where the transcript is not the one that the record names.
        """
        ...

    def record_failure(self, tickers: str | Sequence[str], portfolio: str, code: str, message: str, at: datetime, transcript: bytes | None = None) -> AuditRef:
        """That nothing was decided and why, with the transcript of the debate that failed where there was one. Of several tickers it is one event."""
        ...

    def record_sweep(self, portfolio: str, swept: Swept, at: datetime) -> AuditRef | None:
        """What a pass over a watchlist came to, as one event. None, and no audit row, where it changed nothing and found nothing new wrong."""
        ...

    def record_fill(
        self,
        order: Order,
        snapshot: GuardSnapshot,
        ruling: Ruling,
        *,
        price: Decimal,
        fee: Decimal,
        at: datetime,
        settle_on: date,
        lot_method: LotMethod = "fifo",
    ) -> AuditRef:
        """Ruling of stage settle, the trade's postings, the order's new state (its quantity and price are the fill's), audit row."""
        ...

    def record_unfilled(self, order: Order, status: OrderStatus, reason: str, at: datetime, snapshot: GuardSnapshot | None, ruling: Ruling | None) -> AuditRef:
        """An order that expired or that the guard refused at settlement."""
        ...

    def record_action(self, portfolio: Portfolio, instrument: Instrument, action: CorporateAction, at: datetime) -> ActionBooked | None:
        """Books an action on what is held at its ex-date, or freezes the name where it cannot be booked; once. None where it changes nothing."""
        ...

    def frozen(self, portfolio: Portfolio) -> frozenset[str]:
        """The ids of the instruments in which no order is accepted or settled."""
        ...

    def frozen_names(self, portfolio: Portfolio) -> tuple[FrozenName, ...]: ...
    def unfreeze(self, portfolio: Portfolio, instrument_id: str, reason: str, actor: str, at: datetime) -> AuditRef: ...
    def lots(self, portfolio: Portfolio, *, at: datetime | None = None) -> tuple[Lot, ...]: ...
    def gains(self, portfolio: Portfolio) -> tuple[Gain, ...]: ...

    def held_instruments(self, portfolio: Portfolio) -> tuple[Instrument, ...]: ...
    def instruments(self, ids: Sequence[str]) -> tuple[Instrument, ...]:
        """Those of these instruments that the ledger knows."""
        ...

    def register(self, instrument: Instrument) -> None:
        """Makes an instrument known to the ledger; the same one again is nothing."""
        ...

    def due_orders(self, portfolio: Portfolio | None, fill_by: date) -> tuple[Order, ...]:
        """Pending orders whose fill session is at or before a date, oldest first."""
        ...


class Spending(Protocol):
    """What model calls cost, kept under a ceiling per UTC day across processes. Each call is a short write transaction of its own."""

    def reserve_spend(self, ask: SpendAsk, ceiling: Decimal | None, limits: Sequence[SpendLimit] = ()) -> SpendRef:
        """Holds the most that a debate can cost; no ceiling is None. A reservation that is never booked stays counted at its most.

        The ceiling is over all portfolios, `limits` are over the one that asks. Raises SpendRefused where any of them would be passed, or where
        there is one and the price is not known.
        """
        ...

    def book_spend(self, token: str, usage: Usage, cost: Decimal | None, decision_id: str | None) -> AuditRef:
        """What was really spent, in place of the reservation; cost None where the price is not known. AlphaAgentError a second time."""
        ...

    def release_spend(self, token: str) -> AuditRef:
        """Books that nothing was spent. AlphaAgentError where it has been booked."""
        ...

    def spent_on(self, day: date, portfolio: str | None = None) -> SpendTotal:
        """What a day adds up to, of one portfolio or of all."""
        ...

    def last_debates(self, portfolio: str) -> Mapping[str, datetime]:
        """When money was last held for a debate on each ticker of a portfolio, whatever came of it."""
        ...


class Store(Spending, Protocol):
    """Where everything that happened is written once."""

    def write(self) -> AbstractContextManager[Books]:
        """One write transaction, taken before anything is read in it."""
        ...

    def read(self) -> AbstractContextManager[Books]: ...
    def claim(self, key: str, request_hash: str, wait: Callable[[float], None]) -> Claim | StoredDecision:
        """The slot for this run, or the decision that took it; waits, by `wait(seconds)`, while another run holds it.

        Raises UsageFault where a different request took it.
        """
        ...

    def decided_in(self, key: str) -> StoredDecision | None:
        """The decision that took a slot; None where it is free or still held."""
        ...

    def renew(self, claims: Iterable[Claim]) -> None:
        """Begins the lease of slots anew that a long run still holds."""
        ...

    def release(self, claim: Claim) -> None: ...
    def decision(self, decision_id: str) -> StoredDecision | None: ...
    def transcript(self, decision_id: str) -> bytes | None:
        """The transcript of a decision's debate; None where there was no debate, or no such decision. BooksUnsound where it is missing or changed."""
        ...

    def decisions(self, *, ticker: str | None = None, portfolio: str | None = None, limit: int = 50) -> Sequence[StoredDecision]: ...
