"""H3: a number of shares where money is meant."""

from decimal import Decimal

from alphaagent.domain.base import decimal_text
from alphaagent.guard.rule import AT_DECISION, Block, Finding, Need, Pass, RequestRule, Subject

_CENT = Decimal("0.01")


class UnitConfusion(RequestRule):
    """The amount equals, to the cent, the shares that are held, or the shares that the budget would buy."""

    id = "H3"
    stage = "H"
    title = "Unit confusion"
    why = "A model that read 500 dollars as 500 shares was off by the price; such an amount is no coincidence."
    codes = ("UNIT_SUSPECT",)
    needs = (Need("price", stages=AT_DECISION), Need("held", stages=AT_DECISION), Need("budget", stages=AT_DECISION))

    def check(self, subject: Subject) -> Finding:
        amount, held = subject.proposal.amount.quantize(_CENT), subject.number("held")
        affordable = (subject.number("budget") / subject.number("price")).quantize(_CENT)
        value = decimal_text(amount)
        if amount > 0 and amount == held.quantize(_CENT):
            return Block("UNIT_SUSPECT", "the amount is the number of shares held; it must be money", value)
        if amount > 0 and amount == affordable:
            return Block("UNIT_SUSPECT", "the amount is the number of shares that the budget buys; it must be money", value)
        return Pass(value)
