"""A debate's transcript as a document: turns, tool calls and, where they are asked for, the calls as they went over the wire. Pure."""

from typing import Any

from alphaagent.debate.record import Transcript, TurnRecord
from alphaagent.domain.base import instant_text, plain
from alphaagent.domain.transcript import CallRecord

Document = dict[str, Any]


def transcript_document(transcript: Transcript, *, calls: bool) -> Document:
    """The public JSON of a debate; `calls` adds every prompt and reply."""
    setup = transcript.setup
    document: Document = {
        "status": transcript.status,
        "started_at": instant_text(transcript.started_at),
        "plan": setup.plan,
        "provider": setup.provider,
        "models": {side: list(models) for side, models in setup.models().items()},
        "same_model": set(setup.models()["bull"]) == set(setup.models()["bear"]),
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
