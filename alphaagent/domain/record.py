"""The record of one decision: everything that a replay needs and everything that a reader asks for."""

from typing import Any, Literal

from pydantic import Field

from alphaagent.domain.base import Frozen, Instant
from alphaagent.domain.debate import EngineResult
from alphaagent.domain.evidence import EvidencePack
from alphaagent.domain.proposal import TradeProposal
from alphaagent.domain.ruling import ExecutionMode, GuardSnapshot, Provenance, Ruling

EngineName = Literal["auto", "crew", "heuristic"]
PlanName = Literal["quick", "standard", "deep"]


SCHEDULED_SLOT = "sweep"


def is_scheduled(slot: str) -> bool:
    """Whether a slot is a schedule's own, `sweep` or `sweep-...`; every other name counts as somebody asking."""
    return slot == SCHEDULED_SLOT or slot.startswith(f"{SCHEDULED_SLOT}-")


class Request(Frozen):
    """What was asked for. Two requests are the same where all of this is the same."""

    ticker: str
    as_of: Instant
    session: str
    """ISO date of the last session completed at as_of; part of the slot."""
    engine: EngineName
    plan: PlanName | None
    """None where no model debates."""
    portfolio: str
    slot: str
    configuration: str
    """Hash of every setting that can change the result."""


class ErrorNote(Frozen):
    code: str
    message: str


class Usage(Frozen):
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: str = "0.0"


class DecisionRecord(Frozen):
    """One decision as stored, byte for byte what a replay must produce again."""

    schema_version: Literal[1] = 1
    program_version: str
    decision_id: str
    request: Request
    instrument_id: str
    provenance: Provenance
    execution_mode: ExecutionMode
    fallback_reason: str | None = None
    pack: EvidencePack
    result: EngineResult
    proposal: TradeProposal | None
    snapshot: GuardSnapshot
    mandate: dict[str, Any]
    """The mandate in force, whole: a replay needs no file."""
    ruling: Ruling
    usage: Usage = Field(default_factory=Usage)
    transcript_sha256: str | None = None
    """Of the debate's transcript, which is kept beside the record; None where no model debated."""
