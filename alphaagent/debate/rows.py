"""The hit ledger's parts: rows, claims with their transitions, concessions.

Chosen on purpose: history is a tuple that only grows, and the last entry is the status. A row's public status has four words; that a
rebuttal waits for its objector is `pending` beside an open one.
"""

from decimal import Decimal
from typing import Literal

from alphaagent.domain.argument import Claim, Debater, MoveType, PlacedObjection, Resolution, opponent
from alphaagent.domain.base import Frozen

RowStatus = Literal["open", "conceded", "rebutted", "dodged"]
Cause = Literal["concession", "acceptance", "lapse"]
ClaimStatus = Literal["open", "conceded", "narrowed", "upheld", "standing"]
What = Literal["CONCEDED", "REBUTTED", "CARRIED", "MISSING", "ACCEPT", "SUSTAIN", "LAPSE"]


class RowEvent(Frozen):
    """One thing that happened to an objection: a move, its absence, an adjudication or its absence. `codes` say why it does not count."""

    phase: int
    round: int
    side: Debater
    what: What
    codes: tuple[str, ...] = ()
    reason: str = ""
    evidence_ids: tuple[str, ...] = ()
    condition: Resolution | None = None

    @property
    def valid(self) -> bool:
        """Whether it counts."""
        return not self.codes


class LedgerRow(Frozen):
    """One objection. A `pending` one is open and waits for its objector to accept or sustain the rebuttal."""

    id: str
    claim_id: str
    by: Debater
    status: RowStatus = "open"
    closed_by: Cause | None = None
    pending: bool = False
    history: tuple[RowEvent, ...] = ()

    @property
    def against(self) -> Debater:
        """The side that has to answer."""
        return opponent(self.by)

    @property
    def outstanding(self) -> bool:
        """Whether the side that it is against owes an answer."""
        return self.closed_by is None and not self.pending

    def moves(self, *kinds: MoveType) -> tuple[RowEvent, ...]:
        """The valid moves on it, of some kinds or of all."""
        return tuple(event for event in self.history if event.valid and event.what in (kinds or ("CONCEDED", "REBUTTED", "CARRIED")))

    def cited_by(self, side: Debater) -> frozenset[str]:
        """The evidence that a side has used on it, in whatever came after the objection itself."""
        return frozenset(id for event in self.history if event.side == side and event.valid for id in event.evidence_ids)


class Transition(Frozen):
    """A claim's step to a status, with the text that it has from then on and the objection that caused it."""

    status: ClaimStatus
    version: int
    text: str
    round: int
    objection_id: str | None = None


class ClaimState(Frozen):
    """A claim with everything that happened to it; the last transition is its status."""

    id: str
    side: Debater
    claim: Claim
    """As it stands now: a narrowed one has its new text and no assertion."""
    transitions: tuple[Transition, ...]

    @property
    def status(self) -> ClaimStatus:
        """Where it stands now."""
        return self.transitions[-1].status

    @property
    def version(self) -> int:
        """1, and one more for each narrowing."""
        return self.transitions[-1].version


class Concession(Frozen):
    """One concession, in the words of who conceded."""

    id: str
    objection_id: str
    claim_id: str
    by: Debater
    round: int
    scope: Literal["full", "partial"]
    reason: str
    evidence_ids: tuple[str, ...]
    p_before: Decimal
    p_after: Decimal


class Ledger(Frozen):
    """All rows, claims and concessions after some turns, each in the order in which they came to be."""

    rows: tuple[LedgerRow, ...] = ()
    claims: tuple[ClaimState, ...] = ()
    objections: tuple[PlacedObjection, ...] = ()
    concessions: tuple[Concession, ...] = ()

    def row(self, id: str) -> LedgerRow | None:
        """The row of an objection, by its whole id."""
        return next((row for row in self.rows if row.id == id), None)

    def claim(self, id: str) -> ClaimState | None:
        """A claim, by its whole id."""
        return next((claim for claim in self.claims if claim.id == id), None)

    def objection(self, id: str) -> PlacedObjection | None:
        """An objection as it was raised, by its whole id."""
        return next((objection for objection in self.objections if objection.id == id), None)

    def outstanding(self, side: Debater) -> tuple[LedgerRow, ...]:
        """Everything that a side still has to answer, of all rounds."""
        return tuple(row for row in self.rows if row.against == side and row.outstanding)

    def pending(self, side: Debater) -> tuple[LedgerRow, ...]:
        """The rebuttals that wait for this side's word."""
        return tuple(row for row in self.rows if row.by == side and row.pending)
