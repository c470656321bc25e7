"""A debate as documents: what came of it, who spoke, and its transcript: turns, tool calls and the calls as they went over the wire. Pure."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from alphaagent.debate.record import Setup, Transcript, TurnRecord
from alphaagent.domain.base import instant_text, plain
from alphaagent.domain.record import DecisionRecord
from alphaagent.domain.text import inert
from alphaagent.domain.transcript import CallRecord

Document = dict[str, Any]


def debate_document(record: DecisionRecord) -> Document | None:
    """What a debate came to, in numbers; None where the decision is not a crew's.

    The plan `quick` has one round, the two openings. It has no second word on anything, so it has no outcome and no class.
    """
    debate = record.result.debate
    if debate is None:
        return None
    return {
        "plan": debate.plan,
        "rounds": plain(debate.rounds),
        "outcome": debate.outcome,
        "class": debate.debate_class,
        "flags": list(debate.flags),
        "skipped": debate.skipped,
    }


def crew_document(transcript: Transcript) -> Document:
    """Who was asked: provider, models of each side, whether both sides are one model, and whether every one of them has a price."""
    models = transcript.setup.models()
    return {
        "provider": transcript.setup.provider,
        "models": {side: ", ".join(names) for side, names in models.items()},
        "same_model": set(models["bull"]) == set(models["bear"]),
        "priced": {name for names in models.values() for name in names} <= set(transcript.setup.prices),
    }


def asking_line(setup: Setup, most: Decimal | None) -> str:
    """Who is about to be asked and what it may cost at most, in one line."""
    cost = "price unknown" if most is None else f"at most USD {most:.2f}"
    models: dict[str, str] = {side: ", ".join(names) for side, names in setup.models().items()}
    calls = 2 * len(setup.phases) + 1
    return f"asking {models_line(models, setup.provider)}: plan {setup.plan}, {calls} turns of bull, bear and CIO; {cost}"


def models_line(models: Mapping[str, str], provider: str) -> str:
    """The models with their provider; each is named once where all sides are one model."""
    several = ", ".join(f"{side} {model}" for side, model in models.items())
    return inert(f"{several if len(set(models.values())) > 1 else models['bull']} at {provider}")


def transcript_document(transcript: Transcript, *, calls: bool) -> Document:
    """The public JSON of a debate; `calls` adds every prompt and reply."""
    setup = transcript.setup
    document: Document = {
        "status": transcript.status,
        "started_at": instant_text(transcript.started_at),
        "plan": setup.plan,
        **crew_document(transcript),
        "crewai_version": setup.crewai_version,
        "prompt_fingerprint": setup.prompt_fingerprint,
        "fault": plain(transcript.fault),
        "turns": [turn_document(turn, transcript.calls) for turn in transcript.turns],
        "tools": plain(transcript.tools),
        "usage": plain(transcript.usage),
    }
    return document | ({"calls": [plain(call) for call in transcript.calls]} if calls else {})


def turn_document(turn: TurnRecord, calls: tuple[CallRecord, ...]) -> Document:
    """One turn with what it took."""
    mine = [call for call in calls if (call.phase, call.round, call.side) == (turn.phase, turn.round, turn.side)]
    document = dict(plain(turn))  # type: ignore[arg-type]
    return document | {"calls": len(mine), "seconds": f"{sum(call.latency_ms for call in mine) / 1000:.1f}"}
