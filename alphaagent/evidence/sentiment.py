"""What a headline says about one company, as a number in [-1, 1] and the reasons for it, by rules and a lexicon alone.

Chosen on purpose: no model and no word count. A word list scores "denies fraud" and "loss narrows" the wrong way round; here the clause,
the negator and the thing that moves decide. The order of judgement: is the company named; is it only a question, a rumour, a denial or a
date; what happened in the main clause; which topic outranks. What cannot be read is 0 with the reason "nothing readable". The signs are
our own convention, held by a truth table in the tests; strengths are chosen, not fitted.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Literal

from alphaagent.evidence.headline import Clause, CompanyNames, Headline, clean_title, has_phrase, phrase_at, take_apart
from alphaagent.evidence.headline_events import Event, percent_of, read_clause
from alphaagent.evidence.lexicon import Lexicon

ScoreKind = Literal["scored", "neutral", "mixed", "unread", "question", "rumour", "denial", "schedule", "elsewhere", "filing"]
_QUANTUM = Decimal("0.000001")
_ZERO = Decimal("0.000000")
_EARNINGS_CLAUSES = ("earnings per share", "loss per share")
_WITHOUT_PERCENT = {
    "earnings per share after a loss": Decimal(1),
    "loss per share after earnings": Decimal(-1),
    "loss per share narrowed": Decimal("0.5"),
    "loss per share widened": Decimal("-0.5"),
}
"""A change of sign is more than any percentage; a loss that moves is a plain direction."""
_MOST_REASONS = 6
_ATTRIBUTIONS = frozenset({"report", "source"})
"""Alone at the end, "- report" or ": sources", they make a rumour."""
_DENIAL_REACH = 4


@dataclass(frozen=True, slots=True)
class HeadlineScore:
    """`score` in [-1, 1], quantised to 1e-6. `kind` says how it came about; `elsewhere` is news about somebody else or about no one."""

    score: Decimal
    reasons: tuple[str, ...]
    kind: ScoreKind

    @property
    def about_company(self) -> bool:
        return self.kind != "elsewhere"


def score_headline(title: str, company: CompanyNames, lexicon: Lexicon, *, origin: Literal["press", "filing"]) -> HeadlineScore:
    """The score of one headline for one company. Pure; never raises on any text; reads the first 200 characters."""
    text = clean_title(title)
    return _score_filing(text, lexicon) if origin == "filing" else _score_press(text, company, lexicon)


def _score_press(title: str, company: CompanyNames, lexicon: Lexicon) -> HeadlineScore:
    headline = take_apart(title, company, lexicon)
    if not headline.named:
        return HeadlineScore(_ZERO, ("the company is not named",), "elsewhere")
    voided = _marker(headline, lexicon)
    if voided is not None and voided[0] == "question":
        return HeadlineScore(_ZERO, (voided[1],), "question")
    events, note = _deciding(headline, lexicon)
    if voided is not None:
        events = tuple(event for event in events if event.topic == lexicon.price)
        if not events:
            return HeadlineScore(_ZERO, (voided[1],), voided[0])
    return _total(events, note)


def _marker(headline: Headline, lexicon: Lexicon) -> tuple[Literal["question", "rumour", "denial", "schedule"], str] | None:
    words = headline.tokens
    if words[-1].text == "?" or phrase_at(words, 0, lexicon.markers["question"]):
        return "question", "a question"
    if found := has_phrase(words, lexicon.markers["denial"]):
        return "denial", f"a denial: {found}"
    if found := _denied(headline, lexicon):
        return "denial", f"a denial: {found}"
    if (found := has_phrase(words, lexicon.markers["rumour"])) and not has_phrase(words, lexicon.markers["committed"]):
        return "rumour", f"a rumour: {found}"
    if words[-1].lemma in _ATTRIBUTIONS and len(words) > 1 and not words[-2].raw.isalnum():
        return "rumour", f"a rumour: {words[-1].text}"
    if found := has_phrase(words, lexicon.markers["schedule"]):
        return "schedule", f"a date: {found}"
    return None


def _denied(headline: Headline, lexicon: Lexicon) -> str | None:
    """A verb of denying with what it denies close behind, or None."""
    words = headline.tokens
    verbs = ((place, phrase_at(words, place, lexicon.markers["denial_verb"])) for place in range(len(words)))
    return next((verb for place, verb in verbs if verb and has_phrase(words[place + 1 : place + 1 + _DENIAL_REACH], lexicon.markers["denial_of"])), None)


def _deciding(headline: Headline, lexicon: Lexicon) -> tuple[tuple[Event, ...], str | None]:
    """The events that decide, from the first kind of clause that says anything, and a note on what was set aside."""
    own = [(clause, read_clause(clause, headline.tokens, lexicon)) for clause in headline.clauses if clause.own and clause.role != "base"]
    acting = frozenset().union(*(reading.active_in for _, reading in own))
    for role in ("main", "reason", "concession"):
        events = [event for clause, reading in own if clause.role == role for event in reading.events if event.topic.name not in acting]
        if events:
            return _outranking(events)
    return (), _elsewhere(headline.clauses)


def _elsewhere(clauses: Iterable[Clause]) -> str | None:
    return None if any(clause.own for clause in clauses) else "the clause speaks of others"


def _outranking(events: list[Event]) -> tuple[tuple[Event, ...], str | None]:
    events = [event for event in events if event.sign] or events
    rank = max(event.topic.rank for event in events)
    kept = tuple(event for event in events if event.topic.rank == rank)
    beaten = next((event.topic.name for event in events if event.topic.rank < rank and event.sign * kept[0].sign < 0), None)
    return kept, f"{kept[0].topic.name} outranks {beaten}" if beaten else None


def _total(events: tuple[Event, ...], note: str | None) -> HeadlineScore:
    if not events:
        return HeadlineScore(_ZERO, (note or "nothing readable",), "elsewhere" if note else "unread")
    total = max(Decimal(-1), min(Decimal(1), sum((event.value for event in events), Decimal(0))))
    reasons = tuple(f"{event.text} ({event.topic.name} {event.sign:+d})" for event in events) + ((note,) if note else ())
    kind: ScoreKind = "scored" if total else "mixed" if any(event.sign for event in events) else "neutral"
    return HeadlineScore(_quantised(total), reasons[:_MOST_REASONS], kind)


def _score_filing(title: str, lexicon: Lexicon) -> HeadlineScore:
    """Only the earnings clause counts: revenue reaches the engine by the fundamentals, and a fact counts once."""
    clauses = [clause.strip() for clause in title.partition(": ")[2].split(";")]
    note = ("revenue counts under fundamentals",) if any("revenue" in clause for clause in clauses) else ()
    earnings = next((clause for clause in clauses if clause.lower().startswith(_EARNINGS_CLAUSES)), None)
    if earnings is None:
        return HeadlineScore(_ZERO, ("no earnings clause", *note), "filing")
    return HeadlineScore(_quantised(_earnings_value(earnings, lexicon)), (earnings, *note), "filing")


def _earnings_value(clause: str, lexicon: Lexicon) -> Decimal:
    """Percent on the year over the full move, capped at 1, with the sign of `up` or `down`; a fixed value around a loss; 0 for anything else."""
    text = clause.lower()
    fixed = next((value for beginning, value in _WITHOUT_PERCENT.items() if text.startswith(beginning)), None)
    if fixed is not None:
        return fixed
    words = text.split()
    percent = next((found for word in words if (found := percent_of(word.rstrip(",."))) is not None), None)
    sign = 1 if "up" in words else -1 if "down" in words else 0
    return sign * min(Decimal(1), (percent or Decimal(0)) / lexicon.full_move_percent["filing"])


def _quantised(value: Decimal) -> Decimal:
    return value.quantize(_QUANTUM, rounding=ROUND_HALF_EVEN) + 0
