"""What a clause says happened: a direction meets a thing that moves, and their signs multiply.

Rules, in the order in which they are applied to one clause:

1. Neighbouring things make one thing: "loss forecast" is bad to have more of, "decline in costs" good.
2. A direction takes the thing right before it ("margin widens"), else the next one ("cuts costs"), but not across "to" ("falls to a loss").
3. A direction that stands as a noun is a thing itself ("halts decline in sales").
4. A thing that is news by its mere presence counts where no direction took it ("hit with class action").
5. A direction left alone is the share price where the company goes before it.
6. A negator turns whatever ends after it in the clause.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise

from alphaagent.evidence.headline import Clause, Item, Token, phrase_at
from alphaagent.evidence.lexicon import Lexicon
from alphaagent.evidence.lexicon_words import Topic, Word

_WIDEST_GAP = 2
"""How many unknown words may stand between two words of one thing."""
_BENCHMARK_REACH = 4
"""How many words behind "below" or "above" the benchmark may stand."""
_NOUN_SIGNS = frozenset({"a", "an", "the", "any", "further", "sharp", "its"})
_TIES = frozenset({"at", "of", "from", "by", "for", "on"})
_LOOSE_TIES = frozenset({"on"})
_ADVERSARY = frozenset({"against", "over"})
_READ = ("direction", "object", "above", "below")
_FLOOR = Decimal("0.2")


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened to the company. `value` in [-1, 1]."""

    topic: Topic
    sign: int
    strength: Decimal
    text: str

    @property
    def value(self) -> Decimal:
        return self.sign * self.strength


@dataclass(frozen=True, slots=True)
class _Unit:
    """A direction, or a thing made of neighbouring words."""

    word: Word
    text: str
    start: int
    end: int

    def joined(self, other: "_Unit") -> "_Unit":
        signs = (self.word.sign, other.word.sign)
        moves = self.word.movement or other.word.movement
        sign = signs[0] * signs[1] if moves else min(signs)
        ranked = max((self.word, other.word), key=lambda word: (not word.movement, word.topic.rank if word.topic else 0, -word.sign))
        word = replace(ranked, sign=sign, alone=self.word.alone or other.word.alone, movement=moves, strength=max(self.word.strength, other.word.strength))
        return _Unit(word, f"{self.text} {other.text}", self.start, other.end)


@dataclass(frozen=True, slots=True)
class ClauseReading:
    """The events of one clause, and the topics in which the company itself was the one who acted on another."""

    events: tuple[Event, ...]
    active_in: frozenset[str]


def read_clause(clause: Clause, words: Sequence[Token], lexicon: Lexicon) -> ClauseReading:
    """The events that a clause tells about the company."""
    return _Reader(clause, words, lexicon).reading()


