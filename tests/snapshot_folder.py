"""The recorded snapshot, and small snapshot folders written by a test in the same shape."""

import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path

from alphaagent.clock import Calendars, SessionTable
from alphaagent.domain.base import plain, sha256_hex
from alphaagent.domain.market import Instrument
from alphaagent.evidence.manifest import Manifest, ManifestFile

RECORDED = Path(__file__).resolve().parent.parent / "data" / "snapshot"
SESSION_FILES = {"XNYS": "sessions.csv", "XLON": "sessions_XLON.csv"}
ACME = Instrument(id="XNAS:ACME", symbol="ACME", name="Acme Corporation", mic="XNAS", currency="USD", kind="common")
BAR_HEADER = "date,open,high,low,close,volume\n"
ACTION_HEADER = "kind,ex_date,value\n"
FACT_HEADER = "concept,unit,start,end,value,filed,form,accession\n"
INSTRUMENTS = "id,symbol,aliases,name,mic,currency,kind,sector,cik,valid_from,valid_to\n"


def recorded_calendar() -> SessionTable:
    return SessionTable.parse((RECORDED / "sessions.csv").read_text(encoding="utf-8"))


def recorded_calendars() -> Calendars:
    """Both recorded exchanges."""
    return Calendars(lambda exchange: SessionTable.parse((RECORDED / SESSION_FILES[exchange]).read_text(encoding="utf-8")))


def recorded_instrument(ticker: str) -> Instrument:
    return Instrument(id=f"XNAS:{ticker}", symbol=ticker, name=ticker, mic="XNAS", currency="USD", kind="common")


def write_folder(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """A snapshot folder with a manifest that lists exactly these files."""
    entries = []
    for path, content in sorted(files.items()):
        data = content.encode("utf-8") if isinstance(content, str) else content
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
        kind = path.split("/")[0] if "/" in path else path.removesuffix(".csv")
        entries.append(ManifestFile(path=path, kind=kind, origin="a test", licence="MIT", sha256=sha256_hex(data), bytes=len(data), first=date(2020, 1, 2)))
    write_manifest(folder, Manifest(schema_version=1, made_by="a test", files=tuple(entries)))
    return folder


def write_manifest(folder: Path, manifest: Manifest) -> None:
    (folder / "manifest.json").write_text(json.dumps(plain(manifest)), encoding="utf-8")


def rss(*items: str, head: str = '<?xml version="1.0" encoding="UTF-8"?>') -> str:
    return f'{head}<rss version="2.0"><channel><title>Acme notes</title><link>https://example.org/</link><description>d</description>{"".join(items)}</channel></rss>'


def item(title: str = "Acme sells an anvil", guid: str = "g1", published: str = "Thu, 02 Jan 2020 14:30:00 GMT", extra: str = "") -> str:
    date_line = f"<pubDate>{published}</pubDate>" if published else ""
    return f'<item><title>{title}</title><guid isPermaLink="false">{guid}</guid>{date_line}{extra}</item>'
