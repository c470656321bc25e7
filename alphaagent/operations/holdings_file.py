"""The file of holdings that a portfolio opens with: CSV text becomes rows, and everything that is no row is told with its place and its fix. Pure.

Columns `ticker,quantity,cost,date,cash`, in any order, separated by commas or semicolons. A row is a holding (ticker, quantity as held now, what
it cost in all, since when) or cash (the amount alone in `cash`). Nothing is guessed: a number is ASCII digits with a decimal point.
"""

import csv
import difflib
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from alphaagent.domain.text import inert
from alphaagent.errors import UsageFault

COLUMNS = ("ticker", "quantity", "cost", "date", "cash")
NEEDED = ("ticker", "quantity", "cost", "date")
MAX_ROWS = 100_000
MAX_BYTES = 16 * 1024 * 1024
MAX_FAULTS_TOLD = 1000
SHOWN = 40
EARLIEST = date(1900, 1, 1)
LARGEST = Decimal(10) ** 9
_NUMBER = re.compile(r"[0-9]{1,12}(\.[0-9]{1,6})?", re.ASCII)
_GROUPED = re.compile(r"[+-]?[0-9]{1,3}([,.' ][0-9]{3})+([.,][0-9]+)?", re.ASCII)
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


@dataclass(frozen=True, slots=True)
class HoldingRow:
    """One lot as the file has it."""

    line: int
    ticker: str
    quantity: Decimal
    cost: Decimal
    acquired: date


@dataclass(frozen=True, slots=True)
class RowFault:
    """Why a row cannot be placed: line, column, value, and what to do."""

    line: int
    column: str
    value: str
    message: str
    fix: str

    def told(self) -> str:
        value = f" {shown(self.value)}" if self.value else ""
        return f"line {self.line}, {self.column}{value}: {self.message}; {self.fix}"


@dataclass(frozen=True, slots=True)
class HoldingsFile:
    """What a file says: lots, cash in all, and what could not be read."""

    rows: tuple[HoldingRow, ...]
    cash: Decimal
    faults: tuple[RowFault, ...]


class ImportRefused(UsageFault):
    """Rows that cannot be placed; nothing was booked."""

    def __init__(self, faults: tuple[RowFault, ...]) -> None:
        told = [fault.told() for fault in faults[:MAX_FAULTS_TOLD]]
        told += [f"and {len(faults) - MAX_FAULTS_TOLD} more"] if len(faults) > MAX_FAULTS_TOLD else []
        rows = "1 row cannot be placed" if len(faults) == 1 else f"{len(faults)} places are wrong"
        super().__init__(f"{rows}, so nothing was booked:\n  " + "\n  ".join(told), fix="correct the file and import it again")
        self.faults = faults


def shown(value: str) -> str:
    """A value of the file, made harmless and cut to a readable length."""
    text = inert(value)
    return repr(text if len(text) <= SHOWN else text[: SHOWN - 1] + "…")


