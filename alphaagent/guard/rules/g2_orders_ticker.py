"""G2: how many orders one instrument may have in a session."""

from pydantic import Field

from alphaagent.guard.rule import AT_DECISION, HIGHER, Block, Finding, Need, Pass, Rule, Subject, known


class TickerOrders(Rule):
    """Orders of this session for this instrument, of either side, that wait or were filled."""

    id = "G2"
    stage = "G"
    title = "Orders a ticker"
    why = "One session gives one name one view; a third order is churn."
    codes = ("MAX_ORDERS_TICKER",)
    opening_only = True
    stages = AT_DECISION
    needs = (Need("activity", stages=AT_DECISION),)

    max_orders: int = Field(2, ge=1, le=50, json_schema_extra=HIGHER)

    def check(self, subject: Subject) -> Finding:
        made = len(known(subject.snapshot.activity, "activity").ticker_orders)
        if made >= self.max_orders:
            return Block(
                "MAX_ORDERS_TICKER",
                f"this session has {made} orders of this instrument already; the limit is {self.max_orders}",
                str(made),
                str(self.max_orders),
            )
        return Pass(str(made), str(self.max_orders))
