"""What one debate would cost, over the evidence that it would be held on. Nobody is asked and nothing is written."""

from typing import TYPE_CHECKING

from alphaagent.bootstrap import Workplace
from alphaagent.desk import Ask
from alphaagent.pipeline import evidence_of

if TYPE_CHECKING:
    from alphaagent.estimating import Estimate


def estimated(workplace: Workplace, ask: Ask) -> "Estimate | None":
    """What one debate would cost; None where no model would take part."""
    matter, pack = evidence_of(workplace.desk, ask)
    if matter.request.plan is None or workplace.staff is None:
        return None
    from alphaagent.estimating import estimate

    return estimate(ask.ticker, workplace.staff, matter.request.plan, pack, workplace.desk.markers())
