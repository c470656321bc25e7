"""H13: a fallback opens at a part of what one order may be. The engine changed, the view did not."""

from decimal import Decimal

from pydantic import Field

from alphaagent.guard.rule import HIGHER, CapRule, Need, Subject, money
from alphaagent.guard.rules.h4_order_cap import OrderCap


class ProvenanceCap(CapRule):
    """The per-order cap of H4, times a fraction, for provenance `fallback`."""

    id = "H13"
    stage = "H"
    title = "Fallback size"
    why = "A provider that comes and goes must not turn the book over at full size."
    codes = ("CLIP_PROVENANCE",)
    opening_only = True
    needs = (Need("price"), Need("equity"))

    fallback_fraction: Decimal = Field(Decimal("0.5"), gt=0, le=1, json_schema_extra=HIGHER)

    def binds(self, subject: Subject) -> bool:
        return subject.opening and subject.snapshot.provenance == "fallback"

    def use(self, subject: Subject, quantity: Decimal) -> Decimal:
        return quantity * subject.number("price")

    def limit(self, subject: Subject) -> Decimal:
        return self.fallback_fraction * subject.rule(OrderCap).limit(subject)

    def words(self, subject: Subject, used: Decimal) -> str:
        return f"the order would be {money(used)}; a fallback may open {money(self.limit(subject))}"
