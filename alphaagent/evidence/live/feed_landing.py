"""Pages that a feed lists like articles and that are none: home pages, quote pages, lists of a topic."""

import re
from urllib.parse import urlsplit

from alphaagent.evidence.headline import CompanyNames
from alphaagent.evidence.live.feed_words import INDEX_PATHS, INDEX_SEGMENTS, PAGE_WORDS

MOST_BEHIND_INDEX = 2
LEAST_DASHES_OF_AN_ARTICLE = 3
_WORD = re.compile(r"[^\W_]+")


def is_landing_page(title: str, link: str, home: str, publishers: tuple[str, ...], company: CompanyNames) -> bool:
    """Whether a link or a title is that of a page that is no article. `publishers`: the publisher's and the feed's own names."""
    return _leads_to_a_page(link, home) or _titles_a_page(title, publishers, company)


def _leads_to_a_page(link: str, home: str) -> bool:
    if not link:
        return False
    parts = urlsplit(link)
    path = parts.path.rstrip("/").lower()
    if (not path and not parts.query) or path in INDEX_PATHS or link.rstrip("/") == home.rstrip("/"):
        return True
    segments = path.split("/")[1:]
    place = next((place for place, segment in enumerate(segments) if segment in INDEX_SEGMENTS), None)
    behind = [] if place is None else segments[place + 1 :]
    return place is not None and len(behind) <= MOST_BEHIND_INDEX and all(segment.count("-") < LEAST_DASHES_OF_AN_ARTICLE for segment in behind)


def _titles_a_page(title: str, publishers: tuple[str, ...], company: CompanyNames) -> bool:
    """Whether nothing is left of a title without the names in it and the words of such pages."""
    known = {word for name in (*publishers, *company.names, *company.symbols) for word in _WORD.findall(name.lower())}
    return all(word in known or word in PAGE_WORDS for word in _WORD.findall(title.lower()))
