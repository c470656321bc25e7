"""H5: how much of a day's trading one order may be."""

from decimal import Decimal

from pydantic import Field

from alphaagent.domain.base import decimal_text
from alphaagent.guard.rule import HIGHER, CapRule, Need, Subject, percent


class VolumeCap(CapRule):
    """Shares as a fraction of the median volume of 20 sessions."""

    id = "H5"
    stage = "H"
    title = "Share of volume"
    why = "Beyond about a percent of the volume an order pays for its own footprint (zipline fills at most 2.5% of a bar)."
    codes = ("CLIP_ADV",)
    opening_only = True
    needs = (Need("median_volume"),)

    max_volume_fraction: Decimal = Field(Decimal("0.01"), gt=0, le=Decimal("0.25"), json_schema_extra=HIGHER)

    def use(self, subject: Subject, quantity: Decimal) -> Decimal:  # noqa: ARG002 - the shape of a cap
        return quantity

    def limit(self, subject: Subject) -> Decimal:
        return self.max_volume_fraction * subject.number("median_volume")

    def words(self, subject: Subject, used: Decimal) -> str:
        share = percent(self.max_volume_fraction, Decimal(1))
        return f"the order would be {decimal_text(used)} shares; the limit is {share} of a usual day's volume, {decimal_text(self.limit(subject))}"
