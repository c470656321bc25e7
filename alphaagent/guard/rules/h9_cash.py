"""H9: a BUY is paid from settled cash that is not promised elsewhere, above a buffer."""

from decimal import Decimal

from pydantic import Field

from alphaagent.guard.rule import LOWER, ZERO, CapRule, Need, Subject, money


class CashCap(CapRule):
    """Cost with slippage and fee against settled cash less the buffer and less what other pending orders reserve."""

    id = "H9"
    stage = "H"
    title = "Cash"
    why = "Fills are worse than the quote; the buffer keeps a gap from becoming a debt (freqtrade 1%, LEAN 0.25%)."
    codes = ("CLIP_CASH",)
    opening_only = True
    needs = (Need("price"), Need("equity"), Need("settled_cash"), Need("reserved_cash"))

    cash_buffer_fraction: Decimal = Field(Decimal("0.02"), ge=Decimal("0.001"), le=Decimal("0.5"), json_schema_extra=LOWER)
    slippage_fraction: Decimal = Field(Decimal("0.0025"), gt=0, le=Decimal("0.05"), json_schema_extra=LOWER)
    fee_per_order: Decimal = Field(Decimal(0), ge=0, le=1000, json_schema_extra=LOWER)

    def use(self, subject: Subject, quantity: Decimal) -> Decimal:
        return self.cost(quantity, subject.number("price"))

    def cost(self, quantity: Decimal, price: Decimal) -> Decimal:
        """What a BUY may come to, in the portfolio's currency: price with slippage, and the fee."""
        return quantity * price * (1 + self.slippage_fraction) + self.fee_per_order

    def limit(self, subject: Subject) -> Decimal:
        return subject.number("settled_cash") - subject.number("reserved_cash") - self.cash_buffer_fraction * subject.number("equity")

    def words(self, subject: Subject, used: Decimal) -> str:
        free = money(max(ZERO, self.limit(subject)))
        return f"the order would cost {money(used)} with slippage and fee; {free} of settled cash is free above the buffer"
