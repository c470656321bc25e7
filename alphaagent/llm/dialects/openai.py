"""Chat completions: the wire form of OpenAI and of everybody who took it over, with the liberties that they take.

Content may be a list of parts. Some servers count reasoning apart from the completion, which only the total betrays; it was paid, so the
larger number counts.
"""

from typing import Any

from alphaagent.domain.transcript import Reply, TokenUsage, ToolCall
from alphaagent.llm.dialect import UNSTATED, Dialect, Draft, count, malformed, no_choice, object_in, optional_count, settled, text_or, tool_call

CUT = ("length", "max_tokens", "content_filter", "error")
CAP_FIELDS = ("max_tokens", "max_completion_tokens")


def read(body: bytes) -> Reply:
    """The first choice of a chat completion. Raises DefectiveReply."""
    document = object_in(body)
    usage = _usage(document.get("usage"))
    choice = _first_choice(document, usage)
    message = choice["message"]
    finish = text_or(choice.get("finish_reason"), UNSTATED)
    return settled(
        Draft(
            text=_text(message.get("content"), usage),
            tool_calls=_tool_calls(message.get("tool_calls"), usage),
            finish_reason=finish,
            is_cut=finish in CUT,
            usage=usage,
            model=text_or(document.get("model"), ""),
            refusal=text_or(message.get("refusal"), "") or None,
        )
    )


def with_cap(document: dict[str, Any], cap: int, field: str) -> dict[str, Any]:
    """The request with `field` at `cap`, and without the other spelling of it."""
    return {**{key: value for key, value in document.items() if key not in CAP_FIELDS}, field: cap}


def cap_of(document: dict[str, Any]) -> int | None:
    """The bound of a request in either spelling, the smaller where it has both."""
    caps = [cap for cap in (count(document.get(name)) for name in CAP_FIELDS) if cap is not None]
    return min(caps, default=None)


def _first_choice(document: dict[str, Any], usage: TokenUsage | None) -> dict[str, Any]:
    choices = document.get("choices")
    if not isinstance(choices, list) or not choices:
        raise no_choice(document, "choice", usage)
    choice = choices[0]
    if not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
        raise no_choice(choice if isinstance(choice, dict) else document, "message", usage)
    return choice


def _usage(usage: object) -> TokenUsage | None:
    if not isinstance(usage, dict):
        return None
    prompt, completion = count(usage.get("prompt_tokens")), count(usage.get("completion_tokens"))
    reasoning = optional_count(usage, "completion_tokens_details", "reasoning_tokens")
    if prompt is None or completion is None or reasoning is None:
        return None
    total = count(usage.get("total_tokens")) or 0
    return TokenUsage(prompt=prompt, completion=max(completion, reasoning, total - prompt), reasoning=reasoning)


def _text(content: object, usage: TokenUsage | None) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise malformed("the content", content, usage)
    return "".join(_part(part, usage) for part in content)


def _part(part: object, usage: TokenUsage | None) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        raise malformed("a part of the content", part, usage)
    # Parts of other kinds (thinking, refusal) are no part of the answer.
    if part.get("type", "text") not in ("text", "output_text"):
        return ""
    if not isinstance(part.get("text"), str):
        raise malformed("the text of a part of the content", part.get("text"), usage)
    return str(part["text"])


def _tool_calls(calls: object, usage: TokenUsage | None) -> tuple[ToolCall, ...]:
    if calls is None:
        return ()
    if not isinstance(calls, list):
        raise malformed("the tool calls", calls, usage)
    return tuple(_tool_call(call, number, usage) for number, call in enumerate(calls, start=1))


def _tool_call(call: object, number: int, usage: TokenUsage | None) -> ToolCall:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(call, dict) or not isinstance(function, dict):
        raise malformed("a tool call's function", function, usage)
    return tool_call(function.get("name"), function.get("arguments"), call.get("id"), number, usage)


DIALECT = Dialect(read=read, with_cap=with_cap, cap_of=cap_of)
