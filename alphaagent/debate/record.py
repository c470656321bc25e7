"""A debate on record, whole enough to be held again without a socket: the setup, every turn, every call, and what it all came to."""

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Literal

from pydantic import Field

from alphaagent.debate.assertions import Verdict
from alphaagent.debate.metrics import Metrics
from alphaagent.debate.plan import Length
from alphaagent.debate.revelation import GateEvent
from alphaagent.debate.seams import Seam
from alphaagent.debate.thresholds import Thresholds
from alphaagent.domain.argument import AnswerKind, Debater, Turn
from alphaagent.domain.base import Frozen, Instant
from alphaagent.domain.evidence import Side
from alphaagent.domain.record import PlanName, Usage
from alphaagent.domain.transcript import CallRecord, Fault, PhaseKind, ToolRecord
from alphaagent.errors import BooksUnsound, UsageFault

SCHEMA_VERSION: Literal[1] = 1


class Repair(Frozen):
    """An answer that was sent back: what was wrong with it, by code and in words."""

    codes: tuple[str, ...]
    message: str


class TurnRecord(Frozen):
    """One side's turn as it was taken: `answer` is the text that was accepted, None where none was."""

    phase: PhaseKind
    round: int
    side: Side
    order: Literal[0, 1] | None = None
    length: Length | None = None
    answer: str | None
    repairs: tuple[Repair, ...] = ()
    faults: tuple[str, ...] = ()
    """Codes that stood at the end and were recorded instead of sent back once more."""
    cut: tuple[str, ...] = ()
    """What was left out of the prompt to keep its size, by name."""


class Bounds(Frozen):
    """Which model speaks in a turn, and what the turn may use."""

    model: str
    temperature: str | None
    """None leaves it to the provider; some models take no other."""
    completion_tokens: int
    """The most that one answer may have."""
    call_seconds: str
    tool_calls: int
    repairs: int
    """How often an answer may be sent back."""
    calls: int
    tokens: int
    """Calls, and tokens with those of the prompts, in all."""


class SideSetup(Frozen):
    """Who speaks for one side, and the bounds of a turn of theirs where a phase says nothing else."""

    side: Side
    role: str
    goal: str
    backstory: str
    tools: tuple[str, ...]
    bounds: Bounds


class PhaseSetup(Frozen):
    """One phase of the plan with everything filled in."""

    kind: AnswerKind
    turn_order: Literal["simultaneous", "alternating"]
    length: Length
    always: bool
    bull: Bounds
    bear: Bounds

    def bounds(self, side: Debater) -> Bounds:
        return self.bull if side == "bull" else self.bear


class Setup(Frozen):
    """Everything besides the evidence that shaped a debate; a replay needs no file."""

    plan: PlanName
    phases: tuple[PhaseSetup, ...]
    first_speaker: Debater
    """Opens the alternating phases; the other side opens every second one."""
    consensus_stop: bool
    provider: str
    base_url: str
    """Without credentials, query or fragment."""
    sides: tuple[SideSetup, ...]
    tasks: dict[str, dict[str, str]]
    """Task templates by name, as in tasks.yaml."""
    decision_seconds: str
    call_attempts: int
    prompt_characters: int
    evidence: Literal["upfront", "on_request"]
    """Whether a side is handed what its tools return, or has to call them."""
    thresholds: Thresholds
    prices: dict[str, dict[str, str]]
    """Prices per million tokens of the models in use, in USD; a model without a price is missing."""
    markers: dict[str, str]
    """A random word in each side's private input, which must never show up at the other side."""
    prompt_fingerprint: str
    crewai_version: str

    def side(self, side: Side) -> SideSetup:
        return next(one for one in self.sides if one.side == side)

    def models(self) -> Mapping[Side, tuple[str, ...]]:
        """Every model that speaks for a side."""
        debaters: tuple[Debater, Debater] = ("bull", "bear")
        speaking: dict[Side, tuple[str, ...]] = {side: tuple(dict.fromkeys(phase.bounds(side).model for phase in self.phases)) for side in debaters}
        return speaking | {"cio": (self.side("cio").bounds.model,)}


class Skipped(Frozen):
    """Why phases of the plan were not taken."""

    after_round: int
    reason: Literal["openings_agree", "no_case", "consensus"]
    phases: tuple[int, ...]
    """Their places in the plan, from 0."""


class DebateRecord(Frozen):
    """What both sides said, as it counts, and everything that follows from it."""

    turns: tuple[Turn, ...] = ()
    gate: tuple[GateEvent, ...] = ()
    executed: tuple[int, ...] = ()
    """Places in the plan of the phases that were taken."""
    skipped: Skipped | None = None
    p0: Decimal
    """The base rate that stances are read against."""
    metrics: Metrics | None = None
    """None where no phase was completed, or where the turns do not add up."""
    checked: dict[str, Verdict] = Field(default_factory=dict)
    """By claim, what the evidence says to its number; claims without one are missing."""
    seams: tuple[Seam, ...] = ()


class Transcript(Frozen):
    """One debate from the first prompt to the verdict, or to what ended it."""

    schema_version: Literal[1] = SCHEMA_VERSION
    status: Literal["completed", "failed"]
    started_at: Instant
    pack_sha256: str
    setup: Setup
    turns: tuple[TurnRecord, ...] = ()
    debate: DebateRecord
    tools: tuple[ToolRecord, ...] = ()
    calls: tuple[CallRecord, ...] = ()
    """In the order of their keys, so that two runs of the same debate agree."""
    fault: Fault | None = None
    usage: Usage


def read_transcript(content: bytes) -> Transcript:
    """A transcript as it was stored. Raises UsageFault where another version of the program wrote it, BooksUnsound where it is none."""
    try:
        version = json.loads(content)["schema_version"]
        if version == SCHEMA_VERSION:
            return Transcript.model_validate_json(content)
    except (ValueError, KeyError, TypeError) as error:
        raise BooksUnsound(
            f"a stored debate cannot be read: {error}", fix="stop, run `alphaagent audit verify`, and restore the ledger from a backup"
        ) from error
    raise UsageFault(f"the record of this debate has schema version {version}; this program reads {SCHEMA_VERSION}", fix="use the program that wrote it")
