"""The whole path on one page: a request goes in, evidence is frozen, an engine speaks, the guard rules, the books remember.

`decide` and `settle` are the only places where these parts meet. Everything is gathered before the write transaction and decided
inside it, so that no two runs can spend the same cash. A dry run takes the same path and ends before the transaction.
"""

from contextlib import nullcontext
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from alphaagent import __version__
from alphaagent.desk import (
    DEFAULT_PORTFOLIO,
    Ask,
    Desk,
    find_portfolio,
    first_portfolio,
    fresh_book,
    halt_if_told,
    put_on_file,
    recorded_instrument,
    refuse_if_halted,
    resolve,
    stop_if_unsound,
)
from alphaagent.domain.base import fingerprint, instant_text, sha256_hex
from alphaagent.domain.debate import EngineResult
from alphaagent.domain.evidence import EvidenceItem, EvidencePack
from alphaagent.domain.market import Instrument
from alphaagent.domain.portfolio import Account, Order, OrderStatus, Portfolio
from alphaagent.domain.proposal import TradeProposal
from alphaagent.domain.record import DecisionRecord, EngineName, Request, is_scheduled
from alphaagent.domain.ruling import GuardSnapshot, Outcome, Provenance
from alphaagent.errors import BooksUnsound, NoEvidence, ProviderFault, UsageFault
from alphaagent.evidence.gather import gather
from alphaagent.evidence.gathered import Gathered
from alphaagent.evidence.portfolio_tool import PortfolioView, portfolio_items
from alphaagent.evidence.standing import standing
from alphaagent.execution.marks import mark
from alphaagent.execution.settlement import Settled
from alphaagent.execution.snapshots import BookState, Seen, Subject, decide_snapshot, order_id
from alphaagent.execution.trading import trading
from alphaagent.guard.evaluate import budget, evaluate, reservation
from alphaagent.guard.intake import read_proposal
from alphaagent.guard.mandate import Mandate
from alphaagent.ports import Calendar, Claim, DecisionEngine, Store, StoredDecision

RECENT_DECISIONS = 50


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision and what had to be settled first. `stored` is what is in the books: None for a dry run."""

    record: DecisionRecord
    stored: StoredDecision | None
    repeated: bool = False
    settled: tuple[Settled, ...] = ()


def decide(desk: Desk, ask: Ask) -> Decided:
    """Decides one ticker once. Raises a named fault where nothing was decided; the slot is then free again."""
    instrument, session = resolve(desk, ask.ticker, ask.as_of)
    store = desk.store()
    refuse_if_halted(desk, store)
    stop_if_unsound(store, ask.as_of)
    with store.read() as books:
        portfolio = find_portfolio(books, ask.portfolio)
    request = _request(desk, ask, session)
    claim = store.claim(_slot_key(request, instrument), _request_hash(request), desk.patience())
    if isinstance(claim, StoredDecision):
        return Decided(claim.record, claim, repeated=True)
    finished = False
    try:
        decided = _decide_in_slot(desk, store, portfolio, instrument, request, session, claim)
        finished = True
        return decided
    except ProviderFault as fault:
        with store.write() as books:
            books.record_failure(ask.ticker, ask.portfolio, "PROVIDER", fault.message, ask.as_of)
        raise
    finally:
        if not finished:
            store.release(claim)


def dry_run(desk: Desk, ask: Ask) -> Decided:
    """The same decision with nothing written, on the book as it stood at as_of; without a book, on the starting cash."""
    instrument, session = resolve(desk, ask.ticker, ask.as_of)
    store = desk.existing_store()
    if store:
        refuse_if_halted(desk, store)
    request = _request(desk, ask, session)
    with store.read() if store else nullcontext() as books:
        portfolio = find_portfolio(books, ask.portfolio) if books else _unmade(ask)
        if books is None or portfolio is None or portfolio.opened_at >= ask.as_of:
            book = fresh_book(desk, ask.portfolio, ask.as_of, portfolio)
        else:
            book = desk.settler().book_to_decide(books, portfolio, instrument, session, ask.as_of)
        mandate = desk.mandate(book.account.portfolio.mandate)
        pack, result, provenance, reason = _judgement(desk, instrument, request, session, book, mandate, ())
        record, _ = _ruled(desk, instrument, request, session, book, mandate, pack, result, provenance, reason)
    return Decided(record, None)


def settle(desk: Desk, as_of: datetime, portfolio: str | None = None) -> tuple[Settled, ...]:
    """Settles every order that is due at as_of, oldest first, one transaction an order."""
    if desk.existing_store() is None:
        return ()
    store = desk.store()
    refuse_if_halted(desk, store)
    stop_if_unsound(store, as_of)
    with store.read() as books:
        names = [one for one in books.portfolios() if portfolio in (None, one.name)]
    if portfolio is not None and not names:
        raise UsageFault(f"there is no portfolio {portfolio!r}", fix=f"run `alphaagent portfolio create {portfolio}`")
    return tuple(done for one in names for done in settle_portfolio(desk, store, one, as_of))


def settle_portfolio(desk: Desk, store: Store, portfolio: Portfolio, as_of: datetime) -> tuple[Settled, ...]:
    """Settles one portfolio's due orders."""
    settler, done = desk.settler(), []
    with store.read() as books:
        due = settler.due(books, portfolio, as_of)
    for order in due:
        stored = store.decision(order.decision_id)
        if stored is None:
            raise BooksUnsound(f"the order {order.id} belongs to no decision", fix="run `alphaagent audit verify`")
        instrument = recorded_instrument(desk, stored.record)
        with store.write() as books:
            result = settler.settle(books, stored.record, portfolio, instrument, order, as_of)
            halt_if_told(books, result.ruling if result else None, as_of)
        done += [result] if result else []
    return tuple(done)


