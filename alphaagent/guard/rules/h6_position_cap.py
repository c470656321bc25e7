"""H6: how much of the book one name may be, orders that are still pending counted."""

from decimal import Decimal

from pydantic import Field

from alphaagent.guard.rule import HIGHER, CapRule, Need, Subject, percent


class PositionCap(CapRule):
    """Held, pending and ordered shares together as a fraction of NAV."""

    id = "H6"
    stage = "H"
    title = "Position weight"
    why = "Concentration: 10% per issuer as in UCITS; without the pending orders many small ones would pass it."
    codes = ("CLIP_CONCENTRATION",)
    opening_only = True
    needs = (Need("price"), Need("equity"), Need("held"), Need("pending_buy"))

    max_position_fraction: Decimal = Field(Decimal("0.10"), gt=0, le=1, json_schema_extra=HIGHER)

    def use(self, subject: Subject, quantity: Decimal) -> Decimal:
        return (subject.number("held") + subject.number("pending_buy") + quantity) * subject.number("price")

    def limit(self, subject: Subject) -> Decimal:
        return self.max_position_fraction * subject.number("equity")

    def words(self, subject: Subject, used: Decimal) -> str:
        return f"the position would be {percent(used, subject.number('equity'))} of NAV; the limit is {percent(self.max_position_fraction, Decimal(1))}"
