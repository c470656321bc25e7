"""E7: the price at the fill is near the one that was decided on."""

from decimal import Decimal

from pydantic import Field

from alphaagent.domain.base import decimal_text
from alphaagent.guard.rule import HIGHER, Block, Finding, Need, Pass, Rule, Subject, percent


class Moved(Rule):
    """Distance of the fill session's open from the price at the decision, on the same share basis."""

    id = "E7"
    stage = "E"
    title = "Moved since decision"
    why = "Large names open more than 2% away on 6.5% of sessions; past 5% it is another decision (freqtrade: 2% live)."
    codes = ("PRICE_MOVED",)
    opening_only = True
    stages = ("settle",)
    needs = (Need("price", stages=("settle",)), Need("decision_price", stages=("settle",)))

    max_move_fraction: Decimal = Field(Decimal("0.05"), gt=0, le=Decimal("0.5"), json_schema_extra=HIGHER)

    def check(self, subject: Subject) -> Finding:
        price, decided = subject.number("price"), subject.number("decision_price")
        value, limit = decimal_text(price), decimal_text(decided)
        if decided > 0 and abs(price - decided) <= self.max_move_fraction * decided:
            return Pass(value, limit)
        moved, bound = percent(abs(price - decided), decided), percent(self.max_move_fraction, Decimal(1))
        return Block("PRICE_MOVED", f"the price has moved {moved} since the decision; the limit is {bound}", value, limit)
