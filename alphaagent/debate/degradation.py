"""Signs that a model is failing rather than arguing, read from the raw text of one reply.

Chosen on purpose: these are signs and never reasons to refuse; whether a text is an answer is for its reader to say. A short sentence may
return as often as it likes, a long one may not.
"""

import re
from collections import Counter
from collections.abc import Iterator

from alphaagent.debate.likeness import sentences, tokens
from alphaagent.debate.thresholds import Thresholds
from alphaagent.domain.argument import Degradation
from alphaagent.domain.strict_json import JsonRefused, read_object

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 32
LONG_SENTENCE_WORDS = 4

_REFUSAL = re.compile(
    r"\bas an ai\b|\b(i|we)(\s+am|'m|\s+are|'re)\s+(unable|not\s+able)\s+to\b"
    r"|\b(i|we)\s+(cannot|can't|can\s+not|won't|will\s+not)\s+(provide|give|offer|assist|help|comply|continue|participate|engage|answer)\b"
)


def degradation(raw: str, *, hit_budget: bool, thresholds: Thresholds) -> tuple[Degradation, ...]:
    """The signs in a reply; `hit_budget` says that it used up all its tokens, whatever its provider called that."""
    texts = _texts(raw)
    signs: dict[Degradation, bool] = {
        "empty": not tokens(raw),
        "refusal": any(_REFUSAL.search(text.casefold().replace("\u2019", "'")) for text in texts or [raw]),
        "repetition": _repeats(texts or [raw], thresholds.repeated_sentences),
        "truncated": hit_budget and texts is None,
    }
    return tuple(sign for sign, seen in signs.items() if seen)


def _texts(raw: str) -> list[str] | None:
    """The texts of a JSON object; None where it is none."""
    try:
        return list(_strings(read_object(raw, max_bytes=MAX_BYTES, max_depth=MAX_DEPTH)))
    except JsonRefused:
        return None


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


def _repeats(texts: list[str], times: int) -> bool:
    said = (tuple(tokens(sentence)) for text in texts for sentence in sentences(text))
    return any(count >= times for count in Counter(words for words in said if len(words) >= LONG_SENTENCE_WORDS).values())
