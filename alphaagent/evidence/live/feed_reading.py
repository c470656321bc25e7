"""One feed's document, as it came from the web, read into entries.

Chosen on purpose: bytes are decoded by the encoding that the document declares, where it is one of four, and by no other; what then does not
read is malformed, never guessed at. The strict pass over the XML (no document type, no entity) and the reading of items are those of the feeds
on disk.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from alphaagent.domain.base import Frozen, Instant, fingerprint
from alphaagent.errors import SourceFault, VendorFault
from alphaagent.evidence.sources.feed import (
    ACCESSION,
    MAX_FEED_BYTES,
    MAX_ID_CHARACTERS,
    MAX_TITLE_CHARACTERS,
    published_at,
    read_feed,
    refuse_unsafe,
    tags_of,
    text_of,
    web_link,
)
from alphaagent.evidence.sources.plain_text import plain_text
from alphaagent.evidence.sources.taint import taint_of

MAX_SUMMARY_CHARACTERS = 1_000
MAX_SHORT_CHARACTERS = 100
ENCODINGS = {"utf-8": "utf-8", "us-ascii": "ascii", "iso-8859-1": "iso-8859-1", "windows-1252": "cp1252"}
"""What a document may declare, and how it is decoded."""
_DECLARATION = re.compile(rb"""\A(?:\xef\xbb\xbf)?\s*(<\?xml\s[^<>]{0,200}\?>)?""")
_ENCODING = re.compile(rb"""\sencoding\s*=\s*["']([^"']*)["']""")
_CONTROLS = re.compile("[\x80-\x9f]")
_FORM = re.compile(r"[0-9A-Z][0-9A-Z/ -]{0,19}")
_ITEM = re.compile(r"(?<![0-9.])[1-9]\.[0-9]{2}(?![0-9])")
_CAPTION = re.compile(r"\bItem [1-9]\.[0-9]{2}")
_MOST_ITEMS = 12
_NEVER = datetime.max.replace(tzinfo=UTC)


class Entry(Frozen):
    """One item of a feed as plain text, and when it was first seen; None: by the fetch that made the document it stands in."""

    feed: str
    guid: str
    title: str
    summary: str
    link: str
    publisher: str
    dated: str
    """As the feed writes it."""
    at: Instant | None
    """What that date says, where it says an instant."""
    taint: tuple[str, ...] = ()
    form: str | None = None
    accession: str | None = None
    filed: date | None = None
    items: tuple[str, ...] = ()
    """A filing's form, number, day and item numbers."""
    first_seen: Instant | None = None
    absent_at: Instant | None = None
    """The last look at the same feed that did not have it; None where it was there from the first look on."""


@dataclass(frozen=True, slots=True)
class FeedDocument:
    """A feed's own title and home page, and its entries, each guid once."""

    title: str
    home: str
    entries: tuple[Entry, ...]


def read_document(body: bytes, feed: str) -> FeedDocument:
    """Raises VendorFault: `too_large`, `malformed`, or `schema` for sound XML that is no feed."""
    where = f"the feed {feed}"
    if len(body) > MAX_FEED_BYTES:
        raise VendorFault("too_large", f"{where} has {len(body)} bytes, more than {MAX_FEED_BYTES}")
    raw = _as_utf8(body, where)
    try:
        refuse_unsafe(raw, where)
    except SourceFault as fault:
        raise VendorFault("malformed", fault.message, fix="ask the feed's publisher for well-formed RSS or Atom") from None
    try:
        document = read_feed(raw, where)
    except SourceFault as fault:
        raise VendorFault("schema", fault.message, fix="correct the feed's address in feeds.yaml") from None
    title = plain_text(text_of(document.feed, "title"), MAX_TITLE_CHARACTERS)
    return FeedDocument(title, web_link(text_of(document.feed, "link")), _once(_entry(entry, feed, title) for entry in document.entries))


def _as_utf8(body: bytes, where: str) -> bytes:
    """The same document in UTF-8, without its declaration. Raises VendorFault where the bytes are not what they are declared to be."""
    head = _DECLARATION.match(body)
    declaration = (head and head[1]) or b""
    stated = _ENCODING.search(declaration)
    name = stated[1].decode("ascii", "replace").lower() if stated else "utf-8"
    if name not in ENCODINGS:
        raise VendorFault("malformed", f"{where} declares the encoding {name[:40]!a}, which is not read", fix="ask the feed's publisher for UTF-8")
    try:
        text = body[head.end() if head else 0 :].decode(ENCODINGS[name])
    except UnicodeDecodeError as fault:
        raise VendorFault("malformed", f"{where} is not {name}, as it says: byte {fault.start} cannot be read") from None
    if name == "iso-8859-1" and _CONTROLS.search(text):
        raise VendorFault("malformed", f"{where} is not {name}, as it says: it holds bytes that mean nothing there")
    return text.encode("utf-8")


def _entry(entry: Any, feed: str, feed_title: str) -> Entry:
    source = plain_text(_source(entry), MAX_SHORT_CHARACTERS)
    title = plain_text(text_of(entry, "title"), MAX_TITLE_CHARACTERS).removesuffix(f" - {source}")
    summary, link = plain_text(text_of(entry, "summary"), MAX_SUMMARY_CHARACTERS), web_link(text_of(entry, "link"))
    dated = plain_text(text_of(entry, "published") or ("updated" in entry and text_of(entry, "updated")) or "", MAX_SHORT_CHARACTERS)
    return Entry(
        feed=feed,
        guid=plain_text(text_of(entry, "id") or text_of(entry, "link"), MAX_ID_CHARACTERS) or fingerprint((title, summary, dated)),
        title=title,
        summary=summary,
        link=link,
        publisher=source or feed_title,
        dated=dated,
        at=published_at(dated, None),
        taint=taint_of(text_of(entry, "title"), text_of(entry, "summary")),
        **_filing(entry, summary),
    )


def _source(entry: Any) -> str:
    """Whom an aggregator says that it has an item from."""
    source = entry.get("source")
    return text_of(source, "title") if isinstance(source, dict) else ""


def _filing(entry: Any, summary: str) -> dict[str, Any]:
    """What EDGAR's lists say of a filing, in fields of their own or else in the summary; nothing where an entry bears no accession number."""
    accession = ACCESSION.search(text_of(entry, "accession-number") or text_of(entry, "id"))
    if accession is None:
        return {}
    form = next((str(tag.get("term")) for tag in tags_of(entry) if tag.get("label") == "form type"), "")
    return {
        "form": form if _FORM.fullmatch(form) else None,
        "accession": accession[0],
        "filed": _day(text_of(entry, "filing-date") or summary),
        "items": tuple(dict.fromkeys(_ITEM.findall(text_of(entry, "items-desc") or " ".join(_CAPTION.findall(summary)))))[:_MOST_ITEMS],
    }


def _day(text: str) -> date | None:
    found = re.search(r"(?:\A|Filed: )([0-9]{4}-[0-9]{2}-[0-9]{2})\b", text, re.ASCII)
    try:
        return date.fromisoformat(found[1]) if found else None
    except ValueError:
        return None


def _once(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Of several with one guid the first that was published stands, a dated one before any other."""
    kept: dict[str, Entry] = {}
    for entry in sorted(entries, key=lambda entry: entry.at or _NEVER):
        kept.setdefault(entry.guid, entry)
    return tuple(kept.values())
