"""A run as its event stream tells it, for whoever watches: how far it is, what has been said, what it has cost.

Pure, and it trusts nothing: every value of an event is foreign and may be anything, so each is read as a short text or as a number or not at all.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

from alphaagent.domain.text import inert
from alphaagent.runs import RunFile
from alphaagent.views_words import MOVES, NAMES, PHASES, SEVERITY

SILENT_AFTER_SECONDS = 180
LONGEST = 4_000
MOST_LISTED = 40
"""Claims, objections and moves of one turn."""
State = Literal["running", "silent", "done", "failed"]
Said = tuple[str, str]
"""What kind of thing is said, in our words, and the words themselves, which are foreign."""


@dataclass(frozen=True, slots=True)
class TurnSaid:
    """One completed turn."""

    phase: str
    round: str
    side: str
    p_up: str
    said: tuple[Said, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """A run so far."""

    run_id: str
    ticker: str
    as_of: str
    plan: str
    models: tuple[str, ...]
    state: State
    silent_minutes: int
    """Since its last line."""
    phases: tuple[tuple[str, Literal["done", "going on", "to come"]], ...]
    turns: tuple[TurnSaid, ...]
    happened: tuple[str, ...]
    """Hits, answers and what was measured, a line each, in order."""
    rounds: tuple[tuple[str, Decimal, Decimal], ...]
    """Round, bull and bear."""
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: Decimal | None
    """None where the price of a call is not known."""
    guard: str
    failure: str


def run_of(file: RunFile, now: datetime) -> Run:
    """The run that a file tells of, as things stand now."""
    events = file.events
    first, last = _first(events, "run"), events[-1] if events else {}
    quiet = max(0, int((now - file.changed_at).total_seconds()))
    calls = [event for event in events if event["event"] == "call_completed"]
    prices = [number(call.get("cost_usd")) for call in calls]
    return Run(
        run_id=file.run_id,
        ticker=text(first.get("ticker"), 40),
        as_of=text(first.get("as_of"), 40),
        plan=text(first.get("plan"), 40),
        models=tuple(dict.fromkeys(_models(first.get("sides")))),
        state=_state(text(last.get("event"), 40), quiet),
        silent_minutes=quiet // 60,
        phases=_phases(first, events),
        turns=tuple(_turn(event) for event in events if event["event"] == "turn_completed"),
        happened=tuple(_happened(events)),
        rounds=tuple(_rounds(events)),
        calls=len(calls),
        prompt_tokens=sum(_count(call.get("prompt_tokens")) for call in calls),
        completion_tokens=sum(_count(call.get("completion_tokens")) for call in calls),
        cost_usd=None if any(price is None for price in prices) else sum((price for price in prices if price is not None), Decimal(0)),
        guard=" ".join(text(_first(events, "guard").get(key), 60) for key in ("outcome", "code")).strip(),
        failure=text(_first(events, "run_failed").get("message"), 600),
    )


def _first(events: Sequence[Mapping[str, Any]], name: str) -> Mapping[str, Any]:
    return next((event for event in events if event["event"] == name), {})


def _state(last: str, quiet_seconds: int) -> State:
    if last in ("run_completed", "run_failed"):
        return "done" if last == "run_completed" else "failed"
    return "silent" if quiet_seconds >= SILENT_AFTER_SECONDS else "running"


def _models(sides: object) -> Iterator[str]:
    for names in sides.values() if isinstance(sides, dict) else ():
        yield from (text(name, 80) for name in _listed(names))


def _phases(first: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, Literal["done", "going on", "to come"]], ...]:
    """The plan's phases with the verdict after them, and how far each is."""
    planned = [*(text(one, 40) for one in _listed(first.get("phases"))), "verdict"] if first else []
    begun = {text(event.get("phase"), 40) for event in events if event["event"] in ("phase_started", "turn_started")}
    over = {text(event.get("phase"), 40) for event in events if event["event"] == "phase_completed"}
    over |= {"verdict"} if any(event["event"] == "proposal" for event in events) else set()
    return tuple((PHASES.get(one, one), "done" if one in over else "going on" if one in begun else "to come") for one in planned)


