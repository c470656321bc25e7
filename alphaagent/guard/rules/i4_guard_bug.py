"""I4: the guard checks itself. What fails here is a bug and stops the system."""

from alphaagent.domain.base import decimal_text
from alphaagent.guard.rule import Block, Finding, Pass, Rule, Subject


class GuardBug(Rule):
    """The guard may cut an order; it may never enlarge it, turn it round or make it negative."""

    id = "I4"
    stage = "I"
    title = "Guard bug"
    why = "A guard that enlarges an order is worse than none."
    codes = ("GUARD_BUG",)

    def check(self, subject: Subject) -> Finding:
        value, limit = decimal_text(subject.out), decimal_text(subject.quantity)
        if subject.side != subject.proposal.action.value:
            return Block("GUARD_BUG", "the side of the order changed in the guard", value, limit, halt=True)
        if not 0 <= subject.out <= subject.quantity:
            return Block("GUARD_BUG", "the quantity grew or became negative in the guard", value, limit, halt=True)
        return Pass(value, limit)
