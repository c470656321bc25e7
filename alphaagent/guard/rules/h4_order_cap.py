"""H4: how much one order may open."""

from decimal import Decimal

from pydantic import Field

from alphaagent.guard.rule import HIGHER, CapRule, Need, Subject, percent


class OrderCap(CapRule):
    """An order's notional as a fraction of NAV."""

    id = "H4"
    stage = "H"
    title = "Per-order cap"
    why = "Bounds what a single wrong decision can cost, whatever the model says."
    codes = ("CLIP_ORDER",)
    opening_only = True
    needs = (Need("price"), Need("equity"))

    max_order_fraction: Decimal = Field(Decimal("0.05"), gt=0, le=1, json_schema_extra=HIGHER)

    def use(self, subject: Subject, quantity: Decimal) -> Decimal:
        return quantity * subject.number("price")

    def limit(self, subject: Subject) -> Decimal:
        return self.max_order_fraction * subject.number("equity")

    def words(self, subject: Subject, used: Decimal) -> str:
        return f"the order would be {percent(used, subject.number('equity'))} of NAV; the limit is {percent(self.max_order_fraction, Decimal(1))}"
