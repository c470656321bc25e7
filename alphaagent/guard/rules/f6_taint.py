"""F6: nothing is bought on evidence that tries to steer its reader."""

from alphaagent.guard.rule import AT_DECISION, Block, Finding, Need, Pass, Rule, Subject, known

_NAMED = 3


class Taint(Rule):
    """Evidence that was counted or relied on and had hidden text, a lookalike of the name, encoded text or words like instructions in it."""

    id = "F6"
    stage = "F"
    title = "Tainted evidence"
    why = "Planted headlines on one day in 14 months cost published agents up to 17.7 points a year (OWASP LLM01)."
    codes = ("TAINTED_EVIDENCE",)
    opening_only = True
    stages = AT_DECISION
    needs = (Need("tainted", stages=AT_DECISION),)

    def check(self, subject: Subject) -> Finding:
        tainted = known(subject.snapshot.tainted, "tainted")
        if not tainted:
            return Pass("0", "0")
        named = ", ".join(tainted[:_NAMED]) + (", …" if len(tainted) > _NAMED else "")
        return Block("TAINTED_EVIDENCE", f"tainted evidence was counted or relied on: {named}", str(len(tainted)), "0")
