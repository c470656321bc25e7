"""What a pass over a watchlist will ask for: the names on the list, what is held besides, and what the slots hold already. Nothing is written."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from alphaagent.bootstrap import Workplace
from alphaagent.desk import Ask, Desk, resolve
from alphaagent.domain.portfolio import Account
from alphaagent.domain.record import SCHEDULED_SLOT, EngineName, PlanName
from alphaagent.domain.text import inert
from alphaagent.errors import AlphaAgentError, ConfigFault, UsageFault
from alphaagent.judgement import matter_of
from alphaagent.operations.screening import screen
from alphaagent.portfolio_files import PortfolioFile
from alphaagent.ports import StoredDecision
from alphaagent.settings import nearest

NEVER = datetime.min.replace(tzinfo=UTC)
SCREENED_BEFORE = "left to the heuristic engine when this session was decided"


@dataclass(frozen=True, slots=True)
class Wish:
    """How a pass is to be made. None is as the portfolio's file, or debate.yaml, says it."""

    engine: EngineName | None = None
    plan: PlanName | None = None
    screen: bool = False
    """Debate only what the heuristic engine finds worth it."""
    at_once: int | None = None
    deadline_seconds: float = 120 * 60
    debates_after: int = 0
    """Debates that later passes of the same UTC day will want, and that this one leaves their part of the money."""


@dataclass(frozen=True, slots=True)
class Round:
    """One portfolio's turn in a pass."""

    name: str
    file: PortfolioFile
    as_of: datetime | None
    """None where none of its names has any evidence."""
    fault: AlphaAgentError | None = None
    """Why it has no turn: it costs this portfolio its pass, and no other."""


@dataclass(frozen=True, slots=True)
class Prospect:
    """One name that a round will ask for."""

    ask: Ask
    stored: StoredDecision | None
    """What its slot holds already."""
    debated: bool
    """Whether a model will be asked."""
    screened: str | None = None


def rounds(workplace: Workplace, names: Sequence[str], as_of: str | None) -> tuple[Round, ...]:
    """The portfolios that are named, all where none is, each at its instant. Raises ConfigFault or UsageFault before anything has been done, where a
    file cannot be read or the request cannot be meant."""
    files = _chosen(workplace.portfolio_files, names)
    everybody = [ticker for file in files.values() for ticker in file.watchlist]
    given = workplace.when.common(as_of, everybody) if as_of is not None else None
    return tuple(_round(workplace, name, file, given) for name, file in files.items())


def _chosen(files: Mapping[str, PortfolioFile], names: Sequence[str]) -> dict[str, PortfolioFile]:
    for name in names:
        if name not in files:
            known = list(files)
            raise UsageFault(f"there is no watchlist {inert(name)[:60]!r}{nearest(name, known)}", fix=f"use one of: {', '.join(known)}")
    return {name: file for name, file in files.items() if not names or name in names}


def _round(workplace: Workplace, name: str, file: PortfolioFile, given: datetime | None) -> Round:
    at = given
    try:
        at = given or workplace.when.common(None, list(file.watchlist))
        _refuse_other_mandate(workplace.desk, name, file)
        _refuse_same_name(workplace.desk, name, file, at)
    except AlphaAgentError as fault:
        return Round(name, file, at, fault)
    return Round(name, file, at)


def _refuse_other_mandate(desk: Desk, name: str, file: PortfolioFile) -> None:
    """A portfolio keeps the mandate that it was made with. Raises ConfigFault where its file says another."""
    store = desk.existing_store()
    with store.read() if store else nullcontext() as books:
        made = books.portfolio(name) if books else None
    if made is not None and file.mandate not in (None, made.mandate):
        message = f"portfolios/{name}.yaml: mandate is {file.mandate}, and the portfolio was made with {made.mandate}"
        raise ConfigFault(message, fix=f"write mandate: {made.mandate}, change that mandate in mandate.yaml, or give the file another name")


def _refuse_same_name(desk: Desk, name: str, file: PortfolioFile, as_of: datetime) -> None:
    """Raises ConfigFault where two tickers of a list are one instrument."""
    first: dict[str, str] = {}
    for ticker in file.watchlist:
        id_ = _instrument_id(desk, ticker, as_of)
        if id_ in first:
            raise ConfigFault(f"portfolios/{name}.yaml: watchlist: {first[id_]} and {ticker} are the same, {id_}", fix="keep one of them")
        if id_ is not None:
            first[id_] = ticker


