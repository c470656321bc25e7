"""The instruments of a snapshot and how a ticker finds them.

A ticker is text and stays text: `TRUE`, `NAN` and `1E5` are symbols like any other. Share classes are written with a point, a dash or
a slash by different vendors, so these three count as one.
"""

import csv
import io
import re
from collections.abc import Iterable
from datetime import date
from pathlib import Path

from pydantic import ValidationError

from alphaagent.domain.market import Instrument
from alphaagent.errors import ConfigFault, UsageFault

INSTRUMENT_COLUMNS = ("id", "symbol", "aliases", "name", "mic", "currency", "kind", "sector", "cik", "valid_from", "valid_to")
ALIAS_SEPARATOR = "|"
_TICKER = re.compile(r"(?=.{1,15}\Z)\^?[A-Za-z0-9]+([.=/-][A-Za-z0-9]+)*")


def normal_ticker(ticker: str) -> str:
    """A ticker in capitals with its share class after a point. Raises UsageFault on anything that cannot be one."""
    if not _TICKER.fullmatch(ticker):
        raise UsageFault(f"{ticker[:40]!a} cannot be a ticker", fix="use 1 to 15 of the letters A-Z, the digits and . ^ = / -")
    return ticker.upper().replace("-", ".").replace("/", ".")


def named_by(ticker: str, instruments: Iterable[Instrument], on: date) -> tuple[Instrument, ...]:
    """Every instrument that a ticker names on a date, by symbol or alias."""
    return tuple(item for item in named(ticker, instruments) if valid_on(item, on))


def named(ticker: str, instruments: Iterable[Instrument]) -> tuple[Instrument, ...]:
    """Every instrument that a ticker names at any time."""
    wanted = normal_ticker(ticker)
    return tuple(item for item in instruments if wanted in map(normal_ticker, (item.symbol, *item.aliases)))


def read_instruments(folder: Path) -> tuple[Instrument, ...]:
    """The rows of instruments.csv. Raises ConfigFault where the file is missing or a row is unusable."""
    path = folder / "instruments.csv"
    try:
        table = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8")), strict=True)
        rows = list(table)
    except (OSError, UnicodeDecodeError, csv.Error) as fault:
        raise ConfigFault(f"{path} cannot be read: {fault}", fix="restore the file") from fault
    if tuple(table.fieldnames or ()) != INSTRUMENT_COLUMNS:
        raise ConfigFault(f"{path} has not the columns {','.join(INSTRUMENT_COLUMNS)}", fix="restore the file")
    instruments = tuple(_instrument(row, f"{path} row {number}") for number, row in enumerate(rows, start=1))
    first: dict[str, int] = {}
    for number, instrument in enumerate(instruments, start=1):
        if first.setdefault(instrument.id, number) != number:
            raise ConfigFault(f"{path} rows {first[instrument.id]} and {number} have one id, {instrument.id}", fix="give every instrument an id of its own")
    return instruments


def _instrument(row: dict[str, str], where: str) -> Instrument:
    try:
        present = {column: value for column, value in row.items() if value}
        aliases = tuple(present.pop("aliases", "").split(ALIAS_SEPARATOR)) if row["aliases"] else ()
        instrument = Instrument.model_validate({**present, "aliases": aliases})
        for ticker in (instrument.symbol, *instrument.aliases):
            normal_ticker(ticker)
    except (ValidationError, UsageFault) as fault:
        raise ConfigFault(f"{where} is unusable: {fault}", fix="restore the file") from fault
    return instrument


def valid_on(instrument: Instrument, on: date) -> bool:
    """Whether a date lies within an instrument's time."""
    return (instrument.valid_from is None or instrument.valid_from <= on) and (instrument.valid_to is None or on <= instrument.valid_to)
