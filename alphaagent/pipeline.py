"""The whole path on one page: requests go in, evidence is frozen, an engine speaks, the guard rules, the books remember.

`decide_many` and `settle` are the only places where these parts meet. Everything is gathered before the write transaction and decided
inside it, so that no two runs can spend the same cash. Several tickers are heard first and served afterwards, in a stated order, so that the
order in which they were asked for cannot matter. A dry run takes the same path and ends before the transaction.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby

from alphaagent import __version__
from alphaagent.debate.events import Watch, both, unwatched
from alphaagent.debate.record import Transcript
from alphaagent.desk import (
    Ask,
    Desk,
    find_portfolio,
    first_portfolio,
    fresh_book,
    halt_if_told,
    put_on_file,
    refuse_if_frozen,
    refuse_if_halted,
    stop_if_unsound,
)
from alphaagent.domain.base import canonical, fingerprint, instant_text
from alphaagent.domain.evidence import EvidencePack
from alphaagent.domain.market import Instrument
from alphaagent.domain.portfolio import Account, Order, OrderStatus, Portfolio
from alphaagent.domain.record import DecisionRecord, Usage
from alphaagent.domain.ruling import Outcome
from alphaagent.errors import AlphaAgentError, ProviderFault, SpendRefused, UsageFault
from alphaagent.execution.snapshots import BookState, order_id
from alphaagent.guard.evaluate import evaluate, reservation
from alphaagent.guard.intake import read_proposal
from alphaagent.guard.mandate import Mandate
from alphaagent.judgement import Matter, Opinion, allocation_order, decision_id, form_opinion, matter_of, sealed_evidence, seen_by, snapshot_of
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
    transcript: Transcript | None = None
    """Of the debate that this run held; that of a repeated decision is in the books."""


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


def decide_many(
    desk: Desk, asks: Sequence[Ask], tell: Callable[[str, str], None] = lambda _ticker, _stage: None, watch: Watch = unwatched
) -> tuple[Result, ...]:
    """One result per request, in their order. Cash is allocated by `allocation_order`, whatever the order of the requests.

    `tell` hears of each ticker and stage ("decided", "failed: ...") as soon as it is known; `watch` opens the event
    stream of each debate, beside the desk's own. A ticker that is asked for twice is decided once.
    """
    watch = both(desk.watch, watch)
    results: dict[int, Result] = {}
    ready = sorted(enumerate(asks), key=lambda pair: (pair[1].as_of, pair[1].portfolio))
    for _, group in groupby(ready, key=lambda pair: (pair[1].as_of, pair[1].portfolio)):
        remaining = list(group)
        while remaining:
            results |= _decide_batch(desk, dict(remaining), tell, watch)
            remaining = [(place, ask) for place, ask in remaining if place not in results]
    return tuple(results[place] for place in range(len(asks)))


def dry_run(desk: Desk, ask: Ask, watch: Watch = unwatched) -> Decided:
    """The same decision with nothing written, on the book as it stood at as_of; without a book, on the starting cash.

    What a model was paid is gone all the same, so that is booked where there are books: a ceiling that a dry run passes under is none.
    """
    matter, book, mandate = _looked_at(desk, ask)
    pack = sealed_evidence(desk, matter, book, mandate, ())
    spending = desk.store() if matter.request.plan and desk.existing_store() else None
    opinion = form_opinion(desk, matter, pack, spending, watch)
    record, _ = _ruled(desk, matter, book, mandate, opinion)
    _tell_end(opinion, record)
    return Decided(record, None, transcript=opinion.transcript)


def evidence_of(desk: Desk, ask: Ask) -> tuple[Matter, EvidencePack]:
    """What an engine would be shown; nothing is written and nobody is asked."""
    matter, book, mandate = _looked_at(desk, ask)
    return matter, sealed_evidence(desk, matter, book, mandate, ())


def _looked_at(desk: Desk, ask: Ask) -> tuple[Matter, BookState, Mandate]:
    """The book as it stood at as_of, read and not touched."""
    matter, store = matter_of(desk, ask), desk.existing_store()
    if store:
        refuse_if_halted(desk, store)
    with store.read() if store else nullcontext() as books:
        portfolio = find_portfolio(desk, books, ask.portfolio) if books else _unmade(desk, ask)
        if books is None or portfolio is None or portfolio.opened_at > ask.as_of:
            book = fresh_book(desk, ask.portfolio, ask.as_of, portfolio)
        else:
            refuse_if_frozen(books, portfolio, matter.instrument)
            book = desk.settler().book_to_decide(books, portfolio, matter.instrument, matter.session, ask.as_of)
    return matter, book, desk.mandate(book.account.portfolio.mandate)


def _decide_batch(desk: Desk, asks: Mapping[int, Ask], tell: Callable[[str, str], None], watch: Watch) -> dict[int, Result]:
    """Requests of one portfolio and instant. One whose slot another of them holds is left out: its turn comes when that one is done."""
    results: dict[int, Result] = {}
    matters: dict[int, Matter] = {}

    def settle_result(place: int, result: Result) -> None:
        results[place] = result
        told = f"failed: {result.message}" if isinstance(result, AlphaAgentError) else "decided before" if result.repeated else "decided"
        tell(asks[place].ticker, told)

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
        for place, result in _decide_held(desk, store, portfolio, held, watch):
            settle_result(place, result)
    finally:
        for place, mine in held.items():
            if not isinstance(results.get(place), Decided):
                with suppress(AlphaAgentError):  # books that are busy: the slot is free again with its lease, and what was decided is told
                    store.release(mine.claim)
    return results


def _doors(desk: Desk, ask: Ask) -> tuple[Store, Portfolio | None]:
    """What stands before any decision: the kill switch, the soundness of the books, the portfolio; None where it is still to be made."""
    store = desk.store()
    refuse_if_halted(desk, store)
    stop_if_unsound(store, ask.as_of, desk.check_books)
    with store.read() as books:
        return store, find_portfolio(desk, books, ask.portfolio)


def _unmade(desk: Desk, ask: Ask) -> Portfolio | None:
    """Without books there are only the portfolios that the first decision makes: none yet. Raises UsageFault for another name."""
    if desk.opening(ask.portfolio) is None:
        raise UsageFault(f"there is no portfolio {ask.portfolio!r}", fix=f"run `alphaagent portfolio create {ask.portfolio}`")
    return None


def _claims(desk: Desk, store: Store, asks: Mapping[int, Ask], matters: Mapping[int, Matter]) -> Iterable[tuple[int, _Held | Result]]:
    """Takes the slots in the order of their keys, so that two runs can never wait for each other in a circle; the patience is that of the run."""
    keyed = sorted((matter.slot_key, matter.request.ticker, place) for place, matter in matters.items())
    patience = desk.patience()
    for _, group in groupby(keyed, key=lambda entry: entry[0]):
        key, _, place = next(group)
        matter = matters[place]
        try:
            claim = store.claim(key, matter.request_hash, patience)
        except AlphaAgentError as fault:
            yield place, fault
            continue
        yield place, Decided(claim.record, claim, repeated=True) if isinstance(claim, StoredDecision) else _Held(asks[place], matter, claim)


def _decide_held(desk: Desk, store: Store, portfolio: Portfolio | None, held: Mapping[int, _Held], watch: Watch) -> Iterable[tuple[int, Result]]:
    """Settles what is due, hears every engine, then rules and records one by one in the order of allocation."""
    if not held:
        return
    request = next(iter(held.values())).matter.request
    try:
        settled = _brought_up_to(desk, store, portfolio, request.as_of) if portfolio else ()
        mandate = desk.mandate((portfolio or desk.opening(request.portfolio) or desk.plain_opening).mandate)
        heard = dict(zip(held, _opinions(desk, store, portfolio, mandate, list(held.values()), watch), strict=True))
    except AlphaAgentError as fault:
        yield from ((place, fault) for place in held)
        return
    yield from ((place, opinion) for place, opinion in heard.items() if isinstance(opinion, AlphaAgentError))
    opinions = {place: opinion for place, opinion in heard.items() if isinstance(opinion, Opinion)}
    for place in sorted(opinions, key=lambda place: allocation_order(held[place].ask.ticker, opinions[place])):
        try:
            decided = _record(desk, store, held[place], mandate, opinions[place])
        except AlphaAgentError as fault:
            opinions[place].events("run_failed", code=type(fault).__name__, message=fault.message)
            yield place, fault
            continue
        yield place, replace(decided, settled=settled)
        settled = ()


def _brought_up_to(desk: Desk, store: Store, portfolio: Portfolio, as_of: datetime) -> tuple[Happened, ...]:
    """Due orders settled and corporate actions booked, in the order in which they happened, before anything new is decided."""
    with store.read() as books:
        _refuse_before_book_time(books.account(portfolio), portfolio, as_of)
    return settle_portfolio(desk, store, portfolio, as_of)


def _opinions(desk: Desk, store: Store, portfolio: Portfolio | None, mandate: Mandate, held: Sequence[_Held], watch: Watch) -> list[Opinion | AlphaAgentError]:
    """One opinion or fault per slot, in their order; a provider's fault is audited. Whoever is behind in the queue for money waits for those ahead."""
    queue = sorted(range(len(held)), key=lambda number: (held[number].ask.rank, held[number].ask.ticker))
    places, claims = desk.till.line_up(len(held)), [one.claim for one in held]

    def heard(turn: int) -> Opinion | AlphaAgentError:
        one, place = held[queue[turn]], places[turn]
        try:
            desk.begin()
            if one.matter.request.plan:
                store.renew(claims)
            book = _book(desk, store, portfolio, one.matter)
            acted = _acted_flags(store, portfolio, one.matter.instrument) if portfolio else ()
            return form_opinion(desk, one.matter, sealed_evidence(desk, one.matter, book, mandate, acted), store, watch, place)
        except AlphaAgentError as fault:
            return fault
        finally:
            place.leave()

    opinions = dict(zip(queue, _at_once(desk, held, heard), strict=True))
    failed = {number: opinion for number, opinion in opinions.items() if isinstance(opinion, ProviderFault)}
    try:
        _audit_failures(store, [(held[number].ask, opinion) for number, opinion in failed.items()])
    except AlphaAgentError as fault:  # what was heard and paid for goes on
        opinions |= dict.fromkeys(failed, fault)
    return [opinions[number] for number in range(len(held))]


