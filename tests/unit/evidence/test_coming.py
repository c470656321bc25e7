"""Dates ahead: what was stated last, how many sessions are left, and that a lost supply is a hole and nothing else."""

from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import pytest

from alphaagent.clock import SessionTable
from alphaagent.domain.evidence import EvidenceItem, EvidencePack, Status
from alphaagent.domain.market import ComingEvent, Records
from alphaagent.evidence.coming import earnings_items, ex_dividend_items
from alphaagent.evidence.gathered import Gathered, Supplied
from alphaagent.evidence.lexicon import Lexicon
from alphaagent.evidence.news_tool import news_items
from alphaagent.evidence.price_tool import price_items
from alphaagent.evidence.standing import standing
from alphaagent.yaml_files import read_yaml
from tests.unit.evidence.measure_builders import CALENDAR, NO_INDEX, bars_of, closes_at, gathered, opens

LEXICON = Lexicon.parse(read_yaml(Path(__file__).parents[3] / "config" / "lexicon.yaml"), "lexicon.yaml")
FRIDAY = date(2011, 3, 4)
MONDAY, THURSDAY, NEXT_TUESDAY = date(2011, 3, 7), date(2011, 3, 10), date(2011, 3, 15)
BARS = bars_of([float(n) for n in range(1, 301)], last=FRIDAY)
STATED = closes_at(FRIDAY) + timedelta(minutes=30)


def earnings(day: date, last_day: date | None = None, known_at: datetime = STATED) -> ComingEvent:
    return ComingEvent("earnings", day, last_day or day, known_at)


def ex_dividend(day: date, known_at: datetime = STATED) -> ComingEvent:
    return ComingEvent("ex_dividend", day, day, known_at)


def told(*coming: ComingEvent, status: Status = Status.OK, note: str | None = None, session: date = FRIDAY) -> Gathered:
    return gathered(BARS, session=session, events=Supplied("events-test", status, Records(coming=coming), note))


def due(g: Gathered) -> EvidenceItem:
    (found,) = earnings_items(g)
    return found


def test_earnings_are_said_with_their_date_and_the_sessions_left() -> None:
    found = due(told(earnings(THURSDAY)))

    assert (found.tool, found.kind, found.sides, found.status, found.source) == (
        "get_news_sentiment",
        "earnings_date",
        ("bull", "bear"),
        Status.OK,
        "events-test",
    )
    assert found.payload == {"day": "2011-03-10", "last_day": "2011-03-10", "sessions": 4, "calendar_ends": None}
    assert found.summary == "Earnings due 2011-03-10, 4 sessions ahead"
    assert (found.known_at, found.as_of) == (STATED, STATED)


def test_of_a_span_the_sessions_to_its_first_day_count() -> None:
    found = due(told(earnings(MONDAY, NEXT_TUESDAY)))

    assert (found.payload["day"], found.payload["last_day"], found.payload["sessions"]) == ("2011-03-07", "2011-03-15", 1)
    assert found.summary == "Earnings due between 2011-03-07 and 2011-03-15, 1 session ahead"


@pytest.mark.parametrize(
    ("day", "last_day", "sessions"),
    [
        (date(2011, 3, 4), date(2011, 3, 4), 0),
        (date(2011, 3, 1), date(2011, 3, 8), 0),
        (date(2011, 3, 5), date(2011, 3, 5), 0),
        (MONDAY, MONDAY, 1),
        (NEXT_TUESDAY, NEXT_TUESDAY, 7),
    ],
)
def test_sessions_are_those_of_the_calendar_and_never_negative(day: date, last_day: date, sessions: int) -> None:
    assert due(told(earnings(day, last_day))).payload["sessions"] == sessions


def test_earnings_that_are_over_are_not_coming() -> None:
    found = due(told(earnings(date(2011, 3, 1), date(2011, 3, 3))))

    assert (found.status, found.summary, found.payload) == (Status.EMPTY, "earnings_date absent: no date is stated", {"reason": "no date is stated"})


def test_what_was_stated_last_counts_and_the_earliest_of_what_was_stated_at_once() -> None:
    before = STATED - timedelta(days=9)
    moved = told(earnings(MONDAY, known_at=before), earnings(NEXT_TUESDAY), earnings(THURSDAY))

    assert due(moved).payload["day"] == "2011-03-10"


def test_an_older_statement_counts_where_the_newer_one_is_over() -> None:
    assert due(told(earnings(THURSDAY, known_at=STATED - timedelta(days=9)), earnings(date(2011, 3, 2)))).payload["day"] == "2011-03-10"


def test_past_the_end_of_the_calendar_the_sessions_are_a_least() -> None:
    short = SessionTable([row for row in CALENDAR.rows() if row[0] <= date(2011, 3, 14)])
    found = due(replace(told(earnings(NEXT_TUESDAY)), calendar=short))

    assert (found.payload["sessions"], found.payload["calendar_ends"]) == (6, "2011-03-14")
    assert found.summary == "Earnings due 2011-03-15, at least 6 sessions ahead"


