"""Untrusted markup to one line of plain text: no tags, no entities, no characters that a reader cannot see.

Invisible characters can carry instructions to a model or reverse what a person reads, so everything that formats or hides is
removed rather than escaped. Written with regular expressions because the standard HTML parser raises on some malformed markup.
"""

import html
import re
import unicodedata

MAX_MARKUP_CHARACTERS = 20_000
MAX_PASSES = 8
"""How often markup may hide in markup before every angle bracket that is left goes."""
_BLOCK = re.compile(r"<!--.*?(?:-->|$)|<(script|style)\b.*?(?:</\1\s*>|$)", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"<[a-zA-Z/!?][^<>]*(?:>|$)")
_BLANK_LETTERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and marks that show nothing, although Unicode does not class them as formatting."""


def plain_text(markup: str, limit: int) -> str:
    """At most `limit` characters of visible text, white space collapsed."""
    visible = "".join(_visible(character) for character in _without_markup(markup[:MAX_MARKUP_CHARACTERS]))
    return " ".join(visible.split())[:limit].rstrip()


def _without_markup(text: str) -> str:
    for _ in range(MAX_PASSES):
        stripped = html.unescape(_TAG.sub(" ", _BLOCK.sub(" ", text)))
        if stripped == text:
            return text
        text = stripped
    return text.replace("<", " ").replace(">", " ")


def _visible(character: str) -> str:
    if character.isascii():
        return character if character.isprintable() else " "
    if character in _BLANK_LETTERS or _is_variation_selector(character):
        return ""
    match unicodedata.category(character):
        case "Cc" | "Zl" | "Zp" | "Zs":
            return " "
        case "Cf" | "Cs" | "Co" | "Cn":
            return ""
        case _:
            return character


def _is_variation_selector(character: str) -> bool:
    return "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"
