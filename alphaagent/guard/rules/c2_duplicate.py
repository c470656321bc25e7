"""C2: the same order once more in the same session."""

from decimal import Decimal

from pydantic import Field

from alphaagent.domain.base import decimal_text
from alphaagent.guard.rule import AT_DECISION, LOWER, Block, Finding, Need, Pass, Rule, Subject, known


class Duplicate(Rule):
    """An order of this session for the same instrument and side whose quantity, asked for or ordered, is as good as this one's."""

    id = "C2"
    stage = "C"
    title = "Duplicate order"
    why = "A run that is started twice under two names must not trade twice (SEC 15c3-5: duplicative orders)."
    codes = ("DUPLICATE_ORDER",)
    stages = AT_DECISION
    needs = (Need("activity", stages=AT_DECISION),)

    same_within: Decimal = Field(Decimal("0.01"), ge=Decimal("0.0001"), le=Decimal("0.5"), json_schema_extra=LOWER)

    def check(self, subject: Subject) -> Finding:
        value = decimal_text(subject.quantity)
        orders = known(subject.snapshot.activity, "activity").ticker_orders
        for earlier in (order for order in orders if order.side == subject.side):
            if self._same(subject.quantity, earlier.asked) or self._same(subject.quantity, earlier.ordered):
                ordered = decimal_text(earlier.ordered)
                return Block("DUPLICATE_ORDER", f"this session has a {earlier.side} of {ordered} shares already", value, ordered)
        return Pass(value)

    def _same(self, one: Decimal, other: Decimal) -> bool:
        return abs(one - other) <= self.same_within * other
