"""What a debate said and heard, whole enough to be run again without a socket: the setup, every call as it went over the wire, every tool
call, every turn, and what became of it.
"""

from typing import Literal

from pydantic import Field

from alphaagent.domain.base import Frozen, Instant
from alphaagent.domain.evidence import Side
from alphaagent.domain.record import PlanName, Usage

PhaseKind = Literal["opening", "rebuttal", "retort", "conclusion", "verdict"]

FaultKind = Literal[
    "unreachable",
    "timeout",
    "deadline",
    "http",
    "rate_limited",
    "malformed",
    "no_usage",
    "no_answer",
    "cut",
    "overrun",
    "budget",
    "spend",
    "steps",
    "isolation",
    "unusable",
    "internal",
]
"""How a model call, or the debate around it, can fail; `docs/wiki/Providers.md` says what each one means."""


class Fault(Frozen):
    """A failure as it is recorded: never with a key, a header or a query string in it."""

    kind: FaultKind
    message: str


class TokenUsage(Frozen):
    """What one reply cost in tokens, as its provider reported it."""

    prompt: int = Field(ge=0)
    completion: int = Field(ge=0)
    reasoning: int = Field(default=0, ge=0)
    """Part of `completion` that was spent on thinking."""


class ToolCall(Frozen):
    """A tool call as the model wrote it: `arguments` is the raw JSON text."""

    id: str
    name: str
    arguments: str


class Reply(Frozen):
    """One model reply, read from its provider's wire form."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str
    usage: TokenUsage
    model: str
    """Which model the provider says answered."""


class CallRecord(Frozen):
    """One request to a model over the wire. `(phase, side, number, attempt)` is its key."""

    phase: PhaseKind
    round: int
    side: Side
    number: int
    """Counts the requests of one turn from 1."""
    attempt: int
    """Counts the transport's own repetitions of one request from 1."""
    seq: int
    """The order in which calls started, over the whole debate."""
    model: str
    path: str
    """Of the URL; host, query and headers are not recorded."""
    request: str
    """The JSON body exactly as it was sent."""
    request_sha256: str
    status: int | None = None
    content_type: str | None = None
    response: str | None = None
    """The body exactly as it came; base64 where `response_is_base64`."""
    response_is_base64: bool = False
    reply: Reply | None = None
    usage: TokenUsage | None = None
    """Of a reply that could not be used as well, where it says what it cost."""
    fault: Fault | None = None
    cost_usd: str | None = None
    """None where no price is known."""
    started_ms: int
    """Since the debate began."""
    latency_ms: int


class ToolRecord(Frozen):
    """One tool call as the executor saw it; a log apart from the model's own account."""

    phase: PhaseKind
    round: int
    side: Side
    tool: str
    arguments: str
    status: Literal["success", "empty", "error", "blocked", "unknown", "exhausted", "cached", "malformed"]
    evidence_ids: tuple[str, ...] = ()


class Repair(Frozen):
    """An answer that was sent back: what was wrong with it, by code and in words."""

    codes: tuple[str, ...]
    message: str


class TurnRecord(Frozen):
    """One side's turn: `answer` is the text that was accepted, None where none was."""

    phase: PhaseKind
    round: int
    side: Side
    answer: str | None
    repairs: tuple[Repair, ...] = ()
    faults: tuple[str, ...] = ()
    """Codes that stood at the end and were recorded instead of sent back once more."""
    cut: tuple[str, ...] = ()
    """What was left out of the prompt to keep its size, by name."""


class SideSetup(Frozen):
    """Who speaks for one side: persona, model and bounds, as they were in force."""

    side: Side
    role: str
    goal: str
    backstory: str
    tools: tuple[str, ...]
    model: str
    temperature: str | None
    """None leaves it to the provider; some models take no other."""
    completion_tokens: int
    """The most that one answer may have."""
    call_seconds: str
    tool_calls: int
    repairs: int
    """How often an answer may be sent back in one turn."""
    calls: int
    tokens: int
    """Calls and tokens, those of the prompts included, in one turn."""


class Setup(Frozen):
    """Everything besides the evidence that shaped a debate; a replay needs no file."""

    plan: PlanName
    provider: str
    base_url: str
    """Without credentials, query or fragment."""
    sides: tuple[SideSetup, ...]
    tasks: dict[str, dict[str, str]]
    """Task templates by name, as in tasks.yaml."""
    decision_seconds: str
    call_attempts: int
    prompt_characters: int
    max_claims: int
    evidence: Literal["upfront", "on_request"]
    """Whether a side is handed what its tools return, or has to call them."""
    prices: dict[str, dict[str, str]]
    """Prices per million tokens of the models in use, in USD; a model without a price is missing."""
    markers: dict[str, str]
    """A random word in each side's private input, which must never show up at the other side."""
    prompt_fingerprint: str
    crewai_version: str


class Transcript(Frozen):
    """One debate from the first prompt to the verdict, or to what ended it."""

    schema_version: Literal[1] = 1
    status: Literal["completed", "failed"]
    started_at: Instant
    pack_sha256: str
    setup: Setup
    turns: tuple[TurnRecord, ...] = ()
    tools: tuple[ToolRecord, ...] = ()
    calls: tuple[CallRecord, ...] = ()
    """In the order of their keys, so that two runs of the same debate agree."""
    fault: Fault | None = None
    usage: Usage
