"""One pass over the watchlists, unattended: safe to repeat, to overlap and to begin again.

Portfolio by portfolio, in the order of their names: what is due is settled, every name is asked for, and all opinions are formed before cash is
allocated. What fails costs its own name; what the time or another run leaves undone is told, and the next pass takes it up. The deadline is for
beginning: a debate that runs has its own (decision_seconds of debate.yaml) and is finished, so that nothing that was paid for is thrown away.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from functools import cache

from alphaagent import pipeline
from alphaagent.bootstrap import Workplace
from alphaagent.desk import Desk
from alphaagent.domain.base import canonical, instant_text
from alphaagent.domain.spend import SpendLimit, SpendTotal
from alphaagent.domain.sweep import Swept
from alphaagent.errors import AlphaAgentError, BooksUnsound, Halted, NoEvidence, NotBegun, SlotTaken, SpendRefused
from alphaagent.execution.settlement import Unsettled
from alphaagent.operations.pacing import limits_of_pass
from alphaagent.operations.prospects import Prospect, Round, Wish, prospects, rounds
from alphaagent.operations.sweep_report import PassSpend, PortfolioReport, State, SweepReport, SweepRow, summary
from alphaagent.pipeline import Decided, Result
from alphaagent.ports import AuditRef
from alphaagent.settling import Happened, settle

Tell = Callable[[str], None]
AS_THE_FILES_SAY = Wish()
STOPPED = (Halted, BooksUnsound)
"""What stops every name: the change of the kill switch was the event, and refusals after it are none."""


def sweep(
    workplace: Workplace,
    names: Sequence[str] = (),
    as_of: str | None = None,
    wish: Wish = AS_THE_FILES_SAY,
    tell: Tell = lambda _line: None,
) -> SweepReport:
    """One pass over the portfolios that are named, all where none is. Raises ConfigFault or UsageFault before anything has been done."""
    if workplace.has_books:
        workplace.store()  # nobody is there at night to bring the books of an older release up to date
    turns = rounds(workplace, names, as_of)
    desk = replace(workplace.desk, begin=_deadline(wish.deadline_seconds), at_once=wish.at_once)
    debates, reports = [_debates_of(desk, turn, wish) for turn in turns[1:]], []
    for place, turn in enumerate(turns):
        reports.append(_swept(desk, turn, wish, wish.debates_after + sum(debates[place:]), tell))
    return SweepReport(tuple(reports))


def _debates_of(desk: Desk, turn: Round, wish: Wish) -> int:
    """How many debates a portfolio will want when its turn comes, at most; 0 where the day has no ceiling to share."""
    if turn.fault or turn.as_of is None or desk.daily_spend is None or desk.staff() is None:
        return 0
    try:
        return sum(one.debated for one in prospects(desk, turn, turn.as_of, replace(wish, screen=False)))
    except AlphaAgentError:
        return len(turn.file.watchlist)  # what is wrong may have passed by then


def _deadline(seconds: float) -> Callable[[], None]:
    ends = time.monotonic() + seconds

    def begin() -> None:
        if time.monotonic() >= ends:
            raise NotBegun(f"the {seconds / 60:g} minutes of this pass were over before it began", fix="raise --deadline; the next pass takes it up")

    return begin


def _swept(desk: Desk, turn: Round, wish: Wish, ahead: int, tell: Tell) -> PortfolioReport:
    """One portfolio, whatever comes of it: a fault of its own, or of the books while it is recorded, costs no other."""
    try:
        report, results = _decided(desk, turn, wish, ahead, tell)
    except AlphaAgentError as fault:
        tell(f"{turn.name}: {fault.message}")
        report, results = PortfolioReport(turn.name, turn.as_of, tuple(_undone(ticker, fault) for ticker in turn.file.watchlist)), [fault]
    try:
        report = replace(report, spend=_spend(desk, turn, report.rows))
        return replace(report, audit=_recorded(desk, report, results))
    except AlphaAgentError as fault:
        tell(f"{turn.name}: what this pass came to is not on record: {fault.message}")
        return replace(report, unrecorded=fault)


def _decided(desk: Desk, turn: Round, wish: Wish, ahead: int, tell: Tell) -> tuple[PortfolioReport, Sequence[Result]]:
    if turn.fault or turn.as_of is None:
        raise turn.fault or NoEvidence(f"{turn.name} has no instant")
    desk.begin()
    settled = _settled(desk, turn.name, turn.as_of)
    found = prospects(desk, turn, turn.as_of, wish)
    desk = _with_its_money(desk, turn.name, found, ahead)
    tell(f"{turn.name}: as of {instant_text(turn.as_of)}, {len(found)} names, {sum(one.stored is not None for one in found)} decided before")
    results = pipeline.decide_many(desk, [one.ask for one in found], _progress(turn.name, len(found), tell))
    settled += tuple(done for result in results if isinstance(result, Decided) for done in result.settled if not isinstance(done, Unsettled))
    return PortfolioReport(turn.name, turn.as_of, tuple(_row(one, result) for one, result in zip(found, results, strict=True)), settled), results


def _settled(desk: Desk, name: str, as_of: datetime) -> tuple[Happened, ...]:
    """What is due, before anything is decided; nothing in a book that is further on, of which only what is stored can be told."""
    store = desk.existing_store()
    if store is None:
        return ()
    with store.read() as books:
        portfolio = books.portfolio(name)
        if portfolio is None or books.account(portfolio).book_time > as_of:
            return ()
    return settle(desk, as_of, name)


def _with_its_money(desk: Desk, name: str, found: Sequence[Prospect], ahead: int) -> Desk:
    """The desk with what this portfolio may spend in this pass."""
    staff, mine = desk.staff(), [one.ask for one in found if one.debated]
    if staff is None or not mine:
        return desk
    most = staff.most_cost(mine[0].plan or staff.file.plan)

    @cache
    def limits(day: date) -> tuple[SpendLimit, ...]:
        """A pass that goes on over midnight shares out the money of the new day."""
        return limits_of_pass(desk, desk.store(), name, day, most, len(mine), ahead)

    limits(desk.clock.now().date())
    return replace(desk, spend_limits=lambda _portfolio: limits(desk.clock.now().date()))


def _progress(name: str, count: int, tell: Tell) -> Callable[[str, str], None]:
    done = 0

    def one(ticker: str, stage: str) -> None:
        nonlocal done
        done += 1
        tell(f"{name} {done}/{count} {ticker}: {stage}")

    return one


def _row(one: Prospect, result: Result) -> SweepRow:
    if isinstance(result, AlphaAgentError):
        return replace(_undone(one.ask.ticker, result), reduce_only=one.ask.reduce_only, screened=one.screened)
    return SweepRow(
        ticker=one.ask.ticker,
        state="repeated" if result.repeated else "decided",
        reason=result.record.fallback_reason or result.record.result.hold_kind,
        record=result.record,
        stored=result.stored,
        reduce_only=one.ask.reduce_only,
        screened=one.screened,
    )


def _undone(ticker: str, fault: AlphaAgentError) -> SweepRow:
    state: State = "skipped" if isinstance(fault, NotBegun | SlotTaken) else "failed"
    return SweepRow(ticker, state, fault.message, fault.fix, fault.exit_code, type(fault).__name__)


def _spend(desk: Desk, turn: Round, rows: Sequence[SweepRow]) -> PassSpend:
    store = desk.existing_store()
    spent = store.spent_on(desk.clock.now().date(), turn.name) if store else SpendTotal()
    unpaid = tuple(row.ticker for row in rows if row.state != "repeated" and _is_unpaid(row))
    return PassSpend(
        spent=spent.booked,
        reserved=spent.reserved,
        budget=turn.file.daily_spend_usd,
        ceiling=desk.daily_spend,
        refused=unpaid,
    )


def _is_unpaid(row: SweepRow) -> bool:
    return row.fault == SpendRefused.__name__ or (row.record is not None and row.record.result.reducing_only)


def _recorded(desk: Desk, report: PortfolioReport, results: Sequence[Result]) -> AuditRef | None:
    """The pass as one row of the audit trail; none where the system is stopped, or where there are no books yet to write to."""
    if report.as_of is None or desk.existing_store() is None or any(isinstance(result, STOPPED) for result in results):
        return None
    with desk.store().write() as books:
        return books.record_sweep(report.portfolio, _as_swept(report), report.as_of)


def _as_swept(report: PortfolioReport) -> Swept:
    def tickers(chosen: Callable[[SweepRow], bool]) -> tuple[str, ...]:
        return tuple(row.ticker for row in report.rows if chosen(row))

    waiting = {one.symbol: f"settlement {type(one.fault).__name__}" for one in report.unsettled}
    undone: Mapping[str, str] = waiting | {row.ticker: f"{row.state} {row.fault}" for row in report.rows if row.fault}
    return Swept(
        decided=tickers(lambda row: row.state == "decided"),
        repeated=tickers(lambda row: row.state == "repeated"),
        undone=undone,
        settled=report.settled_count,
        unpaid=report.spend.refused,
        screened_out=tickers(lambda row: row.screened is not None and row.record is not None and row.record.request.engine == "heuristic"),
        reduce_only=tickers(lambda row: row.reduce_only),
        report=canonical(summary(report)),
    )
