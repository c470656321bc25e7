"""I3: every cap of stage H is asked again about the quantity that is about to be approved."""

from alphaagent.domain.base import decimal_text
from alphaagent.guard.rule import Block, CapRule, Finding, NotApplicable, Pass, Rule, Subject


class PostCheck(Rule):
    """A cap that the final quantity breaches means that clipping went wrong."""

    id = "I3"
    stage = "I"
    title = "Post-trade check"
    why = "The clip divides and rounds; this multiplies. Both must agree before anything is approved."
    codes = ("POSTCHECK",)
    opening_only = True

    def check(self, subject: Subject) -> Finding:
        if subject.out == 0:
            return NotApplicable("nothing is left to buy")
        caps = [rule for rule in subject.rules if isinstance(rule, CapRule) and rule.skipped(subject) is None and rule.binds(subject)]
        breached = [rule.id for rule in caps if not rule.allows(subject, subject.out)]
        value = decimal_text(subject.out)
        if breached:
            return Block("POSTCHECK", f"the clipped order still breaches {', '.join(breached)}", value)
        return Pass(value)
