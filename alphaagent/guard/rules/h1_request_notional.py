"""H1: a request far larger than this portfolio ever makes is an error, not a wish."""

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from alphaagent.domain.base import decimal_text
from alphaagent.guard.rule import AT_DECISION, HIGHER, Block, Finding, Need, Pass, RequestRule, Subject, known, money

_ENOUGH = 20
"""Orders from which on the portfolio's own median counts."""


class RequestNotional(RequestRule):
    """The requested amount against a fraction of NAV or, once there are 20 orders, a multiple of their median; and an absolute cap."""

    id = "H1"
    stage = "H"
    title = "Request, money"
    why = "Fat fingers come in factors of ten; a clip would hide them (SEC 15c3-5: erroneous orders)."
    codes = ("FAT_FINGER_NOTIONAL",)
    needs = (Need("equity", stages=AT_DECISION), Need("activity", stages=AT_DECISION), Need("price", stages=AT_DECISION))

    max_request_fraction: Decimal = Field(Decimal("0.20"), gt=0, le=1, json_schema_extra=HIGHER)
    median_multiple: Decimal = Field(Decimal(3), ge=1, le=100, json_schema_extra=HIGHER)
    absolute_cap: Literal["off"] | Annotated[Decimal, Field(gt=0, le=1_000_000_000)] = Field("off", json_schema_extra=HIGHER)

    def largest(self, subject: Subject) -> Decimal:
        """The largest amount that may be asked for."""
        most = self.max_request_fraction * subject.number("equity")
        recent = sorted(known(subject.snapshot.activity, "activity").recent_notionals[:_ENOUGH])
        if len(recent) == _ENOUGH:
            most = max(most, self.median_multiple * (recent[_ENOUGH // 2 - 1] + recent[_ENOUGH // 2]) / 2)
        return most if self.absolute_cap == "off" else min(most, self.absolute_cap)

    def most(self, subject: Subject) -> Decimal:
        return self.largest(subject) / subject.number("price")

    def check(self, subject: Subject) -> Finding:
        asked, most = subject.proposal.amount, self.largest(subject)
        value, limit = decimal_text(asked), decimal_text(most)
        if asked > most:
            return Block("FAT_FINGER_NOTIONAL", f"{money(asked)} was asked for; more than {money(most)} is taken for an error", value, limit)
        return Pass(value, limit)
