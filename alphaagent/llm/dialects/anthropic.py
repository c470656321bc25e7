"""Messages: Anthropic's wire form. Thinking blocks are no answer; it does not say how many tokens they took apart from the rest."""

from typing import Any

from alphaagent.domain.transcript import Reply, TokenUsage, ToolCall
from alphaagent.llm.dialect import UNSTATED, Dialect, Draft, count, malformed, no_choice, object_in, optional_count, settled, text_or, tool_call

CUT = ("max_tokens", "model_context_window_exceeded", "refusal", "pause_turn")


def read(body: bytes) -> Reply:
    """The blocks of a message. Raises DefectiveReply."""
    document = object_in(body)
    usage = _usage(document.get("usage"))
    blocks = _blocks(document, usage)
    finish = text_or(document.get("stop_reason"), UNSTATED)
    return settled(
        Draft(
            text="".join(_text(block, usage) for block in blocks if block.get("type") == "text"),
            tool_calls=_tool_calls(blocks, usage),
            finish_reason=finish,
            is_cut=finish in CUT,
            usage=usage,
            model=text_or(document.get("model"), ""),
        )
    )


def with_cap(document: dict[str, Any], cap: int, field: str) -> dict[str, Any]:  # noqa: ARG001
    """The request with `max_tokens` at `cap`; this wire form has no other spelling."""
    return {**document, "max_tokens": cap}


def cap_of(document: dict[str, Any]) -> int | None:
    """The bound of a request."""
    return count(document.get("max_tokens"))


def _blocks(document: dict[str, Any], usage: TokenUsage | None) -> list[dict[str, Any]]:
    content = document.get("content")
    if content is None:
        raise no_choice(document, "content", usage)
    if not isinstance(content, list):
        raise malformed("the content", content, usage)
    for block in content:
        if not isinstance(block, dict):
            raise malformed("a block of the content", block, usage)
    return content


def _usage(usage: object) -> TokenUsage | None:
    """Tokens that went into or came from the cache stand apart in this wire form; the prompt is all of them."""
    if not isinstance(usage, dict):
        return None
    prompt, completion = count(usage.get("input_tokens")), count(usage.get("output_tokens"))
    written, read_again = optional_count(usage, "cache_creation_input_tokens"), optional_count(usage, "cache_read_input_tokens")
    if prompt is None or completion is None or written is None or read_again is None:
        return None
    return TokenUsage(prompt=prompt + written + read_again, completion=completion)


def _text(block: dict[str, Any], usage: TokenUsage | None) -> str:
    if not isinstance(block.get("text"), str):
        raise malformed("the text of a block", block.get("text"), usage)
    return str(block["text"])


def _tool_calls(blocks: list[dict[str, Any]], usage: TokenUsage | None) -> tuple[ToolCall, ...]:
    calls = [block for block in blocks if block.get("type") == "tool_use"]
    return tuple(tool_call(call.get("name"), call.get("input"), call.get("id"), number, usage) for number, call in enumerate(calls, start=1))


DIALECT = Dialect(read=read, with_cap=with_cap, cap_of=cap_of)
