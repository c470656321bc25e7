"""The whole path on one page: requests go in, evidence is frozen, an engine speaks, the guard rules, the books remember.

`decide_many` and `settle` are the only places where these parts meet. Everything is gathered before the write transaction and decided
inside it, so that no two runs can spend the same cash. Several tickers are heard first and served afterwards, in a stated order, so that the
order in which they were asked for cannot matter. A dry run takes the same path and ends before the transaction.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby

from alphaagent import __version__
from alphaagent.desk import (
    Ask,
    Desk,
    fresh_book,
    halt_if_told,
    open_portfolio,
    refuse_if_frozen,
    refuse_if_halted,
    stop_if_unsound,
)
from alphaagent.domain.base import canonical, fingerprint, instant_text
from alphaagent.domain.market import Instrument
from alphaagent.domain.portfolio import Account, Order, OrderStatus, Portfolio
from alphaagent.domain.record import DecisionRecord
from alphaagent.domain.ruling import Outcome
from alphaagent.errors import AlphaAgentError, ProviderFault, UsageFault
from alphaagent.execution.snapshots import BookState, order_id
from alphaagent.guard.evaluate import evaluate, reservation
from alphaagent.guard.intake import read_proposal
from alphaagent.guard.mandate import Mandate
from alphaagent.judgement import Matter, Opinion, allocation_order, form_opinion, matter_of, snapshot_of
from alphaagent.ports import Claim, Store, StoredDecision
from alphaagent.settling import Happened, settle, settle_portfolio

__all__ = ["Decided", "decide", "decide_many", "dry_run", "settle", "settle_portfolio"]

RECENT_DECISIONS = 50
EVIDENCE_THREADS = 4
"""Tickers whose evidence is gathered at once: waiting for vendors overlaps, computing does not."""


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision and what had to be settled first. `stored` is what is in the books: None for a dry run."""

    record: DecisionRecord
    stored: StoredDecision | None
    repeated: bool = False
    settled: tuple[Happened, ...] = ()


Result = Decided | AlphaAgentError
"""What became of one request: the fault of one costs that one alone."""


@dataclass(frozen=True, slots=True)
class _Held:
    """A slot that this run holds, and what is to be decided in it."""

    ask: Ask
    matter: Matter
    claim: Claim


def decide(desk: Desk, ask: Ask) -> Decided:
    """Decides one ticker once. Raises a named fault where nothing was decided; the slot is then free again."""
    (result,) = decide_many(desk, (ask,))
    if isinstance(result, AlphaAgentError):
        raise result
    return result


def decide_many(desk: Desk, asks: Sequence[Ask], tell: Callable[[str, str], None] = lambda _ticker, _stage: None) -> tuple[Result, ...]:
    """One result per request, in their order. Cash is allocated by `allocation_order`, whatever the order of the requests.

    `tell` hears of each ticker and stage ("decided", "failed: ...") as soon as it is known. A ticker that is asked for twice is decided once.
    """
    results: dict[int, Result] = {}
    ready = sorted(enumerate(asks), key=lambda pair: (pair[1].as_of, pair[1].portfolio))
    for _, group in groupby(ready, key=lambda pair: (pair[1].as_of, pair[1].portfolio)):
        remaining = list(group)
        while remaining:
            results |= _decide_batch(desk, dict(remaining), tell)
            remaining = [(place, ask) for place, ask in remaining if place not in results]
    return tuple(results[place] for place in range(len(asks)))


def dry_run(desk: Desk, ask: Ask) -> Decided:
    """The same decision with nothing written, on the book as it stood at as_of; without a book, on the starting cash."""
    matter, store = matter_of(desk, ask), desk.existing_store()
    with store.read() if store else nullcontext() as books:
        portfolio = books.portfolio(ask.portfolio) if books else None
        if books is None or portfolio is None or portfolio.opened_at > ask.as_of:
            book = fresh_book(desk, ask, portfolio)
        else:
            refuse_if_frozen(books, portfolio, matter.instrument)
            book = desk.settler().book_state(books, portfolio, ask.as_of, {})
        mandate = desk.mandate(book.account.portfolio.mandate)
        opinion = form_opinion(desk, matter, book, mandate, ())
        record, _ = _ruled(desk, matter, book, mandate, opinion)
    return Decided(record, None)


def _decide_batch(desk: Desk, asks: Mapping[int, Ask], tell: Callable[[str, str], None]) -> dict[int, Result]:
    """Requests of one portfolio and instant. One whose slot another of them holds is left out: its turn comes when that one is done."""
    results: dict[int, Result] = {}
    matters: dict[int, Matter] = {}

    def settle_result(place: int, result: Result) -> None:
        results[place] = result
        tell(asks[place].ticker, f"failed: {result.message}" if isinstance(result, AlphaAgentError) else "decided")

    for place, ask in asks.items():
        try:
            matters[place] = matter_of(desk, ask)
        except AlphaAgentError as fault:
            settle_result(place, fault)
    if not matters:
        return results
    try:
        store, portfolio = _doors(desk, next(iter(asks.values())))
    except AlphaAgentError as fault:
        for place in matters:
            settle_result(place, fault)
        return results
    held: dict[int, _Held] = {}
    try:
        for place, taken in _claims(desk, store, asks, matters):
            if isinstance(taken, _Held):
                held[place] = taken
            else:
                settle_result(place, taken)
        for place, result in _decide_held(desk, store, portfolio, held):
            settle_result(place, result)
    finally:
        for place, mine in held.items():
            if not isinstance(results.get(place), Decided):
                store.release(mine.claim)
    return results


def _doors(desk: Desk, ask: Ask) -> tuple[Store, Portfolio]:
    """What stands before any decision: the kill switch, the soundness of the books, the portfolio."""
    store = desk.store()
    refuse_if_halted(desk, store)
    stop_if_unsound(store, ask.as_of)
    return store, open_portfolio(desk, store, ask)


