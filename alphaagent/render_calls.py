"""JSON that a model wrote or was sent, laid out to be read: keys a line, texts with their own line breaks, schemas of tools as names.

What is shown is the recorded bytes in another layout; the bytes themselves are in `show --calls --json`. Text is never markup.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from alphaagent.domain.text import inert

INDENT = 2
DEEPEST = 6
"""Levels that are laid out; what is nested deeper stands in one line."""
TALK = ("messages", "contents", "system", "systemInstruction", "system_instruction", "tools")


def laid_out(text: str) -> Iterator[RenderableType]:
    """A JSON text as an outline; any other text as it is."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        document = None
    if isinstance(document, dict):
        yield from outline(document)
    else:
        yield _lines(text)


def outline(document: Mapping[str, Any], depth: int = 0) -> Iterator[RenderableType]:
    """A key a line; what is nested below it is set in, down to `DEEPEST`."""
    for key, value in document.items():
        yield from _entry(inert(str(key)), value, depth)


def _entry(key: str, value: Any, depth: int) -> Iterator[RenderableType]:
    match value:
        case dict() if value and depth < DEEPEST:
            yield Text(f"{key}:", "cyan")
            yield from _set_in(outline(value, depth + 1))
        case list() if depth < DEEPEST and any(isinstance(one, dict | list) for one in value):
            for place, one in enumerate(value):
                yield from _entry(f"{key}[{place}]", one, depth + 1)
        case _:
            yield Text.assemble((f"{key}: ", "cyan"), _lines(_scalar(value)))


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and not any(isinstance(one, dict | list) for one in value):
        return ", ".join(map(_scalar, value))
    return json.dumps(value, ensure_ascii=False)


def _set_in(parts: Iterator[RenderableType], by: int = INDENT) -> Iterator[RenderableType]:
    return (Padding(part, (0, 0, 0, by)) for part in parts)


def _lines(text: str) -> Text:
    """A text with its own line breaks and nothing else that is not seen."""
    return Text("\n".join(inert(line) for line in text.replace("\r\n", "\n").split("\n")))


def request(text: str) -> Iterator[RenderableType]:
    """A request's body: its settings in a line, its tools by name, then who says what. A form that is not known is outlined whole."""
    try:
        body = json.loads(text)
        talk = [part for key in ("system", "systemInstruction", "system_instruction") if key in body for part in _message("system", body[key])]
        talk += [part for message in body.get("messages", body.get("contents", ())) for part in _message(message.get("role", "user"), message)]
        tools = [inert(name) for tool in body.get("tools", ()) for name in _tool_names(tool)]
    except (ValueError, TypeError, AttributeError, RecursionError):
        yield from laid_out(text)
        return
    yield Text(", ".join(f"{inert(key)} {_setting(value)}" for key, value in body.items() if key not in TALK), "dim")
    if tools:
        yield Text(f"tools: {', '.join(tools)}", "dim")
    yield from talk


def reply(document: Mapping[str, Any]) -> Iterator[RenderableType]:
    """A reply as it was read: its text, and the tools that it calls."""
    if document["text"]:
        yield from laid_out(document["text"])
    for call in document["tool_calls"]:
        yield Text(f"calls {inert(call['name'])}({inert(call['arguments'])})", "magenta")
    usage = document["usage"]
    yield Text(f"{inert(document['model'])}, ended by {inert(document['finish_reason'])}, {usage['prompt']} + {usage['completion']} tokens", "dim")


def _setting(value: Any) -> str:
    """A plain setting as it is, a nested one by its keys."""
    return f"{{{', '.join(inert(key) for key in value)}}}" if isinstance(value, dict) else inert(_scalar(value))


def _tool_names(tool: Mapping[str, Any]) -> list[str]:
    """Of one entry in any of the three wire forms."""
    declared = tool.get("functionDeclarations") or tool.get("function_declarations") or [tool.get("function") or tool]
    return [str(one.get("name", "unnamed")) for one in declared]


def _message(role: str, message: Any) -> Iterator[RenderableType]:
    yield Text(f"{inert(role)} says", "bold")
    yield from _set_in(_content(message))


def _content(message: Any) -> Iterator[RenderableType]:
    """The content of a message in any of the three wire forms; what is neither text nor a call is outlined."""
    if not isinstance(message, Mapping):
        parts = message if isinstance(message, list) else [message]
    else:
        content = message.get("content", message.get("parts"))
        parts = content if isinstance(content, list) else [] if content is None else [content]
        parts = [*parts, *(message.get("tool_calls") or ())]
    for part in parts:
        yield from _part(part)


def _part(part: Any) -> Iterator[RenderableType]:
    if isinstance(part, str):
        yield _lines(part.strip("\n"))
    elif isinstance(part, Mapping) and isinstance(part.get("text"), str):
        yield _lines(part["text"].strip("\n"))
    elif isinstance(part, Mapping) and isinstance(part.get("function"), Mapping):
        yield Text(f"calls {inert(str(part['function'].get('name')))}({inert(str(part['function'].get('arguments')))})", "magenta")
    elif isinstance(part, Mapping):
        yield from outline(part)
    else:
        yield _lines(_scalar(part))
