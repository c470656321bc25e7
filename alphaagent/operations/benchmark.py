"""What a portfolio's course is held against: the market index where its closes are there for the whole of it, else the names that it may buy.

Chosen on purpose: whoever shows a line says what it is, and what was left out of it. An index that ends in the middle is no benchmark; an index has no
dividends in it, and the names have theirs, as cash.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from alphaagent.bootstrap import Workplace
from alphaagent.domain.market import CorporateAction, Instrument
from alphaagent.domain.performance import NOTHING, ONE, equal_weight, relative
from alphaagent.errors import AlphaAgentError
from alphaagent.evidence.index_history import SYMBOL
from alphaagent.operations.equity import Course, Prices, read_prices


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One line beside the portfolio's: a multiple of the first value at each of its points."""

    name: str
    told: str
    """What it is made of, and what was left out."""
    growth: tuple[Decimal, ...]


def benchmark(workplace: Workplace, course: Course) -> Benchmark | None:
    """The index, or the names in equal parts; None where neither has prices for the course."""
    return _index(workplace, course) or _names(workplace, course)


def _index(workplace: Workplace, course: Course) -> Benchmark | None:
    """The index, where it has a close for every point."""
    closes = dict(_index_closes(workplace, course))
    values = [closes.get(point.session) for point in course.points]
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    return Benchmark(SYMBOL, "the index by its closes, without dividends", relative(known))


def _index_closes(workplace: Workplace, course: Course) -> Sequence[tuple[date, Decimal]]:
    """Everything that is known of the index at the end; nothing where that cannot be read."""
    with suppress(AlphaAgentError):
        if workplace.settings.data_mode == "live":
            return workplace.room.index_closes(course.at)
        closes, faults = workplace.desk.index.known(course.points[-1].session, workplace.calendar)
        return () if faults else closes
    return ()


def _names(workplace: Workplace, course: Course) -> Benchmark | None:
    """The names of the watchlist; without a file, or where none of them has a price, those that the portfolio has held or ordered."""
    file = workplace.portfolio_files.get(course.portfolio.name)
    watched = _equal_parts(workplace, course, "the watchlist", file.watchlist, [*_resolved(workplace, file.watchlist, course)]) if file else None
    own = [*course.instruments.values()]
    return watched or _equal_parts(workplace, course, "the names that it has held or ordered", [one.symbol for one in own], own)


def _equal_parts(workplace: Workplace, course: Course, which: str, tickers: Sequence[str], chosen: Sequence[Instrument]) -> Benchmark | None:
    """The same money in each of the names at the first point, and left alone."""
    first, instants = course.points[0].at, [point.at for point in course.points]
    prices = {one.symbol: course.prices.get(one.id) or read_prices(workplace.desk, one, first, course.at, booked_until=first) for one in chosen}
    worth = {symbol: line for symbol, read in prices.items() if (line := worth_of_one(read, instants))}
    if not worth:
        return None
    left_out = [symbol for symbol in prices if symbol not in worth] + [ticker for ticker in tickers if not _is_named(ticker, chosen)]
    told = f"{which}: {', '.join(worth)}; the same money in each at the first close, left alone, dividends kept as cash"
    return Benchmark("Equal weight", told + (f"; without {', '.join(left_out)}, of which there is no price" if left_out else ""), equal_weight(worth))


def _resolved(workplace: Workplace, tickers: Sequence[str], course: Course) -> Iterator[Instrument]:
    """What the tickers name at the end, where that is one thing."""
    for ticker in tickers:
        with suppress(AlphaAgentError):
            found = workplace.desk.market.resolve(ticker, course.points[-1].session)
            if len(found) == 1:
                yield found[0]


def _is_named(ticker: str, chosen: Sequence[Instrument]) -> bool:
    return any(ticker.upper() in (one.symbol, one.id, *one.aliases) for one in chosen)


def worth_of_one(prices: Prices, instants: Sequence[datetime]) -> tuple[Decimal, ...]:
    """What one share of the first instant has become by each: W(t) = n(t) x p(t) + c(t), with n shares by the splits and c cash by the dividends.

    Nothing where it had no price at the first instant, or none above zero. A takeover for cash turns all of it into cash.
    """
    start = prices.mark(instants[0])
    if start is None or start <= 0:
        return ()
    ahead = sorted((one for one in prices.actions if one.known_at > instants[0]), key=lambda one: (one.known_at, one.kind != "split"))
    shares, cash, line, place = ONE, NOTHING, [], 0
    for at in instants:
        while place < len(ahead) and ahead[place].known_at <= at:
            shares, cash = _after(ahead[place], shares, cash)
            place += 1
        line.append(shares * (prices.mark(at) or NOTHING) + cash)
    return tuple(line)


def _after(action: CorporateAction, shares: Decimal, cash: Decimal) -> tuple[Decimal, Decimal]:
    match action.kind:
        case "split":
            return shares * action.value, cash
        case "dividend":
            return shares, cash + shares * action.value
        case "merger" if action.bookable:
            return NOTHING, cash + shares * action.value
        case _:
            return shares, cash
