"""The closes of a market index out of its original: the rows of the recorded range, checked against the exchange's sessions."""

import csv
import gzip
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

SP500_FILE = "raw/arch_sp500.csv.gz"
FIRST, LAST = date(2013, 1, 2), date(2018, 12, 31)
CENT = Decimal("0.01")
"""What an index is published in; the original's six decimals are binary noise."""

Close = tuple[date, Decimal]


def read_closes(source: Path) -> list[Close]:
    """The closes from FIRST to LAST, to the cent, in the order of the original."""
    with gzip.open(source / SP500_FILE, "rt", encoding="utf-8", newline="") as file:
        rows = [(datetime.strptime(row["Date"], "%m/%d/%Y").date(), Decimal(row["Close"])) for row in csv.DictReader(file)]  # noqa: DTZ007 - a date
    return [(day, close.quantize(CENT)) for day, close in rows if FIRST <= day <= LAST]


def check(closes: Sequence[Close], sessions: Sequence[date]) -> None:
    """ValueError unless the closes are exactly those of the exchange's sessions in the range."""
    expected, found = [day for day in sessions if FIRST <= day <= LAST], [day for day, _ in closes]
    if found != expected:
        raise ValueError(f"the index has {len(found)} closes that are not the {len(expected)} sessions from {FIRST} to {LAST}")