def _request(desk: Desk, ask: Ask, session: date) -> Request:
    return Request(
        ticker=ask.ticker,
        as_of=ask.as_of,
        session=session.isoformat(),
        engine=ask.engine,
        plan=None,
        portfolio=ask.portfolio,
        slot=ask.slot,
        configuration=desk.configuration,
    )


def _slot_key(request: Request, instrument: Instrument) -> str:
    parts = ("slot.v1", request.portfolio, instrument.id, request.session, request.slot)
    return sha256_hex("\x1f".join(parts).encode())


def _request_hash(request: Request) -> str:
    return fingerprint([request.engine, request.plan, request.configuration])


def _decide_in_slot(desk: Desk, store: Store, portfolio: Portfolio | None, instrument: Instrument, request: Request, session: date, claim: Claim) -> Decided:
    """Evidence and engine outside of any transaction, ruling and record inside one; a failure before it leaves nothing behind."""
    settled = _brought_up_to(desk, store, portfolio, request, session) if portfolio else ()
    book = _book(desk, store, portfolio, instrument, request, session)
    mandate = desk.mandate(book.account.portfolio.mandate)
    acted = _acted_flags(store, portfolio, instrument) if portfolio else ()
    pack, result, provenance, reason = _judgement(desk, instrument, request, session, book, mandate, acted)
    with store.write() as books:
        owner = first_portfolio(desk, books, request.portfolio, request.as_of)
        _refuse_before_book_time(books.account(owner), request)
        books.register(instrument)
        put_on_file(books, owner, mandate, request.as_of)
        book = desk.settler().book_to_decide(books, owner, instrument, session, request.as_of)
        record, order = _ruled(desk, instrument, request, session, book, mandate, pack, result, provenance, reason)
        books.record_decision(claim, record, order)
        halt_if_told(books, record.ruling, request.as_of)
    return Decided(record, store.decision(record.decision_id), settled=settled)


def _brought_up_to(desk: Desk, store: Store, portfolio: Portfolio, request: Request, session: date) -> tuple[Settled, ...]:
    """Due orders settled and corporate actions booked, in the order in which they happened, before anything new is decided."""
    with store.read() as books:
        _refuse_before_book_time(books.account(portfolio), request)
    settled = settle_portfolio(desk, store, portfolio, request.as_of)
    with store.write() as books:
        desk.settler().bring_up_to(books, portfolio, session)
    return settled


