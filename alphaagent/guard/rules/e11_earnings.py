"""E11: nothing is opened shortly before earnings, where the mandate says how shortly."""

from pydantic import Field

from alphaagent.domain.market import WITHOUT_EARNINGS
from alphaagent.guard.rule import AT_DECISION, LOWER, Block, Finding, NotApplicable, NotConfigured, Pass, Rule, Subject, known


class EarningsBlackout(Rule):
    """Sessions from the last completed one to the next stated earnings. Where a mandate asks, a date that is not known blocks.

    An order fills in the first session after its decision or not at all, so that the decision fixes the distance and settlement asks no more.
    """

    id = "E11"
    stage = "E"
    title = "Earnings blackout"
    why = "On the day of its earnings a share moves several times as far as on others; whoever buys right before them has bought the announcement."
    codes = ("EARNINGS_BLACKOUT", "EARNINGS_UNKNOWN")
    since = "4"
    opening_only = True
    stages = AT_DECISION

    sessions: int = Field(0, ge=0, le=20, json_schema_extra=LOWER)

    def check(self, subject: Subject) -> Finding:
        if self.sessions == 0:
            return NotConfigured("the mandate sets no blackout before earnings")
        if known(subject.snapshot.instrument_kind, "instrument_kind") in WITHOUT_EARNINGS:
            return NotApplicable("a fund reports no earnings of its own")
        ahead, doubt, limit = subject.snapshot.earnings_in_sessions, subject.snapshot.earnings_unknown, str(self.sessions)
        if ahead is not None and ahead <= self.sessions:
            return Block("EARNINGS_BLACKOUT", f"earnings are due in {ahead} sessions; nothing is opened within {limit} before them", str(ahead), limit)
        if ahead is None or doubt is not None:
            reason = f"when earnings are due is not known: {doubt or 'nothing here supplies dates ahead'}; the mandate opens nothing within {limit} sessions"
            return Block("EARNINGS_UNKNOWN", reason, None if ahead is None else str(ahead), limit)
        return Pass(str(ahead), limit)
