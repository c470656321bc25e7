"""A number, a count and a date are what the narrow format says and nothing else that Python would accept."""

from decimal import Decimal

import pytest

from alphaagent.errors import SourceFault
from alphaagent.evidence.sources.table import MAX_DOCUMENT_BYTES, BadRow, Row, decoded, read_rows

COLUMNS = ("date", "value")


def row(value: str) -> Row:
    return Row("t.csv line 2", {"date": "2020-01-02", "value": value})


@pytest.mark.parametrize(("value", "number"), [("1", Decimal(1)), ("-0.5", Decimal("-0.5")), ("007.10", Decimal("7.10"))])
def test_a_plain_decimal_is_a_number(value: str, number: Decimal) -> None:
    assert row(value).number("value") == number


@pytest.mark.parametrize(
    "value", ["", " 1", "1 ", "+1", "1.", ".5", "1e5", "NaN", "nan", "inf", "-Infinity", "1_000", "1,5", "0x10", "\u0661", "\uff11", "9" * 19, "TRUE"]
)
def test_anything_else_is_no_number(value: str) -> None:
    with pytest.raises(BadRow, match=r"value .* is not a plain decimal number"):
        row(value).number("value")


@pytest.mark.parametrize("value", ["20200102", "2020-W01-4", "2020-1-2", "2020-02-30", "2020-01-02T00:00", "\u0662020-01-02", ""])
def test_only_an_iso_date_is_a_date(value: str) -> None:
    with pytest.raises(BadRow, match=r"value .* is not a date"):
        row(value).day("value")


@pytest.mark.parametrize("value", ["-1", "1.5"])
def test_a_count_is_whole_and_not_negative(value: str) -> None:
    with pytest.raises(BadRow, match=r"value .* is not a whole number"):
        row(value).count("value")


def test_a_hostile_value_is_shown_short_and_escaped() -> None:
    with pytest.raises(BadRow) as bad:
        row("\x1b[2J\u202e" + "A" * 10_000).number("value")
    assert "\\x1b[2J\\u202e" in str(bad.value)
    assert len(str(bad.value)) < 120


def test_rows_keep_their_line_numbers_and_a_windows_line_end_is_no_error() -> None:
    good, faults = read_rows(b"date,value\r\n2020-01-02,1\r\n2020-01-03,x\r\n", "t.csv", COLUMNS, "date", lambda row: row.number("value"))
    assert [value for _, value in good] == [Decimal(1)]
    assert [(fault.where, str(fault.session)) for fault in faults] == [("t.csv line 3", "2020-01-03")]


def test_a_line_separator_inside_a_value_does_not_make_a_line() -> None:
    _, faults = read_rows("date,value\n2020-01-02,1\u2028\x0b\n".encode(), "t.csv", COLUMNS, "date", lambda row: row.number("value"))
    assert [fault.where for fault in faults] == ["t.csv line 2"]


def test_a_document_beyond_the_limit_is_refused() -> None:
    with pytest.raises(SourceFault, match=f"more than {MAX_DOCUMENT_BYTES}"):
        decoded(b"x" * (MAX_DOCUMENT_BYTES + 1), "t.csv")


@pytest.mark.parametrize(
    ("document", "says"),
    [(b"", "is empty"), (b"\n \n", "is empty"), (b"date,va\xfflue\n", "not UTF-8: byte 7"), (b"day,value\n", "not with the columns date,value")],
)
def test_a_broken_document_says_what_is_wrong(document: bytes, says: str) -> None:
    with pytest.raises(SourceFault, match=r"t\.csv") as fault:
        read_rows(document, "t.csv", COLUMNS, "date", lambda row: row)
    assert says in fault.value.message
