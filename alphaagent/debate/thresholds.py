"""The numbers that the debate's rules use; starting values, which the evaluation of the protocol tunes.

`carries` is the one switch among them: `permissive` takes a carried objection without a reason or a condition, which is how a debate turns
into theatre, and exists so that its effect can be measured.
"""

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from alphaagent.domain.base import Frozen

Fraction = Annotated[Decimal, Field(ge=0, le=1, decimal_places=12)]
Count = Annotated[int, Field(strict=True, ge=1, le=1000)]


class Thresholds(Frozen):
    """Bounds and margins in force in one debate. Probabilities, shares and similarities are Decimal from 0 to 1."""

    min_disagreement: Fraction = Decimal("0.05")
    """Openings, or a panel, closer than this need no exchange."""
    theta: Fraction = Decimal("0.05")
    """A gap strictly under it may be a consensus."""
    kappa: Fraction = Decimal("0.05")
    """A gap that changed by more than it has closed or widened."""
    closing_share: Fraction = Decimal("0.75")
    """A side that moved at least this share of what closed the gap closed it."""
    consensus_from_round: Count = 3
    max_claims: Count = 6
    max_objections: Count = 4
    """In one turn."""
    max_objections_per_claim: Count = 2
    """By one side, over the whole debate."""
    max_carries: Count = 2
    """Of one objection."""
    carries: Literal["strict", "permissive"] = "strict"
    similarity: Fraction = Decimal("0.9")
    """From here on two texts count as the same."""
    min_reason_characters: Annotated[int, Field(strict=True, ge=0, le=2000)] = 40
    p_up_step: Fraction = Decimal("0.01")
    """From here on a probability has moved."""
    capitulation: Fraction = Decimal("0.8")
    min_addressed: Count = 2
    """Fewer objections than this are no capitulation."""
    loop_share: Fraction = Decimal("0.6")
    """Of all moves on one claim, above which the debate goes round in circles."""
    loop_moves: Count = 3
    """Fewer moves than this are no circle."""
    effort_ratio: Count = 5
    """Claims of one side to one of the other, above which the effort is unequal."""
    repeated_sentences: Count = 3
    earned_convergence: Fraction = Decimal("0.5")
    blend_weight: Fraction = Decimal("0.3")
