"""Reading the snapshot's CSV files: a broken document raises, a broken row is handed back as a fault beside the good ones.

The format is narrower than CSV on purpose: UTF-8, one known header, no quoting, plain decimal numbers and ISO dates in ASCII
digits. What Python would accept beyond that (`1_000`, `NaN`, `1E5`, Arabic digits, week dates) is refused by name.
"""

import re
from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal
from typing import TypeVar

from alphaagent.domain.market import RowFault
from alphaagent.errors import SourceFault

MAX_DOCUMENT_BYTES = 16_000_000
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_NUMBER = re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,8})?")
_SHOWN_CHARACTERS = 40
Item = TypeVar("Item")
Parsed = list[tuple["Row", Item]]


class BadRow(ValueError):
    """A row that cannot be used; the message names the column and the value."""


class Row:
    """One line of a file: its place and its fields by column."""

    __slots__ = ("fields", "where")

    def __init__(self, where: str, fields: Mapping[str, str]) -> None:
        self.where = where
        self.fields = fields

    def text(self, column: str, pattern: str) -> str:
        value = self.fields[column]
        if not re.fullmatch(pattern, value, re.ASCII):
            raise BadRow(f"{column} {shown(value)} is not of the expected form")
        return value

    def day(self, column: str) -> date:
        value = self.fields[column]
        try:
            if not _DATE.fullmatch(value):
                raise ValueError
            return date.fromisoformat(value)
        except ValueError:
            raise BadRow(f"{column} {shown(value)} is not a date") from None

    def number(self, column: str) -> Decimal:
        value = self.fields[column]
        if not _NUMBER.fullmatch(value):
            raise BadRow(f"{column} {shown(value)} is not a plain decimal number")
        return Decimal(value)

    def positive(self, column: str) -> Decimal:
        number = self.number(column)
        if number <= 0:
            raise BadRow(f"{column} {shown(self.fields[column])} is not above zero")
        return number

    def count(self, column: str) -> int:
        number = self.number(column)
        if number < 0 or number != int(number):
            raise BadRow(f"{column} {shown(self.fields[column])} is not a whole number of at least zero")
        return int(number)

    def fault(self, message: str, dated_by: str) -> RowFault:
        """This row as a fault, with the date in column `dated_by` where it can be read."""
        try:
            session = self.day(dated_by)
        except (BadRow, KeyError):
            session = None
        return RowFault(self.where, message, session)


def shown(value: str) -> str:
    """A value as an error message shows it: quoted, escaped, short."""
    return ascii(value if len(value) <= _SHOWN_CHARACTERS else value[:_SHOWN_CHARACTERS] + "...")


def decoded(raw: bytes, path: str) -> str:
    """The text of a UTF-8 document. Raises SourceFault where it is empty, too large or not UTF-8."""
    if not raw.strip():
        raise SourceFault(f"{path} is empty", fix="restore the file; a supply without records keeps its header line")
    if len(raw) > MAX_DOCUMENT_BYTES:
        raise SourceFault(f"{path} has {len(raw)} bytes, more than {MAX_DOCUMENT_BYTES}", fix="check what wrote the file")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as fault:
        raise SourceFault(f"{path} is not UTF-8: byte {fault.start} cannot be read", fix="restore the file") from fault


def read_rows(raw: bytes, path: str, columns: tuple[str, ...], dated_by: str, build: Callable[[Row], Item]) -> tuple[Parsed[Item], list[RowFault]]:
    """Every line through `build`: the rows it accepts, and a fault for each that it refuses. Raises SourceFault on a wrong header."""
    header, *lines = decoded(raw, path).removesuffix("\n").split("\n")
    if header.rstrip("\r") != ",".join(columns):
        raise SourceFault(f"{path} starts with {shown(header)}, not with the columns {','.join(columns)}", fix="restore the file")
    good: Parsed[Item] = []
    faults: list[RowFault] = []
    for number, line in enumerate(lines, start=2):
        fields = line.rstrip("\r").split(",")
        row = Row(f"{path} line {number}", dict(zip(columns, fields, strict=False)))
        try:
            if len(fields) != len(columns):
                raise BadRow(f"the row has {len(fields)} columns instead of {len(columns)}")
            good.append((row, build(row)))
        except BadRow as bad:
            faults.append(row.fault(str(bad), dated_by))
    return good, faults
