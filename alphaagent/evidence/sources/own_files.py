"""The files of a folder of own prices: which ticker each is of, and its rows as CSV text, whichever of the two formats it is in.

A Parquet file becomes the CSV text of the same columns, so that one parser judges both. Its binary numbers are written in their
shortest decimal form with at most six decimals; what is no number stays what it is and is refused by name.
"""

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from functools import cached_property, lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any

from alphaagent.errors import ConfigFault, SourceFault, UsageFault
from alphaagent.evidence.sources.instruments import normal_ticker
from alphaagent.evidence.sources.snapshot_rows import BAR_COLUMNS
from alphaagent.evidence.sources.table import MAX_DOCUMENT_BYTES

CURRENCY = "currency"
INSTRUMENTS_FILE = "instruments.csv"
ACTIONS_SUFFIX = ".actions.csv"
BAR_SUFFIXES = (".csv", ".parquet")
MAX_FILES = 2_000
MAX_ROWS = 100_000
CACHED_FILES = 32
_SIX_DECIMALS = Decimal("0.000001")


class OwnFiles:
    """A folder's price files by ticker, found once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def bars(self) -> Mapping[str, Path]:
        """TICKER.csv or TICKER.parquet, by ticker. Raises ConfigFault on a name that is no ticker's and on two files of one ticker."""
        return self._found[0]

    @property
    def actions(self) -> Mapping[str, Path]:
        """TICKER.actions.csv, by ticker. Raises ConfigFault on one that stands without prices."""
        return self._found[1]

    @cached_property
    def _found(self) -> tuple[Mapping[str, Path], Mapping[str, Path]]:
        bars = self._by_ticker([path for path in self._all if not _is_actions(path)])
        actions = self._by_ticker([path for path in self._all if _is_actions(path)])
        for ticker, path in actions.items():
            if ticker not in bars:
                raise ConfigFault(f"{self.shown(path)} stands without prices of {ticker}", fix=f"add {ticker}.csv, or remove the file")
        return bars, actions

    def shown(self, path: Path) -> str:
        """A file as messages call it: its folder's name and its own."""
        return f"{self.folder.name}/{path.name}"

    def read(self, path: Path) -> bytes:
        """The rows as CSV text. Raises SourceFault where the file cannot be read, is too large, or is no Parquet file."""
        try:
            size = path.stat().st_size
            if size > MAX_DOCUMENT_BYTES:
                raise SourceFault(f"{self.shown(path)} has {size} bytes, more than {MAX_DOCUMENT_BYTES}", fix="keep daily bars only")
            raw = path.read_bytes()
        except OSError as fault:
            raise SourceFault(f"{self.shown(path)} cannot be read: {fault.strerror}", fix="check the file and its permissions") from fault
        return csv_of_parquet(raw, self.shown(path)) if path.suffix.lower() == ".parquet" else raw

    @cached_property
    def _all(self) -> list[Path]:
        try:
            found = sorted(path for path in self.folder.iterdir() if path.suffix.lower() in BAR_SUFFIXES and path.name != INSTRUMENTS_FILE)
        except OSError as fault:
            raise ConfigFault(f"the folder of own prices, {self.folder}, cannot be read: {fault.strerror}", fix="correct data.own_prices") from fault
        if len(found) > MAX_FILES:
            raise ConfigFault(f"the folder of own prices, {self.folder}, holds {len(found)} files, more than {MAX_FILES}", fix="keep those that are needed")
        return [path for path in found if path.is_file()]

    def _by_ticker(self, paths: list[Path]) -> dict[str, Path]:
        found: dict[str, Path] = {}
        for path in paths:
            ticker = self._ticker(path)
            if ticker in found:
                raise ConfigFault(f"{ticker} has two files of own prices: {self.shown(found[ticker])} and {self.shown(path)}", fix="keep one of them")
            found[ticker] = path
        return found

    def _ticker(self, path: Path) -> str:
        try:
            return normal_ticker(path.name[: -len(ACTIONS_SUFFIX)] if _is_actions(path) else path.stem)
        except UsageFault as fault:
            raise ConfigFault(f"{self.shown(path)} is not named for a ticker: {fault.message}", fix="rename or remove the file") from fault


def _is_actions(path: Path) -> bool:
    return path.name.lower().endswith(ACTIONS_SUFFIX)


@lru_cache(maxsize=CACHED_FILES)
def csv_of_parquet(raw: bytes, path: str) -> bytes:
    """The bars of a Parquet file as CSV text, with the currency where there is one. Raises SourceFault."""
    names, frame = _frame(raw, path)
    columns = [[_text(value) for value in frame[name].array] for name in names]
    lines = [",".join(names), *map(",".join, zip(*columns, strict=True))]
    return ("\n".join(lines) + "\n").encode("utf-8")


def _frame(raw: bytes, path: str) -> tuple[list[str], Any]:
    try:
        import pandas
        from pyarrow.parquet import ParquetFile
    except ImportError as fault:
        raise SourceFault(f"{path} needs the library {fault.name} to be read", fix="install it, or save the prices as CSV") from fault
    try:
        file = ParquetFile(BytesIO(raw))
        _refuse_shape(file.schema_arrow.names, file.metadata.num_rows, path)
        names = [name for name in (*BAR_COLUMNS, CURRENCY) if name in file.schema_arrow.names]
        return names, pandas.read_parquet(BytesIO(raw), columns=names).reset_index()
    except (ValueError, OSError, TypeError, KeyError, NotImplementedError) as fault:
        raise SourceFault(f"{path} cannot be read as Parquet: {str(fault).splitlines()[0][:200]}", fix="write the file again") from fault


def _refuse_shape(names: list[str], rows: int, path: str) -> None:
    missing = [name for name in BAR_COLUMNS if name not in names]
    if missing:
        raise SourceFault(f"{path} lacks {', '.join(missing)}", fix=f"give it the columns {', '.join(BAR_COLUMNS)}")
    if rows > MAX_ROWS:
        raise SourceFault(f"{path} has {rows} rows, more than {MAX_ROWS}", fix="keep daily bars only")


def _text(value: Any) -> str:
    """A cell in the narrow form that the parser reads; what has no such form is written as it is, on one line, and refused there."""
    if isinstance(value, datetime):
        return value.date().isoformat() if (value.hour, value.minute, value.second, value.microsecond) == (0, 0, 0, 0) else str(value)
    if isinstance(value, date):
        return value.isoformat()
    text = " ".join(str(value).split())
    if isinstance(value, str | bool):
        return text
    try:
        number = Decimal(text)
    except ArithmeticError:
        return text
    return _plain(number) if number.is_finite() and abs(number) < Decimal(10) ** 18 else text


def _plain(number: Decimal) -> str:
    text = format(number.quantize(_SIX_DECIMALS), "f")
    return text.rstrip("0").rstrip(".") or "0"