def _book(desk: Desk, store: Store, portfolio: Portfolio | None, instrument: Instrument, request: Request, session: date) -> BookState:
    if portfolio is None:
        return fresh_book(desk, request.portfolio, request.as_of, None)
    with store.read() as books:
        return desk.settler().book_to_decide(books, portfolio, instrument, session, request.as_of)


def _unmade(ask: Ask) -> Portfolio | None:
    """Without books there is only `default`, which the first decision makes: no portfolio. Raises UsageFault for another name."""
    if ask.portfolio != DEFAULT_PORTFOLIO:
        raise UsageFault(f"there is no portfolio {ask.portfolio!r}", fix=f"run `alphaagent portfolio create {ask.portfolio}`")
    return None


def _refuse_before_book_time(account: Account, request: Request) -> None:
    if request.as_of < account.book_time:
        raise UsageFault(
            f"as_of {instant_text(request.as_of)} lies before the book time of {request.portfolio}, {instant_text(account.book_time)}: a book does not go back",
            fix="choose a later --as-of, use --dry-run, or another portfolio",
        )


def _judgement(
    desk: Desk, instrument: Instrument, request: Request, session: date, book: BookState, mandate: Mandate, acted: tuple[str, ...]
) -> tuple[EvidencePack, EngineResult, Provenance, str | None]:
    """Evidence and the engine's word on it; nothing here touches the books."""

    def portfolio_evidence(gathered: Gathered) -> tuple[EvidenceItem, ...]:
        probe = _snapshot(desk, instrument, request, session, book, None, "heuristic", None)
        return portfolio_items(gathered, _view(book, instrument, probe, mandate, acted))

    pack = gather(desk.sources_of(instrument), desk.tools, desk.calendar_of(instrument), instrument, request.ticker, request.as_of, session, portfolio_evidence)
    return pack, *_speak(desk, pack, request.engine)


def _speak(desk: Desk, pack: EvidencePack, asked: EngineName) -> tuple[EngineResult, Provenance, str | None]:
    """The engine that was asked for, or the recorded substitute where that is allowed."""
    heuristic = desk.engines["heuristic"]
    if asked == "heuristic" or (asked == "auto" and desk.provider == "none"):
        return heuristic.decide(pack), "heuristic", None
    if asked == "auto" and desk.provider is None:
        if not desk.allow_fallback:
            raise ProviderFault("no model provider is configured and ALLOW_HEURISTIC_FALLBACK is false", fix="name a provider, or use --engine heuristic")
        return heuristic.decide(pack), "heuristic", None
    try:
        return _crew(desk).decide(pack), "crew", None
    except ProviderFault as fault:
        if not desk.allow_fallback:
            raise
        return heuristic.decide(pack), "fallback", fault.message


def _crew(desk: Desk) -> DecisionEngine:
    if "crew" not in desk.engines:
        raise ProviderFault("this version has no crew engine", fix="use --engine heuristic")
    return desk.engines["crew"]


def _ruled(
    desk: Desk,
    instrument: Instrument,
    request: Request,
    session: date,
    book: BookState,
    mandate: Mandate,
    pack: EvidencePack,
    result: EngineResult,
    provenance: Provenance,
    reason: str | None,
) -> tuple[DecisionRecord, Order | None]:
    """The guard's ruling on the engine's raw text, and the record and order that follow."""
    proposal = read_proposal(result.proposal_text, request.ticker)
    seen = _seen(desk.calendar_of(instrument), pack, proposal)
    snapshot = _snapshot(desk, instrument, request, session, book, result, provenance, seen)
    ruling = evaluate(result.proposal_text, snapshot, mandate, request.as_of)
    key = fingerprint([_slot_key(request, instrument), _request_hash(request), pack.sha256])
    record = DecisionRecord(
        program_version=__version__,
        decision_id=f"dec_{key[:16]}",
        request=request,
        instrument_id=instrument.id,
        provenance=provenance,
        execution_mode="live",
        fallback_reason=reason,
        pack=pack,
        result=result,
        proposal=proposal,
        snapshot=snapshot,
        mandate=mandate.record(),
        ruling=ruling,
    )
    return record, _order(record, book, instrument, mandate)


