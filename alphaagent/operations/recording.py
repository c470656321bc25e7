"""A snapshot folder written from live data as they stand at one instant; the recorded mode reads it like the one that ships.

Nothing is fetched here: what the live sources tell of the instant is written down. It is for the user's own use: a vendor's terms do not become
licences, and the manifest says so.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from email.utils import format_datetime
from pathlib import Path
from xml.sax.saxutils import escape

from alphaagent.clock import DEFAULT_EXCHANGE, Calendars, exchange_of
from alphaagent.domain.base import instant_text, plain, sha256_hex
from alphaagent.domain.market import Article, Instrument, Records
from alphaagent.errors import NoEvidence, UsageFault
from alphaagent.evidence.gathered import Supplied
from alphaagent.evidence.index_history import INDEX_COLUMNS, INDEX_PATH
from alphaagent.evidence.manifest import MANIFEST_NAME, FileKind, Manifest, ManifestFile
from alphaagent.evidence.sources.instruments import ALIAS_SEPARATOR, INSTRUMENT_COLUMNS
from alphaagent.evidence.sources.snapshot import file_of
from alphaagent.evidence.sources.snapshot_rows import ACTION_COLUMNS, BAR_COLUMNS, FACT_COLUMNS
from alphaagent.ports import Supply

MADE_BY = "alphaagent data record"
TERMS = "the vendor's own terms: for your own use, not to be passed on"
OURS = "MIT (AlphaAgent)"
RSS_HEAD = ('<?xml version="1.0" encoding="UTF-8"?>', '<rss version="2.0"><channel><title>Recorded news</title>')
SESSIONS_AFTER = timedelta(days=45)
"""How far the recorded calendar reaches past the last bar, so that an order of the last session has one to fill on."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One instrument with what its supplies told."""

    instrument: Instrument
    supplied: dict[Supply, Supplied]

    def records(self, supply: Supply) -> Records:
        return self.supplied[supply].records


@dataclass
class _Folder:
    """The folder being written, and what its manifest will say."""

    folder: Path
    files: list[ManifestFile] = field(default_factory=list)

    def add(self, path: str, kind: FileKind, text: str, origin: str, licence: str, *, ticker: str | None = None, dates: Sequence[date] = ()) -> None:
        raw = text.encode("utf-8")
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(raw)
        span = {"first": min(dates), "last": max(dates)} if dates else {}
        known = {"path": path, "kind": kind, "ticker": ticker, "origin": origin, "licence": licence, "sha256": sha256_hex(raw), "bytes": len(raw)}
        self.files.append(ManifestFile.model_validate({**known, "rows": len(dates), **span}))

    def finish(self) -> None:
        manifest = Manifest(schema_version=1, made_by=MADE_BY, files=tuple(sorted(self.files, key=lambda file: file.path)))
        (self.folder / MANIFEST_NAME).write_text(json.dumps(plain(manifest), indent=1) + "\n", encoding="utf-8")


def record(target: Path, told: Sequence[Recorded], index: Sequence[tuple[date, Decimal]], calendars: Calendars, as_of: datetime) -> tuple[str, ...]:
    """Writes the folder and gives its files. Raises UsageFault where something is there already, NoEvidence where a name has no prices."""
    if any(place.exists() and not place.is_dir() for place in (target, *target.parents)):
        raise UsageFault(f"{target} is no folder, and cannot be one", fix="name a new folder, or an empty one")
    if target.exists() and any(target.iterdir()):
        raise UsageFault(f"{target} is not empty", fix="name a new folder, or an empty one")
    for one in told:
        if not one.records("prices").bars:
            note = one.supplied["prices"].note or "none are known"
            raise NoEvidence(f"there are no prices of {one.instrument.symbol} to record: {note}", fix="fetch them first, or leave the name out")
    folder = _Folder(target)
    _add_sessions(folder, told, calendars)
    rows = [_instrument_row(one.instrument) for one in told]
    folder.add("instruments.csv", "instruments", _csv(INSTRUMENT_COLUMNS, rows), f"identities as known at {instant_text(as_of)}", OURS)
    for one in told:
        _add_prices(folder, one, as_of)
        _add_facts(folder, one, as_of)
        _add_news(folder, one, as_of)
    if index:
        folder.add(INDEX_PATH, "index", _csv(INDEX_COLUMNS, index), f"live, as of {instant_text(as_of)}", TERMS, dates=[day for day, _ in index])
    folder.finish()
    return tuple(file.path for file in folder.files)


