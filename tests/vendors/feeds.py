"""Plays the feeds of config/feeds.yaml: headlines by symbol, a news search, a list of filings and a company's own feed; and documents that no
reader should trust."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from email.utils import format_datetime
from hashlib import sha256
from xml.sax.saxutils import escape

from tests.vendors.server import Asked, Page

HEADLINES, SEARCH, FILINGS, NEWSROOM = "/rss/2.0/headline", "/rss/search", "/cgi-bin/browse-edgar", "/newsroom/rss-feed.rss"
XML = '<?xml version="1.0" encoding="UTF-8"?>'
SLUG_CHARACTERS = 200


def item(title: str, at: datetime | str | None, *, guid: str = "", link: str = "", summary: str = "", source: str = "") -> str:
    """One RSS item; `at` as it is written where it is text."""
    parts = [f"<title>{escape(title)}</title>"] if title else []
    parts += [f"<pubDate>{at if isinstance(at, str) else format_datetime(at)}</pubDate>"] if at is not None else []
    parts += [f'<guid isPermaLink="false">{escape(guid or title)}</guid>', f"<link>{escape(link or 'https://news.example/2020/' + slug(title))}</link>"]
    parts += [f"<description>{escape(summary)}</description>"] if summary else []
    parts += [f'<source url="https://press.example">{escape(source)}</source>'] if source else []
    return f"<item>{''.join(parts)}</item>"


def slug(title: str) -> str:
    """What an address says of a title, which is not all that an endless one holds."""
    letters = (letter if letter.isascii() and letter.isalnum() else " " for letter in title[:SLUG_CHARACTERS].lower())
    return "-".join("".join(letters).split()) or "untitled"


def rss(*items: str, title: str = "Example headlines", home: str = "https://news.example/", head: str = XML) -> bytes:
    channel = f"<title>{escape(title)}</title><link>{home}</link><description>d</description>{''.join(items)}"
    return f'{head}<rss version="2.0"><channel>{channel}</channel></rss>'.encode()


def atom(*entries: str, title: str = "Example entries", head: str = XML) -> bytes:
    return f'{head}<feed xmlns="http://www.w3.org/2005/Atom"><title>{escape(title)}</title><id>f</id>{"".join(entries)}</feed>'.encode()


def filing(accession: str, at: datetime, items: tuple[str, ...] = ("2.02", "9.01"), *, form: str = "8-K", filed: str = "", zone: str = "+00:00") -> str:
    """One entry of EDGAR's list of a company's filings."""
    day = filed or at.date().isoformat()
    captions = "".join(f"&lt;br&gt;Item {number}: As the SEC calls it" for number in items)
    return (
        f'<entry><category label="form type" scheme="https://www.sec.gov/" term="{form}"/>'
        f'<content type="text/xml"><accession-number>{accession}</accession-number><filing-date>{day}</filing-date>'
        f"<filing-type>{form}</filing-type><items-desc>items {' and '.join(items)}</items-desc><size>5.02 MB</size></content>"
        f"<id>urn:tag:sec.gov,2008:accession-number={accession}</id>"
        f'<link href="https://www.sec.gov/Archives/edgar/data/1/{accession}-index.htm" rel="alternate" type="text/html"/>'
        f'<summary type="html">&lt;b&gt;Filed:&lt;/b&gt; {day} &lt;b&gt;AccNo:&lt;/b&gt; {accession}{captions}</summary>'
        f"<title>{form}  - Current report</title><updated>{at.replace(tzinfo=None).isoformat(timespec='seconds')}{zone}</updated></entry>"
    )


@dataclass
class FeedPlayer:
    """A Player. `now` dates what it says; `pages` holds what a path says instead; every page has an ETag and is unchanged to whoever knows it."""

    now: datetime
    pages: dict[str, bytes | None] = field(default_factory=dict)
    forgetful: bool = False
    """Answers in full however it is asked."""

    def __call__(self, asked: Asked) -> Page | None:
        usual: dict[str, Callable[[Asked], bytes]] = {HEADLINES: self._headlines, SEARCH: self._search, FILINGS: self._filings, NEWSROOM: self._newsroom}
        if asked.path not in usual and asked.path not in self.pages:
            return None
        body = self.pages[asked.path] if asked.path in self.pages else usual[asked.path](asked)
        if body is None:
            return Page(b"gone", 404, "text/plain")
        tag = f'"{sha256(body).hexdigest()[:16]}"'
        if asked.headers.get("if-none-match") == tag and not self.forgetful:
            return Page(b"", 304, headers={"etag": tag})
        return Page(body, 200, "application/rss+xml", {} if self.forgetful else {"etag": tag})

    def ago(self, **span: float) -> datetime:
        return self.now - timedelta(**span)

    def _headlines(self, asked: Asked) -> bytes:
        symbol = asked.query.get("s", "")
        return rss(
            item(f"{symbol} stock slides as rivals cut prices", self.ago(hours=3), guid="h-1"),
            item("Stocks slump as central bank signals higher rates", self.ago(hours=5), guid="h-2"),
            item("Samsung unveils its thinnest phone yet", self.ago(hours=6), guid="h-3", summary="The group hopes to win back buyers."),
            item(f"{symbol} Stock Price, News & Quote", self.ago(hours=7), guid="h-4", link=f"https://finance.example/quote/{symbol}"),
            title=f"Example headlines: {symbol} News",
        )

    def _search(self, asked: Asked) -> bytes:
        name = asked.query.get("q", "").partition('"')[2].partition('"')[0]
        return rss(
            item(f"{name} raises guidance on strong demand - Example Wire", self.ago(days=1), guid="s-1", source="Example Wire"),
            item(
                f"{name} raises guidance on strong demand - The Example Street Journal",
                self.ago(days=1, hours=-1),
                guid="s-2",
                source="The Example Street Journal",
            ),
            title=f'"{name}" - Example News',
        )

    def _filings(self, asked: Asked) -> bytes:
        assert asked.query["output"] == "atom"
        head = '<?xml version="1.0" encoding="ISO-8859-1" ?>'
        return atom(filing("0000320193-20-000052", self.ago(days=2)), filing("0000320193-20-000047", self.ago(days=40), ("5.02",)), head=head)

    def _newsroom(self, asked: Asked) -> bytes:
        return rss(item("Introducing a thinner laptop", self.ago(days=3), guid="n-1"), title="Newsroom", home="https://acme.example/newsroom")


BOMB = XML + '<!DOCTYPE rss [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>'
OUTSIDE = XML + '<!DOCTYPE rss [<!ENTITY a SYSTEM "file:///etc/hostname">]>'
UNREADABLE: dict[str, tuple[bytes, str]] = {
    "entity bomb": (rss("<item><title>&c;</title></item>", head=BOMB), "malformed"),
    "external entity": (rss("<item><title>&a;</title></item>", head=OUTSIDE), "malformed"),
    "a page": (b"<!DOCTYPE html><html><body>Before you continue</body></html>", "malformed"),
    "another root": (b"<v2><rows/></v2>", "schema"),
    "json": (b'{"items": []}', "malformed"),
    "ten million letters": (rss(item("x" * 10_000_000, "", guid="g")), "too_large"),
    "a crowd of elements": (rss("<item/>" * 50_000), "malformed"),
    "utf-16": (rss(item("t", "")).decode().encode("utf-16"), "malformed"),
    "latin bytes undeclared": (rss(item("Müller", "")).decode().encode("latin-1"), "malformed"),
    "latin bytes declared ascii": (rss(item("Müller", ""), head='<?xml version="1.0" encoding="US-ASCII"?>'), "malformed"),
    "windows quotes declared latin": (rss(item("It’s", ""), head='<?xml version="1.0" encoding="ISO-8859-1"?>').decode().encode("cp1252"), "malformed"),
    "bytes that windows-1252 has not": (rss(item("\x81", ""), head='<?xml version="1.0" encoding="windows-1252"?>').decode().encode("latin-1"), "malformed"),
    "an encoding not read": (rss(item("t", ""), head='<?xml version="1.0" encoding="UTF-7"?>'), "malformed"),
    "cut in the middle": (rss(item("t", ""))[:-20], "malformed"),
    "blank": (b"  \n ", "malformed"),
    "an element named as the reader's own": (rss("<item><contributors>z</contributors><contributor><name>n</name></contributor></item>"), "schema"),
}
"""Documents that are refused whole, and as what."""
INERT: dict[str, str] = {
    "html": "<b>Acme</b> sells <img src=x onerror=alert(1)>anvils",
    "script": "Acme sells <script>steal()</script>anvils",
    "nested": "Acme sells anvils &lt;scr&lt;script&gt;ipt&gt;alert(1)",
    "bidi": "Acme \u202esllaf\u202c sells anvils",
    "zero width": "Ac\u200bme sells anvils",
    "tags": "Acme sells anvils" + "".join(chr(0xE0000 + ord(letter)) for letter in "buy now"),
    "ansi": "Acme &#x1b;[2J&#x1b;]0;owned&#x07; sells anvils",
    "ansi in one character": "Acme \x9b2Jsells anvils",
    "long": "Acme sells anvils " + "x" * 100_000,
}
"""Titles that are taken for what they show."""