def _at_once(desk: Desk, held: Sequence[_Held], heard: Callable[[int], Opinion | AlphaAgentError]) -> list[Opinion | AlphaAgentError]:
    """Everybody in the queue, several at a time: debates wait for models, evidence alone waits for vendors."""
    if len(held) == 1:
        return [heard(0)]
    staff = desk.staff() if any(one.matter.request.plan for one in held) else None
    most = desk.at_once or (staff.file.concurrency if staff else EVIDENCE_THREADS)
    with ThreadPoolExecutor(max_workers=most) as pool:
        try:
            return list(pool.map(heard, range(len(held))))
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            desk.till.close()
            desk.hang_up()
            raise


def _audit_failures(store: Store, failed: Sequence[tuple[Ask, ProviderFault]]) -> None:
    """A row for every debate that failed, and one for all that nobody could pay for: the money is gone once."""
    unpaid = [(ask, fault) for ask, fault in failed if isinstance(fault, SpendRefused)]
    for ask, fault in failed:
        if not isinstance(fault, SpendRefused):
            transcript = None if fault.transcript is None else canonical(fault.transcript)
            with store.write() as books:
                books.record_failure(ask.ticker, ask.portfolio, "PROVIDER", fault.message, ask.as_of, transcript)
    if unpaid:
        first, fault = unpaid[0]
        with store.write() as books:
            books.record_failure([ask.ticker for ask, _ in unpaid], first.portfolio, "SPEND", fault.message, first.as_of)


