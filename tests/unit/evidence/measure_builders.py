"""Small inputs for the measures: weekday sessions, bars out of closes, facts out of three or four words."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import count
from pathlib import Path

import numpy as np

from alphaagent.clock import SessionTable
from alphaagent.domain.evidence import Status
from alphaagent.domain.market import Bar, CorporateAction, Fact, Instrument, LastPrice, Records, RowFault
from alphaagent.evidence.gathered import Gathered, SecondOpinion, Supplied
from alphaagent.evidence.index_history import IndexHistory

INSTRUMENT = Instrument(id="XNAS:ACME", symbol="ACME", name="Acme", mic="XNAS", currency="USD", kind="common")


def weekdays(first: date, last: date) -> list[date]:
    return [day for n in range((last - first).days + 1) if (day := first + timedelta(n)).weekday() < 5]


def opens(day: date) -> datetime:
    return datetime.combine(day, time(14, 30), UTC)


def closes_at(day: date) -> datetime:
    return datetime.combine(day, time(21), UTC)


CALENDAR = SessionTable((day, opens(day), closes_at(day)) for day in weekdays(date(2008, 1, 1), date(2026, 12, 31)))
FIRST = date(2010, 1, 4)
NO_INDEX = IndexHistory(Path("nowhere"), frozenset())


def walk(length: int, seed: int = 7) -> np.ndarray:
    """A random walk of closes with a daily sigma of 2%."""
    return 100 * np.exp(np.cumsum(np.random.default_rng(seed).normal(0.0003, 0.02, length)))


def bars_of(closes: Sequence[float], first: date = FIRST, last: date | None = None) -> tuple[Bar, ...]:
    """One bar a session from `first`, or ending at `last`; the range is 1% either side and 1,000 shares trade."""
    sessions = [day for day in CALENDAR.sessions if (day <= last if last else day >= first)]
    days = sessions[-len(closes) :] if last else sessions
    return tuple(bar(day, close) for day, close in zip(days, closes, strict=False))


def bar(day: date, close: float, high: float | None = None, low: float | None = None, volume: int = 1000) -> Bar:
    high, low = close * 1.01 if high is None else high, close * 0.99 if low is None else low
    return Bar(day, *(Decimal(str(number)) for number in (close, high, low, close)), volume=volume, known_at=closes_at(day))


def split(day: date, ratio: str) -> CorporateAction:
    return CorporateAction("split", day, Decimal(ratio), opens(day))


def dividend(day: date, cash: str) -> CorporateAction:
    return CorporateAction("dividend", day, Decimal(cash), opens(day))


_accessions = count(1)


def filing(filed: str, form: str, *numbers: tuple[str, str | None, str, float | str], unit: str = "USD") -> tuple[Fact, ...]:
    """The facts (concept, start, end, value) of one filing, usable from the next session's open."""
    accession, day = f"0000000000-00-{next(_accessions):06d}", date.fromisoformat(filed)
    return tuple(
        Fact(
            concept=concept,
            unit="shares" if "Shares" in concept else "USD/shares" if "PerShare" in concept else unit,
            start=date.fromisoformat(start) if start else None,
            end=date.fromisoformat(end),
            value=Decimal(str(value)),
            filed=day,
            form=form,
            accession=accession,
            known_at=opens(CALENDAR.next_session(day)),
        )
        for concept, start, end, value in numbers
    )


def gathered(
    bars: tuple[Bar, ...] = (),
    actions: tuple[CorporateAction, ...] = (),
    facts: tuple[Fact, ...] = (),
    *,
    session: date | None = None,
    faults: tuple[RowFault, ...] = (),
    prices: Status = Status.OK,
    fundamentals: Status = Status.OK,
    note: str | None = None,
    last_prices: tuple[LastPrice, ...] = (),
    events: Supplied | None = None,
    second: SecondOpinion | None = None,
) -> Gathered:
    """What gather would hand over an hour after the close of a session, by default that of the last bar."""
    session = session or bars[-1].session
    as_of = closes_at(session) + timedelta(hours=1)
    return Gathered(
        ticker="ACME",
        instrument=INSTRUMENT,
        as_of=as_of,
        session=session,
        calendar=CALENDAR,
        prices=Supplied("prices-test", prices, Records(bars=bars, actions=actions, last_prices=last_prices, faults=faults), note),
        fundamentals=Supplied("filings-test", fundamentals, Records(facts=tuple(fact for fact in facts if fact.known_at < as_of)), note),
        news=Supplied("news-test", Status.EMPTY),
        events=events,
        second=second,
    )
