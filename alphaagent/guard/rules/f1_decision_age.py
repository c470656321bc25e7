"""F1: an order fills in the first session after its decision."""

from alphaagent.domain.base import instant_text
from alphaagent.domain.ruling import Stage
from alphaagent.guard.rule import Block, Finding, Need, Pass, Rule, Subject, known

_SETTLE: tuple[Stage, ...] = ("settle",)


class DecisionAge(Rule):
    """Another session than the first after the decision, or a decision that lies in the future."""

    id = "F1"
    stage = "F"
    title = "Decision age"
    why = "What was decided on Monday's evidence is not meant for Thursday's price."
    codes = ("DECISION_STALE",)
    needs = (Need("decided_at"), Need("due_session", stages=_SETTLE), Need("fill_session", stages=_SETTLE))

    def check(self, subject: Subject) -> Finding:
        decided_at = known(subject.snapshot.decided_at, "decided_at")
        if decided_at > subject.now:
            return Block("DECISION_STALE", "the decision lies in the future", instant_text(decided_at), instant_text(subject.now))
        if subject.snapshot.stage != "settle":
            return Pass(instant_text(decided_at), instant_text(subject.now))
        fills = known(subject.snapshot.fill_session, "fill_session").isoformat()
        due = known(subject.snapshot.due_session, "due_session").isoformat()
        return Pass(fills, due) if fills == due else Block("DECISION_STALE", f"the order was due in session {due} and would fill in {fills}", fills, due)
