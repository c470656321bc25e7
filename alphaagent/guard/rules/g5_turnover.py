"""G5: how much a portfolio may open in one session. What is left of it is H12's."""

from decimal import Decimal

from pydantic import Field

from alphaagent.domain.base import decimal_text
from alphaagent.guard.rule import AT_DECISION, HIGHER, Block, Finding, Need, Pass, Rule, Subject, known, money


class Turnover(Rule):
    """Notional of the session's opening orders as a fraction of NAV; blocks where nothing is left."""

    id = "G5"
    stage = "G"
    title = "Turnover a session"
    why = "Many orders, each within its cap, add up; this bounds what a hostile model can open in a day (SEC 15c3-5)."
    codes = ("TURNOVER",)
    opening_only = True
    stages = AT_DECISION
    needs = (Need("activity", stages=AT_DECISION), Need("equity", stages=AT_DECISION))

    max_turnover_fraction: Decimal = Field(Decimal("0.25"), gt=0, le=1, json_schema_extra=HIGHER)

    def spent(self, subject: Subject) -> Decimal:
        """Notional of the opening orders that this session has already."""
        return known(known(subject.snapshot.activity, "activity").turnover, "activity")

    def most(self, subject: Subject) -> Decimal:
        """Notional that the session may open in all."""
        return self.max_turnover_fraction * subject.number("equity")

    def check(self, subject: Subject) -> Finding:
        spent, most = self.spent(subject), self.most(subject)
        value, limit = decimal_text(spent), decimal_text(most)
        if spent >= most:
            return Block("TURNOVER", f"this session has opened {money(spent)} already; the limit is {money(most)}", value, limit)
        return Pass(value, limit)