def read_holdings(raw: bytes, today: date) -> HoldingsFile:
    """The rows of a file. Raises UsageFault where the file as a whole cannot be read: empty, not UTF-8, a wrong header, too many rows."""
    text = _text(raw)
    separator = _separator(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows: list[HoldingRow] = []
    faults: list[RowFault] = []
    cash, begun = Decimal(0), 0
    try:
        header = _header(next(reader, []))
        before = reader.line_num
        for cells in reader:
            line, before = before + 1, reader.line_num
            if not any(cell.strip() for cell in cells):
                continue
            begun += 1
            if begun > MAX_ROWS:
                raise UsageFault(f"the file has more than {MAX_ROWS} rows", fix="add up lots of the same day, or split the portfolio")
            row = _row(line, header, cells, separator, today)
            if isinstance(row, Decimal):
                cash += row
            elif isinstance(row, HoldingRow):
                rows.append(row)
            else:
                faults += row
    except csv.Error as fault:
        raise UsageFault(f"line {reader.line_num} is no CSV: {fault}", fix="close the quotes, or export the file again") from None
    if not begun:
        raise UsageFault("the file has a header and no rows", fix="add a row for each lot, and one for cash")
    return HoldingsFile(tuple(rows), cash, tuple(faults))


def _text(raw: bytes) -> str:
    if len(raw) > MAX_BYTES:
        raise UsageFault(f"the file has {len(raw)} bytes; at most {MAX_BYTES} are read", fix="keep the five columns only, or split the portfolio")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise UsageFault(f"the file is not UTF-8 text (byte {fault.start})", fix="save it as CSV in UTF-8") from None
    if not text.strip():
        raise UsageFault("the file is empty", fix=f"write the header {','.join(COLUMNS)} and a row for each lot")
    return text


def _separator(text: str) -> str:
    first = text.lstrip().splitlines()[0]
    return max(",;\t", key=first.count)


def _header(cells: list[str]) -> dict[str, int]:
    names = [cell.strip().lower() for cell in cells]
    for name in names:
        if name not in COLUMNS:
            close = difflib.get_close_matches(name, COLUMNS, n=1)
            fix = f"did you mean {close[0]}?" if close else f"the columns are {', '.join(COLUMNS)}"
            raise UsageFault(f"line 1: unknown column {shown(name)}", fix=fix)
        if names.count(name) > 1:
            raise UsageFault(f"line 1: the column {name} stands twice", fix="remove one of the two")
    missing = [name for name in NEEDED if name not in names]
    if missing:
        raise UsageFault(f"line 1: the column {missing[0]} is missing", fix=f"the columns are {', '.join(COLUMNS)}")
    return {name: place for place, name in enumerate(names)}


def _row(line: int, header: dict[str, int], cells: list[str], separator: str, today: date) -> HoldingRow | Decimal | list[RowFault]:
    """A lot, an amount of cash, or everything that is wrong with the row."""
    if len(cells) != len(header):
        hint = "write numbers without thousands separators" if len(cells) > len(header) and separator == "," else "give every column, empty or not"
        return [RowFault(line, "row", separator.join(cells), f"it has {len(cells)} cells where the header has {len(header)}", hint)]
    fields = {name: cells[place].strip() for name, place in header.items()}
    if fields.get("cash"):
        return _cash(line, fields)
    return _holding(line, fields, today)


def _cash(line: int, fields: dict[str, str]) -> Decimal | list[RowFault]:
    besides = [name for name in NEEDED if fields[name]]
    if besides:
        return [RowFault(line, besides[0], fields[besides[0]], "a cash row has nothing but cash", "leave the other columns empty, or cash")]
    amount = _number(line, "cash", fields["cash"], zero=True)
    return [amount] if isinstance(amount, RowFault) else amount


def _holding(line: int, fields: dict[str, str], today: date) -> HoldingRow | list[RowFault]:
    quantity = _number(line, "quantity", fields["quantity"], zero=False)
    cost = _number(line, "cost", fields["cost"], zero=True)
    acquired = _day(line, fields["date"], today)
    faults = [part for part in (quantity, cost, acquired) if isinstance(part, RowFault)]
    if not fields["ticker"]:
        faults.insert(0, RowFault(line, "ticker", "", "it is empty", "name the ticker, or fill in cash alone"))
    if faults or isinstance(quantity, RowFault) or isinstance(cost, RowFault) or isinstance(acquired, RowFault):
        return faults
    return HoldingRow(line, fields["ticker"], quantity, cost, acquired)


def _number(line: int, column: str, text: str, *, zero: bool) -> Decimal | RowFault:
    least = "zero or more" if zero else "above zero"
    if not text:
        return RowFault(line, column, "", "it is empty", f"write a number {least}")
    if not _NUMBER.fullmatch(text):
        return RowFault(line, column, text, *_why_no_number(text, least))
    value = Decimal(text)
    if value > LARGEST or (not zero and not value):
        return RowFault(line, column, text, "it is out of range", f"write a number {least}, at most {LARGEST:f}")
    return value


def _why_no_number(text: str, least: str) -> tuple[str, str]:
    """What is wrong with a number, and how to write it."""
    if text.startswith("-") and _NUMBER.fullmatch(text[1:]):
        return "it is negative", f"write a number {least}: only long holdings can be brought in"
    if _GROUPED.fullmatch(text):
        return "it has a thousands separator", "write 1234.50 for one thousand two hundred thirty-four and a half"
    if re.fullmatch(r"[0-9]+,[0-9]+", text, re.ASCII):
        return "it has a decimal comma", "write a decimal point"
    if re.fullmatch(r"[0-9]+\.[0-9]{7,}", text, re.ASCII):
        return "it has more than six decimals", "round it"
    return "it is no number", f"write digits with a decimal point, {least}"


def _day(line: int, text: str, today: date) -> date | RowFault:
    try:
        day = date.fromisoformat(text) if _DAY.fullmatch(text) else None
    except ValueError:
        day = None
    if day is None:
        return RowFault(line, "date", text, "it is no date" if text else "it is empty", "write the day of purchase as 2020-03-16")
    if day > today:
        return RowFault(line, "date", text, f"it lies after {today}, the day of the import", "correct it, or import with a later --as-of")
    if day < EARLIEST:
        return RowFault(line, "date", text, f"it lies before {EARLIEST}", "correct it")
    return day


def tickers(rows: tuple[HoldingRow, ...]) -> Iterator[str]:
    """Each ticker once, in order of appearance."""
    yield from dict.fromkeys(row.ticker for row in rows)
