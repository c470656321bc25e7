"""I1: an order worth making. A SELL only has to be of something."""

from decimal import Decimal

from pydantic import Field

from alphaagent.domain.base import decimal_text
from alphaagent.guard.rule import LOWER, Block, Finding, Need, Pass, Rule, Subject, money


class MinimumSize(Rule):
    """At least one lot and a minimum notional for opening; more than nothing for reducing."""

    id = "I1"
    stage = "I"
    title = "Minimum size"
    why = "Dust costs more than it is worth, and rounds to a price of zero (LEAN 0.1%)."
    codes = ("TOO_SMALL",)
    needs = (Need("price", opening_only=True), Need("equity", opening_only=True))

    min_notional: Decimal = Field(Decimal(10), ge=1, le=100_000, json_schema_extra=LOWER)
    min_equity_fraction: Decimal = Field(Decimal("0.001"), gt=0, le=Decimal("0.05"), json_schema_extra=LOWER)

    def minimum(self, subject: Subject) -> Decimal:
        """The least notional of an opening order."""
        return max(self.min_notional, self.min_equity_fraction * subject.number("equity"))

    def check(self, subject: Subject) -> Finding:
        return self._opening(subject) if subject.opening else self._reducing(subject)

    @staticmethod
    def _reducing(subject: Subject) -> Finding:
        value = decimal_text(subject.out)
        if subject.out > 0:
            return Pass(value, "0.0")
        return Block("TOO_SMALL", "the amount is less than one lot", value, decimal_text(subject.lot))

    def _opening(self, subject: Subject) -> Finding:
        notional, minimum = subject.out * subject.number("price"), self.minimum(subject)
        value, limit = decimal_text(notional), decimal_text(minimum)
        if subject.out < subject.lot:
            return Block("TOO_SMALL", "less than one lot is left to buy", value, limit)
        if notional < minimum:
            return Block("TOO_SMALL", f"{money(notional)} is left to buy; the least is {money(minimum)}", value, limit)
        return Pass(value, limit)