def _claims(desk: Desk, store: Store, asks: Mapping[int, Ask], matters: Mapping[int, Matter]) -> Iterable[tuple[int, _Held | Result]]:
    """Takes the slots in the order of their keys, so that two runs can never wait for each other in a circle."""
    keyed = sorted((matter.slot_key, matter.request.ticker, place) for place, matter in matters.items())
    for _, group in groupby(keyed, key=lambda entry: entry[0]):
        key, _, place = next(group)
        matter = matters[place]
        try:
            claim = store.claim(key, matter.request_hash, desk.patience())
        except AlphaAgentError as fault:
            yield place, fault
            continue
        yield place, Decided(claim.record, claim, repeated=True) if isinstance(claim, StoredDecision) else _Held(asks[place], matter, claim)


def _decide_held(desk: Desk, store: Store, portfolio: Portfolio, held: Mapping[int, _Held]) -> Iterable[tuple[int, Result]]:
    """Settles what is due, hears every engine, then rules and records one by one in the order of allocation."""
    if not held:
        return
    as_of = next(iter(held.values())).matter.request.as_of
    try:
        with store.read() as books:
            _refuse_before_book_time(books.account(portfolio), portfolio, as_of)
        settled = settle_portfolio(desk, store, portfolio, as_of)
        mandate = desk.mandate(portfolio.mandate)
        with store.write() as books:
            books.record_limits(portfolio, mandate.limits_hash, canonical(mandate.record()), as_of)
            for one in held.values():
                books.register(one.matter.instrument)
        with store.read() as books:
            book = desk.settler().book_state(books, portfolio, as_of, {})
    except AlphaAgentError as fault:
        for place in held:
            yield place, fault
        return
    heard = dict(zip(held, _opinions(desk, store, portfolio, book, mandate, list(held.values())), strict=True))
    for place, opinion in heard.items():
        if isinstance(opinion, AlphaAgentError):
            yield place, opinion
    opinions = {place: opinion for place, opinion in heard.items() if isinstance(opinion, Opinion)}
    for place in sorted(opinions, key=lambda place: allocation_order(held[place].ask.ticker, opinions[place])):
        try:
            decided = _record(desk, store, portfolio, held[place], mandate, opinions[place])
        except AlphaAgentError as fault:
            yield place, fault
            continue
        yield place, replace(decided, settled=settled)
        settled = ()


def _opinions(desk: Desk, store: Store, portfolio: Portfolio, book: BookState, mandate: Mandate, held: Sequence[_Held]) -> list[Opinion | AlphaAgentError]:
    """One opinion or fault per slot, in their order; a provider's fault is audited."""

    def heard(one: _Held) -> Opinion | AlphaAgentError:
        try:
            with store.read() as books:
                refuse_if_frozen(books, portfolio, one.matter.instrument)
            return form_opinion(desk, one.matter, book, mandate, _acted_flags(store, portfolio, one.matter.instrument))
        except AlphaAgentError as fault:
            return fault

    if len(held) == 1:
        opinions = [heard(held[0])]
    else:
        with ThreadPoolExecutor(max_workers=EVIDENCE_THREADS) as pool:
            opinions = list(pool.map(heard, held))
    for one, opinion in zip(held, opinions, strict=True):
        if isinstance(opinion, ProviderFault):
            with store.write() as books:
                books.record_failure(one.ask.ticker, portfolio.name, "PROVIDER", opinion.message, one.ask.as_of)
    return opinions


def _record(desk: Desk, store: Store, portfolio: Portfolio, one: _Held, mandate: Mandate, opinion: Opinion) -> Decided:
    """The ruling and everything that follows from it, in one write transaction, on the book as it is by then."""
    request = one.matter.request
    with store.write() as books:
        _refuse_before_book_time(books.account(portfolio), portfolio, request.as_of)
        refuse_if_frozen(books, portfolio, one.matter.instrument)
        book = desk.settler().book_state(books, portfolio, request.as_of, {})
        record, order = _ruled(desk, one.matter, book, mandate, opinion)
        books.record_decision(one.claim, record, order)
        halt_if_told(books, record.ruling, request.as_of)
    return Decided(record, store.decision(record.decision_id))


def _refuse_before_book_time(account: Account, portfolio: Portfolio, as_of: datetime) -> None:
    if as_of < account.book_time:
        raise UsageFault(
            f"as_of {instant_text(as_of)} lies before the book time of {portfolio.name}, {instant_text(account.book_time)}: a book does not go back",
            fix="choose a later --as-of, use --dry-run, or another portfolio",
        )


def _ruled(desk: Desk, matter: Matter, book: BookState, mandate: Mandate, opinion: Opinion) -> tuple[DecisionRecord, Order | None]:
    """The guard's ruling on the engine's raw text, and the record and order that follow."""
    request, result = matter.request, opinion.result
    snapshot = snapshot_of(desk, matter, book, result, opinion.provenance)
    ruling = evaluate(result.proposal_text, snapshot, mandate, request.as_of)
    key = fingerprint([matter.slot_key, matter.request_hash, opinion.pack.sha256])
    record = DecisionRecord(
        program_version=__version__,
        decision_id=f"dec_{key[:16]}",
        request=request,
        instrument_id=matter.instrument.id,
        provenance=opinion.provenance,
        execution_mode="live",
        fallback_reason=opinion.fallback_reason,
        pack=opinion.pack,
        result=result,
        proposal=read_proposal(result.proposal_text, request.ticker),
        snapshot=snapshot,
        mandate=mandate.record(),
        ruling=ruling,
    )
    return record, _order(record, book, matter.instrument, mandate)


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
