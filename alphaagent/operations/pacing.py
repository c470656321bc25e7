"""How the models' money is shared out in a pass, so that who comes first leaves something to who comes after.

A debate reserves the most that it can cost, many times what it does cost as a rule. So nothing is set aside for a single debate: a portfolio has
a part of what is left of the day's ceiling, by how many of the debates ahead are its own, and its debates queue for it in a stated order. What it
leaves over falls to the portfolios after it.
"""

from datetime import date
from decimal import ROUND_DOWN, Decimal

from alphaagent.desk import Desk, daily_budget
from alphaagent.domain.base import decimal_text
from alphaagent.domain.spend import SpendLimit
from alphaagent.ports import Spending

MICRO = Decimal("0.000001")


def fair_share(left: Decimal, most: Decimal, mine: int, others: int) -> Decimal:
    """What the debates of one portfolio may take together: their part of what is left, by number; at least the most of one debate, if that is left."""
    if mine == 0:
        return Decimal(0)
    part = (left * mine / (mine + others)).quantize(MICRO, ROUND_DOWN)
    return max(Decimal(0), min(left, max(part, most)))


def limits_of_pass(desk: Desk, spending: Spending, portfolio: str, day: date, most: Decimal | None, mine: int, others: int) -> tuple[SpendLimit, ...]:
    """A portfolio's own budget, and its part of the ceiling in this pass; `others` are the debates ahead that are not its own."""
    file = desk.portfolio_files()[portfolio]
    own = () if file.daily_spend_usd is None else (daily_budget(portfolio, file.daily_spend_usd),)
    if desk.daily_spend is None or most is None:
        return own
    total, spent = spending.spent_on(day), spending.spent_on(day, portfolio)
    left = desk.daily_spend - total.booked - total.reserved
    upto = spent.booked + spent.reserved + fair_share(left, most, mine, others)
    fix = f"raise ALPHAAGENT_DAILY_SPEND_USD, or put fewer names on the watchlists; {others} debates of others were ahead, and {mine} of {portfolio}"
    return (*own, SpendLimit(f"the part of {portfolio} in this pass, up to a total", Decimal(decimal_text(upto)), fix))
