"""Claims that were given up and come back.

Chosen on purpose: only the claim's own words count, whole and said again. To mention a claim by its id, as in owning up to the concession,
is not to rely on it.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from alphaagent.debate.assertions import verdict
from alphaagent.debate.likeness import repeats
from alphaagent.debate.rows import Ledger
from alphaagent.debate.thresholds import Thresholds
from alphaagent.debate.turns import texts
from alphaagent.domain.argument import Debater, Turn
from alphaagent.domain.base import Frozen
from alphaagent.domain.evidence import EvidenceItem


class ZombieClaim(Frozen):
    """A conceded claim in a later turn of the side that conceded it."""

    claim_id: str
    side: Debater
    round: int


def zombie_claims(turns: Sequence[Turn], book: Ledger, thresholds: Thresholds) -> tuple[ZombieClaim, ...]:
    """Every return of a fully conceded claim, in the order of the concessions."""
    return tuple(
        ZombieClaim(claim_id=claim.id, side=turn.side, round=turn.round)
        for claim in book.claims
        for turn in turns
        if claim.status == "conceded" and turn.side == claim.side and turn.round > claim.transitions[-1].round
        if any(repeats(text, claim.claim.text, thresholds.similarity) for text in texts(turn.answer))
    )


def unfit_reliance(relied_on: Collection[str], book: Ledger, known: Mapping[str, EvidenceItem]) -> dict[str, Literal["unknown", "conceded", "contradicted"]]:
    """The ids that a verdict may not rely on, each with the reason: there is no such thing, it was conceded, or its number is wrong."""
    reasons = {id: _unfit(id, book, known) for id in relied_on}
    return {id: reason for id, reason in reasons.items() if reason is not None}


def _unfit(id: str, book: Ledger, known: Mapping[str, EvidenceItem]) -> Literal["unknown", "conceded", "contradicted"] | None:
    claim = book.claim(id)
    if claim is None:
        return None if id in known else "unknown"
    if claim.status == "conceded":
        return "conceded"
    assertion = claim.claim.assertion
    return "contradicted" if assertion and verdict(assertion, known) == "contradicted" else None
