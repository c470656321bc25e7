"""When two texts count as the same: the one measure of it in a debate.

Chosen on purpose: it compares words in their order and knows nothing of meaning. It tells a copy from an argument; it never tells whether
two sides agree. Whoever writes a text cannot make it dear to compare: the words compared are capped, and no text costs more than its length.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import lru_cache

COMPARED_AT_MOST = 200
"""Words of a text; what comes after them is not compared."""
_WORD = re.compile(r"\w+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


def likeness(one: str, other: str) -> Decimal:
    """Twice the words in common, in their order, over all words, from 0 to 1, after folding case, width and punctuation.

    It is 1 for two texts without a word.
    """
    return _alike(tokens(one)[:COMPARED_AT_MOST], tokens(other)[:COMPARED_AT_MOST])


def tokens(text: str) -> list[str]:
    """The words of a text, folded."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def sentences(text: str) -> list[str]:
    """The sentences of a text, the empty ones left out."""
    return [sentence for sentence in _SENTENCE.split(text) if tokens(sentence)]


@lru_cache(maxsize=4096)
def repeats(text: str, said: str, threshold: Decimal) -> bool:
    """Whether somewhere in a text stands what was said, whole: as many sentences in a row, alike from the threshold on.

    Kept for the next who asks, because every reading of a debate asks it again about the same texts.
    """
    wanted = tokens(said)[:COMPARED_AT_MOST]
    counted = Counter(wanted)
    for window in _windows(text, max(1, len(sentences(said)))):
        if _at_most(Counter(window), counted) >= threshold and _alike(window, wanted) >= threshold:
            return True
    return False


def _windows(text: str, length: int) -> Iterator[list[str]]:
    """The words of so many sentences in a row, each different run once."""
    parts = [tokens(sentence) for sentence in sentences(text)]
    seen: set[tuple[str, ...]] = set()
    for at in range(max(1, len(parts) - length + 1)):
        window = [word for part in parts[at : at + length] for word in part][:COMPARED_AT_MOST]
        if tuple(window) not in seen:
            seen.add(tuple(window))
            yield window


def _alike(left: Sequence[str], right: Sequence[str]) -> Decimal:
    return _share(_in_common(left, right), len(left) + len(right))


def _at_most(left: Counter[str], right: Counter[str]) -> Decimal:
    """What the likeness cannot exceed: that of the same words in the best order."""
    return _share((left & right).total(), left.total() + right.total())


def _share(common: int, words: int) -> Decimal:
    return Decimal(2 * common) / words if words else Decimal(1)


def _in_common(left: Sequence[str], right: Sequence[str]) -> int:
    """The length of the longest common subsequence, by rows of bits: the cost is that of one step a word, whatever the words are."""
    places: dict[str, int] = {}
    for at, word in enumerate(left):
        places[word] = places.get(word, 0) | 1 << at
    full = (1 << len(left)) - 1
    row = full
    for word in right:
        hits = row & places.get(word, 0)
        row = (row + hits | row - hits) & full
    return len(left) - row.bit_count()
