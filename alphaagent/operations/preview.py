"""What the next pass over the watchlists would do: which names, when, by whom, and for how much. Nothing is written and nobody is asked."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from alphaagent.bootstrap import Workplace
from alphaagent.domain.record import EngineName
from alphaagent.errors import AlphaAgentError
from alphaagent.operations.estimates import estimated
from alphaagent.operations.prospects import Prospect, Round, Wish, prospects, rounds
from alphaagent.operations.timetable import Timetable, next_events, parse_timetable

MOST_ESTIMATED = 30
"""Names whose evidence is read for the sake of an estimate; for more it takes too long to wait for."""


@dataclass(frozen=True, slots=True)
class NextName:
    """One name that will be asked for."""

    ticker: str
    reduce_only: bool
    """Held, and not on the watchlist: it may be sold, and nothing is bought."""
    decided: str | None
    """The decision that its slot holds already; it would not be decided again."""
    debated: bool
    """Whether a model would be asked."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What debates may come to, in USD."""

    debates: int
    most: Decimal | None
    """None where a price is not known."""
    usual: Decimal | None
    """About so much, over the evidence; None where it was not estimated, or a price is not known."""


NOTHING_TO_PAY = Cost(0, Decimal(0), Decimal(0))


@dataclass(frozen=True, slots=True)
class NextRound:
    """One portfolio's part of the next pass."""

    portfolio: str
    as_of: datetime | None
    """The instant that it would decide at, where the data are recorded; None where they are live, or where nothing can be decided."""
    fault: str | None
    """Why nothing can be decided."""
    engine: EngineName
    plan: str | None
    """How the crew debates; None where no model takes part."""
    names: tuple[NextName, ...]
    cost: Cost
    budget: Decimal | None


@dataclass(frozen=True, slots=True)
class NextRun:
    """The next pass."""

    due: tuple[tuple[str, datetime], ...]
    """Per exchange, when `alphaagent schedule` would begin it; nothing where the data are recorded."""
    rounds: tuple[NextRound, ...]
    model: str | None
    """Who would debate; None where no model is configured."""
    ceiling: Decimal | None
    fault: str | None = None
    """Why it cannot be told; with its fix."""
    fix: str | None = None


def next_run(workplace: Workplace) -> NextRun:
    """The next pass over every watchlist, as things stand."""
    ceiling = workplace.settings.models.daily_spend
    try:
        turns = [_round(workplace, turn) for turn in rounds(workplace, (), None)]
        return NextRun(_due(workplace), tuple(turns), _model(workplace), ceiling)
    except AlphaAgentError as fault:
        return NextRun((), (), None, ceiling, fault.message, fault.fix)


def _due(workplace: Workplace) -> tuple[tuple[str, datetime], ...]:
    if workplace.settings.data_mode != "live":
        return ()
    times: Timetable = parse_timetable(workplace.settings.schedule.document, str(workplace.settings.schedule.path))
    now = workplace.clock.now()
    events = (event for exchange in times.exchanges for event in next_events(exchange, workplace.calendars.of(exchange), now, times))
    return tuple((event.exchange, event.at) for event in events if event.kind == "sweep")


def _model(workplace: Workplace) -> str | None:
    staff = workplace.staff
    return f"{', '.join(staff.models_of(staff.file.plan))} at {staff.provider.name}" if staff else None


def _round(workplace: Workplace, turn: Round) -> NextRound:
    file, staff = turn.file, workplace.staff if turn.file.engine != "heuristic" else None
    plan = (file.plan or staff.file.plan) if staff else None
    if turn.fault is not None or turn.as_of is None:
        why = turn.fault.message if turn.fault else "none of its names has any evidence"
        return NextRound(turn.name, None, why, file.engine, plan, (), NOTHING_TO_PAY, file.daily_spend_usd)
    found = prospects(workplace.desk, turn, turn.as_of, Wish())
    names = tuple(_name(one) for one in found)
    live = workplace.settings.data_mode == "live"
    return NextRound(turn.name, None if live else turn.as_of, None, file.engine, plan, names, _cost(workplace, found), file.daily_spend_usd)


def _name(one: Prospect) -> NextName:
    return NextName(one.ask.ticker, one.ask.reduce_only, one.stored.record.decision_id if one.stored else None, one.debated)


def _cost(workplace: Workplace, found: Sequence[Prospect]) -> Cost:
    """The bound that no debate can pass; and what is usual, where there are not too many to read their evidence."""
    debated, staff = [one for one in found if one.debated], workplace.staff
    if not debated or staff is None:
        return NOTHING_TO_PAY
    most = staff.most_cost(debated[0].ask.plan or staff.file.plan)
    usual = [*_usual(workplace, debated)] if len(debated) <= MOST_ESTIMATED else []
    known = [one for one in usual if one is not None]
    return Cost(len(debated), None if most is None else most * len(debated), sum(known, Decimal(0)) if len(known) == len(debated) else None)


def _usual(workplace: Workplace, debated: Sequence[Prospect]) -> Iterator[Decimal | None]:
    for one in debated:
        usual = None
        with suppress(AlphaAgentError):
            estimate = estimated(workplace, one.ask)
            usual = estimate.usd_usual if estimate else Decimal(0)
        yield usual
