"""The recorded snapshot as evidence sources: prices, fundamentals and news out of a folder, offline.

Absence and failure are kept apart by the manifest: a file that is neither there nor listed is nothing for this instrument (None); a
listed file that is missing or unreadable raises SourceFault.
"""

from pathlib import Path

from alphaagent.domain.market import Instrument, Records
from alphaagent.errors import SourceFault
from alphaagent.evidence.manifest import read_manifest
from alphaagent.evidence.sources.feed import parse_feed
from alphaagent.evidence.sources.snapshot_rows import parse_actions, parse_bars, parse_facts
from alphaagent.ports import Calendar, Supply

SEPARATOR = b"\x1c"
"""Between the two files of one price document; it occurs in neither."""


def file_of(supply: str, instrument: Instrument, suffix: str = "csv") -> str:
    """Where a snapshot keeps one file of an instrument, relative to its folder; a slash in a symbol becomes a dash."""
    return f"{supply}/{instrument.symbol.replace('/', '-')}.{suffix}"


def read_listed(folder: Path, path: str) -> bytes | None:
    """The bytes of one file; None where it does not exist and is not listed either. Raises SourceFault, or ConfigFault on the manifest."""
    try:
        return (folder / path).read_bytes()
    except FileNotFoundError as fault:
        if not read_manifest(folder).lists(path):
            return None
        raise SourceFault(f"{path} is listed in the snapshot's manifest and missing", fix="restore the file") from fault
    except OSError as fault:
        raise SourceFault(f"{path} cannot be read: {fault.strerror}", fix="check the file's permissions") from fault


class SnapshotPrices:
    """Bars as traded with the splits and dividends that go with them: one document made of two files."""

    name = "snapshot"
    supplies: Supply = "prices"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def fetch(self, instrument: Instrument) -> bytes | None:
        bars = read_listed(self._folder, file_of("bars", instrument))
        if bars is None:
            return None
        actions = read_listed(self._folder, file_of("actions", instrument))
        return bars if actions is None else bars + SEPARATOR + actions

    def parse(self, raw: bytes, instrument: Instrument, calendar: Calendar) -> Records:
        bars_path, actions_path = file_of("bars", instrument), file_of("actions", instrument)
        documents = raw.split(SEPARATOR)
        if len(documents) > 2:
            raise SourceFault(f"{bars_path} or {actions_path} holds a file separator character", fix="restore the files")
        priced = parse_bars(documents[0], bars_path, calendar)
        acted = parse_actions(documents[1], actions_path, calendar) if len(documents) == 2 else Records()
        return Records(bars=priced.bars, actions=acted.actions, faults=priced.faults + acted.faults)


class SnapshotFundamentals:
    """Facts as companies filed them, restatements included."""

    name = "snapshot"
    supplies: Supply = "fundamentals"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def fetch(self, instrument: Instrument) -> bytes | None:
        return read_listed(self._folder, file_of("fundamentals", instrument))

    def parse(self, raw: bytes, instrument: Instrument, calendar: Calendar) -> Records:
        return parse_facts(raw, file_of("fundamentals", instrument), calendar)


class SnapshotNews:
    """An RSS document per instrument."""

    name = "snapshot"
    supplies: Supply = "news"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def fetch(self, instrument: Instrument) -> bytes | None:
        return read_listed(self._folder, file_of("news", instrument, "xml"))

    def parse(self, raw: bytes, instrument: Instrument, calendar: Calendar) -> Records:
        return parse_feed(raw, file_of("news", instrument, "xml"), calendar)
