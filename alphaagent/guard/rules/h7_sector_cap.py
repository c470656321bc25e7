"""H7: how much of the book one sector may be."""

from decimal import Decimal

from pydantic import Field

from alphaagent.guard.rule import HIGHER, CapRule, Need, Subject, percent


class SectorCap(CapRule):
    """Held, pending and ordered value of one sector as a fraction of NAV; every instrument whose sector is unknown is in the same one."""

    id = "H7"
    stage = "H"
    title = "Sector weight"
    why = "Ten names of one sector are one position; LEAN's model skips what has no sector, this one counts it."
    codes = ("CLIP_SECTOR",)
    opening_only = True
    needs = (Need("price"), Need("equity"), Need("sector_exposure"))

    max_sector_fraction: Decimal = Field(Decimal("0.20"), gt=0, le=1, json_schema_extra=HIGHER)

    def use(self, subject: Subject, quantity: Decimal) -> Decimal:
        return subject.number("sector_exposure") + quantity * subject.number("price")

    def limit(self, subject: Subject) -> Decimal:
        return self.max_sector_fraction * subject.number("equity")

    def words(self, subject: Subject, used: Decimal) -> str:
        sector = f"the sector {subject.snapshot.sector}" if subject.snapshot.sector else "what has no known sector"
        return f"{sector} would be {percent(used, subject.number('equity'))} of NAV; the limit is {percent(self.max_sector_fraction, Decimal(1))}"
