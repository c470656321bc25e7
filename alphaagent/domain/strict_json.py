"""The only way in which text from a model becomes data: one JSON object, bounded and exact.

Chosen on purpose: size and nesting are bounded before the JSON reader sees the text, a number stays the literal that was written, a key
that stands twice is a fault wherever it stands, and the one tolerance is a clean ```json fence around the whole.
"""

import json
import re
from dataclasses import dataclass
from typing import Literal

JsonFlaw = Literal["too_large", "too_deep", "not_single", "repeated_key"]

_FENCE = re.compile(r"[ \t\r\n]*```json[ \t]*\r?\n(?P<body>.*)\n[ \t]*```[ \t\r\n]*", re.DOTALL)
# Possessive and with an optional closing quote, so that unclosed strings cannot make it backtrack.
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"?', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Number:
    """A JSON number token exactly as written, NaN and Infinity included; its reader judges the literal."""

    literal: str


class JsonRefused(ValueError):
    """The text is not one sound JSON object; `message` says to its writer what to mend."""

    def __init__(self, flaw: JsonFlaw, message: str) -> None:
        super().__init__(message)
        self.flaw = flaw
        self.message = message


def read_object(raw: str, *, max_bytes: int, max_depth: int) -> dict[str, object]:
    """The one JSON object that a text holds, its numbers as `Number`. Raises JsonRefused."""
    if len(raw) > max_bytes or len(raw.encode("utf-8", "surrogatepass")) > max_bytes:
        raise JsonRefused("too_large", f"Answer with one JSON object of at most {max_bytes} bytes.")
    if _deeper_than(max_depth, raw):
        raise JsonRefused("too_deep", "Answer with one flat JSON object; yours is nested too deeply.")
    return _single_object(raw)


def shown(text: str) -> str:
    """A short quotation of foreign text that is safe in a message."""
    return ascii(text[:40])


def _deeper_than(limit: int, raw: str) -> bool:
    bare = _STRING.sub("", raw)
    if bare.count("[") + bare.count("{") <= limit:
        return False
    depth = 0
    for char in bare:
        if char in "[{":
            depth += 1
            if depth > limit:
                return True
        elif char in "]}":
            depth -= 1
    return False


def _single_object(raw: str) -> dict[str, object]:
    fenced = _FENCE.fullmatch(raw)
    repeated: list[str] = []

    def pairs(items: list[tuple[str, object]]) -> dict[str, object]:
        found: dict[str, object] = {}
        for key, value in items:
            if key in found:
                repeated.append(key)
            found[key] = value
        return found

    try:
        value = json.loads(fenced["body"] if fenced else raw, object_pairs_hook=pairs, parse_float=Number, parse_int=Number, parse_constant=Number)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise JsonRefused("not_single", "Answer with exactly one JSON object and nothing before or after it.")
    if repeated:
        raise JsonRefused("repeated_key", f"Write every key once; {shown(repeated[0])} appears more than once.")
    return value
