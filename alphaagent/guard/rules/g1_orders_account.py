"""G1: how many orders a portfolio may make in a session, counted apart for opening and reducing."""

from pydantic import Field

from alphaagent.guard.rule import AT_DECISION, HIGHER, Block, Finding, Need, Pass, Rule, Subject, known


class AccountOrders(Rule):
    """Orders of this session that wait or were filled; what reduces has a quota of its own, so that buying cannot use it up."""

    id = "G1"
    stage = "G"
    title = "Orders a session"
    why = "A loop that has run away is stopped by its count, whatever each order looks like (zipline max_order_count)."
    codes = ("MAX_ORDERS_DAY",)
    stages = AT_DECISION
    needs = (Need("activity", stages=AT_DECISION),)

    max_opening: int = Field(20, ge=1, le=500, json_schema_extra=HIGHER)
    max_reducing: int = Field(20, ge=1, le=500, json_schema_extra=HIGHER)

    def check(self, subject: Subject) -> Finding:
        activity = known(subject.snapshot.activity, "activity")
        kind, made, most = ("opening", activity.opening_orders, self.max_opening)
        if not subject.opening:
            kind, made, most = ("reducing", activity.reducing_orders, self.max_reducing)
        if made >= most:
            return Block("MAX_ORDERS_DAY", f"this session has {made} {kind} orders already; the limit is {most}", str(made), str(most))
        return Pass(str(made), str(most))
