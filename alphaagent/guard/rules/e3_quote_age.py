"""E3: the price is of the right session. Live quotes have no age yet in the snapshot, so live mode is refused here."""

from alphaagent.guard.rule import Block, Finding, MissingField, Need, Pass, Rule, Subject, known


class QuoteAge(Rule):
    """At the decision the bar is the last completed session's; at settlement it is the fill session's."""

    id = "E3"
    stage = "E"
    title = "Quote age"
    why = "A stale price, or an average cost passed off as one, sizes every order wrongly (LEAN only warns)."
    codes = ("QUOTE_STALE",)
    needs = (
        Need("bar_session", modes=("eod",)),
        Need("last_completed_session", stages=("decide", "approve"), modes=("eod",)),
        Need("fill_session", stages=("settle",), modes=("eod",)),
    )

    def check(self, subject: Subject) -> Finding:
        snapshot = subject.snapshot
        if snapshot.mode == "live":
            raise MissingField("quote_age_seconds")
        bar = known(snapshot.bar_session, "bar_session").isoformat()
        field = "fill_session" if snapshot.stage == "settle" else "last_completed_session"
        due = known(getattr(snapshot, field), field).isoformat()
        if bar == due:
            return Pass(bar, due)
        return Block("QUOTE_STALE", f"the price is of session {bar}; it must be of {due}", bar, due)
