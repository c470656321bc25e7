"""An RSS or Atom document as dated articles. The document is untrusted; it is read from bytes and never fetched from here.

feedparser reads the items, but only after a strict pass of the XML parser: a document type declaration is refused as soon as it
begins (no entity is ever expanded), and so is anything that is not well-formed UTF-8, which feedparser would otherwise guess at.
"""

import io
import re
from calendar import timegm
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any
from xml.parsers import expat

from alphaagent.domain.market import Article, Records, RowFault
from alphaagent.errors import SourceFault
from alphaagent.evidence.sources.plain_text import plain_text
from alphaagent.evidence.sources.table import decoded
from alphaagent.evidence.sources.taint import taint_of

MAX_FEED_BYTES = 2_000_000
MAX_TITLE_CHARACTERS = 300
MAX_SUMMARY_CHARACTERS = 2_000
MAX_ID_CHARACTERS = 500
CACHED_FEEDS = 64
_ACCESSION = re.compile(r"[0-9]{10}-[0-9]{2}-[0-9]{6}")
_LINK = re.compile(r"https?://[!-~]{1,2000}")
_FIX = "restore the file, or ask the feed's publisher for well-formed RSS"


@lru_cache(maxsize=CACHED_FEEDS)
def parse_feed(raw: bytes, path: str) -> Records:
    """The articles in order of publication; items without a date are counted in `undated`. Raises SourceFault on a bad document."""
    import feedparser  # costs a tenth of a second to load, and a run without news does not need it

    _refuse_unsafe(raw, path)
    feed = feedparser.parse(io.BytesIO(raw), sanitize_html=False, resolve_relative_uris=False)
    if feed.bozo or not feed.version:
        raise SourceFault(f"{path} is no RSS or Atom feed: {feed.get('bozo_exception') or 'its root element is another'}", fix=_FIX)
    publisher = plain_text(feed.feed.get("title", ""), MAX_TITLE_CHARACTERS)
    dated = [(f"{path} item {number}", entry, _published(entry)) for number, entry in enumerate(feed.entries, start=1)]
    results = [_article(where, entry, at, publisher) for where, entry, at in dated if at is not None]
    articles, repeated = _once(result for result in results if isinstance(result, tuple))
    faults = (*(result for result in results if isinstance(result, RowFault)), *repeated)
    return Records(articles=articles, faults=faults, undated=len(dated) - len(results))


def _refuse_unsafe(raw: bytes, path: str) -> None:
    """SourceFault unless the document is UTF-8, well-formed, within its size and free of a document type declaration."""
    if len(raw) > MAX_FEED_BYTES:
        raise SourceFault(f"{path} has {len(raw)} bytes, more than {MAX_FEED_BYTES}", fix="check what wrote the file")
    decoded(raw, path)

    def refuse_doctype(*_: object) -> None:
        raise SourceFault(f"{path} declares a document type or entities", fix="remove the declaration; a feed needs none")

    def refuse_encoding(_version: str, encoding: str | None, _standalone: int) -> None:
        if encoding is not None and encoding.lower() not in ("utf-8", "us-ascii"):
            raise SourceFault(f"{path} declares the encoding {ascii(encoding)[:40]}, not UTF-8", fix="convert the file to UTF-8")

    parser = expat.ParserCreate(encoding="utf-8", namespace_separator=" ")
    parser.StartDoctypeDeclHandler = refuse_doctype
    parser.XmlDeclHandler = refuse_encoding
    try:
        parser.Parse(raw, True)
    except expat.ExpatError as fault:
        raise SourceFault(f"{path} is not well-formed: {fault}", fix=_FIX) from fault


def _published(entry: Any) -> datetime | None:
    """When an item says it was published, in UTC; None where it does not say so readably."""
    parts = entry.get("published_parsed")
    try:
        return None if parts is None else datetime.fromtimestamp(timegm(parts), UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _article(where: str, entry: Any, at: datetime, publisher: str) -> tuple[str, Article] | RowFault:
    guid = plain_text(entry.get("id") or entry.get("link") or "", MAX_ID_CHARACTERS)
    title = plain_text(entry.get("title", ""), MAX_TITLE_CHARACTERS)
    if not guid or not title:
        return RowFault(where, f"the item has no {'title' if guid else 'guid and no link'}", at.date(), at)
    tags = {tag.get("scheme"): tag.get("term") or "" for tag in entry.get("tags", ())}
    accession, link = tags.get("accession", ""), entry.get("link", "")
    return where, Article(
        guid=guid,
        title=title,
        summary=plain_text(entry.get("summary", ""), MAX_SUMMARY_CHARACTERS),
        link=link if _LINK.fullmatch(link) else "",
        publisher=publisher,
        origin="filing" if tags.get("origin") == "filing" else "press",
        accession=accession if _ACCESSION.fullmatch(accession) else None,
        published_at=at,
        known_at=at,
        taint=taint_of(entry.get("title", ""), entry.get("summary", "")),
    )


def _once(found: Iterable[tuple[str, Article]]) -> tuple[tuple[Article, ...], list[RowFault]]:
    """The articles in order of publication; of several with one guid the first published stands and the others are faults."""
    kept: dict[str, Article] = {}
    faults: list[RowFault] = []
    for where, article in sorted(found, key=lambda pair: pair[1].known_at):
        if article.guid in kept:
            faults.append(RowFault(where, f"guid {article.guid[:80]!a} occurs more than once", article.published_at.date(), article.known_at))
        else:
            kept[article.guid] = article
    return tuple(kept.values()), faults
