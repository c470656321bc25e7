"""The words by which a headline is read, validated.

Chosen on purpose: the lexicon is data that a desk person edits (`config/lexicon.yaml`), so a slip in it is an error that names the file,
the key and the nearest valid key, and never a word that silently means nothing. A word or phrase has one meaning for reading; two
are refused. Word forms are found by cutting regular endings against the lexicon's own vocabulary, not by a general stemmer.
"""

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Any

from alphaagent.domain.base import fingerprint
from alphaagent.errors import ConfigFault
from alphaagent.evidence.lexicon_words import Forms, Phrase, Phrases, Role, Topic, Word, phrases_by_first_word

MARKERS = ("question", "rumour", "denial", "denial_verb", "denial_of", "schedule", "committed", "market", "rival", "name_after", "name_before")
CONNECTORS: tuple[Role, ...] = ("and", "concession", "reason", "base")
_LISTS = ("forward", "forward_after_name", "benchmarks", "negators", "plain")
_SECTIONS = ("version", "topics", "directions", "objects", *_LISTS, "sides", "connectors", "markers", "full_move_percent")
_GROUP_KEYS = {
    "directions": ("sign", "words", "strength", "absolute", "done_to", "topic", "negated", "moves_price", "stops", "verb"),
    "objects": ("topic", "polarity", "words", "alone", "movement", "strength"),
}
KEPT_LEXICONS = 8
_WORD = re.compile(r"[^\W_]+(?:&[^\W_]+)?(?:/[^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Lexicon:
    """All words, ready for reading. Made by `parse`; `fingerprint` identifies the document it came from."""

    words: Mapping[str, tuple[tuple[Phrase, Word], ...]]
    """First lemma -> the phrases that begin with it, longest first."""
    markers: Mapping[str, Phrases]
    benchmarks: Phrases
    forward_after_name: Phrases
    full_move_percent: Mapping[str, Decimal]
    forms: Forms
    results: Topic
    guidance: Topic
    price: Topic
    operations: Topic
    _fingerprint: str

    def fingerprint(self) -> str:
        """SHA-256 (hex) of the document's canonical bytes."""
        return self._fingerprint

    @classmethod
    def parse(cls, document: Mapping[str, Any], where: str) -> "Lexicon":
        """A validated lexicon from the mapping that `where` (a file's name) holds. Raises ConfigFault naming file, key and nearest valid key."""
        return _kept(_Written(repr(document), document), where)


@dataclass(frozen=True)
class _Written:
    """A document, which is another one only where something else stands in it."""

    text: str
    document: Mapping[str, Any] = field(compare=False)


@lru_cache(maxsize=KEPT_LEXICONS)
def _kept(written: _Written, where: str) -> Lexicon:
    return _Parser(where).lexicon(written.document)


class _Parser:
    """Walks one document; every fault names the file and the key."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.irregular: dict[str, str] = {}
        self.alone: set[str] = set()
        self.inside: set[str] = set()
        self.entries: list[tuple[Phrase, Word, str]] = []
        self.topics: dict[str, Topic] = {}

    def lexicon(self, document: Mapping[str, Any]) -> Lexicon:
        self.keys(document, "", _SECTIONS, required=_SECTIONS)
        if document["version"] != 1:
            raise self.fault("version", "must be 1")
        self.topics = {name: self.topic(name, row) for name, row in self.table(document, "topics").items()}
        needed = [self.named_topic("topics", name) for name in ("results", "guidance", "price", "operations")]
        self.groups(document)
        self.simple_words(document)
        markers = self.table(document, "markers")
        self.keys(markers, "markers", MARKERS, required=MARKERS)
        lists = {name: self.phrases(f"markers.{name}", markers[name]) for name in MARKERS}
        lists |= {name: self.phrases(name, document[name]) for name in ("benchmarks", "forward_after_name")}
        forms = Forms(frozenset(self.alone), frozenset(self.inside), self.irregular)
        sets = {name: phrases_by_first_word(_listed(phrase, forms) for phrase in phrases) for name, phrases in lists.items()}
        return Lexicon(
            words=self.by_first_word(forms),
            markers={name: sets[name] for name in MARKERS},
            benchmarks=sets["benchmarks"],
            forward_after_name=sets["forward_after_name"],
            full_move_percent=self.full_moves(document),
            forms=forms,
            results=needed[0],
            guidance=needed[1],
            price=needed[2],
            operations=needed[3],
            _fingerprint=self.document_fingerprint(document),
        )

    def fault(self, key: str, message: str, fix: str | None = None) -> ConfigFault:
        return ConfigFault(f"{self.where}: {key}: {message}", fix=fix or f"correct `{key}` in {self.where}")

    def keys(self, table: Mapping[str, Any], key: str, allowed: Iterable[str], required: Iterable[str]) -> None:
        known = list(allowed)
        for name in table:
            if name not in known:
                nearest = difflib.get_close_matches(str(name), known, n=1, cutoff=0)
                raise self.fault(f"{key}.{name}".lstrip("."), "is no key here", fix=f"did you mean `{nearest[0]}`?")
        for name in required:
            if name not in table:
                raise self.fault(f"{key}.{name}".lstrip("."), "is missing")

    def table(self, document: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        value = document[key.rpartition(".")[2]]
        if not isinstance(value, Mapping):
            raise self.fault(key, "must be a table of keys")
        return value

    def number(self, key: str, value: object, low: int, high: int) -> int:
        if type(value) is not int or not low <= value <= high:
            raise self.fault(key, f"must be a whole number from {low} to {high}, not {value!r}")
        return value

    def flag(self, key: str, value: object) -> bool:
        if not isinstance(value, bool):
            raise self.fault(key, f"must be true or false, not {value!r}")
        return value

    def topic(self, name: str, row: object) -> Topic:
        key = f"topics.{name}"
        if not isinstance(row, Mapping):
            raise self.fault(key, "must be a table with rank and own")
        self.keys(row, key, ("rank", "own"), required=("rank", "own"))
        return Topic(name, self.number(f"{key}.rank", row["rank"], 1, 9), self.flag(f"{key}.own", row["own"]))

    def named_topic(self, key: str, name: object) -> Topic:
        if name not in self.topics:
            nearest = difflib.get_close_matches(str(name), list(self.topics), n=1, cutoff=0)
            raise self.fault(key, f"{name!r} is no topic", fix=f"did you mean `{nearest[0]}`?" if nearest else None)
        return self.topics[str(name)]

    def groups(self, document: Mapping[str, Any]) -> None:
        for section, allowed in _GROUP_KEYS.items():
            for name, row in self.table(document, section).items():
                key = f"{section}.{name}"
                if not isinstance(row, Mapping):
                    raise self.fault(key, "must be a table of keys")
                self.keys(row, key, allowed, required=allowed[: 3 if section == "objects" else 2])
                self.mean(self.direction(name, key, row) if section == "directions" else self.thing(name, key, row), f"{key}.words", row["words"])

    def direction(self, name: str, key: str, row: Mapping[str, Any]) -> Word:
        return Word(
            role="direction",
            group=name,
            sign=self.number(f"{key}.sign", row["sign"], -1, 1),
            strength=self.strength(key, row),
            topic=self.named_topic(f"{key}.topic", row["topic"]) if "topic" in row else None,
            absolute=self.flag(f"{key}.absolute", row.get("absolute", False)),
            done_to=self.flag(f"{key}.done_to", row.get("done_to", False)),
            moves_price=self.flag(f"{key}.moves_price", row.get("moves_price", False)),
            stops=self.flag(f"{key}.stops", row.get("stops", False)),
            verb=self.flag(f"{key}.verb", row.get("verb", False)),
            negated=self.number(f"{key}.negated", row.get("negated", 0), -1, 1),
        )

    def thing(self, name: str, key: str, row: Mapping[str, Any]) -> Word:
        return Word(
            role="object",
            group=name,
            sign=self.number(f"{key}.polarity", row["polarity"], -1, 1),
            strength=self.strength(key, row),
            topic=self.named_topic(f"{key}.topic", row["topic"]),
            alone=self.flag(f"{key}.alone", row.get("alone", False)),
            movement=self.flag(f"{key}.movement", row.get("movement", False)),
        )

    def strength(self, key: str, row: Mapping[str, Any]) -> Decimal:
        return Decimal(self.number(f"{key}.strength", row.get("strength", 50), 0, 100)) / 100

    def simple_words(self, document: Mapping[str, Any]) -> None:
        self.mean(Word("negator", "negator"), "negators", document["negators"])
        self.mean(Word("forward", "forward"), "forward", document["forward"])
        self.mean(Word("plain", "plain"), "plain", document["plain"])
        sides, connectors = self.table(document, "sides"), self.table(document, "connectors")
        self.keys(sides, "sides", ("above", "below"), required=("above", "below"))
        self.mean(Word("above", "above", 1, Decimal("0.6")), "sides.above", sides["above"])
        self.mean(Word("below", "below", -1, Decimal("0.6")), "sides.below", sides["below"])
        self.keys(connectors, "connectors", CONNECTORS, required=CONNECTORS)
        for role in CONNECTORS:
            self.mean(Word(role, role), f"connectors.{role}", connectors[role])

    def mean(self, word: Word, key: str, phrases: object) -> None:
        self.entries += [(phrase, word, key) for phrase in self.phrases(key, phrases)]

    def phrases(self, key: str, value: object) -> list[Phrase]:
        if not isinstance(value, list) or not value:
            raise self.fault(key, "must be a list of words")
        return [self.phrase(key, entry) for entry in value]

    def phrase(self, key: str, entry: object) -> Phrase:
        words = entry.split() if isinstance(entry, str) else []
        if not words or any(_WORD.fullmatch(word) is None or word != word.lower() for word in words):
            raise self.fault(key, f"{entry!r} must be lower-case words; put `no`, `on` and `yes` in quotes and write hyphens as spaces")
        listed = tuple(self.word(key, word) for word in words)
        (self.alone if len(listed) == 1 else self.inside).update(listed)
        return listed

    def word(self, key: str, text: str) -> str:
        base, *forms = text.split("/")
        for form in forms:
            if self.irregular.setdefault(form, base) != base:
                raise self.fault(key, f"`{form}` is already a form of `{self.irregular[form]}`")
        return base

    def by_first_word(self, forms: Forms) -> dict[str, tuple[tuple[Phrase, Word], ...]]:
        meanings: dict[Phrase, tuple[Word, str]] = {}
        for raw, word, key in self.entries:
            phrase = _listed(raw, forms)
            if phrase in meanings:
                raise self.fault(key, f"`{' '.join(raw)}` stands already in {meanings[phrase][1]}", fix="a word has one meaning: keep it in one list")
            meanings[phrase] = (word, key)
        return {first: tuple((phrase, meanings[phrase][0]) for phrase in rows) for first, rows in phrases_by_first_word(meanings).items()}

    def full_moves(self, document: Mapping[str, Any]) -> dict[str, Decimal]:
        moves, names = self.table(document, "full_move_percent"), ("price", "other", "filing")
        self.keys(moves, "full_move_percent", names, required=names)
        return {name: Decimal(self.number(f"full_move_percent.{name}", moves[name], 1, 1000)) for name in names}

    def document_fingerprint(self, document: Mapping[str, Any]) -> str:
        try:
            return fingerprint(document)
        except TypeError as fault:
            raise self.fault("document", str(fault)) from fault


def _listed(phrase: Phrase, forms: Forms) -> Phrase:
    """A phrase in the form in which the words of a headline are looked up."""
    return tuple(forms.lemma(word) for word in phrase)
