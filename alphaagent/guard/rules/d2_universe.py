"""D2: what may be bought. Anything held may always be sold."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from alphaagent.guard.rule import Block, Finding, Need, Pass, Rule, Subject, known

_SYMBOL = re.compile(r"[A-Z0-9][A-Z0-9.^=-]{0,14}")


def _symbols(values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        if not _SYMBOL.fullmatch(value):
            raise ValueError(f"{value!r} is not a symbol")
    return tuple(sorted(set(values)))


class Universe(Rule):
    """`any`, or the symbols that an opening order may name, as the instrument table spells them."""

    id = "D2"
    stage = "D"
    title = "Universe"
    why = "A mandate that names its instruments bounds what a hostile or mistaken model can reach."
    codes = ("NOT_IN_UNIVERSE",)
    opening_only = True
    needs = (Need("symbol"),)

    allowed: Literal["any"] | Annotated[tuple[str, ...], Field(min_length=1, max_length=5000), AfterValidator(_symbols)] = "any"

    def check(self, subject: Subject) -> Finding:
        symbol = known(subject.snapshot.symbol, "symbol")
        if self.allowed == "any":
            return Pass(symbol, "any")
        limit = f"{len(self.allowed)} symbols"
        if symbol in self.allowed:
            return Pass(symbol, limit)
        return Block("NOT_IN_UNIVERSE", f"{symbol} is not among the mandate's {limit}", symbol, limit)
