"""Lists of instruments in a mandate: an entry in any spelling means the instrument, not the spelling.

Vendors write a share class with a point, a dash or a slash. An entry may also be an alias or the instrument's id.
"""

import re
from functools import lru_cache
from typing import Annotated

from pydantic import AfterValidator, Field

MAX_ENTRIES = 5000
_SYMBOL = re.compile(r"(?:[A-Z0-9]{4}:)?[A-Z0-9][A-Z0-9.^=/-]{0,14}")


def _sorted_symbols(values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        if not _SYMBOL.fullmatch(value):
            raise ValueError(f"{value!r} is not a symbol")
    return tuple(sorted(set(values)))


Symbols = Annotated[tuple[str, ...], Field(min_length=1, max_length=MAX_ENTRIES), AfterValidator(_sorted_symbols)]
"""A list of at least one symbol, alias or instrument id."""


def spelling(name: str) -> str:
    """A name with its share class after a point: BRK-B, BRK/B and BRK.B are one."""
    return name.upper().replace("-", ".").replace("/", ".")


@lru_cache(maxsize=64)
def _spellings(entries: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(spelling, entries))


def listed(names: tuple[str, ...], entries: tuple[str, ...]) -> bool:
    """Whether a list names an instrument that has these spellings."""
    return not _spellings(entries).isdisjoint(map(spelling, names))
