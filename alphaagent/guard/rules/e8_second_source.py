"""E8: a second source agrees on the price, where one is configured."""

from decimal import Decimal

from pydantic import Field

from alphaagent.domain.base import decimal_text
from alphaagent.guard.rule import HIGHER, Block, Finding, Need, NotConfigured, Pass, Rule, Subject, percent


class SecondSource(Rule):
    """Distance between the two prices; a configured source that gave none blocks what opens and is noted for what reduces."""

    id = "E8"
    stage = "E"
    title = "Second source"
    why = "One vendor's error looks like any other price; two vendors seldom make the same one."
    codes = ("PRICE_DISPUTED",)
    needs = (Need("price"),)

    max_difference_fraction: Decimal = Field(Decimal("0.01"), gt=0, le=Decimal("0.2"), json_schema_extra=HIGHER)

    def check(self, subject: Subject) -> Finding:
        if subject.snapshot.second_price is None:
            return self._alone(subject)
        price, second = subject.number("price"), subject.number("second_price")
        value, limit = decimal_text(price), decimal_text(second)
        if second > 0 and abs(price - second) <= self.max_difference_fraction * second:
            return Pass(value, limit)
        apart, bound = percent(abs(price - second), second), percent(self.max_difference_fraction, Decimal(1))
        return Block("PRICE_DISPUTED", f"the two sources are {apart} apart; the limit is {bound}", value, limit)

    def _alone(self, subject: Subject) -> Finding:
        """An exit must not wait for a vendor; an entry can."""
        missing = subject.snapshot.second_missing
        if missing is None:
            return NotConfigured("there is no second source of prices")
        if subject.opening:
            return Block("DATA_MISSING:second_price", f"the second source of prices gave none: {missing}")
        return Pass(note=f"the second source of prices gave none ({missing}); an order that reduces passes")
