"""E10: no purchase after a session in which the market fell as if halted, where the mandate names an index."""

from decimal import Decimal
from typing import Literal

from pydantic import Field

from alphaagent.domain.base import decimal_text
from alphaagent.guard.rule import HIGHER, SHORTER, Block, Finding, NotConfigured, Pass, Rule, Subject, percent


class MarketStress(Rule):
    """The index's fall on the last completed session. A named index whose change is not known blocks."""

    id = "E10"
    stage = "E"
    title = "Market stress"
    why = "At 7% the exchanges themselves stop (level 1 of the market-wide circuit breaker)."
    codes = ("MARKET_STRESS",)
    opening_only = True

    index: Literal["none", "SPX"] = Field("none", json_schema_extra=SHORTER)
    max_fall_fraction: Decimal = Field(Decimal("0.07"), gt=0, le=Decimal("0.2"), json_schema_extra=HIGHER)

    def check(self, subject: Subject) -> Finding:
        if self.index == "none":
            return NotConfigured("the mandate names no market index")
        change = subject.number("index_change")
        value, limit = decimal_text(change), decimal_text(-self.max_fall_fraction)
        if change > -self.max_fall_fraction:
            return Pass(value, limit)
        return Block("MARKET_STRESS", f"{self.index} fell by {percent(-change, Decimal(1))} in the last completed session", value, limit)