def _turn(event: Mapping[str, Any]) -> TurnSaid:
    answer = event.get("answer")
    said = tuple(_said(answer)) if isinstance(answer, dict) else ()
    phase, side = text(event.get("phase"), 40), text(event.get("side"), 20)
    return TurnSaid(PHASES.get(phase, phase), text(event.get("round"), 10), side, text(event.get("p_up"), 20), said)


def _said(answer: Mapping[str, Any]) -> Iterator[Said]:
    """What a turn says, point by point, whatever kind of turn it is."""
    if "stance" in answer:
        yield "stance", text(answer["stance"], 40)
    if answer.get("no_case"):
        yield "no case, and says so", text(answer["no_case"])
    for claim in _mappings(answer.get("claims")):
        severity = SEVERITY.get(text(claim.get("severity"), 10), "")
        cited = " ".join(text(one, 40) for one in _listed(claim.get("evidence_ids")))
        yield ", ".join(filter(None, ("claim", text(claim.get("kind"), 20), severity, text(claim.get("direction"), 10), cited))), text(claim.get("text"))
    if isinstance(answer.get("steelman"), dict):
        yield "the other side at its best", text(answer["steelman"].get("text"))
    for one in _mappings(answer.get("objections")):
        yield f"objection to {text(one.get('target_claim_id'), 64)}", text(one.get("argument"))
    for one in _mappings(answer.get("moves")):
        kind = text(one.get("type"), 20)
        yield f"{MOVES.get(kind, kind)} {text(one.get('objection_id'), 64)}", text(one.get("reason"))
    for one in _mappings(answer.get("adjudications")):
        kind = text(one.get("verdict"), 20)
        yield f"{MOVES.get(kind, kind)}: {text(one.get('objection_id'), 64)}", text(one.get("reason"))
    for key, words in (("summary", "summary"), ("strongest_counter", "the strongest counter")):
        if answer.get(key):
            yield words, text(answer[key])


def _happened(events: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for event in events:
        told = TOLD.get(event["event"])
        if told is not None:
            fields = {key: text(event.get(key), 80) for key in ("round", "side", "objection", "claim", "what", "name", "subject", "tool", "status", "reason")}
            fields["side"] = NAMES.get(fields["side"], fields["side"]).lower()
            fields["what"] = MOVES.get(fields["what"], fields["what"])
            codes = ", ".join(text(one, 40) for one in _listed(event.get("codes")))
            counts = "" if event.get("counts") in (True, None) else " (does not count)"
            yield told.format(**fields, codes=codes, counts=counts).rstrip()


TOLD = {
    "objection_raised": "round {round}: {side} attacks {claim} ({objection})",
    "move": "round {round}: {side} {what} {objection}{counts}",
    "adjudicated": "round {round}: {side} {what}: {objection}{counts}",
    "move_rejected": "round {round}: an answer of {side} was sent back ({codes})",
    "tool_called": "round {round}: {side} called {tool}, {status}",
    "committed": "the opening of {side} is sealed",
    "revealed": "both openings are shown to the other side",
    "consensus": "round {round}: the exchange ends early, the sides have come together",
    "flag": "flag {name} {subject}",
}


def _rounds(events: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Decimal, Decimal]]:
    for event in events:
        bull, bear = number(event.get("bull")), number(event.get("bear"))
        if event["event"] == "gap" and bull is not None and bear is not None and 0 <= min(bull, bear) <= max(bull, bear) <= 1:
            yield text(event.get("round"), 10), bull, bear


def text(value: object, longest: int = LONGEST) -> str:
    """A foreign value as one short line; nothing where it is no text and no number."""
    return inert(value[:longest]) if isinstance(value, str) else ""


def number(value: object) -> Decimal | None:
    """A foreign value as a sound number of a common size; None where it is none."""
    try:
        found = Decimal(value) if isinstance(value, str) and len(value) <= 40 else None
    except InvalidOperation:
        return None
    return found if found is not None and found.is_finite() and abs(found) < 10**12 else None


def _count(value: object) -> int:
    found = number(value)
    return int(found) if found is not None and found >= 0 else 0


def _listed(value: object) -> list[Any]:
    return value[:MOST_LISTED] if isinstance(value, list) else []


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return [one for one in _listed(value) if isinstance(one, dict)]
