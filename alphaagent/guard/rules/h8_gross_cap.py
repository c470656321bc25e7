"""H8: how much of the book may be invested."""

from decimal import Decimal

from pydantic import Field

from alphaagent.guard.rule import HIGHER, CapRule, Need, Subject, percent


class GrossCap(CapRule):
    """Everything held, pending and ordered as a fraction of NAV."""

    id = "H8"
    stage = "H"
    title = "Gross exposure"
    why = "Long only and unlevered: what is not cash may not exceed the book."
    codes = ("CLIP_GROSS",)
    opening_only = True
    needs = (Need("price"), Need("equity"), Need("gross_exposure"))

    max_gross_fraction: Decimal = Field(Decimal("0.98"), gt=0, le=1, json_schema_extra=HIGHER)

    def use(self, subject: Subject, quantity: Decimal) -> Decimal:
        return subject.number("gross_exposure") + quantity * subject.number("price")

    def limit(self, subject: Subject) -> Decimal:
        return self.max_gross_fraction * subject.number("equity")

    def words(self, subject: Subject, used: Decimal) -> str:
        return f"{percent(used, subject.number('equity'))} of NAV would be invested; the limit is {percent(self.max_gross_fraction, Decimal(1))}"
