"""Making text from the web, a model or a user harmless to look at."""

import re
import unicodedata

from alphaagent.errors import UsageFault

LINE_BREAKS = "\u2028\u2029"
HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")


def inert(text: str) -> str:
    """The text with every control, format, surrogate, private and line-breaking character turned into a space; one line stays one line."""
    if text.isprintable():
        return text
    return "".join(" " if unicodedata.category(character)[0] == "C" or character in LINE_BREAKS else character for character in text)


def defused(text: str, longest: int) -> str:
    """One line of text that a chat or mail program shows and does not act on: no markup, link, mention, address or closing quote; cut to a length.

    What is taken away is replaced by something that can be read, so that a reader sees that there was something.
    """
    line = inert(text[: 4 * longest]).translate(_MARKUP)
    for pattern, replacement in _ACTIVE:
        line = pattern.sub(replacement, line)
    line = " ".join(line.split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


_MARKUP = str.maketrans(
    {"<": "(", ">": ")", "[": "(", "]": ")", "{": "(", "}": ")", "`": "'", '"': "'", "“": "'", "”": "'", "*": " ", "~": " "}
) | str.maketrans({"|": "/", "\\": "/", "@": "(at)", "＠": "(at)", "﹫": "(at)", "。": " ", "．": " ", "｡": " "})
_ACTIVE = (
    (re.compile("://"), ":(//)"),
    (re.compile(r"(?<=\w)\.(?=[^\W\d_]{2})"), "(.)"),
    (re.compile(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])"), " "),
    (re.compile(r"&(?=#?\w+;)"), "& "),
    (re.compile(r"(?i)\b(javascript|vbscript|data|mailto|tel|sms|file):(?=\S)"), r"\1(:)"),
)


def first_hidden_character(text: str) -> int | None:
    """Where the first control, format, surrogate, private or unassigned character stands, the newline excepted; None where all can be seen."""
    if text.replace("\n", " ").isprintable():
        return None
    return next((n for n, char in enumerate(text) if char != "\n" and unicodedata.category(char) in HIDDEN_CATEGORIES), None)


def safe_name(what: str, name: str) -> str:
    """A name of a portfolio, slot or the like. Raises UsageFault unless it is 1 to 40 letters, digits, `_`, `.` or `-`."""
    if NAME.fullmatch(name):
        return name
    raise UsageFault(f"{what} is {inert(name[:60])!r}, which is no name", fix="use 1 to 40 letters, digits, dots, dashes or underscores")
