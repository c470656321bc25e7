"""Marks text that tries to steer a reader or a model. What was hidden in it is removed elsewhere; here it is only noticed.

Chosen on purpose: a short list of plain signs, the same for every source, each of them rare in honest finance news. A mark opens
nothing and closes nothing by itself: it goes with the evidence, and the guard opens no position on evidence that bears one.
"""

import html
import re
import unicodedata

from alphaagent.domain.market import Instrument
from alphaagent.evidence.sources.plain_text import MAX_MARKUP_CHARACTERS, MAX_PASSES, plain_text

HIDDEN_CHARACTERS = "hidden characters"
HIDDEN_MARKUP = "hidden markup"
INSTRUCTION = "words like an instruction"
ENCODED = "encoded text"
LOOKALIKE = "a lookalike of the name"

_HIDDEN = re.compile(
    "[\u200b\u2060-\u2064\ufeff\u180e\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"  # nothing to see
    "\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069"  # turns the direction of writing
    "\U000e0000-\U000e01ef\ue000-\uf8ff"  # tags, variation selectors beyond the emoji's, private use
    "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]"  # controls
    "|(?<=[!-~])[\u200c\u200d\u00ad]+(?=[!-~])"  # joiners and soft hyphens between Latin letters
    "|[\ufe00-\ufe0f]{2,}"
)
_SPACING = re.compile(r"\s+")
_HIDDEN_MARKUP = re.compile(
    r"<!--[^>]*?[a-z]{2,} [a-z]{2,}|<script\b|\bdisplay\s*:\s*none|\bvisibility\s*:\s*hidden|\bfont-size\s*:\s*0(?![.\d])|\bopacity\s*:\s*0(?![.\d])"
    r"|\bcolor\s*:\s*(?:white|transparent|#fff(?:fff)?)\b|<[a-z]+ [^<>]*\bhidden\b",
    re.IGNORECASE,
)
INSTRUCTIONS = (
    r"\b(?:ignore|disregard|forget|override) (?:all |any |the |your |of |these ){0,3}(?:previous|prior|above|earlier|preceding)\b"
    r"(?! (?:close|high|low|session|quarter|year|guidance|forecasts?|estimates?|losses|warnings?))",
    r"\b(?:ignore|disregard|forget|override|bypass) (?:all |any |the |your |of |these |risk |trading |system |safety ){0,3}"
    r"(?:instructions?|prompts?|limits|guardrails?|guidelines)\b",
    r"(?:^|[\[<({\"'|>\n]) ?(?:system|assistant|developer) ?(?:prompt|message)? ?:",
    r"\b(?:system prompt|developer message|new instructions?:|end of (?:article|document|context)\b)",
    r"\b(?:you|agents?|models?|the ai|assistants?) must (?:now )?(?:buy|sell|short|hold|answer|respond|output|reply)\b",
    r"\b(?:buy|sell) (?:the )?maximum\b",
    r"\b(?:set|raise) (?:your |the )?(?:confidence|amount|sentiment|p_up)\b",
    r"\bas an? (?:ai|language model)\b",
    r"<\|[a-z_]+\|>|\[/?inst\]|\"action\" ?: ?\"(?:buy|sell)\"",
)
"""What a reader is told to do. Compared in lower case, compatibility forms folded, hidden characters gone, white space single."""
_INSTRUCTION = re.compile("|".join(INSTRUCTIONS), re.IGNORECASE)
_LONG_RUN = re.compile(r"(?<![\w/.+-])[A-Za-z0-9+/]{40,}={0,2}(?![\w/.+-])")
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_SHORTEST_NAME = 3
_LATIN = str.maketrans(
    "АВЕКМНОРСТУХЅІЈԚԜаеорсухѕіјԛԝһ" + "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαορνικυ",
    "ABEKMHOPCTYXSIJQWaeopcyxsijqwh" + "ABEZHIKMNOPTYXaopviku",
)
"""Cyrillic and Greek letters that look like Latin ones."""


def taint_of(title: str, summary: str) -> tuple[str, ...]:
    """The signs in an item's original text, markup included; empty where there are none."""
    found = set()
    for markup in (title[:MAX_MARKUP_CHARACTERS], summary[:MAX_MARKUP_CHARACTERS]):
        found |= _signs(_unescaped(markup))
    return tuple(sorted(found))


def imitations(text: str, instrument: Instrument) -> tuple[str, ...]:
    """Whether visible text has a word that looks like the instrument's symbol or name and is written with letters of another script."""
    if text.isascii():
        return ()
    names = {name.casefold() for name in (instrument.symbol, *instrument.aliases, *_LETTERS.findall(instrument.name)) if len(name) >= _SHORTEST_NAME}
    for word in _LETTERS.findall(unicodedata.normalize("NFKC", text)):
        latin = word.translate(_LATIN)
        if latin != word and latin.casefold() in names:
            return (LOOKALIKE,)
    return ()


def _signs(text: str) -> set[str]:
    found = set()
    if not text.isascii() or not text.isprintable():
        if _HIDDEN.search(text):
            found.add(HIDDEN_CHARACTERS)
        text = unicodedata.normalize("NFKC", _HIDDEN.sub("", text)).translate(_LATIN)
    if _HIDDEN_MARKUP.search(text):
        found.add(HIDDEN_MARKUP)
    visible = plain_text(text, MAX_MARKUP_CHARACTERS)
    if _INSTRUCTION.search(_SPACING.sub(" ", text).strip()) or _INSTRUCTION.search(visible):
        found.add(INSTRUCTION)
    if any(_is_mixed(run) for run in _LONG_RUN.findall(visible)):
        found.add(ENCODED)
    return found


def _unescaped(markup: str) -> str:
    """The text with entities resolved, however often they are nested, as the plain text is made."""
    for _ in range(MAX_PASSES):
        once = html.unescape(markup)
        if once == markup:
            break
        markup = once
    return markup


def _is_mixed(run: str) -> bool:
    """Base64 has capitals, small letters and digits; a long word or number has not."""
    return any(map(str.isupper, run)) and any(map(str.islower, run)) and any(map(str.isdigit, run))
