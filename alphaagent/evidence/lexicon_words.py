"""What a listed word means, and how a word of a headline finds its listed form.

Chosen on purpose: no general stemmer. Regular endings are cut only as far as the lexicon itself lists the result, so a word that nobody
listed stays unread.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

Role = Literal["direction", "object", "negator", "forward", "above", "below", "and", "concession", "reason", "base", "plain"]
Phrase = tuple[str, ...]
Phrases = Mapping[str, tuple[Phrase, ...]]
"""First word -> the phrases that begin with it, longest first: most places in a headline are ruled out by one look."""

_LONGEST_WORD = 30
_SHORTEST_INFLECTED = 4


@dataclass(frozen=True, slots=True)
class Topic:
    """What news can be about. `own`: only the company itself can do it."""

    name: str
    rank: int
    own: bool


@dataclass(frozen=True, slots=True)
class Word:
    """One meaning of a word or phrase. `sign` is a direction's sign or an object's polarity; `negated` the sign after a negator."""

    role: Role
    group: str
    sign: int = 0
    strength: Decimal = Decimal("0.5")
    topic: Topic | None = None
    absolute: bool = False
    done_to: bool = False
    alone: bool = False
    movement: bool = False
    negated: int = 0
    moves_price: bool = False
    stops: bool = False
    verb: bool = False


@dataclass(frozen=True, slots=True)
class Forms:
    """How a word of a headline is brought to the form in which it is listed."""

    alone: frozenset[str]
    """Words that are entries of their own: never cut, so `sales` stays apart from `sale`."""
    inside: frozenset[str]
    """Words that occur inside phrases."""
    irregular: Mapping[str, str]

    def lemma(self, word: str) -> str:
        """The listed form of a lower-case word, or the word itself where none is listed."""
        if word in self.irregular:
            return self.irregular[word]
        if word in self.alone or not _SHORTEST_INFLECTED <= len(word) <= _LONGEST_WORD:
            return word
        return next((stem for stem in _stems(word) if stem in self.alone or stem in self.inside), word)

    def knows(self, lemma: str) -> bool:
        """Whether the lexicon mentions a listed form anywhere."""
        return lemma in self.alone or lemma in self.inside


def _stems(word: str) -> Iterator[str]:
    if word.endswith("ies"):
        yield word[:-3] + "y"
    if word.endswith("es"):
        yield word[:-2]
    if word.endswith("s"):
        yield word[:-1]
    for ending in ("ed", "ing"):
        if word.endswith(ending):
            yield from _verb_stems(word[: -len(ending)])


def _verb_stems(stem: str) -> Iterator[str]:
    yield stem
    yield stem + "e"
    if len(stem) > 2 and stem[-1] == stem[-2]:
        yield stem[:-1]
    if stem.endswith("i"):
        yield stem[:-1] + "y"


def phrases_by_first_word(phrases: Iterable[Phrase]) -> Phrases:
    """Phrases in the order in which they are looked up."""
    found: dict[str, list[Phrase]] = {}
    for phrase in sorted(set(phrases), key=lambda phrase: (-len(phrase), phrase)):
        found.setdefault(phrase[0], []).append(phrase)
    return {first: tuple(rows) for first, rows in found.items()}
