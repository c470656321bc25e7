"""G3: asking again and again until the answer is a purchase."""

from pydantic import Field

from alphaagent.guard.rule import AT_DECISION, HIGHER, Block, Finding, Need, NotApplicable, Pass, Rule, Subject, known


class Repeats(Rule):
    """Proposals on this instrument in this session that no schedule asked for, this one included."""

    id = "G3"
    stage = "G"
    title = "Repeats"
    why = "A model that is asked often enough says yes once; a schedule asks once by itself."
    codes = ("RATE",)
    opening_only = True
    stages = AT_DECISION
    needs = (Need("activity", stages=AT_DECISION), Need("scheduled", stages=AT_DECISION))

    max_proposals: int = Field(3, ge=1, le=50, json_schema_extra=HIGHER)

    def check(self, subject: Subject) -> Finding:
        if known(subject.snapshot.scheduled, "scheduled"):
            return NotApplicable("a schedule asked")
        asked = known(subject.snapshot.activity, "activity").ticker_proposals + 1
        if asked > self.max_proposals:
            reason = f"this is proposal {asked} on this instrument in this session; the limit is {self.max_proposals}"
            return Block("RATE", reason, str(asked), str(self.max_proposals))
        return Pass(str(asked), str(self.max_proposals))
