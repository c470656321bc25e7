"""H10: a BUY waits for the proceeds of a sale to settle."""

from decimal import Decimal

from alphaagent.guard.rule import ZERO, CapRule, Need, Subject, money
from alphaagent.guard.rules.h9_cash import CashCap


class SettledCashCap(CapRule):
    """Where part of the cash has not settled: cost, as H9 reckons it, against settled cash less what other orders reserve."""

    id = "H10"
    stage = "H"
    title = "Settled cash"
    why = "US trades settle a day later; spending proceeds before that is a free-riding violation."
    codes = ("CLIP_UNSETTLED",)
    opening_only = True
    needs = (Need("cash"), Need("price"), Need("settled_cash"), Need("reserved_cash"))

    def binds(self, subject: Subject) -> bool:
        return subject.opening and subject.number("cash") > subject.number("settled_cash")

    def use(self, subject: Subject, quantity: Decimal) -> Decimal:
        return subject.rule(CashCap).cost(quantity, subject.number("price"))

    def limit(self, subject: Subject) -> Decimal:
        return subject.number("settled_cash") - subject.number("reserved_cash")

    def words(self, subject: Subject, used: Decimal) -> str:
        free, later = money(max(ZERO, self.limit(subject))), money(subject.number("cash") - subject.number("settled_cash"))
        return f"the order would cost {money(used)}; {free} of the cash is settled and free, {later} settles later"
