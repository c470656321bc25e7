"""The panel's probability and the debate's, put together.

Chosen on purpose: the debate moves the result only where its gap closed because somebody gave way; otherwise its weight is 0 and the
blend is shown beside the result, not used. No panel is None, and 0 is a probability like any other.
"""

from decimal import Decimal

from alphaagent.debate.flags import DebateClass
from alphaagent.domain.base import Frozen


class Blend(Frozen):
    """All parts of the final probability, always stored together; `gap` is the last one."""

    p_agg: Decimal | None
    p_mid: Decimal
    gap: Decimal
    weight: Decimal
    weight_used: Decimal
    p_blend: Decimal
    p_final: Decimal
    anchored: bool
    """False without a panel: the middle of the debate then stands alone."""


def blend(p_agg: Decimal | None, p_mid: Decimal, gap: Decimal, of_class: DebateClass, weight: Decimal) -> Blend:
    """The final probability and what it was made of."""
    used = weight if of_class == "earned" else Decimal(0)
    anchor = p_mid if p_agg is None else p_agg
    return Blend(
        p_agg=p_agg,
        p_mid=p_mid,
        gap=gap,
        weight=weight,
        weight_used=used,
        p_blend=_mixed(anchor, p_mid, weight),
        p_final=_mixed(anchor, p_mid, used),
        anchored=p_agg is not None,
    )


def _mixed(anchor: Decimal, p_mid: Decimal, weight: Decimal) -> Decimal:
    return (1 - weight) * anchor + weight * p_mid
