"""An RSS or Atom document as dated articles. The document is untrusted; it is read from bytes and never fetched from here.

feedparser reads the items, but only after a strict pass of the XML parser: a document type declaration is refused as soon as it
begins (no entity is ever expanded), and so is anything that is not well-formed UTF-8, which feedparser would otherwise guess at.
"""

import io
import re
from collections.abc import Iterable
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from itertools import count
from typing import Any
from urllib.parse import urlsplit
from xml.parsers import expat

from alphaagent.domain.market import Article, Records, RowFault
from alphaagent.errors import SourceFault, UsageFault
from alphaagent.evidence.sources.plain_text import plain_text
from alphaagent.evidence.sources.table import decoded
from alphaagent.evidence.sources.taint import taint_of
from alphaagent.ports import Calendar

MAX_FEED_BYTES = 2_000_000
MAX_ELEMENTS = 40_000
"""The feed library needs a tenth of a millisecond for each; a feed of a hundred items has some two thousand."""
MAX_TITLE_CHARACTERS = 300
MAX_SUMMARY_CHARACTERS = 2_000
MAX_ID_CHARACTERS = 500
CACHED_FEEDS = 64
ACCESSION = re.compile(r"[0-9]{10}-[0-9]{2}-[0-9]{6}")
_LINK = re.compile(r"https?://[!-~]{1,2000}")
_WEEKDAY = r"(?:[A-Za-z]{3},?\s+)?"
_DAY_822 = re.compile(_WEEKDAY + r"[0-9]{1,2}\s+[A-Za-z]{3}\s+[0-9]{4}", re.ASCII)
_RFC_822 = re.compile(_DAY_822.pattern + r"\s+[0-9]{2}:[0-9]{2}(?::[0-9]{2})?\s+(?:GMT|UT|UTC|Z|[ECMP][SD]T|[+-][0-9]{4})", re.ASCII)
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_RFC_3339 = re.compile(_DAY.pattern + r"[Tt ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?(?:[Zz]|[+-][0-9]{2}:[0-9]{2})", re.ASCII)
_FIX = "restore the file, or ask the feed's publisher for well-formed RSS"


@lru_cache(maxsize=CACHED_FEEDS)
def parse_feed(raw: bytes, path: str, calendar: Calendar | None = None) -> Records:
    """The articles in order of publication; items without a date are counted in `undated`. Raises SourceFault on a bad document.

    A date without a time is placed at the open of the next session of `calendar`; without a calendar it counts as undated.
    """
    refuse_unsafe(raw, path)
    feed = read_feed(raw, path)
    publisher = plain_text(text_of(feed.feed, "title"), MAX_TITLE_CHARACTERS)
    dated = [(f"{path} item {number}", entry, published_at(text_of(entry, "published"), calendar)) for number, entry in enumerate(feed.entries, start=1)]
    results = [_article(where, entry, at, publisher) for where, entry, at in dated if at is not None]
    articles, repeated = _once(result for result in results if isinstance(result, tuple))
    faults = (*(result for result in results if isinstance(result, RowFault)), *repeated)
    return Records(articles=articles, faults=faults, undated=len(dated) - len(results))


def read_feed(raw: bytes, path: str) -> Any:
    """What the feed library makes of a document that `refuse_unsafe` let pass. Raises SourceFault where it is no feed."""
    import feedparser  # costs a tenth of a second to load, and a run without news does not need it

    try:
        feed = feedparser.parse(io.BytesIO(raw), sanitize_html=False, resolve_relative_uris=False)
    except (TypeError, AttributeError, LookupError, ValueError, ArithmeticError, AssertionError) as fault:  # elements named as the library names its own
        raise SourceFault(f"{path} cannot be read as a feed ({type(fault).__name__})", fix=_FIX) from fault
    if feed.bozo or not feed.version:
        raise SourceFault(f"{path} is no RSS or Atom feed: {feed.get('bozo_exception') or 'its root element is another'}", fix=_FIX)
    return feed


def text_of(entry: Any, key: str) -> str:
    """A field's text; nothing where it is missing, or no text: an element of a feed can take the place of what the library itself keeps."""
    value = entry.get(key, "")
    return value if isinstance(value, str) else ""


