"""I2: a crew's order of which little is left is not the order that was argued for."""

from decimal import Decimal

from pydantic import Field

from alphaagent.domain.base import decimal_text
from alphaagent.guard.rule import LOWER, Block, Finding, Need, NotApplicable, Pass, Rule, Subject, percent


class ClippedAway(Rule):
    """The least part of the requested quantity that must be left after the clip."""

    id = "I2"
    stage = "I"
    title = "Clipped away"
    why = "The crew saw its budget; a request far above it is a sign of error."
    codes = ("CLIPPED_AWAY",)
    opening_only = True
    needs = (Need("provenance"),)

    min_kept_fraction: Decimal = Field(Decimal("0.25"), gt=0, le=1, json_schema_extra=LOWER)

    def check(self, subject: Subject) -> Finding:
        if subject.snapshot.provenance != "crew":
            return NotApplicable("only a crew sees its budget")
        least = self.min_kept_fraction * subject.quantity
        value, limit = decimal_text(subject.out), decimal_text(least)
        if subject.out >= least:
            return Pass(value, limit)
        kept, wanted = percent(subject.out, subject.quantity), percent(self.min_kept_fraction, Decimal(1))
        return Block("CLIPPED_AWAY", f"only {kept} of the requested quantity is left; the least is {wanted}", value, limit)
