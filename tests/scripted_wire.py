"""What a scripted provider is asked and may do, and how each reply looks in the three wire forms. `tests.scripted_provider` serves it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Form = Literal["openai", "anthropic", "gemini"]
Count = int | bool | str | None
MODEL = "scripted-model"
FINISHES: Mapping[Form, Mapping[str, str]] = {
    "openai": {},
    "anthropic": {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use"},
    "gemini": {"stop": "STOP", "length": "MAX_TOKENS", "tool_calls": "STOP"},
}
"""Finish reasons are written as chat completions spell them; any that is missing here goes out as it stands."""


@dataclass(slots=True)
class Request:
    """One request as it came; times are of the monotonic clock, `completed` is None while it is served."""

    number: int
    path: str
    headers: Mapping[str, str]
    """With names in lower case."""
    raw: bytes
    body: Any
    arrived: float
    completed: float | None = None

    @property
    def form(self) -> Form | None:
        """The wire form that the path stands for."""
        path = self.path.partition("?")[0]
        if path.endswith("/chat/completions"):
            return "openai"
        if path.endswith("/v1/messages"):
            return "anthropic"
        return "gemini" if path.endswith(":generateContent") else None

    @property
    def system(self) -> str:
        """The system prompt, in whichever wire form it came."""
        match self.form:
            case "openai":
                return "\n".join(_plain(message["content"]) for message in self.body["messages"] if message["role"] in ("system", "developer"))
            case "anthropic":
                return _plain(self.body.get("system"))
            case _:
                return _plain((self.body.get("systemInstruction") or {}).get("parts"))


def _plain(content: Any) -> str:
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return content or ""


def role_of(request: Request, marks: Mapping[str, str]) -> str:
    """Who is asked: the role whose mark stands in the system prompt. Raises LookupError where none or two do."""
    found = {role for mark, role in marks.items() if mark in request.system}
    if len(found) != 1:
        raise LookupError(f"the system prompt fits {sorted(found)}: {request.system[:200]!r}")
    return found.pop()


@dataclass(frozen=True, slots=True)
class Text:
    """An answer."""

    text: str
    usage: tuple[Count, Count] = (100, 20)
    finish: str = "stop"
    latency: float = 0.0
    reasoning: int = 0


@dataclass(frozen=True, slots=True)
class CallTools:
    """Calls of tools: a name and the JSON text of the arguments each."""

    calls: Sequence[tuple[str, str]]
    usage: tuple[Count, Count] = (100, 20)
    finish: str = "tool_calls"
    latency: float = 0.0
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Status:
    """An answer with another status; the body is an error in the request's wire form unless it is given."""

    code: int
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    message: str = "scripted failure"


@dataclass(frozen=True, slots=True)
class Raw:
    """These bytes, with status 200."""

    body: bytes
    content_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class Hang:
    """Silence for so long, then the connection closes."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Drip:
    """The whole body, one byte at a time."""

    body: bytes
    every_seconds: float


@dataclass(frozen=True, slots=True)
class HalfBody:
    """Half of what the length announces, then the connection closes."""


@dataclass(frozen=True, slots=True)
class Disconnect:
    """The connection closes without a reply."""


@dataclass(frozen=True, slots=True)
class NoChoices:
    """A reply whose list of answers is empty or missing."""


@dataclass(frozen=True, slots=True)
class NoUsage:
    """An answer that does not say what it cost."""

    text: str


@dataclass(frozen=True, slots=True)
class Empty:
    """A reply without an answer, and what its reasoning took."""

    finish: str = "length"
    reasoning: int = 0
    usage: tuple[Count, Count] = (100, 20)


Answer = Text | CallTools | NoChoices | NoUsage | Empty
Behaviour = Answer | Status | Raw | Hang | Drip | HalfBody | Disconnect


def wire(form: Form, answer: Answer) -> bytes:
    """The body of an answer in a wire form."""
    match answer:
        case Text():
            document = _document(form, answer.text, (), answer.finish, answer.usage, answer.reasoning)
        case CallTools():
            document = _document(form, answer.text, answer.calls, answer.finish, answer.usage, 0)
        case Empty():
            document = _document(form, None, (), answer.finish, answer.usage, answer.reasoning)
        case NoUsage():
            document = _document(form, answer.text, (), "stop", (0, 0), 0)
            del document["usageMetadata" if form == "gemini" else "usage"]
        case NoChoices():
            document = _document(form, "", (), "stop", (100, 20), 0)
            document |= {"openai": {"choices": []}, "anthropic": {"content": None}, "gemini": {"candidates": []}}[form]
    return json.dumps(document).encode()


def error_body(form: Form, code: int, message: str) -> bytes:
    """An error in a wire form."""
    error: dict[str, Any] = {"message": message}
    match form:
        case "openai":
            return json.dumps({"error": error | {"type": "scripted", "param": None, "code": None}}).encode()
        case "anthropic":
            return json.dumps({"type": "error", "error": error | {"type": "api_error"}}).encode()
        case "gemini":
            return json.dumps({"error": error | {"code": code, "status": "SCRIPTED"}}).encode()


def _document(form: Form, text: str | None, calls: Sequence[tuple[str, str]], finish: str, usage: tuple[Count, Count], reasoning: int) -> dict[str, Any]:
    make = {"openai": _openai, "anthropic": _anthropic, "gemini": _gemini}[form]
    return make(text, calls, FINISHES[form].get(finish, finish), usage, reasoning)


def _openai(text: str | None, calls: Sequence[tuple[str, str]], finish: str, usage: tuple[Count, Count], reasoning: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for number, (name, arguments) in enumerate(calls, start=1)
        ]
    tokens: dict[str, Any] = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": _sum(usage)}
    if reasoning:
        tokens["completion_tokens_details"] = {"reasoning_tokens": reasoning}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {"id": "scripted", "object": "chat.completion", "created": 0, "model": MODEL, "choices": [choice], "usage": tokens}


def _anthropic(text: str | None, calls: Sequence[tuple[str, str]], finish: str, usage: tuple[Count, Count], reasoning: int) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = [{"type": "thinking", "thinking": "…", "signature": "scripted"}] if reasoning else []
    blocks += [{"type": "text", "text": text}] if text is not None else []
    blocks += [{"type": "tool_use", "id": f"toolu_{n}", "name": name, "input": json.loads(arguments)} for n, (name, arguments) in enumerate(calls, start=1)]
    tokens = {"input_tokens": usage[0], "output_tokens": usage[1]}
    head = {"id": "scripted", "type": "message", "role": "assistant", "model": MODEL}
    return head | {"content": blocks, "stop_reason": finish, "stop_sequence": None, "usage": tokens}


def _gemini(text: str | None, calls: Sequence[tuple[str, str]], finish: str, usage: tuple[Count, Count], reasoning: int) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"text": text}] if text is not None else []
    parts += [{"functionCall": {"name": name, "args": json.loads(arguments)}} for name, arguments in calls]
    written = usage[1] - reasoning if isinstance(usage[1], int) and reasoning else usage[1]
    tokens: dict[str, Any] = {"promptTokenCount": usage[0], "candidatesTokenCount": written, "totalTokenCount": _sum(usage)}
    if reasoning:
        tokens["thoughtsTokenCount"] = reasoning
    candidate: dict[str, Any] = {"index": 0, "finishReason": finish} | ({"content": {"role": "model", "parts": parts}} if parts else {})
    return {"candidates": [candidate], "usageMetadata": tokens, "modelVersion": MODEL}


def _sum(usage: tuple[Count, Count]) -> int:
    return sum(count for count in usage if isinstance(count, int))
