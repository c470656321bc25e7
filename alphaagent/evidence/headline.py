"""A headline taken apart: words, mentions of the company, clauses.

Chosen on purpose: the title is cut before it is looked at, every pattern is linear, and a mention counts only where the company itself is
named. "Norvik Street bakery", "Norvik rival Ostra" and, in a headline that uses capitals, "norvik" as a common noun name somebody else.
A symbol counts only as written; one of less than three letters only as `$F`, `(F)` or `NYSE:F`.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from alphaagent.domain.market import Instrument
from alphaagent.evidence.lexicon import CONNECTORS, Lexicon
from alphaagent.evidence.lexicon_words import Phrase, Phrases, Role, Word

MAX_TITLE_CHARACTERS = 200
_SHORTEST_BARE_SYMBOL = 3
_KEEPS_NAME = frozenset({"on", "with", "from", "against"})
"""Words that open a clause, but not right before the company's name: "price target on X", "profit warning from X"."""
LEGAL_FORMS = frozenset(
    ["inc", "incorporated", "corp", "corporation", "co", "company", "plc", "ltd", "limited", "llc", "lp", "sa", "nv", "ag", "se", "spa", "ab", "asa", "oyj"]
)
_LOOSE_FORMS = frozenset(
    ["platforms", "holdings", "holding", "group", "motor", "wholesale", "air", "lines", "airlines", "technologies", "com", "class", "a", "b", "c"]
)
_TOKEN = re.compile(r"\d[\d.,]*%?|[^\W\d_][^\W_]*(?:['&][^\W\d_]+)*|[;:,?!()|–—-]")
_PER_CENT = re.compile(r"(?<=\d) ?(?:percent|per cent|pct)\b", re.IGNORECASE)
_RANKED = re.compile(r"\bno\. ?(?=\d)", re.IGNORECASE)
_MONTH_OF_MAY = re.compile(r"\bMay (?=\d)")
_SENTENCE_END = re.compile(r"(?<=[^\W\d_]{4})\.(?= )")
_INNER_HYPHEN = re.compile(r"(?<=[^\W_])-(?=[^\W_])")
_CONTRACTED = {"can't": "can", "won't": "will", "shan't": "shall"}
_BREAKS = frozenset(";:,()|–—-")

ClauseRole = Literal["main", "concession", "reason", "base"]


def clean_title(title: str) -> str:
    """At most 200 characters on one line, NFKC, straight apostrophes, no control characters."""
    text = unicodedata.normalize("NFKC", title[: 2 * MAX_TITLE_CHARACTERS])
    visible = text if text.isprintable() else "".join(_printed(character) for character in text)
    return " ".join(visible.replace("’", "'").replace("‘", "'").split())[:MAX_TITLE_CHARACTERS].rstrip()


def _printed(character: str) -> str:
    """White space as a space, a control or format character as nothing."""
    return character if character.isprintable() else " " if character.isspace() else ""


@dataclass(frozen=True, slots=True)
class Token:
    """One word or mark: as written, in lower case, and its listed form."""

    raw: str
    text: str
    lemma: str
    owns: bool = False
    """It was written with 's."""


def tokens(title: str, lexicon: Lexicon) -> tuple[Token, ...]:
    """The words and marks of a cleaned title."""
    text = _INNER_HYPHEN.sub(" ", _SENTENCE_END.sub(";", _MONTH_OF_MAY.sub("the ", _RANKED.sub("number ", _PER_CENT.sub("%", title)))))
    return tuple(_token(word, lexicon) for raw in _TOKEN.findall(text) for word in _parts(raw))


def _parts(raw: str) -> Sequence[str]:
    lower = raw.lower()
    if not lower.endswith("n't"):
        return (raw,)
    return (_CONTRACTED.get(lower, raw[:-3]) or raw, "not")


def _token(raw: str, lexicon: Lexicon) -> Token:
    owns = raw[-2:].lower() == "'s"
    word = raw[:-2] if owns else raw
    text = word.lower()
    return Token(word, text, lexicon.forms.lemma(text), owns)