def tags_of(entry: Any) -> tuple[Any, ...]:
    """An item's categories, each with scheme, term and label."""
    tags = entry.get("tags", ())
    return tuple(tag for tag in tags if isinstance(tag, dict)) if isinstance(tags, list) else ()


def refuse_unsafe(raw: bytes, path: str) -> None:
    """SourceFault unless the document is UTF-8, well-formed, within its size and free of a document type declaration."""
    if len(raw) > MAX_FEED_BYTES:
        raise SourceFault(f"{path} has {len(raw)} bytes, more than {MAX_FEED_BYTES}", fix="check what wrote the file")
    decoded(raw, path)

    def refuse_doctype(*_: object) -> None:
        raise SourceFault(f"{path} declares a document type or entities", fix="remove the declaration; a feed needs none")

    def refuse_encoding(_version: str, encoding: str | None, _standalone: int) -> None:
        if encoding is not None and encoding.lower() not in ("utf-8", "us-ascii"):
            raise SourceFault(f"{path} declares the encoding {ascii(encoding)[:40]}, not UTF-8", fix="convert the file to UTF-8")

    elements = count(1)

    def refuse_crowd(*_: object) -> None:
        if next(elements) > MAX_ELEMENTS:
            raise SourceFault(f"{path} has more than {MAX_ELEMENTS} elements", fix="check what wrote the file")

    parser = expat.ParserCreate(encoding="utf-8", namespace_separator=" ")
    parser.StartElementHandler = refuse_crowd
    parser.StartDoctypeDeclHandler = refuse_doctype
    parser.XmlDeclHandler = refuse_encoding
    try:
        parser.Parse(raw, True)
    except expat.ExpatError as fault:
        raise SourceFault(f"{path} is not well-formed: {fault}", fix=_FIX) from fault


def published_at(text: str, calendar: Calendar | None) -> datetime | None:
    """When an item was published, in UTC; None where its date does not say so plainly.

    The feed library reads a missing time as midnight and an unknown zone as UTC, which lets tomorrow's news into today: only an instant with a
    known zone counts, and a date alone is known at the next session's open.
    """
    text = text.strip()
    try:
        if _RFC_822.fullmatch(text):
            return parsedate_to_datetime(text).astimezone(UTC)
        if _RFC_3339.fullmatch(text):
            return datetime.fromisoformat(text.upper()).astimezone(UTC)
        if calendar is not None and (_DAY.fullmatch(text) or _DAY_822.fullmatch(text)):
            day = date.fromisoformat(text) if _DAY.fullmatch(text) else parsedate_to_datetime(f"{text} 00:00:00 +0000").date()
            return calendar.opens(calendar.next_session(day))
    except (ValueError, OverflowError, UsageFault):
        return None
    return None


def _article(where: str, entry: Any, at: datetime, publisher: str) -> tuple[str, Article] | RowFault:
    guid = plain_text(text_of(entry, "id") or text_of(entry, "link"), MAX_ID_CHARACTERS)
    title = plain_text(text_of(entry, "title"), MAX_TITLE_CHARACTERS)
    if not guid or not title:
        return RowFault(where, f"the item has no {'title' if guid else 'guid and no link'}", at.date(), at)
    tags = {tag.get("scheme"): tag.get("term") or "" for tag in tags_of(entry)}
    accession = tags.get("accession", "")
    return where, Article(
        guid=guid,
        title=title,
        summary=plain_text(text_of(entry, "summary"), MAX_SUMMARY_CHARACTERS),
        link=web_link(text_of(entry, "link")),
        publisher=publisher,
        origin="filing" if tags.get("origin") == "filing" else "press",
        accession=accession if ACCESSION.fullmatch(accession) else None,
        published_at=at,
        known_at=at,
        taint=taint_of(text_of(entry, "title"), text_of(entry, "summary")),
    )


def web_link(link: str) -> str:
    """A link as it stands where it is a plain web address, else nothing."""
    try:
        return link if _LINK.fullmatch(link) and urlsplit(link).hostname else ""
    except ValueError:
        return ""


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
