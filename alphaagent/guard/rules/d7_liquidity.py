"""D7: only what trades enough to be sold again."""

from decimal import Decimal

from pydantic import Field

from alphaagent.domain.base import decimal_text
from alphaagent.guard.rule import LOWER, Block, Finding, Pass, Rule, Subject, money


class Liquidity(Rule):
    """Median dollar volume of the last 20 sessions; fewer sessions than that are no record and block."""

    id = "D7"
    stage = "D"
    title = "Liquidity"
    why = "What cannot be sold in a day is not a position but a commitment; a median is not lifted by one busy day."
    codes = ("ILLIQUID",)
    opening_only = True

    min_dollar_volume: Decimal = Field(Decimal(1_000_000), gt=0, le=1_000_000_000, json_schema_extra=LOWER)

    def check(self, subject: Subject) -> Finding:
        limit = decimal_text(self.min_dollar_volume)
        if subject.snapshot.median_dollar_volume is None:
            return Block("ILLIQUID", "there are fewer than 20 sessions to measure the volume by", None, limit)
        median = subject.number("median_dollar_volume")
        value = decimal_text(median)
        if median < self.min_dollar_volume:
            return Block("ILLIQUID", f"the median of 20 sessions' dollar volume is {money(median)}; the least is {money(self.min_dollar_volume)}", value, limit)
        return Pass(value, limit)
