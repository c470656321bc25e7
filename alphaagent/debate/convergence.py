"""How much of what was contested was settled by somebody giving way.

Chosen on purpose: only states count, never how alike two texts are, and never a lapse. Nothing contested is no convergence: the share of
nothing is None. Numerator and denominator always go with a share.
"""

from collections.abc import Iterable
from decimal import Decimal

from alphaagent.debate.rows import ClaimState, Ledger
from alphaagent.domain.argument import Severity
from alphaagent.domain.base import Frozen

WEIGHTS: dict[Severity, int] = {"high": 3, "med": 2, "low": 1}


class Share(Frozen):
    """A part of a whole, both counted."""

    part: int
    whole: int

    @property
    def value(self) -> Decimal | None:
        """From 0 to 1 at 1e-6; None where the whole is nothing."""
        return None if self.whole == 0 else round(Decimal(self.part) / self.whole, 6)


class Convergence(Frozen):
    """What was settled, of what was contested and of everything."""

    contested: Share
    """K: claims with at least one objection, of all claims."""
    settled: Share
    """C: contested claims whose every objection was closed by concession or acceptance, of the contested ones."""
    settled_weighted: Share
    """C_w: the same by severity, 3, 2 and 1."""
    settled_of_all: Share
    """C_all: the same of all claims; for comparison with others only."""

    @property
    def converged(self) -> bool:
        """Whether everything contested was settled; a debate that is not is disputed, which is a result of its own."""
        return self.settled.value == 1


def convergence(ledger: Ledger) -> Convergence:
    """The shares after a debate."""
    contested = [claim for claim in ledger.claims if _rows_closed(ledger, claim)]
    settled = [claim for claim in contested if all(_rows_closed(ledger, claim))]
    return Convergence(
        contested=Share(part=len(contested), whole=len(ledger.claims)),
        settled=Share(part=len(settled), whole=len(contested)),
        settled_weighted=Share(part=_weight(settled), whole=_weight(contested)),
        settled_of_all=Share(part=len(settled), whole=len(ledger.claims)),
    )


def _rows_closed(ledger: Ledger, claim: ClaimState) -> list[bool]:
    return [row.closed_by in ("concession", "acceptance") for row in ledger.rows if row.claim_id == claim.id]


def _weight(claims: Iterable[ClaimState]) -> int:
    return sum(WEIGHTS[claim.claim.severity] for claim in claims)
