"""A debate as documents: what came of it, who spoke, and its transcript: turns, tool calls and the calls as they went over the wire. Pure."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from alphaagent.debate.record import Setup, Transcript, TurnRecord
from alphaagent.domain.base import instant_text, plain
from alphaagent.domain.debate import DebateSummary
from alphaagent.domain.text import inert
from alphaagent.domain.transcript import CallRecord
from alphaagent.views_argument import argument_document

Document = dict[str, Any]


def debate_document(debate: DebateSummary | None) -> Document | None:
    """What a debate came to, in numbers; None where the decision is not a crew's."""
    if debate is None:
        return None
    return {
        "plan": debate.plan,
        "rounds": [plain(one) for one in debate.rounds],
        "outcome": debate.outcome,
        "class": debate.debate_class,
        "flags": list(debate.flags),
        "skipped": debate.skipped,
    }


def crew_document(transcript: Transcript) -> Document:
    """Who was asked: provider, every model of each side, whether both sides are one model, whether every one of them has
    a price, and by side the codes of what was at fault in an answer to the end.
    """
    setup, models = transcript.setup, transcript.setup.models()
    return {
        "provider": setup.provider,
        "models": {side: list(names) for side, names in models.items()},
        "same_model": set(models["bull"]) == set(models["bear"]),
        "priced": {name for names in models.values() for name in names} <= set(setup.prices),
        "faults": {side: list(dict.fromkeys(code for turn in transcript.turns if turn.side == side for code in turn.faults)) for side in models},
    }


def asking_line(setup: Setup, most: Decimal | None) -> str:
    """Who is about to be asked and what it may cost at most, in one line."""
    cost = "price unknown" if most is None else f"at most USD {most:.2f}"
    return f"asking {models_line(setup.models(), setup.provider)}, plan {setup.plan}: bull and bear, then CIO; {cost}"


def models_line(models: Mapping[Any, Sequence[str]], provider: str) -> str:
    """The models with their provider; each is named once where everybody speaks by the same ones."""
    each = {side: " and ".join(names) for side, names in models.items()}
    told = ", ".join(f"{side} {names}" for side, names in each.items()) if len(set(each.values())) > 1 else each["bull"]
    return inert(f"{told} at {provider}")


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
        "argument": argument_document(transcript.debate, setup.thresholds),
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