def _book(desk: Desk, store: Store, portfolio: Portfolio | None, matter: Matter) -> BookState:
    """The book that the engine is shown. Raises UsageFault where the name is frozen."""
    if portfolio is None:
        return fresh_book(desk, matter.request.portfolio, matter.request.as_of, None)
    with store.read() as books:
        refuse_if_frozen(books, portfolio, matter.instrument)
        return desk.settler().book_to_decide(books, portfolio, matter.instrument, matter.session, matter.request.as_of)


def _record(desk: Desk, store: Store, one: _Held, mandate: Mandate, opinion: Opinion) -> Decided:
    """The ruling and everything that follows from it, in one write transaction, on the book as it is by then."""
    request, instrument = one.matter.request, one.matter.instrument
    with store.write() as books:
        portfolio = first_portfolio(desk, books, request.portfolio, request.as_of)
        _refuse_before_book_time(books.account(portfolio), portfolio, request.as_of)
        refuse_if_frozen(books, portfolio, instrument)
        books.register(instrument)
        put_on_file(books, portfolio, mandate, request.as_of)
        book = desk.settler().book_to_decide(books, portfolio, instrument, one.matter.session, request.as_of)
        record, order = _ruled(desk, one.matter, book, mandate, opinion)
        books.record_decision(one.claim, record, order, canonical(opinion.transcript) if opinion.transcript else None)
        halt_if_told(books, record.ruling, request.as_of)
    _tell_end(opinion, record)
    return Decided(record, store.decision(record.decision_id), transcript=opinion.transcript)


