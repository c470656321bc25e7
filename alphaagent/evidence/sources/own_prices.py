"""The user's own prices as a source: files that take the place of the snapshot's, or add a ticker that it does not know.

A file replaces the recorded bars as a whole; the two are never mixed or compared. Splits and dividends are the company's and not a
vendor's, so the recorded ones stay in force until a TICKER.actions.csv stands beside the bars. Where the folder does not say what a new ticker
is, it is a common share in dollars on the New York calendar.
"""

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import date
from functools import cached_property
from pathlib import Path

from alphaagent.domain.market import MINOR_UNITS, Instrument, Records, RowFault
from alphaagent.errors import ConfigFault, SourceFault
from alphaagent.evidence.sources.instruments import named, normal_ticker, read_instruments
from alphaagent.evidence.sources.own_files import CURRENCY, INSTRUMENTS_FILE, OwnFiles
from alphaagent.evidence.sources.snapshot import SEPARATOR, file_of, read_listed
from alphaagent.evidence.sources.snapshot_rows import BAR_COLUMNS, parse_actions, parse_bars
from alphaagent.evidence.sources.table import Row, decoded, shown
from alphaagent.ports import Calendar, Supply

DEFAULT_CURRENCY = "USD"
BYTE_ORDER_MARK = "\ufeff"
_DATED = re.compile(rb"^([0-9]{4}-[0-9]{2}-[0-9]{2}),", re.MULTILINE)
_CURRENCY = re.compile("[A-Z]{3}|" + "|".join(MINOR_UNITS))


class OwnPrices:
    """An EvidenceSource over a folder of own files; `snapshot` holds the actions of what has no actions file of its own."""

    name = "own"
    supplies: Supply = "prices"

    def __init__(self, folder: Path, snapshot: Path) -> None:
        self._files = OwnFiles(folder)
        self._snapshot = snapshot

    def has(self, instrument: Instrument) -> bool:
        """Whether there are own prices of an instrument, under its symbol or an alias."""
        return self._bars_file(instrument) is not None

    def fetch(self, instrument: Instrument) -> bytes | None:
        path = self._bars_file(instrument)
        if path is None:
            return None
        bars, (actions, _) = self._files.read(path), self._actions_document(instrument)
        return bars if actions is None else bars + SEPARATOR + actions

    def parse(self, raw: bytes, instrument: Instrument, calendar: Calendar) -> Records:
        bars, *rest = raw.split(SEPARATOR)
        if len(rest) > 1:
            raise SourceFault(f"the prices of {instrument.symbol} hold a file separator character", fix="remove it")
        priced = self._parsed_bars(bars, instrument, calendar)
        acted = parse_actions(rest[0], self._actions_path(instrument), calendar) if rest else Records()
        return Records(bars=priced.bars, actions=acted.actions, faults=priced.faults + acted.faults)

    def bars(self, instrument: Instrument, calendar: Calendar) -> Records:
        """The bars alone, as the guard and the fills read them."""
        path = self._bars_file(instrument)
        return Records() if path is None else self._parsed_bars(self._files.read(path), instrument, calendar)

    def actions(self, instrument: Instrument, calendar: Calendar) -> Records:
        raw, path = self._actions_document(instrument)
        return Records() if raw is None else parse_actions(raw, path, calendar)

    def instruments(self, recorded: Iterable[Instrument]) -> tuple[Instrument, ...]:
        """The recorded instruments, with those of the folder's instruments.csv in the place of the same id or symbol."""
        taken = {one.id for one in self._described} | {normal_ticker(one.symbol) for one in self._described}
        return (*self._described, *(one for one in recorded if taken.isdisjoint((one.id, normal_ticker(one.symbol)))))

    def made_up(self, known: tuple[Instrument, ...]) -> tuple[str, ...]:
        """The tickers that have own prices and are named by no known instrument."""
        return tuple(ticker for ticker in self._files.bars if not named(ticker, known))

    def instrument_of(self, ticker: str) -> Instrument:
        """What a ticker without a description is taken for."""
        return Instrument(id=f"OWN:{ticker}", symbol=ticker, name=ticker, mic="XNYS", currency=self._currency(ticker), kind="common")

    def span(self) -> tuple[date, date] | None:
        """The first and the last date of all files together; unreadable ones do not count."""
        days = []
        for path in self._files.bars.values():
            with suppress(SourceFault, ValueError):
                dated = sorted(_DATED.findall(self._files.read(path)))
                days += [date.fromisoformat(dated[place].decode()) for place in (0, -1) if dated]
        return (min(days), max(days)) if days else None

    @cached_property
    def _described(self) -> tuple[Instrument, ...]:
        return read_instruments(self._files.folder) if (self._files.folder / INSTRUMENTS_FILE).is_file() else ()

    def _bars_file(self, instrument: Instrument) -> Path | None:
        names = {normal_ticker(name) for name in (instrument.symbol, *instrument.aliases)}
        found = [path for ticker, path in self._files.bars.items() if ticker in names]
        if len(found) > 1:
            shown_files = " and ".join(map(self._files.shown, found))
            raise ConfigFault(f"{instrument.symbol} has two files of own prices: {shown_files}", fix="keep one of them")
        return found[0] if found else None

    def _actions_file(self, instrument: Instrument) -> Path | None:
        names = (normal_ticker(name) for name in (instrument.symbol, *instrument.aliases))
        return next((self._files.actions[name] for name in names if name in self._files.actions), None)

    def _actions_path(self, instrument: Instrument) -> str:
        path = self._actions_file(instrument)
        return file_of("actions", instrument) if path is None else self._files.shown(path)

    def _actions_document(self, instrument: Instrument) -> tuple[bytes | None, str]:
        path, shown_path = self._actions_file(instrument), self._actions_path(instrument)
        return read_listed(self._snapshot, shown_path) if path is None else self._files.read(path), shown_path

    def _parsed_bars(self, raw: bytes, instrument: Instrument, calendar: Calendar) -> Records:
        path = self._bars_file(instrument)
        name = f"{instrument.symbol}.csv" if path is None else self._files.shown(path)
        records = parse_own_bars(raw, name, instrument.currency, calendar)
        return replace(records, faults=tuple(map(_by_row, records.faults))) if name.lower().endswith(".parquet") else records

    def _currency(self, ticker: str) -> str:
        """The currency in a file's first row; dollars where it names none."""
        with suppress(SourceFault):
            header, *rows = self._files.read(self._files.bars[ticker])[:10_000].decode("utf-8", "replace").splitlines()
            stated = rows[0].rpartition(",")[2] if rows and header.endswith(f",{CURRENCY}") else ""
            return stated if _CURRENCY.fullmatch(stated) else DEFAULT_CURRENCY
        return DEFAULT_CURRENCY


