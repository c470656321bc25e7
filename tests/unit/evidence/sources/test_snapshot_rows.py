"""Rows of the snapshot become records with the instant at which they were known, or faults that name the column and the value."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alphaagent.clock import SessionTable
from alphaagent.domain.market import Records
from alphaagent.evidence.admission import admit
from alphaagent.evidence.sources.snapshot_rows import parse_actions, parse_bars, parse_facts
from tests.snapshot_folder import ACTION_HEADER, BAR_HEADER, FACT_HEADER, recorded_calendar

CALENDAR = recorded_calendar()
GOOD_BAR = "2020-01-02,10,12,9,11,1000"


def bars(*rows: str) -> Records:
    return parse_bars((BAR_HEADER + "".join(row + "\n" for row in rows)).encode(), "bars/ACME.csv", CALENDAR)


def actions(*rows: str) -> Records:
    return parse_actions((ACTION_HEADER + "".join(row + "\n" for row in rows)).encode(), "actions/ACME.csv", CALENDAR)


def facts(*rows: str) -> Records:
    return parse_facts((FACT_HEADER + "".join(row + "\n" for row in rows)).encode(), "fundamentals/ACME.csv", CALENDAR)


def fact(filed: str, *, end: str = "2012-12-31", value: str = "5", start: str = "", accession: str = "0000000001-20-000001") -> str:
    return f"Assets,USD,{start},{end},{value},{filed},10-Q,{accession}"


def test_a_bar_is_known_at_its_sessions_close_also_on_a_half_day() -> None:
    whole, half = bars("2019-11-27,10,12,9,11,1000", "2019-11-29,10,12,9,11,1000").bars
    assert whole.known_at == datetime(2019, 11, 27, 21, tzinfo=UTC)
    assert half.known_at == datetime(2019, 11, 29, 18, tzinfo=UTC)


def test_an_action_is_known_at_the_open_of_its_ex_date() -> None:
    (action,) = actions("split,2020-08-31,4").actions
    assert (action.kind, action.value, action.known_at) == ("split", Decimal(4), datetime(2020, 8, 31, 13, 30, tzinfo=UTC))


def test_a_split_stands_before_a_dividend_of_the_same_date() -> None:
    assert [action.kind for action in actions("dividend,2020-08-31,1", "split,2020-08-31,4").actions] == ["split", "dividend"]


@pytest.mark.parametrize(
    ("filed", "known_at"),
    [
        ("2020-01-02", datetime(2020, 1, 3, 14, 30, tzinfo=UTC)),
        ("2020-01-03", datetime(2020, 1, 6, 14, 30, tzinfo=UTC)),
        ("2020-01-04", datetime(2020, 1, 6, 14, 30, tzinfo=UTC)),
        ("2013-01-01", datetime(2013, 1, 2, 14, 30, tzinfo=UTC)),
        ("2023-10-18", datetime(2023, 10, 19, 13, 30, tzinfo=UTC)),
    ],
)
def test_a_fact_is_known_at_the_open_of_the_session_after_its_filing(filed: str, known_at: datetime) -> None:
    (known,) = facts(fact(filed)).facts
    assert known.known_at == known_at


def test_a_filing_older_than_the_calendar_is_known_from_its_first_open() -> None:
    (known,) = facts(fact("2009-07-22", end="2009-06-27")).facts
    assert known.known_at == CALENDAR.opens(date(2013, 1, 2))


def test_a_restatement_is_a_second_fact() -> None:
    both = facts(fact("2013-10-30", value="39.75"), fact("2014-10-27", value="5.68", accession="0000000001-20-000002")).facts
    assert [known.value for known in both] == [Decimal("39.75"), Decimal("5.68")]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("2020-01-02,10,12,9,NaN,1000", "close 'NaN' is not a plain decimal number"),
        ("2020-01-02,10,inf,9,11,1000", "high 'inf' is not a plain decimal number"),
        ("2020-01-02,ten,12,9,11,1000", "open 'ten' is not a plain decimal number"),
        ("2020-01-02,10,12,-9,11,1000", "low '-9' is not above zero"),
        ("2020-01-02,10,12,9,0,1000", "close '0' is not above zero"),
        ("2020-01-02,10,12,9,,1000", "close '' is not a plain decimal number"),
        ("2020-01-02,10,8,9,8.5,1000", "high 8 is below low 9"),
        ("2020-01-02,10,12,9,12.01,1000", "close 12.01 lies outside low 9 to high 12"),
        ("2020-01-02,8.99,12,9,11,1000", "open 8.99 lies outside low 9 to high 12"),
        ("2020-01-02,10,12,9,11,-1", "volume '-1' is not a whole number of at least zero"),
        ("2020-01-02,10,12,9,11,1.5", "volume '1.5' is not a whole number of at least zero"),
        ("2020-01-04,10,12,9,11,1000", "date 2020-01-04 is no session of the exchange"),
        ("2020-01-02,10,12,9,11", "the row has 5 columns instead of 6"),
        ("2020-01-02,10,12,9,11,1000,7", "the row has 7 columns instead of 6"),
    ],
)
def test_a_bad_bar_is_a_fault_that_names_line_column_value_and_session(row: str, message: str) -> None:
    records = bars("2019-12-31,10,12,9,11,1000", row, "2020-01-06,10,12,9,11,1000")
    (fault,) = records.faults
    assert (fault.where, fault.message, fault.session) == ("bars/ACME.csv line 3", message, date.fromisoformat(row[:10]))
    assert [bar.session.day for bar in records.bars] == [31, 6]


@pytest.mark.parametrize("row", ["", "yesterday,10,12,9,11,1000", "20200102,10,12,9,11,1000", "\x00,,,,,"])
def test_a_row_without_a_readable_date_is_a_fault_of_no_session(row: str) -> None:
    (fault,) = bars(GOOD_BAR, row, "2020-01-03,10,12,9,11,1000").faults
    assert (fault.where, fault.session) == ("bars/ACME.csv line 3", None)


@pytest.mark.parametrize("day", ["2012-12-31", "2023-10-20", "2099-01-01", "0001-01-01", "9999-12-31"])
def test_a_date_beyond_the_calendar_is_a_fault_of_that_date(day: str) -> None:
    (fault,) = bars(f"{day},10,12,9,11,1000").faults
    assert "lies outside the calendar, which covers 2013-01-02 to 2023-10-19" in fault.message
    assert fault.session == date.fromisoformat(day)


def test_a_date_that_occurs_twice_is_a_fault() -> None:
    records = bars(GOOD_BAR, "2020-01-02,10,12,9,10,1000", "2020-01-03,10,12,9,11,1000")
    assert [(fault.where, fault.message) for fault in records.faults] == [("bars/ACME.csv line 2", "date 2020-01-02 occurs again further down")]


def test_of_two_rows_out_of_order_the_later_date_is_the_fault() -> None:
    records = bars("2020-01-03,10,12,9,11,1000", GOOD_BAR)
    assert [(fault.where, fault.session) for fault in records.faults] == [("bars/ACME.csv line 2", date(2020, 1, 3))]
    assert [bar.session for bar in records.bars] == [date(2020, 1, 2)]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("splt,2020-08-31,4", "kind 'splt' is none of split, dividend, merger, stock_merger, spin_off, unknown"),
        ("split,2020-08-31,0", "value '0' is not above zero"),
        ("dividend,2020-08-31,-0.2", "value '-0.2' is not above zero"),
        ("dividend,2020-08-30,0.2", "ex_date 2020-08-30 is no session of the exchange"),
        ("dividend,2020-08-31", "the row has 2 columns instead of 3"),
    ],
)
def test_a_bad_action_is_a_fault_of_its_ex_date(row: str, message: str) -> None:
    (fault,) = actions(row).faults
    assert (fault.message, fault.session) == (message, date.fromisoformat(row.split(",")[1]))


def test_an_action_that_is_written_twice_counts_once_and_is_a_fault() -> None:
    records = actions("split,2020-08-31,4", "split,2020-08-31,4")
    assert len(records.actions) == 1
    assert [fault.where for fault in records.faults] == ["actions/ACME.csv line 3"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (fact("2020-01-02", value="NaN"), "value 'NaN' is not a plain decimal number"),
        (fact("2020-01-02", end="2020-01-03"), "end 2020-01-03 is after filed 2020-01-02"),
        (fact("2020-01-02", start="2013-01-01"), "start 2013-01-01 is after end 2012-12-31"),
        (fact("2020-01-02", accession="12"), "accession '12' is not of the expected form"),
        (fact("2020-01-02").replace("Assets", "=cmd()"), "concept '=cmd()' is not of the expected form"),
        (fact("2023-10-19"), "filed 2023-10-19 has no later session in the calendar, which ends on 2023-10-19"),
        (fact("2026-05-01"), "filed 2026-05-01 has no later session in the calendar, which ends on 2023-10-19"),
    ],
)
def test_a_bad_fact_is_a_fault_of_its_filing_date(row: str, message: str) -> None:
    (fault,) = facts(row).faults
    assert (fault.message, fault.session) == (message, date.fromisoformat(row.split(",")[5]))


def test_a_fact_repeated_within_one_filing_is_a_fault() -> None:
    assert [fault.where for fault in facts(fact("2020-01-02"), fact("2020-01-02", value="6")).faults] == ["fundamentals/ACME.csv line 3"]


def test_a_negative_fact_is_a_fact() -> None:
    (loss,) = facts(fact("2020-01-02", value="-12.5")).facts
    assert loss.value == Decimal("-12.5")


FUTURE_ROWS = ["2020-02-03,NaN,,x,0,-1", "2020-02-03,1,1,1,1,1", "2099-12-31,10,12,9,11,1", "2020-02-04,10,8,9,8,1", "2020-02-03,9,9", "2020-03-01,1,1,1,1,1"]
PAST_ROWS = ["2020-01-02,10,12,9,11,1000", "2020-01-03,11,12,9,11,1000", "2020-01-06,12,13,9,11,1000", "2020-01-03,10,12,9,11,1", "2020-01-07,0,1,1,1,1"]


@given(st.lists(st.sampled_from(PAST_ROWS + FUTURE_ROWS), max_size=12))
def test_whatever_rows_lie_in_the_future_and_wherever_they_stand_the_past_stays_the_same(rows: list[str]) -> None:
    session = date(2020, 1, 7)
    as_of = CALENDAR.closes(session) + timedelta(seconds=1)
    known, alone = (admit(bars(*some), as_of, session) for some in (rows, [row for row in rows if row in PAST_ROWS]))
    assert known.bars == alone.bars
    assert [replace(fault, where="") for fault in known.faults] == [replace(fault, where="") for fault in alone.faults]


def test_the_same_bytes_are_parsed_once_and_changed_bytes_again() -> None:
    assert bars(GOOD_BAR) is bars(GOOD_BAR)
    assert bars(GOOD_BAR) != bars(GOOD_BAR.replace("11", "10"))


def test_another_calendar_is_another_parse() -> None:
    later_close = SessionTable([(date(2020, 1, 2), datetime(2020, 1, 2, 14, 30, tzinfo=UTC), datetime(2020, 1, 2, 22, tzinfo=UTC))])
    raw = (BAR_HEADER + GOOD_BAR + "\n").encode()
    known = [parse_bars(raw, "bars/ACME.csv", calendar).bars[0].known_at.hour for calendar in (CALENDAR, later_close)]
    assert known == [21, 22]
