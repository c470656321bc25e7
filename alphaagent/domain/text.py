"""Making text from the web, a model or a user harmless to look at."""

import re
import unicodedata

from alphaagent.errors import UsageFault

LINE_BREAKS = "\u2028\u2029"
HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")


def inert(text: str) -> str:
    """The text with every control, format, surrogate, private and line-breaking character turned into a space; one line stays one line."""
    return "".join(" " if unicodedata.category(character)[0] == "C" or character in LINE_BREAKS else character for character in text)


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
