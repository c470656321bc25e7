"""What a wire form of replies must offer, and what all of them share: a reply is read whole or refused, never guessed at.

Reading is pure and strict. What was paid is kept even where the answer is refused, so that a budget counts it.
"""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from alphaagent.domain.text import inert
from alphaagent.domain.transcript import FaultKind, Reply, TokenUsage, ToolCall

LONGEST_QUOTE = 200
MOST_TOKENS = 10**9
"""A count beyond it is no count, and sums below stay within what a record can hold."""
UNSTATED = "unstated"


class DefectiveReply(Exception):
    """A reply that is no answer; `usage` is what it cost all the same, where it says so."""

    def __init__(self, kind: FaultKind, message: str, usage: TokenUsage | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.usage = usage


@dataclass(frozen=True, slots=True)
class Dialect:
    """One wire form, as three pure functions."""

    read: Callable[[bytes], Reply]
    """The reply in a response body. Raises DefectiveReply."""
    with_cap: Callable[[dict[str, Any], int, str], dict[str, Any]]
    """A request like this one that asks for at most so many tokens; the last argument is the provider's `cap_field`."""
    cap_of: Callable[[dict[str, Any]], int | None]
    """What a request asks for at most; None where it sets no bound."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What a wire form yields before it is known to be an answer."""

    text: str
    tool_calls: tuple[ToolCall, ...]
    finish_reason: str
    is_cut: bool
    usage: TokenUsage | None
    model: str
    refusal: str | None = None


def settled(draft: Draft) -> Reply:
    """The draft as a reply. Raises DefectiveReply where its cost is unknown, where it was cut or where it holds no answer.

    There is no reply to a prompt of no tokens and no answer in none: some servers write 0 for what they have not counted.
    """
    has_answer = bool(draft.text.strip() or draft.tool_calls)
    if draft.usage is None or draft.usage.prompt == 0 or (has_answer and draft.usage.completion == 0):
        raise DefectiveReply("no_usage", "the reply does not say, in whole numbers above 0, how many tokens it took")
    if draft.is_cut and has_answer:
        raise DefectiveReply("cut", f"the reply was cut before its end ({quoted(draft.finish_reason)})", draft.usage)
    if not has_answer:
        raise DefectiveReply("no_answer", _why_empty(draft, draft.usage), draft.usage)
    return Reply(text=draft.text, tool_calls=draft.tool_calls, finish_reason=draft.finish_reason, usage=draft.usage, model=draft.model)


def _why_empty(draft: Draft, usage: TokenUsage) -> str:
    if draft.refusal is not None:
        return f"the reply refuses to answer: {quoted(draft.refusal)}"
    if usage.reasoning:
        return f"the reply is empty ({quoted(draft.finish_reason)}): {usage.reasoning} of its {usage.completion} tokens went into reasoning"
    return f"the reply is empty ({quoted(draft.finish_reason)})"


def object_in(body: bytes) -> dict[str, Any]:
    """The JSON object that a body holds, in text that can be written again. Raises DefectiveReply."""
    try:
        document = json.loads(body.decode("utf-8"), parse_constant=_refused_constant, parse_float=_finite)
        json.dumps(document, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError):
        raise DefectiveReply("malformed", f"the reply is no JSON: {quoted(body.decode('utf-8', 'replace'))}") from None
    if not isinstance(document, dict):
        raise DefectiveReply("malformed", f"the reply is no JSON object but {_kind(document)}")
    return document


def _refused_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is too large")
    return number


def malformed(what: str, found: object, usage: TokenUsage | None) -> DefectiveReply:
    """The fault that a part of a reply has the wrong type."""
    return DefectiveReply("malformed", f"{what} is {_kind(found)}", usage)


def no_choice(document: dict[str, Any], what: str, usage: TokenUsage | None) -> DefectiveReply:
    """The fault that a reply lacks its answer's place; an error that stands in its stead is quoted."""
    error = document.get("error")
    message = error.get("message") if isinstance(error, dict) else error
    told = f": {quoted(message)}" if isinstance(message, str) else ""
    return DefectiveReply("malformed", f"the reply holds no {what}{told}", usage)


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "a boolean", int: "a number", float: "a number", type(None): "null"}
    return names[type(value)]


def quoted(text: str) -> str:
    """At most 200 characters of a text, on one line."""
    return " ".join(inert(text[: 2 * LONGEST_QUOTE]).split())[:LONGEST_QUOTE]


def count(value: object) -> int | None:
    """A number of tokens; None where it is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS else None


def optional_count(holder: object, *path: str) -> int | None:
    """A number of tokens that need not be stated: 0 where it is missing or null, None where it is no number of tokens."""
    for name in path:
        holder = holder.get(name) if isinstance(holder, dict) else None
    return 0 if holder is None else count(holder)


def tool_call(name: object, arguments: object, id: object, number: int, usage: TokenUsage | None) -> ToolCall:
    """A tool call in one form: its arguments as JSON text, an id of its place where it came without one. Raises DefectiveReply."""
    if not isinstance(name, str) or not name:
        raise malformed("the name of a tool call", name, usage)
    return ToolCall(id=id if isinstance(id, str) and id else f"call_{number}", name=name, arguments=_arguments(arguments, usage))


def _arguments(arguments: object, usage: TokenUsage | None) -> str:
    if isinstance(arguments, str):
        return arguments
    if arguments is None or isinstance(arguments, dict):
        return json.dumps(arguments or {}, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    raise malformed("the arguments of a tool call", arguments, usage)


def text_or(value: object, fallback: str) -> str:
    """A field that providers may leave out."""
    return value if isinstance(value, str) and value else fallback