def _add_sessions(folder: _Folder, told: Sequence[Recorded], calendars: Calendars) -> None:
    """The sessions of every exchange concerned, and New York's, from the first bar to some after the last."""
    bars = [bar.session for one in told for bar in one.records("prices").bars]
    first, last = min(bars), max(bars) + SESSIONS_AFTER
    for exchange in sorted({DEFAULT_EXCHANGE, *(exchange_of(one.instrument.mic) for one in told)}):
        kept = calendars.of(exchange).rows(after=first - timedelta(days=1), upto=last)
        rows = [(session, instant_text(opens), instant_text(closes)) for session, opens, closes in kept]
        name = "sessions.csv" if exchange == DEFAULT_EXCHANGE else f"sessions_{exchange}.csv"
        text, days = _csv(("session", "open", "close"), rows), [session for session, _, _ in kept]
        folder.add(name, "sessions", text, f"computed with exchange_calendars (Apache-2.0), calendar {exchange}", OURS, dates=days)


def _add_prices(folder: _Folder, one: Recorded, as_of: datetime) -> None:
    records, origin = one.records("prices"), _origin(one, "prices", as_of)
    bars = [(bar.session, *map(_trimmed, (bar.open, bar.high, bar.low, bar.close)), bar.volume) for bar in records.bars]
    path, ticker = file_of("bars", one.instrument), one.instrument.symbol
    folder.add(path, "bars", _csv(BAR_COLUMNS, bars), origin, TERMS, ticker=ticker, dates=[bar.session for bar in records.bars])
    first = records.bars[0].session
    actions = [action for action in records.actions if action.ex_date >= first and action.bookable]
    rows = [(action.kind, action.ex_date, _trimmed(action.value)) for action in actions]
    dates = [action.ex_date for action in actions]
    folder.add(file_of("actions", one.instrument), "actions", _csv(ACTION_COLUMNS, rows), origin, TERMS, ticker=ticker, dates=dates)


def _add_facts(folder: _Folder, one: Recorded, as_of: datetime) -> None:
    """Facts with an accession number: what is only known as of now has no filing and cannot be recorded as one."""
    facts = [fact for fact in one.records("fundamentals").facts if fact.accession]
    if not facts:
        return
    rows = [(fact.concept, fact.unit, fact.start, fact.end, _trimmed(fact.value), fact.filed, fact.form, fact.accession) for fact in facts]
    origin, dates = _origin(one, "fundamentals", as_of), [fact.filed for fact in facts]
    path = file_of("fundamentals", one.instrument)
    folder.add(path, "fundamentals", _csv(FACT_COLUMNS, rows), origin, "public domain (SEC filings)", ticker=one.instrument.symbol, dates=dates)


def _add_news(folder: _Folder, one: Recorded, as_of: datetime) -> None:
    articles = one.records("news").articles
    if not articles:
        return
    text = "\n".join(
        ('<?xml version="1.0" encoding="UTF-8"?>', '<rss version="2.0"><channel><title>Recorded news</title>', *map(_item, articles), "</channel></rss>\n")
    )
    dates = [article.published_at.date() for article in articles]
    folder.add(file_of("news", one.instrument, "xml"), "news", text, _origin(one, "news", as_of), TERMS, ticker=one.instrument.symbol, dates=dates)


def _item(article: Article) -> str:
    tags = '<category domain="origin">filing</category>' if article.origin == "filing" else ""
    tags += f'<category domain="accession">{escape(article.accession)}</category>' if article.accession else ""
    link = f"<link>{escape(article.link)}</link>" if article.link else ""
    return (
        f"<item><title>{escape(article.title or article.summary[:200])}</title>{link}<description>{escape(article.summary)}</description>"
        f'<pubDate>{format_datetime(article.published_at)}</pubDate><source url="https://example.invalid/">{escape(article.publisher)}</source>'
        f'<guid isPermaLink="false">{escape(article.guid)}</guid>{tags}</item>'
    )


def _instrument_row(one: Instrument) -> tuple[object, ...]:
    aliases = ALIAS_SEPARATOR.join(one.aliases)
    return one.id, one.symbol, aliases, one.name, one.mic, one.currency, one.kind, one.sector, one.cik, one.valid_from, one.valid_to


def _origin(one: Recorded, supply: Supply, as_of: datetime) -> str:
    return f"{one.supplied[supply].source}, as of {instant_text(as_of)}"


def _csv(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    return "\n".join((",".join(columns), *(",".join(map(_field, row)) for row in rows))) + "\n"


def _field(value: object) -> str:
    text = "" if value is None else str(value)
    return '"' + text.replace('"', '""') + '"' if "," in text or '"' in text else text


def _trimmed(number: Decimal) -> str:
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
