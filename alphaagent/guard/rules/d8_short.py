"""D8: the book is long only."""

from typing import Literal

from pydantic import Field

from alphaagent.domain.base import decimal_text
from alphaagent.guard.rule import HIGHER, Block, Finding, Need, NotApplicable, Pass, Rule, Subject
from alphaagent.guard.rules.h11_held import HeldCap


class ShortSale(Rule):
    """What would be left once the cut of H11 is made. Short selling is not supported: `allow_short` can only be false."""

    id = "D8"
    stage = "D"
    title = "Short sale"
    why = "A short position has no largest loss, and nothing here borrows shares."
    codes = ("SHORT_NOT_ALLOWED",)
    needs = (Need("held"), Need("pending_sell"))

    allow_short: Literal[False] = Field(False, json_schema_extra=HIGHER)

    def check(self, subject: Subject) -> Finding:
        if subject.opening:
            return NotApplicable("a BUY opens no short position")
        left = subject.number("held") - min(subject.quantity, subject.rule(HeldCap).cap(subject))
        if left < 0:
            return Block("SHORT_NOT_ALLOWED", "the sale would leave a short position, which is not supported", decimal_text(left), "0.0")
        return Pass(decimal_text(left), "0.0")