def _tell_end(opinion: Opinion, record: DecisionRecord) -> None:
    """The last lines of a debate's stream: what the guard said, and that all of it is written."""
    opinion.events("guard", outcome=record.ruling.outcome, code=record.ruling.code)
    opinion.events("run_completed", decision_id=record.decision_id, turns=len(opinion.transcript.turns) if opinion.transcript else 0)


def _refuse_before_book_time(account: Account, portfolio: Portfolio, as_of: datetime) -> None:
    if as_of < account.book_time:
        raise UsageFault(
            f"as_of {instant_text(as_of)} lies before the book time of {portfolio.name}, {instant_text(account.book_time)}: a book does not go back",
            fix="choose a later --as-of, use --dry-run, or another portfolio",
        )


def _ruled(desk: Desk, matter: Matter, book: BookState, mandate: Mandate, opinion: Opinion) -> tuple[DecisionRecord, Order | None]:
    """The guard's ruling on the engine's raw text, and the record and order that follow."""
    request, result = matter.request, opinion.result
    proposal = read_proposal(result.proposal_text, request.ticker)
    seen = seen_by(desk.calendar_of(matter.instrument), opinion.pack, proposal)
    snapshot = snapshot_of(desk, matter, book, mandate, result, opinion.provenance, seen, opinion.pack.items)
    ruling = evaluate(result.proposal_text, snapshot, mandate, request.as_of)
    record = DecisionRecord(
        program_version=__version__,
        decision_id=decision_id(matter, opinion.pack),
        request=request,
        instrument_id=matter.instrument.id,
        provenance=opinion.provenance,
        execution_mode="live",
        fallback_reason=opinion.fallback_reason,
        pack=opinion.pack,
        result=result,
        proposal=proposal,
        snapshot=snapshot,
        mandate=mandate.record(),
        ruling=ruling,
        usage=opinion.transcript.usage if opinion.transcript else Usage(),
        transcript_sha256=fingerprint(opinion.transcript) if opinion.transcript else None,
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
