"""E10: no purchase on a day on which the market halts, where an index is configured."""

from decimal import Decimal

from pydantic import Field

from alphaagent.domain.base import decimal_text
from alphaagent.guard.rule import HIGHER, Block, Finding, NotConfigured, Pass, Rule, Subject, percent


class MarketStress(Rule):
    """Today's fall of the index."""

    id = "E10"
    stage = "E"
    title = "Market stress"
    why = "At 7% the exchanges themselves stop (level 1 of the market-wide circuit breaker)."
    codes = ("MARKET_STRESS",)
    opening_only = True

    max_fall_fraction: Decimal = Field(Decimal("0.07"), gt=0, le=Decimal("0.2"), json_schema_extra=HIGHER)

    def check(self, subject: Subject) -> Finding:
        if subject.snapshot.index_change is None:
            return NotConfigured("there is no market index")
        change = subject.number("index_change")
        value, limit = decimal_text(change), decimal_text(-self.max_fall_fraction)
        if change > -self.max_fall_fraction:
            return Pass(value, limit)
        return Block("MARKET_STRESS", f"the index is down {percent(-change, Decimal(1))} today", value, limit)
