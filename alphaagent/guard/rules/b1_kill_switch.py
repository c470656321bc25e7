"""B1: the kill switch. A state that is missing or cannot be read is HALTED."""

from alphaagent.domain.proposal import Action
from alphaagent.guard.rule import Block, Finding, Pass, Rule, Subject


class KillSwitch(Rule):
    """HALTED stops everything; REDUCING stops what opens or adds."""

    id = "B1"
    stage = "B"
    title = "Kill switch"
    why = "An operator must be able to stop a running system, and losing the switch must not start it (ACTIVE/REDUCING/HALTED as in Nautilus)."
    codes = ("KILL_HALTED", "KILL_REDUCING")

    def check(self, subject: Subject) -> Finding:
        state = subject.snapshot.control_state
        said_by = ", ".join(subject.snapshot.control_sources) or "no source named"
        if state == "ACTIVE" or (state == "REDUCING" and subject.proposal.action is not Action.BUY):
            return Pass(state, "ACTIVE")
        if state == "REDUCING":
            return Block("KILL_REDUCING", f"only orders that reduce are allowed ({said_by})", state, "ACTIVE")
        reason = f"the system is halted ({said_by})" if state == "HALTED" else "the kill switch could not be read, which counts as halted"
        return Block("KILL_HALTED", reason, state, "ACTIVE")