@dataclass(frozen=True, slots=True)
class CompanyNames:
    """What a company is called: names as headlines write them, and symbols."""

    names: tuple[str, ...]
    symbols: tuple[str, ...] = ()

    @classmethod
    def of(cls, instrument: Instrument) -> "CompanyNames":
        """From the name without its legal form, the symbol, and the aliases; an alias in capitals is a symbol."""
        symbols = [instrument.symbol, *(alias for alias in instrument.aliases if alias == alias.upper())]
        names = [instrument.name, *(alias for alias in instrument.aliases if alias != alias.upper())]
        return cls(tuple(dict.fromkeys(short for name in names for short in _short_names(name))), tuple(dict.fromkeys(symbols)))


def _short_names(name: str) -> Iterator[str]:
    words = re.findall(r"[^\s.,()]+", name[:MAX_TITLE_CHARACTERS])
    for forms in (LEGAL_FORMS, LEGAL_FORMS | _LOOSE_FORMS):
        while len(words) > 1 and words[-1].lower() in forms:
            words = words[:-1]
        while len(words) > 1 and words[0].lower() == "the":
            words = words[1:]
        if words:
            yield " ".join(words)


@dataclass(frozen=True, slots=True)
class Item:
    """A token run with one meaning. `kind` is the word's role, or company, void (its name, but somebody else), break, text."""

    kind: Role | Literal["company", "void", "break", "text"]
    text: str
    place: int
    word: Word | None = None


@dataclass(frozen=True, slots=True)
class Clause:
    """A piece of the headline. `own`: it speaks of the company, by name or because it carries on from a clause that does."""

    role: ClauseRole
    items: tuple[Item, ...]
    named: bool
    own: bool = False


@dataclass(frozen=True, slots=True)
class Headline:
    """A title taken apart."""

    tokens: tuple[Token, ...]
    clauses: tuple[Clause, ...]
    named: bool
    """The company itself is named somewhere."""


def take_apart(title: str, company: CompanyNames, lexicon: Lexicon) -> Headline:
    """The words and clauses of a cleaned title."""
    words = tokens(title, lexicon)
    items = tuple(_items(words, company, lexicon, title))
    named = any(item.kind == "company" for item in items)
    clauses = list(_clauses(items))
    return Headline(words, tuple(_with_owner(clauses, place, words, lexicon) for place in range(len(clauses))), named)


def has_phrase(words: Sequence[Token], phrases: Phrases) -> str | None:
    """The first of some phrases that occurs among words, by listed form, or None."""
    return next((found for place in range(len(words)) if (found := phrase_at(words, place, phrases))), None)


def phrase_at(words: Sequence[Token], place: int, phrases: Phrases) -> str | None:
    """The longest of some phrases that begins at a place, or None; a place beyond the words has none."""
    rows = phrases.get(words[place].lemma) if place < len(words) else None
    return next((" ".join(phrase) for phrase in rows if _stands_at(words, place, phrase)), None) if rows else None


def _stands_at(words: Sequence[Token], place: int, phrase: Phrase) -> bool:
    return place + len(phrase) <= len(words) and all(words[place + step].lemma == word for step, word in enumerate(phrase))


def _items(words: tuple[Token, ...], company: CompanyNames, lexicon: Lexicon, title: str) -> Iterator[Item]:
    names = _name_tokens(company, lexicon)
    place = 0
    while place < len(words):
        item, size = _item_at(words, place, names, company.symbols, lexicon, title)
        yield item
        place += size


def _name_tokens(company: CompanyNames, lexicon: Lexicon) -> tuple[tuple[Token, ...], ...]:
    return tuple(sorted((found for name in company.names if (found := tokens(name, lexicon))), key=len, reverse=True))


def _item_at(
    words: tuple[Token, ...], place: int, names: tuple[tuple[Token, ...], ...], symbols: tuple[str, ...], lexicon: Lexicon, title: str
) -> tuple[Item, int]:
    word = words[place]
    for name in names:
        if word.text == name[0].text and [token.text for token in words[place : place + len(name)]] == [part.text for part in name]:
            kind: Literal["company", "void"] = "void" if _is_somebody_else(words, place, name, lexicon, title) else "company"
            return Item(kind, word.raw, place), len(name)
    if _is_symbol(words, place, symbols, title):
        return Item("company", word.raw, place), 1
    if word.raw in _BREAKS:
        return Item("break", word.raw, place), 1
    for phrase, meaning in lexicon.words.get(word.lemma, ()):
        if _stands_at(words, place, phrase):
            return Item(meaning.role, " ".join(token.text for token in words[place : place + len(phrase)]), place, meaning), len(phrase)
    return Item("text", word.text, place), 1


