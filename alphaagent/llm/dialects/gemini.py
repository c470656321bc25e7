"""generateContent: Gemini's wire form. Zero counts are left out of it, thoughts are counted apart, and any end but STOP is a cut.

A count that is left out is zero, so an answer that took no token is one whose cost is not stated. A prompt that was blocked yields no
candidate; that is a refusal and no defect of the form.
"""

from typing import Any

from alphaagent.domain.transcript import Reply, TokenUsage, ToolCall
from alphaagent.llm.dialect import (
    UNSTATED,
    DefectiveReply,
    Dialect,
    Draft,
    count,
    malformed,
    no_choice,
    object_in,
    optional_count,
    quoted,
    settled,
    text_or,
    tool_call,
)

WHOLE = ("STOP", UNSTATED)


def read(body: bytes) -> Reply:
    """The first candidate. Raises DefectiveReply."""
    document = object_in(body)
    usage = _usage(document.get("usageMetadata"))
    candidate = _candidate(document, usage)
    parts = _parts(candidate.get("content"), usage)
    text, tool_calls = "".join(_text(part, usage) for part in parts), _tool_calls(parts, usage)
    finish = text_or(candidate.get("finishReason"), UNSTATED)
    return settled(
        Draft(
            text=text,
            tool_calls=tool_calls,
            finish_reason=finish,
            is_cut=finish not in WHOLE,
            usage=usage if usage and (usage.completion > usage.reasoning or not (text or tool_calls)) else None,
            model=text_or(document.get("modelVersion"), ""),
        )
    )


def with_cap(document: dict[str, Any], cap: int, field: str) -> dict[str, Any]:  # noqa: ARG001
    """The request with `generationConfig.maxOutputTokens` at `cap`; this wire form has no other spelling."""
    config = document.get("generationConfig")
    return {**document, "generationConfig": {**(config if isinstance(config, dict) else {}), "maxOutputTokens": cap}}


def cap_of(document: dict[str, Any]) -> int | None:
    """The bound of a request."""
    config = document.get("generationConfig")
    return count(config.get("maxOutputTokens")) if isinstance(config, dict) else None


def _candidate(document: dict[str, Any], usage: TokenUsage | None) -> dict[str, Any]:
    candidates = document.get("candidates")
    feedback = document.get("promptFeedback")
    if not candidates and isinstance(feedback, dict) and isinstance(feedback.get("blockReason"), str):
        raise DefectiveReply("no_answer", f"the prompt was blocked ({quoted(feedback['blockReason'])})", usage)
    if not isinstance(candidates, list) or not candidates:
        raise no_choice(document, "candidate", usage)
    if not isinstance(candidates[0], dict):
        raise malformed("the candidate", candidates[0], usage)
    return candidates[0]


def _parts(content: object, usage: TokenUsage | None) -> list[dict[str, Any]]:
    if content is None:
        return []
    parts = content.get("parts", []) if isinstance(content, dict) else content
    if not isinstance(content, dict) or not isinstance(parts, list):
        raise malformed("the content", parts, usage)
    for part in parts:
        if not isinstance(part, dict):
            raise malformed("a part of the content", part, usage)
    return parts


def _usage(usage: object) -> TokenUsage | None:
    if not isinstance(usage, dict):
        return None
    prompt, of_tools = count(usage.get("promptTokenCount")), optional_count(usage, "toolUsePromptTokenCount")
    written, thought = optional_count(usage, "candidatesTokenCount"), optional_count(usage, "thoughtsTokenCount")
    if prompt is None or of_tools is None or written is None or thought is None:
        return None
    return TokenUsage(prompt=prompt + of_tools, completion=written + thought, reasoning=thought)


def _text(part: dict[str, Any], usage: TokenUsage | None) -> str:
    text = part.get("text")
    if text is None or part.get("thought") is True:
        return ""
    if not isinstance(text, str):
        raise malformed("the text of a part", text, usage)
    return text


def _tool_calls(parts: list[dict[str, Any]], usage: TokenUsage | None) -> tuple[ToolCall, ...]:
    calls = [part["functionCall"] for part in parts if "functionCall" in part]
    return tuple(_tool_call(call, number, usage) for number, call in enumerate(calls, start=1))


def _tool_call(call: object, number: int, usage: TokenUsage | None) -> ToolCall:
    if not isinstance(call, dict):
        raise malformed("a tool call", call, usage)
    return tool_call(call.get("name"), call.get("args"), call.get("id"), number, usage)


DIALECT = Dialect(read=read, with_cap=with_cap, cap_of=cap_of)
