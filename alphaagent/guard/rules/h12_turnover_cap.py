"""H12: what is left of the session's turnover."""

from decimal import Decimal

from alphaagent.guard.rule import AT_DECISION, CapRule, Need, Subject, money
from alphaagent.guard.rules.g5_turnover import Turnover


class TurnoverCap(CapRule):
    """This order and the session's opening orders before it, against the limit of G5."""

    id = "H12"
    stage = "H"
    title = "Turnover left"
    why = "The last order of a session is cut to what the session has left, so that the sum is exact."
    codes = ("CLIP_TURNOVER",)
    opening_only = True
    stages = AT_DECISION
    needs = (Need("price", stages=AT_DECISION), Need("equity", stages=AT_DECISION), Need("activity", stages=AT_DECISION))

    def use(self, subject: Subject, quantity: Decimal) -> Decimal:
        return subject.rule(Turnover).spent(subject) + quantity * subject.number("price")

    def limit(self, subject: Subject) -> Decimal:
        return subject.rule(Turnover).most(subject)

    def words(self, subject: Subject, used: Decimal) -> str:
        return f"this session would open {money(used)} in all; the limit is {money(self.limit(subject))}"
