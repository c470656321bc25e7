"""D3: what may not be traded at all, in neither direction."""

from typing import Literal

from pydantic import Field

from alphaagent.guard.rule import SHORTER, Block, Finding, Need, Pass, Rule, Subject, known
from alphaagent.guard.symbols import Symbols, listed


class Restricted(Rule):
    """`none`, or the instruments that no order may name, in any spelling."""

    id = "D3"
    stage = "D"
    title = "Restricted list"
    why = "Insiders, conflicts and law forbid both sides (SEC 15c3-5 restricted securities; zipline set_do_not_order_list)."
    codes = ("RESTRICTED",)
    needs = (Need("symbol"), Need("names"))

    refused: Literal["none"] | Symbols = Field("none", json_schema_extra=SHORTER)

    def check(self, subject: Subject) -> Finding:
        symbol = known(subject.snapshot.symbol, "symbol")
        if self.refused == "none":
            return Pass(symbol, "none refused")
        limit = f"{len(self.refused)} refused"
        if listed(known(subject.snapshot.names, "names"), self.refused):
            return Block("RESTRICTED", f"{symbol} is on the mandate's restricted list", symbol, limit)
        return Pass(symbol, limit)