def parse_own_bars(raw: bytes, path: str, currency: str, calendar: Calendar) -> Records:
    """Bars with or without a currency column; a row in another currency than the instrument's is a fault. Raises SourceFault on a wrong header."""
    text = decoded(raw, path).removeprefix(BYTE_ORDER_MARK)
    header, _, body = text.partition("\n")
    columns = tuple(header.rstrip("\r").split(","))
    if columns == BAR_COLUMNS:
        return parse_bars(text.encode("utf-8"), path, calendar)
    if columns != (*BAR_COLUMNS, CURRENCY):
        raise SourceFault(f"{path} {_wrong(columns)}", fix=f"begin the file with {','.join(BAR_COLUMNS)}, and ,{CURRENCY} after it if wanted")
    cut = [line.rstrip("\r").rpartition(",") for line in body.removesuffix("\n").split("\n")]
    bare = "\n".join((",".join(BAR_COLUMNS), *(before for before, _, _ in cut))) + "\n"
    records = parse_bars(bare.encode("utf-8"), path, calendar)
    return replace(records, faults=(*records.faults, *_other_currency(path, cut, currency)))


def _wrong(columns: tuple[str, ...]) -> str:
    """What is the matter with a header."""
    missing = [name for name in BAR_COLUMNS if name not in columns]
    if missing:
        return f"lacks the columns {', '.join(missing)}" if len(missing) > 1 else f"lacks the column {missing[0]}"
    more = [name for name in columns if name not in (*BAR_COLUMNS, CURRENCY)]
    return f"has columns that are not known: {shown(', '.join(more))}" if more else "has its columns in another order"


def _other_currency(path: str, cut: list[tuple[str, str, str]], currency: str) -> Iterable[RowFault]:
    for number, (before, _, stated) in enumerate(cut, start=2):
        if stated != currency:
            row = Row(f"{path} line {number}", {"date": before.partition(",")[0]})
            yield row.fault(f"currency {shown(stated)} is not {currency}, which the instrument is priced in", "date")


def _by_row(fault: RowFault) -> RowFault:
    """A fault of a Parquet file, which has rows and no header line."""
    path, _, line = fault.where.rpartition(" line ")
    return replace(fault, where=f"{path} row {int(line) - 1}")
