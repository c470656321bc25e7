"""Everything that one side's turn is judged by: what it has seen, what it owes, and what it said before.

Chosen on purpose: it is made from the turns that the side has read, so an answer is never held against something it could not know. To
cite what a side was never shown ends the debate: ids cannot be guessed, so it can only have leaked.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from alphaagent.debate.assertions import observables, verdict
from alphaagent.debate.hit_ledger import ledger
from alphaagent.debate.likeness import likeness
from alphaagent.debate.rows import Ledger, LedgerRow
from alphaagent.debate.sight import Evidence, Sight, claim_ids, point_fault, visible_evidence
from alphaagent.debate.thresholds import Thresholds
from alphaagent.debate.turns import last_p_up
from alphaagent.domain.argument import Claim, Debater, Objection, Part, PointFault, Resolution, Turn
from alphaagent.errors import DebateFault


@dataclass(frozen=True, slots=True)
class Floor:
    """The floor as one side finds it when it is its turn to speak."""

    side: Debater
    ledger: Ledger
    sight: Sight
    p_before: Decimal | None
    observables: frozenset[str]
    """What a condition may name."""
    thresholds: Thresholds
    mentioned: frozenset[str] = frozenset()
    """Ids of evidence that stand in what the side was shown, in whatever place; to repeat one of them betrays no leak."""

    def same(self, one: str, other: str) -> bool:
        """Whether two texts count as the same."""
        return likeness(one, other) >= self.thresholds.similarity

    def too_short(self, reason: str) -> bool:
        """Whether a reason is none."""
        return len(reason.strip()) < self.thresholds.min_reason_characters

    def citation_faults(self, part: Part, index: int, ids: Iterable[str]) -> list[PointFault]:
        """The ids that may not be cited. DebateFault with ISOLATION_VIOLATION on one that the side was never shown."""
        faults = list(self.sight.faults(part, index, ids))
        for fault in faults:
            if fault.code == "NOT_VISIBLE" and fault.subject not in self.mentioned:
                raise DebateFault("ISOLATION_VIOLATION", f"{self.side} cites {fault.subject}, which it was never shown")
        return faults

    def target(self, row: LedgerRow) -> Claim:
        """The claim that an objection is aimed at, as it stands."""
        return next(claim.claim for claim in self.ledger.claims if claim.id == row.claim_id)

    def objection(self, row: LedgerRow) -> Objection:
        """The objection of a row, as it was raised."""
        return next(placed.objection for placed in self.ledger.objections if placed.id == row.id)

    def used(self, row: LedgerRow) -> frozenset[str]:
        """What is no longer new on an objection for this side: the claim's own evidence and what the side has cited on it."""
        own = self.objection(row).evidence_ids if row.by == self.side else ()
        return frozenset((*claim_ids(self.target(row)), *own)) | row.cited_by(self.side)

    def novelty_faults(self, part: Part, index: int, row: LedgerRow, ids: Sequence[str], also: Iterable[str] = ()) -> list[PointFault]:
        """What keeps ids from being new evidence on an objection; `also` are not new and count all the same."""
        if not ids:
            return [point_fault(part, index, "NO_EVIDENCE", "this needs at least one evidence id", subject=row.id)]
        faults = self.citation_faults(part, index, ids)
        if faults or not set(ids) <= self.used(row) - set(also):
            return faults
        return [point_fault(part, index, "NOT_NEW_EVIDENCE", "cite evidence that neither the claim nor you have used on this objection", subject=row.id)]

    def condition_fault(self, condition: Resolution | None) -> str | None:
        """What is wrong with what would settle a point, in words; None where nothing is."""
        if condition is None:
            return 'say in "would_resolve_if" what would settle it'
        if condition.observable not in self.observables:
            return '"observable" must be one of those listed'
        if condition.by_date <= self.sight.as_of.date():
            return f'"by_date" must be after {self.sight.as_of.date()}'
        return None

    def must_concede(self) -> tuple[str, ...]:
        """The outstanding objections whose evidence shows the claim's number to be wrong: only a concession or new evidence will do."""
        return tuple(row.id for row in self.ledger.outstanding(self.side) if self._outmatched(row))

    def _outmatched(self, row: LedgerRow) -> bool:
        assertion = self.target(row).assertion
        if assertion is None or assertion.evidence_id not in self.objection(row).evidence_ids:
            return False
        return verdict(assertion, self.sight.known) == "contradicted"


def floor(side: Debater, read: Sequence[Turn], known: Evidence, as_of: datetime, thresholds: Thresholds) -> Floor:
    """The floor of a side that has read these turns and no others; `known` is all evidence of the debate."""
    visible = visible_evidence(side, known, read)
    return Floor(
        side=side,
        ledger=ledger(read),
        sight=Sight(visible, known, as_of),
        p_before=last_p_up(read, side),
        observables=observables(visible.values()),
        thresholds=thresholds,
    )
