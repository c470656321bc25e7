"""What two sides still disagree on, and what would settle it.

Chosen on purpose: the positions are the sides' last words on the point, and a point without a condition says so; no sentence is made up
for it.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import Literal

from alphaagent.debate.assertions import holds, observed
from alphaagent.debate.hit_ledger import ledger
from alphaagent.debate.rows import Ledger, LedgerRow
from alphaagent.domain.argument import Conclusion, Debater, Resolution, Severity, Turn
from alphaagent.domain.base import Frozen
from alphaagent.domain.evidence import EvidenceItem


class Unresolved(Frozen):
    """One open point in both sides' words."""

    objection_id: str
    claim_id: str
    severity: Severity
    bull_position: str
    bear_position: str
    conditions: tuple[Resolution, ...]

    @property
    def without_condition(self) -> bool:
        """Whether nobody said what would settle it."""
        return not self.conditions


def unresolved(turns: Sequence[Turn]) -> tuple[Unresolved, ...]:
    """Every objection that is not closed, in the order in which they were raised."""
    book = ledger(turns)
    return tuple(_point(row, book, turns) for row in book.rows if row.closed_by is None)


def settle(condition: Resolution, items: Iterable[EvidenceItem], on: date) -> Literal["met", "missed", "open"]:
    """What the evidence of a later day says to a condition: met by its day, missed, or still open."""
    number = observed(condition.observable, items)
    if on <= condition.by_date and number is not None and holds(number, condition.operator, condition.threshold):
        return "met"
    return "open" if on <= condition.by_date else "missed"


def _point(row: LedgerRow, book: Ledger, turns: Sequence[Turn]) -> Unresolved:
    raised = next(placed.objection for placed in book.objections if placed.id == row.id)
    text = next(claim.claim.text for claim in book.claims if claim.id == row.claim_id)
    words = {row.by: _last_word(row, row.by) or raised.argument, row.against: _last_word(row, row.against) or text}
    conditions = dict.fromkeys([*(event.condition for event in row.moves("CARRIED")[-1:] if event.condition), *_concluded(row.id, turns)])
    return Unresolved(
        objection_id=row.id,
        claim_id=row.claim_id,
        severity=raised.severity,
        bull_position=words["bull"],
        bear_position=words["bear"],
        conditions=tuple(conditions),
    )


def _last_word(row: LedgerRow, side: Debater) -> str | None:
    return next((event.reason for event in reversed(row.history) if event.side == side and event.valid and event.reason), None)


def _concluded(objection_id: str, turns: Sequence[Turn]) -> Iterator[Resolution]:
    for turn in turns:
        if isinstance(turn.answer, Conclusion):
            faulty = turn.faulty("would_resolve_if")
            given = enumerate(turn.answer.would_resolve_if)
            yield from (point.condition() for index, point in given if index not in faulty and point.objection_id == objection_id)
