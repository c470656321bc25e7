"""When two texts count as the same: the one measure of it in a debate.

Chosen on purpose: it compares words in their order and knows nothing of meaning. It tells a copy from an argument; it never tells whether
two sides agree.
"""

import re
import unicodedata
from decimal import Decimal
from difflib import SequenceMatcher

_WORD = re.compile(r"\w+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


def likeness(one: str, other: str) -> Decimal:
    """Twice the words in common over all words, from 0 to 1, after folding case, width and punctuation; 1 for two texts without a word."""
    left, right = tokens(one), tokens(other)
    if not left and not right:
        return Decimal(1)
    matched = sum(block.size for block in SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks())
    return Decimal(2 * matched) / (len(left) + len(right))


def tokens(text: str) -> list[str]:
    """The words of a text, folded."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def sentences(text: str) -> list[str]:
    """The sentences of a text, the empty ones left out."""
    return [sentence for sentence in _SENTENCE.split(text) if tokens(sentence)]


def repeats(text: str, said: str, threshold: Decimal) -> bool:
    """Whether somewhere in a text stands what was said, whole: as many sentences in a row, alike from the threshold on."""
    parts, length = sentences(text), max(1, len(sentences(said)))
    windows = (" ".join(parts[at : at + length]) for at in range(max(1, len(parts) - length + 1)))
    return any(likeness(window, said) >= threshold for window in windows)
