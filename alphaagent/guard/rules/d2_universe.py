"""D2: what may be bought. Anything held may always be sold."""

from typing import Literal

from pydantic import Field

from alphaagent.guard.rule import LONGER, Block, Finding, Need, Pass, Rule, Subject, known
from alphaagent.guard.symbols import Symbols, listed


class Universe(Rule):
    """`any`, or the instruments that an opening order may name, in any spelling. Nothing is bought of what a run was told only to reduce."""

    id = "D2"
    stage = "D"
    title = "Universe"
    why = "A mandate that names its instruments bounds what a hostile or mistaken model can reach."
    codes = ("NOT_IN_UNIVERSE",)
    opening_only = True
    needs = (Need("symbol"), Need("names"))

    allowed: Literal["any"] | Symbols = Field("any", json_schema_extra=LONGER)

    def check(self, subject: Subject) -> Finding:
        symbol = known(subject.snapshot.symbol, "symbol")
        if subject.snapshot.reduce_only:
            return Block("NOT_IN_UNIVERSE", f"{symbol} is held and not on the watchlist: it may be sold, and nothing is bought", symbol, "what reduces")
        if self.allowed == "any":
            return Pass(symbol, "any")
        limit = f"{len(self.allowed)} symbols"
        if listed(known(subject.snapshot.names, "names"), self.allowed):
            return Pass(symbol, limit)
        return Block("NOT_IN_UNIVERSE", f"{symbol} is not among the mandate's {limit}", symbol, limit)
