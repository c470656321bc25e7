"""H2: a request for a large part of a day's trading is an error, not a wish."""

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from alphaagent.domain.base import decimal_text
from alphaagent.guard.rule import AT_DECISION, HIGHER, Block, Finding, Need, Pass, RequestRule, Subject


class RequestShares(RequestRule):
    """The requested shares against a fraction of the median volume of 20 sessions, and a cap in shares where one is set."""

    id = "H2"
    stage = "H"
    title = "Request, shares"
    why = "Brokers refuse sizes far out of line with the average volume; better refused here than filled there."
    codes = ("FAT_FINGER_SHARES",)
    needs = (Need("price", stages=AT_DECISION), Need("median_volume", stages=AT_DECISION))

    max_volume_fraction: Decimal = Field(Decimal("0.10"), gt=0, le=1, json_schema_extra=HIGHER)
    max_shares: Literal["off"] | Annotated[Decimal, Field(gt=0, le=1_000_000_000)] = Field("off", json_schema_extra=HIGHER)

    def most(self, subject: Subject) -> Decimal:
        most = self.max_volume_fraction * subject.number("median_volume")
        return most if self.max_shares == "off" else min(most, self.max_shares)

    def check(self, subject: Subject) -> Finding:
        asked, most = subject.proposal.amount / subject.number("price"), self.most(subject)
        value, limit = decimal_text(asked), decimal_text(most)
        # Multiplied, so that an exact limit is exact.
        if subject.proposal.amount > most * subject.number("price"):
            return Block("FAT_FINGER_SHARES", f"{value} shares were asked for; more than {limit} is taken for an error", value, limit)
        return Pass(value, limit)