@pytest.mark.parametrize("status", [Status.FAILED, Status.NOT_APPLICABLE])
def test_a_lost_supply_says_why(status: Status) -> None:
    found = due(told(status=status, note="the vendor timed out"))

    assert (found.status, found.payload, found.known_at) == (status, {"reason": "the vendor timed out"}, closes_at(FRIDAY))
    assert found.summary.endswith(": the vendor timed out")


@pytest.mark.parametrize("status", [Status.EMPTY, Status.OK, Status.STALE])
def test_no_date_is_a_value_of_its_own_and_keeps_what_else_was_said(status: Status) -> None:
    assert due(told(status=status)).payload == {"reason": "no date is stated"}
    found = due(told(status=status, note="fetched nine days ago"))
    assert (found.status, found.payload["reason"]) == (Status.EMPTY, "no date is stated (fetched nine days ago)")


@pytest.mark.parametrize("status", [Status.STALE, Status.CONFLICT])
def test_a_date_out_of_a_doubtful_supply_is_shown_as_doubtful(status: Status) -> None:
    found = due(told(earnings(THURSDAY), status=status, note="fetched nine days ago"))

    assert (found.status, found.payload["sessions"]) == (status, 4)
    assert found.summary == "fetched nine days ago: Earnings due 2011-03-10, 4 sessions ahead"


@pytest.mark.parametrize("status", [Status.OK, Status.EMPTY, Status.FAILED])
def test_a_fund_has_no_earnings_and_no_hole(status: Status) -> None:
    g = told(status=status, note="the vendor timed out")
    found = due(replace(g, instrument=g.instrument.model_copy(update={"kind": "etf"})))

    assert (found.status, found.payload["reason"]) == (Status.NOT_APPLICABLE, "ACME reports no earnings of its own")


def test_an_ex_date_is_said_where_one_is_ahead() -> None:
    (found,) = ex_dividend_items(told(ex_dividend(THURSDAY), ex_dividend(MONDAY), earnings(MONDAY)))

    assert (found.tool, found.kind, found.sides, found.status) == ("get_price_history", "ex_dividend", ("bull", "bear"), Status.OK)
    assert found.payload == {"day": "2011-03-07", "last_day": "2011-03-07", "sessions": 1, "calendar_ends": None}
    assert found.summary == "Ex dividend 2011-03-07, 1 session ahead"


@pytest.mark.parametrize(("minutes", "shown"), [(-1, True), (0, False), (1, False)])
def test_an_ex_date_is_over_with_its_open(minutes: int, shown: bool) -> None:
    g = replace(told(ex_dividend(MONDAY)), as_of=opens(MONDAY) + timedelta(minutes=minutes))

    assert bool(ex_dividend_items(g)) is shown


@pytest.mark.parametrize("day", [FRIDAY, date(2011, 3, 3)])
def test_no_ex_date_ahead_is_no_item(day: date) -> None:
    assert ex_dividend_items(told(ex_dividend(day))) == ()


@pytest.mark.parametrize("status", [Status.FAILED, Status.EMPTY])
def test_a_lost_supply_is_said_once(status: Status) -> None:
    assert ex_dividend_items(told(status=status, note="the vendor timed out")) == ()


def test_a_mode_without_such_a_supply_has_no_items() -> None:
    g = gathered(BARS)

    assert (earnings_items(g), ex_dividend_items(g)) == ((), ())
    assert [item.kind for item in news_items(g, LEXICON)] == ["news"]
    assert price_items(g, NO_INDEX)[-1].kind == "index"


def test_the_tools_carry_them_last() -> None:
    g = told(earnings(THURSDAY), ex_dividend(MONDAY))

    assert [item.kind for item in news_items(g, LEXICON)] == ["news", "earnings_date"]
    assert [item.kind for item in price_items(g, NO_INDEX)][-2:] == ["index", "ex_dividend"]


def pack(g: Gathered) -> EvidencePack:
    items = (*price_items(g, NO_INDEX), *news_items(g, LEXICON))
    return EvidencePack(ticker="ACME", instrument_id="XNAS:ACME", as_of=g.as_of, session=str(g.session), items=items).sealed()


def test_they_neither_count_as_evidence_on_the_name_nor_make_it_younger() -> None:
    late = CALENDAR.next_session(THURSDAY)
    known = {"known_at": closes_at(late)}
    with_dates: Any = told(earnings(NEXT_TUESDAY, **known), ex_dividend(NEXT_TUESDAY, **known), session=late)

    assert len(pack(with_dates).items) == len(pack(gathered(BARS, session=late)).items) + 2
    assert standing(pack(with_dates), (), CALENDAR) == standing(pack(gathered(BARS, session=late)), (), CALENDAR)


Kind = Literal["earnings", "ex_dividend"]


@pytest.mark.parametrize("kind", ["earnings", "ex_dividend"])
def test_the_id_follows_from_what_is_stated(kind: Kind) -> None:
    make = earnings_items if kind == "earnings" else ex_dividend_items
    first, again, other = (make(told(ComingEvent(kind, day, day, STATED))) for day in (MONDAY, MONDAY, THURSDAY))

    assert first == again
    assert first[0].id != other[0].id
