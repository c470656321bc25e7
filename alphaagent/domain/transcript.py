"""What went over the wire in a debate: every call with its bytes, what it cost and how it failed, and every tool call."""

from typing import Literal

from pydantic import Field

from alphaagent.domain.base import Frozen
from alphaagent.domain.evidence import Side

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
    estimated: bool = False
    """Whether `usage` is the most that the call can have taken: it was sent, and nothing says what it cost."""
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