def _is_symbol(words: tuple[Token, ...], place: int, symbols: tuple[str, ...], title: str) -> bool:
    raw = words[place].raw
    if raw not in symbols or title == title.upper():
        return False
    marked = f"${raw}" in title or (place > 0 and words[place - 1].raw in ("(", ":"))
    return marked or len(raw) >= _SHORTEST_BARE_SYMBOL


def _is_somebody_else(words: tuple[Token, ...], place: int, name: tuple[Token, ...], lexicon: Lexicon, title: str) -> bool:
    after = place + len(name)
    lower_case = title != title.lower() and words[place].raw[0].islower() and name[0].raw[0].isupper()
    if lower_case or phrase_at(words, after, lexicon.markers["name_after"]):
        return True
    if any(phrase_at(words[:place], place - size, lexicon.markers["name_before"]) for size in (1, 2) if size <= place):
        return True
    return _is_rival(words, after, lexicon) or (place > 1 and words[place - 1].text in ("of", "to") and _says_rival(words[place - 2], lexicon))


def _says_rival(word: Token, lexicon: Lexicon) -> bool:
    return word.lemma in lexicon.markers["rival"]


def _is_rival(words: tuple[Token, ...], after: int, lexicon: Lexicon) -> bool:
    if words[after - 1].owns and any(phrase_at(words, place, lexicon.markers["rival"]) for place in range(after + 1, after + 3)):
        return True
    if after >= len(words) or not phrase_at(words, after, lexicon.markers["rival"]):
        return False
    counted = any(meaning.role == "object" for _, meaning in lexicon.words.get(words[after].lemma, ()))
    return not counted or (after + 1 < len(words) and is_proper(words[after + 1], lexicon))


def is_proper(word: Token, lexicon: Lexicon) -> bool:
    """Whether a word looks like somebody's name: a capital, not an acronym, and not in the lexicon."""
    return word.raw[0].isupper() and not word.raw.isupper() and not lexicon.forms.knows(word.lemma)


def _clauses(items: tuple[Item, ...]) -> Iterator[Clause]:
    role: ClauseRole = "main"
    current: list[Item] = []
    for place, item in enumerate(items):
        opens = _opens(items, place)
        if opens is None:
            current.append(item)
            continue
        if current:
            yield _clause(role, current)
        role, current = opens, []
    if current:
        yield _clause(role, current)


def _clause(role: ClauseRole, items: list[Item]) -> Clause:
    return Clause(role, tuple(items), any(item.kind == "company" for item in items))


def _opens(items: tuple[Item, ...], place: int) -> ClauseRole | None:
    item = items[place]
    if item.kind == "break":
        return "main"
    if item.kind not in CONNECTORS or (item.text in _KEEPS_NAME and place + 1 < len(items) and items[place + 1].kind == "company"):
        return None
    match item.kind:
        case "concession" | "reason" | "base":
            return item.kind
        case _:
            return "main"


def _with_owner(clauses: list[Clause], place: int, words: tuple[Token, ...], lexicon: Lexicon) -> Clause:
    clause = clauses[place]
    earlier = any(other.named for other in clauses[:place])
    leads_in = clause.role in ("concession", "reason") and place + 1 < len(clauses) and clauses[place + 1].named
    own = (clause.named or earlier or leads_in) and not _has_other_subject(clause, words, lexicon)
    return Clause(clause.role, clause.items, clause.named, own)


def _has_other_subject(clause: Clause, words: tuple[Token, ...], lexicon: Lexicon) -> bool:
    first = clause.items[0]
    if first.kind == "company":
        return False
    if phrase_at(words, first.place, lexicon.markers["market"]):
        return True
    if clause.named:
        return False
    rival = any(item.kind == "text" and _says_rival(words[item.place], lexicon) for item in clause.items)
    return rival or (first.kind == "text" and is_proper(words[first.place], lexicon) and not _is_title_case(words))


def _is_title_case(words: tuple[Token, ...]) -> bool:
    letters = [word.raw for word in words if len(word.raw) > 3 and word.raw[0].isalpha()]
    return 2 * sum(raw[0].isupper() for raw in letters) > len(letters)
