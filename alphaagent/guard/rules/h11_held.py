"""H11: nothing is sold that is not held, or that is being sold already."""

from decimal import Decimal

from alphaagent.domain.base import decimal_text
from alphaagent.domain.ruling import Stage
from alphaagent.guard.rule import Block, CapRule, Finding, Need, Subject

_ORDERED: tuple[Stage, ...] = ("settle", "approve")


class HeldCap(CapRule):
    """A SELL above what is free is cut to it; one of nothing at all is a false belief and blocks."""

    id = "H11"
    stage = "H"
    title = "Oversell"
    why = "Selling shares that are not there books a profit that never was; pending sells count (Nautilus)."
    codes = ("CLIP_HELD", "OVERSELL")
    needs = (Need("held"), Need("pending_sell"), Need("quantity", stages=_ORDERED), Need("close_all", stages=_ORDERED))

    def binds(self, subject: Subject) -> bool:
        return not subject.opening

    def use(self, subject: Subject, quantity: Decimal) -> Decimal:
        return subject.number("pending_sell") + quantity

    def limit(self, subject: Subject) -> Decimal:
        return subject.number("held")

    def words(self, subject: Subject, used: Decimal) -> str:
        return f"{decimal_text(used)} shares would be sold, pending sales included; {decimal_text(self.limit(subject))} are held"

    def check(self, subject: Subject) -> Finding:
        if self.binds(subject) and self.cap(subject) == 0:
            asked, held = decimal_text(subject.quantity), decimal_text(self.limit(subject))
            return Block("OVERSELL", "nothing is held that is not being sold already", asked, held)
        return super().check(subject)
