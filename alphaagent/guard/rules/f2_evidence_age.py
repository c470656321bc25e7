"""F2: there is evidence, and it is recent."""

from pydantic import Field

from alphaagent.guard.rule import AT_DECISION, HIGHER, LOWER, Block, Finding, Need, Pass, Rule, Subject, known


class EvidenceAge(Rule):
    """How much usable evidence there is and how many sessions old the newest of it is."""

    id = "F2"
    stage = "F"
    title = "Evidence age"
    why = "An engine argues as fluently from last month's figures as from today's."
    codes = ("EVIDENCE_STALE",)
    opening_only = True
    stages = AT_DECISION
    needs = (Need("evidence_count", stages=AT_DECISION), Need("evidence_age_sessions", stages=AT_DECISION))

    max_age_sessions: int = Field(3, ge=0, le=20, json_schema_extra=HIGHER)
    min_items: int = Field(1, ge=1, le=100, json_schema_extra=LOWER)

    def check(self, subject: Subject) -> Finding:
        count, age = known(subject.snapshot.evidence_count, "evidence_count"), known(subject.snapshot.evidence_age_sessions, "evidence_age_sessions")
        value, limit = str(age), str(self.max_age_sessions)
        if count < self.min_items:
            return Block("EVIDENCE_STALE", f"there are {count} usable items of evidence; the least is {self.min_items}", value, limit)
        if age > self.max_age_sessions:
            return Block("EVIDENCE_STALE", f"the newest evidence is {age} sessions old; the limit is {self.max_age_sessions}", value, limit)
        return Pass(value, limit)
