"""G4: time between two orders of one instrument."""

from datetime import timedelta

from pydantic import Field

from alphaagent.guard.rule import AT_DECISION, LOWER, Block, Finding, Need, Pass, Rule, Subject, known


class Cooldown(Rule):
    """Minutes since the last order to buy it, and sessions since the last one to sell it. Derived from orders: what failed claims nothing."""

    id = "G4"
    stage = "G"
    title = "Cooldown"
    why = "Buying back what was just sold pays the spread twice for one change of mind (freqtrade CooldownPeriod)."
    codes = ("COOLDOWN",)
    opening_only = True
    stages = AT_DECISION
    needs = (Need("activity", stages=AT_DECISION), Need("decided_at", stages=AT_DECISION))

    same_side_minutes: int = Field(60, ge=1, le=10_080, json_schema_extra=LOWER)
    opposite_side_sessions: int = Field(1, ge=1, le=60, json_schema_extra=LOWER)

    def check(self, subject: Subject) -> Finding:
        snapshot = subject.snapshot
        last_buy, decided_at = known(snapshot.activity, "activity").last_buy_at, known(snapshot.decided_at, "decided_at")
        since = snapshot.sessions_since_sell
        if since is not None and since < self.opposite_side_sessions:
            reason = f"it was sold {since} sessions ago; the least is {self.opposite_side_sessions}"
            return Block("COOLDOWN", reason, str(since), str(self.opposite_side_sessions))
        if last_buy is None:
            return Pass(None, str(self.same_side_minutes))
        minutes = (decided_at - last_buy) // timedelta(minutes=1)
        value, limit = str(minutes), str(self.same_side_minutes)
        if minutes < self.same_side_minutes:
            return Block("COOLDOWN", f"it was bought {minutes} minutes ago; the least is {limit}", value, limit)
        return Pass(value, limit)