class _Reader:
    def __init__(self, clause: Clause, words: Sequence[Token], lexicon: Lexicon) -> None:
        self.items = clause.items
        self.clause = clause
        self.words = words
        self.lexicon = lexicon
        self.negators = [item.place for item in self.items if item.kind == "negator"]
        self.names = [item.place for item in self.items if item.kind == "company"]
        self.forward = min((item.place for item in self.items if self._looks_ahead(item)), default=None)
        self.active_in: set[str] = set()

    def reading(self) -> ClauseReading:
        units = list(self._units())
        events = list(self._events(units))
        if not events:
            events = list(self._price_moves(units))
        return ClauseReading(tuple(events), frozenset(self.active_in))

    def _looks_ahead(self, item: Item) -> bool:
        return item.kind == "forward" or self._forward_after_name(item)

    def _forward_after_name(self, item: Item) -> bool:
        return item.place - 1 in self.names and phrase_at(self.words, item.place, self.lexicon.forward_after_name) is not None

    def _units(self) -> Iterator[_Unit]:
        group: _Unit | None = None
        for place, item in enumerate(self.items):
            unit = self._unit(place, item)
            if unit is None:
                continue
            if group and unit.word.role == "object" and self._adjoin(group, unit):
                group = group.joined(unit)
                continue
            if group:
                yield group
            group = unit if unit.word.role == "object" else None
            if group is None:
                yield unit
        if group:
            yield group

    def _unit(self, place: int, item: Item) -> _Unit | None:
        if item.word is None or item.word.role not in _READ or self._forward_after_name(item) or self._is_adjective(place, item):
            return None
        word = self._as_noun(item.word) if self._stands_as_noun(place, item) else item.word
        return _Unit(word, item.text, item.place, item.place + len(item.text.split()) - 1)

    def _is_adjective(self, place: int, item: Item) -> bool:
        """A bare form that is a verb only behind a thing or behind "to"."""
        if item.word is None or not item.word.verb or self.words[item.place].text != self.words[item.place].lemma:
            return False
        return place == 0 or (self.items[place - 1].kind != "object" and self.items[place - 1].text != "to")

    def _as_noun(self, word: Word) -> Word:
        topic = word.topic or self.lexicon.price
        return replace(word, role="object", movement=True, alone=True, topic=topic)

    def _stands_as_noun(self, place: int, item: Item) -> bool:
        word = item.word
        text, lemma = self.words[item.place].text, self.words[item.place].lemma
        if word is None or word.role != "direction" or word.absolute or not word.moves_price or text not in (lemma, lemma + "s"):
            return False
        before = self.items[place - 1] if place else None
        if before is not None and (before.text in _NOUN_SIGNS or before.kind in ("negator", "direction")):
            return True
        after = self.items[place + 1] if place + 1 < len(self.items) else None
        return after is not None and after.text in ("in", "of") and before is not None and before.kind not in ("company", "object")

    def _adjoin(self, left: _Unit, right: _Unit, also: tuple[str, ...] = ()) -> bool:
        between = [item for item in self.items if left.end < item.place < right.start]
        return len(between) <= _WIDEST_GAP and all(item.kind in ("text", "plain", *also) and item.text not in ("to", "for", "over", "into") for item in between)

    def _events(self, units: list[_Unit]) -> Iterator[Event]:
        free: _Unit | None = None
        skip: _Unit | None = None
        for unit, after in pairwise([*units, None]):
            if unit is None or unit is skip:
                continue
            if unit.word.role == "object":
                if free:
                    yield from self._alone(free)
                free = unit
                continue
            if unit.word.stops and after is not None and after.word.role == "direction" and after.word.absolute:
                self.negators.append(unit.start)
                continue
            if free and after is not None and self._acts_on(free, unit, after):
                yield from self._alone(free)
                free = None
            ahead = after if free is None and after is not None and self._reaches(unit, after) else None
            made = list(self._meeting(unit, free or ahead))
            if made and free is None:
                skip = ahead
            if made or free is None:
                free = None
            yield from made
        if free:
            yield from self._alone(free)

    def _acts_on(self, before: _Unit, direction: _Unit, thing: _Unit) -> bool:
        """Between two things a transitive word moves the second: "tariffs cut profit", "shares extend losses"."""
        transitive = direction.word.role == "direction" and not (direction.word.moves_price or direction.word.absolute)
        return transitive and before.end < direction.start and self._reaches(direction, thing) and self._adjoin(direction, thing, ("company",))

    def _reaches(self, direction: _Unit, thing: _Unit) -> bool:
        behind = direction.end + (1 if direction.word.stops else 0)
        return thing.word.role == "object" and not any(item.text == "to" for item in self.items if behind < item.place < thing.start)

    def _meeting(self, direction: _Unit, thing: _Unit | None) -> Iterator[Event]:
        word = direction.word
        if word.role in ("above", "below"):
            yield from self._against_benchmark(direction, thing)
        elif word.done_to:
            yield from self._done_to(direction, thing)
        elif word.absolute:
            yield from self._absolute(direction, thing)
        elif thing is not None and thing.word.topic is not None:
            yield from self._event(thing.word.topic, word.sign * thing.word.sign, max(word.strength, thing.word.strength), direction, thing)

    def _against_benchmark(self, side: _Unit, thing: _Unit | None) -> Iterator[Event]:
        reach = range(side.end + 1, side.end + 1 + _BENCHMARK_REACH)
        if any(phrase_at(self.words, place, self.lexicon.benchmarks) for place in reach):
            topic = thing.word.topic if thing and thing.start < side.start and thing.word.topic == self.lexicon.guidance else self.lexicon.results
            yield from self._event(topic or self.lexicon.results, side.word.sign, side.word.strength, side, None)

    def _done_to(self, direction: _Unit, thing: _Unit | None) -> Iterator[Event]:
        before = [place for place in self.names if place < direction.start]
        word = direction.word
        if word.topic is None:
            return
        if before and thing and thing.word.topic and thing.word.topic.own:
            yield from self._event(thing.word.topic, word.sign * thing.word.sign, word.strength, direction, thing)
        elif before and not self._is_passive(direction):
            self.active_in.add(word.topic.name)
        else:
            yield from self._event(word.topic, word.sign, word.strength, direction, None)

    def _is_passive(self, direction: _Unit) -> bool:
        text = self.words[direction.start].text
        return text.endswith("ed") or text in self.lexicon.forms.irregular

    def _absolute(self, direction: _Unit, thing: _Unit | None) -> Iterator[Event]:
        word = direction.word
        by_others = bool(self.names) and self.names[0] > direction.start and thing is not None and thing.start < direction.start
        topic = word.topic or (thing.word.topic if thing and not by_others else None) or self.lexicon.operations
        if thing and word.topic == self.lexicon.results and thing.start < direction.start and thing.word.topic == self.lexicon.guidance:
            topic = self.lexicon.guidance
        sign = -word.sign if self._is_adversary(direction) else word.sign
        yield from self._event(topic, sign, word.strength, direction, thing)

    def _is_adversary(self, direction: _Unit) -> bool:
        return bool(self.names) and self.names[0] - 1 > direction.end and self.words[self.names[0] - 1].text in _ADVERSARY

    def _alone(self, thing: _Unit) -> Iterator[Event]:
        if thing.word.alone and thing.word.topic:
            yield from self._event(thing.word.topic, thing.word.sign, thing.word.strength, thing, None)

    def _event(self, topic: Topic, sign: int, strength: Decimal, unit: _Unit, thing: _Unit | None) -> Iterator[Event]:
        first, last = (min(unit.start, thing.start), max(unit.end, thing.end)) if thing else (unit.start, unit.end)
        if topic.own and not self._is_the_companys(first, last, topic):
            return
        scope = unit.start if unit.word.absolute else last
        turned = sum(place < scope for place in self.negators) % 2 == 1
        if turned:
            sign = unit.word.negated or -sign
        if self.forward is not None and self.forward < last and topic.own and topic != self.lexicon.price:
            topic = self.lexicon.guidance
        text = f"{'not ' if turned else ''}{unit.text}" + (f" + {thing.text}" if thing else "")
        yield Event(topic, sign, self._by_percent(topic, strength, unit), text)

    def _is_the_companys(self, first: int, last: int, topic: Topic) -> bool:
        """The company stands before what happened or within it ("bites into X margins"), or is tied to it ("margins at X")."""
        if not self.names or self.names[0] <= max(first, last):
            return True
        tie = self.words[self.names[0] - 1].text
        return tie in _TIES - _LOOSE_TIES or (tie in _LOOSE_TIES and topic == self.lexicon.price)

    def _by_percent(self, topic: Topic, strength: Decimal, unit: _Unit) -> Decimal:
        moves = [percent for word in self.words[unit.end + 1 : unit.end + 4] if (percent := percent_of(word.text)) is not None]
        if not moves or not topic.own or unit.word.absolute or topic == self.lexicon.guidance:
            return strength
        full = self.lexicon.full_move_percent["price" if topic == self.lexicon.price else "other"]
        return _FLOOR + (1 - _FLOOR) * min(Decimal(1), moves[0] / full)

    def _price_moves(self, units: list[_Unit]) -> Iterator[Event]:
        for unit in units:
            led = (self.names and self.names[0] < unit.start) or not self.names
            percent = any(word.text.endswith("%") for word in self.words[unit.end + 1 : unit.end + 3])
            if unit.word.role == "direction" and not unit.word.absolute and led and (unit.word.moves_price or percent):
                yield from self._event(self.lexicon.price, unit.word.sign, unit.word.strength, unit, None)
                return


def percent_of(text: str) -> Decimal | None:
    """The number of a word like `6.8%`, or None. A number beyond any percentage is none."""
    number = text[:-1].replace(",", "")
    if not text.endswith("%") or not number.replace(".", "", 1).isascii() or not number.replace(".", "", 1).isdigit() or len(number) > 9:
        return None
    return Decimal(number)
