"""Whether an item of a feed that searches by name or symbol speaks of the company at all, or of the market as a whole.

Chosen on purpose: rules and short lists, no model. Where the case of its letters tells a name from a word, it decides: "price target" is not Target.
Where it does not (Title Case, capitals), a name that is also a word counts only in a company's place: at the head of a clause, as an owner,
behind a word that leads to a name, or before a word like "shares". A symbol that is a word counts only as `$NOW` or `NYSE: NOW`.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from alphaagent.evidence.headline import CompanyNames
from alphaagent.evidence.live.feed_words import (
    LEADS_TO_A_NAME,
    MARKET_WIDE,
    MODALS,
    NOT_IT_AFTER,
    NOT_IT_BEFORE,
    ORDINARY_WORDS,
    PRICE_TARGET,
    SHOWS_A_COMPANY,
    SOMEBODY_ELSE_AFTER,
    VERBS,
    WORD_SYMBOLS,
)

MAX_CHARACTERS = 1_200
SHORTEST_BARE_SYMBOL = 3
_TOKEN = re.compile(r"[^\W_]+(?:['&][^\W_]+)*|[;:,?!()|/–—-]")
_INNER_HYPHEN = re.compile(r"(?<=[^\W_])-(?=[^\W_])")
_MARKET_WIDE = re.compile(rf"\b(?:{'|'.join(MARKET_WIDE)})\b", re.IGNORECASE)
_MARKETS = r"(?:NYSE(?: ?(?:Arca|American))?|NASDAQ|NasdaqGS|AMEX|LSE|LON|OTC)"


@dataclass(frozen=True, slots=True)
class _Word:
    raw: str
    text: str
    owns: bool
    heads: bool
    """It stands at the head of a clause."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A text in words; `cased`: a capital letter in it tells a name from a word."""

    words: tuple[_Word, ...]
    cased: bool


def speaks_of(title: str, summary: str, company: CompanyNames) -> bool:
    """Whether either names the company, or the title speaks of the market as a whole."""
    return names(title, company) or names(summary, company) or _MARKET_WIDE.search(title) is not None


def names(text: str, company: CompanyNames) -> bool:
    """Whether a text names the company itself."""
    plain = unicodedata.normalize("NFKC", text[:MAX_CHARACTERS]).replace("’", "'").replace("‘", "'")
    if any(_has_symbol(plain, symbol) for symbol in company.symbols):
        return True
    line = _line(plain)
    return any(_has_name(line, _name(name)) for name in company.names)


def _has_symbol(text: str, symbol: str) -> bool:
    if _marked(symbol).search(text):
        return True
    bare = len(symbol) >= SHORTEST_BARE_SYMBOL and symbol not in WORD_SYMBOLS and text != text.upper()
    return bare and _alone(symbol).search(text) is not None


@lru_cache(maxsize=512)
def _marked(symbol: str) -> re.Pattern[str]:
    return re.compile(rf"(?:\$|\b{_MARKETS}: ?){re.escape(symbol)}(?!\w|\.\w)")


@lru_cache(maxsize=512)
def _alone(symbol: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.$]){re.escape(symbol)}(?!\w)")


def _words(text: str) -> tuple[_Word, ...]:
    found: list[_Word] = []
    heads = True
    for raw in _TOKEN.findall(_INNER_HYPHEN.sub(" ", text)):
        if raw[0].isalnum():
            owns = raw[-2:].lower() == "'s"
            found.append(_Word(raw, raw.lower().removesuffix("'s") if owns else raw.lower(), owns, heads))
        heads = not raw[0].isalnum()
    return tuple(found)


@lru_cache(maxsize=512)
def _name(text: str) -> tuple[_Word, ...]:
    return _words(text)


def _line(text: str) -> _Line:
    words = _words(text)
    long = [word.raw for word in words if len(word.raw) > 3 and word.raw[0].isalpha()]
    return _Line(words, 2 * sum(raw[0].isupper() for raw in long) <= len(long))


def _has_name(line: _Line, name: Sequence[_Word]) -> bool:
    size = len(name)
    places = (place for place in range(len(line.words) - size + 1) if all(map(_is_written, line.words[place : place + size], name)))
    return any(_is_the_company(line, place, name) for place in places)


def _is_written(word: _Word, part: _Word) -> bool:
    """A name may be written as an owner's; one that is an owner's (McDonald's) must be."""
    return word.text == part.text and word.owns >= part.owns


def _is_the_company(line: _Line, place: int, name: Sequence[_Word]) -> bool:
    first = line.words[place]
    if line.cased and first.raw[0].islower() and name[0].raw[0].isupper():
        return False
    if len(name) > 1 or first.text not in ORDINARY_WORDS:
        return True
    before = line.words[place - 1] if place and not first.heads else None
    behind = line.words[place + 1 : place + 3]
    if tuple(word.text for word in behind) in PRICE_TARGET:
        return True
    after = behind[0] if behind and not behind[0].heads else None
    return not _is_else(first.text, before, after) and _stands_as_a_company(line, first, before, after)


def _is_else(name: str, before: _Word | None, after: _Word | None) -> bool:
    """Whether its neighbours make a name somebody else's, or a word."""
    if before is not None and (before.raw.lower() in NOT_IT_BEFORE.get(name, ()) or (name in VERBS and before.text in MODALS)):
        return True
    return after is not None and (after.text in SOMEBODY_ELSE_AFTER or after.text in NOT_IT_AFTER.get(name, ()))


def _stands_as_a_company(line: _Line, name: _Word, before: _Word | None, after: _Word | None) -> bool:
    if before is None or name.owns or before.text in LEADS_TO_A_NAME or (after is not None and after.text in SHOWS_A_COMPANY):
        return True
    return line.cased and before.raw[0].islower()
