"""D6: no penny stocks."""

from decimal import Decimal

from pydantic import Field

from alphaagent.domain.base import decimal_text
from alphaagent.guard.rule import LOWER, Block, Finding, Need, Pass, Rule, Subject


class MinimumPrice(Rule):
    """The lower of the price and the close before it."""

    id = "D6"
    stage = "D"
    title = "Minimum price"
    why = "Below five dollars spreads are wide and prices are moved by little money (the line of SEC Rule 3a51-1)."
    codes = ("PENNY_STOCK",)
    opening_only = True
    needs = (Need("price"), Need("prior_close"))

    min_price: Decimal = Field(Decimal(5), gt=0, le=1000, json_schema_extra=LOWER)

    def check(self, subject: Subject) -> Finding:
        lowest = min(subject.number("price"), subject.number("prior_close"))
        value, limit = decimal_text(lowest), decimal_text(self.min_price)
        if lowest < self.min_price:
            return Block("PENNY_STOCK", f"a price of {value} is below {limit}", value, limit)
        return Pass(value, limit)