def _snapshot(
    desk: Desk,
    instrument: Instrument,
    request: Request,
    session: date,
    book: BookState,
    result: EngineResult | None,
    provenance: Provenance,
    seen: Seen | None,
) -> GuardSnapshot:
    quote = desk.market.quote(instrument, request.as_of)
    if quote is None:
        raise NoEvidence(f"{request.ticker} has no price before {request.as_of.isoformat()}", fix="choose a later --as-of")
    subject = Subject(
        ticker=request.ticker,
        candidates=tuple(found.id for found in desk.market.resolve(request.ticker, session)),
        instrument=instrument,
        provenance=provenance,
        execution_mode="live",
        base_rate=Decimal(result.base_rate) if result and result.base_rate else None,
        rule_driven=result.rule_driven if result else False,
    )
    calendar = desk.calendar_of(instrument)
    fill_session = calendar.first_opening_after(request.as_of)
    price = mark(desk.market, instrument, request.as_of) or quote.price
    return decide_snapshot(
        subject,
        book,
        calendar,
        trading(desk.market, instrument, request.as_of),
        at=request.as_of,
        session=session,
        bar_session=quote.session,
        fill_session=fill_session,
        price=price,
        scheduled=is_scheduled(request.slot),
        seen=seen,
    )


def _seen(calendar: Calendar, pack: EvidencePack, proposal: TradeProposal | None) -> Seen:
    """What the engine stood on, and the budget that it was shown."""
    stands = standing(pack, (proposal.relied_on if proposal else None) or (), calendar)
    (portfolio,) = pack.find("get_portfolio", "portfolio")
    return Seen(stands.count, stands.age_sessions, stands.tainted, Decimal(portfolio.payload["budget"]))


def _view(book: BookState, instrument: Instrument, probe: GuardSnapshot, mandate: Mandate, acted: tuple[str, ...]) -> PortfolioView:
    return PortfolioView(
        name=book.account.portfolio.name,
        currency=book.account.portfolio.currency,
        cash=book.account.cash,
        equity=book.equity,
        quantity=book.account.held(instrument.id),
        price=probe.price or Decimal(0),
        pending=(probe.pending_buy or Decimal(0)) - (probe.pending_sell or Decimal(0)),
        budget=budget(probe, mandate),
        risk_profile=mandate.risk_profile,
        acted_flags=acted,
    )


def _order(record: DecisionRecord, book: BookState, instrument: Instrument, mandate: Mandate) -> Order | None:
    """The pending order of an approved or clipped ruling; None for HOLD and for a block."""
    ruling, snapshot = record.ruling, record.snapshot
    if ruling.outcome is Outcome.BLOCK or ruling.side is None or ruling.quantity_out == 0 or ruling.price is None or snapshot.fill_session is None:
        return None
    return Order(
        id=order_id(record.decision_id),
        decision_id=record.decision_id,
        portfolio_id=book.account.portfolio.id,
        instrument_id=instrument.id,
        symbol=instrument.symbol,
        side=ruling.side,
        quantity=ruling.quantity_out,
        decision_price=ruling.price,
        status=OrderStatus.PENDING,
        decided_at=record.request.as_of,
        fill_session=snapshot.fill_session,
        close_all=ruling.close_all,
        reserved=reservation(ruling, mandate),
    )


def _acted_flags(store: Store, portfolio: Portfolio, instrument: Instrument) -> tuple[str, ...]:
    """Hard flags that a sale of this name has answered already."""
    past = store.decisions(ticker=instrument.symbol, portfolio=portfolio.name, limit=RECENT_DECISIONS)
    answered = (flag for one in past if one.order and one.order.status in (OrderStatus.PENDING, OrderStatus.FILLED) for flag in one.record.result.acted_flags)
    return tuple(sorted(set(answered)))