def _instrument_id(desk: Desk, ticker: str, as_of: datetime) -> str | None:
    """None where the ticker names nothing, or several: its decision will say so."""
    try:
        return resolve(desk, ticker, as_of)[0].id
    except AlphaAgentError:
        return None


def prospects(desk: Desk, one: Round, as_of: datetime, wish: Wish) -> tuple[Prospect, ...]:
    """Everything that a round will ask for: what is held first, then the list from the top."""
    account = _account(desk, one.name, as_of)
    asks = _asks(desk, one, as_of, wish, account)
    found = [_prospect(desk, ask) for ask in asks]
    return tuple(_screened(desk, found, _engaged(desk, account, asks, as_of)) if wish.screen else found)


def _account(desk: Desk, name: str, as_of: datetime) -> Account | None:
    """The portfolio's account as it stood; None where it is still to be made."""
    store = desk.existing_store()
    with store.read() if store else nullcontext() as books:
        portfolio = books.portfolio(name) if books else None
        return books.account(portfolio, at=as_of) if books and portfolio and portfolio.opened_at <= as_of else None


def _asks(desk: Desk, one: Round, as_of: datetime, wish: Wish, account: Account | None) -> list[Ask]:
    """The list, and what is held besides, of which nothing may be bought; each with its place in the queue for money: what is held, then who has waited
    longest for a debate, then the list from the top."""
    watched = {ticker: _instrument_id(desk, ticker, as_of) for ticker in one.file.watchlist}
    positions = account.positions if account else ()
    held = {position.instrument_id for position in positions}
    besides = [position.symbol for position in positions if position.instrument_id not in watched.values()]

    def ask(ticker: str, *, reduce_only: bool) -> Ask:
        return Ask(ticker, as_of, wish.engine or one.file.engine, one.name, SCHEDULED_SLOT, wish.plan or one.file.plan, reduce_only)

    asks = [*(ask(ticker, reduce_only=False) for ticker in watched), *(ask(symbol, reduce_only=True) for symbol in sorted(besides))]
    store = desk.existing_store()
    heard = store.last_debates(one.name) if store else {}

    def turn(place: int) -> tuple[bool, datetime, str, int]:
        ticker = asks[place].ticker
        is_held = asks[place].reduce_only or watched[ticker] in held
        return not is_held, heard.get(ticker, NEVER), ticker if is_held else "", place

    ranks = {place: rank for rank, place in enumerate(sorted(range(len(asks)), key=turn))}
    return [replace(one, rank=ranks[place]) for place, one in enumerate(asks)]


def _prospect(desk: Desk, ask: Ask) -> Prospect:
    """What the slot of a request holds. A request that cannot be met has none, and its decision will say why."""
    try:
        matter = matter_of(desk, ask)
    except AlphaAgentError:
        return Prospect(ask, None, debated=False)
    store = desk.existing_store()
    stored = store.decided_in(matter.slot_key) if store else None
    return Prospect(ask, stored, debated=stored is None and matter.request.plan is not None)


def _engaged(desk: Desk, account: Account | None, asks: Iterable[Ask], as_of: datetime) -> frozenset[str]:
    """The tickers of which shares are held or ordered."""
    ids = {one.instrument_id for one in account.positions} | {one.instrument_id for one in account.pending} if account else set()
    return frozenset(ask.ticker for ask in asks if _instrument_id(desk, ask.ticker, as_of) in ids)


def _screened(desk: Desk, found: Sequence[Prospect], engaged: frozenset[str]) -> list[Prospect]:
    """The same, with the names that are not worth a debate left to the heuristic engine; a slot that it has decided stays its own."""
    open_ = [one for one in found if one.debated]
    answers = dict(zip((one.ask.ticker for one in open_), screen(desk, [one.ask for one in open_], engaged), strict=True))

    def screened(one: Prospect) -> Prospect:
        if one.stored is not None and one.stored.record.request.engine == "heuristic" != one.ask.engine:
            return replace(one, ask=replace(one.ask, engine="heuristic", plan=None), screened=SCREENED_BEFORE)
        answer = answers.get(one.ask.ticker)
        if answer is None or answer.debated:
            return replace(one, screened=answer.why if answer else None)
        return replace(one, ask=replace(one.ask, engine="heuristic", plan=None), debated=False, screened=answer.why)

    return [screened(one) for one in found]
