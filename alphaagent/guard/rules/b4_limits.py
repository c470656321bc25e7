"""B4: the limits in force are within their hard bounds and are the ones on file."""

from alphaagent.guard.rule import Block, Finding, Need, Pass, Rule, Subject


class Limits(Rule):
    """The mandate's own hash must be the hash that the books hold for the portfolio."""

    id = "B4"
    stage = "B"
    title = "Limits on file"
    why = "A limits file edited during a run must not loosen an order that is in flight."
    codes = ("LIMITS_INVALID",)
    needs = (Need("approved_limits_hash"),)

    def check(self, subject: Subject) -> Finding:
        approved = subject.snapshot.approved_limits_hash
        if subject.limits_fault is not None:
            return Block("LIMITS_INVALID", f"the mandate does not hold up: {subject.limits_fault}", subject.limits_hash, approved)
        if subject.limits_hash != approved:
            return Block("LIMITS_INVALID", "the mandate in force is not the one on file for this portfolio", subject.limits_hash, approved)
        return Pass(subject.limits_hash, approved)
