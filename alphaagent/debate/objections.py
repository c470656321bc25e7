"""Whether an objection may be raised, and whether a steelman speaks of the opponent's case.

Chosen on purpose: an objection comes from the other side and carries evidence or the name of a fallacy. A claim that is conceded or
upheld is settled and takes no more of them.
"""

from collections import Counter
from collections.abc import Iterator

from alphaagent.debate.floor import Floor
from alphaagent.debate.rows import ClaimState
from alphaagent.debate.sight import point_fault
from alphaagent.domain.argument import Objection, PointFault, Rebuttal
from alphaagent.domain.strict_json import shown

SETTLED = frozenset({"conceded", "upheld"})


def steelman_faults(rebuttal: Rebuttal, floor: Floor) -> tuple[PointFault, ...]:
    """What is wrong with the claims that a steelman names; a side without claims needs none named."""
    theirs = {claim.id for claim in floor.ledger.claims if claim.side != floor.side}
    named = rebuttal.steelman.claim_ids
    strange = [id for id in dict.fromkeys(named) if id not in theirs]
    if theirs and not named:
        return (point_fault("steelman", None, "BAD_TARGET", 'name in "claim_ids" at least one claim of your opponent'),)
    return tuple(point_fault("steelman", None, "BAD_TARGET", f"{shown(id)} is no claim of your opponent", subject=id) for id in strange)


def objection_faults(rebuttal: Rebuttal, floor: Floor) -> tuple[PointFault, ...]:
    """Everything that keeps the objections of a rebuttal from being raised; those at fault use up no cap."""
    faults: list[PointFault] = []
    sound: list[Objection] = []
    for index, objection in enumerate(rebuttal.objections):
        found = list(_faults(index, objection, sound, floor))
        faults += found
        sound += [] if found else [objection]
    return tuple(faults)


def _faults(index: int, objection: Objection, before: list[Objection], floor: Floor) -> Iterator[PointFault]:
    target, limits = floor.ledger.claim(objection.target_claim_id), floor.thresholds
    if target is None or target.side == floor.side or target.status in SETTLED:
        yield _fault(index, objection, "BAD_TARGET", f"{shown(objection.target_claim_id)} {_why_not(target, floor)}")
        return
    yield from floor.citation_faults("objections", index, objection.evidence_ids)
    if not objection.evidence_ids and objection.fallacy is None:
        yield _fault(index, objection, "NO_SUPPORT", "cite at least one evidence id or name a fallacy")
    if floor.too_short(objection.argument):
        yield _fault(index, objection, "NO_REASON", f'"argument" must have at least {limits.min_reason_characters} characters')
    raised = [*_raised_before(floor), *before]
    if any(other.target_claim_id == target.id and floor.same(other.argument, objection.argument) for other in raised):
        yield _fault(index, objection, "DUPLICATE_OBJECTION", "you have raised this one already")
    if Counter(other.target_claim_id for other in raised)[target.id] >= limits.max_objections_per_claim:
        yield _fault(index, objection, "CLAIM_CAP", f"you may raise at most {limits.max_objections_per_claim} objections to one claim")
    if len(before) >= limits.max_objections:
        yield _fault(index, objection, "PHASE_CAP", f"you may raise at most {limits.max_objections} objections in one turn")


def _why_not(target: ClaimState | None, floor: Floor) -> str:
    if target is None:
        return "is no claim id that you were given"
    return "is your own claim" if target.side == floor.side else f"is {target.status} and takes no more objections"


def _raised_before(floor: Floor) -> Iterator[Objection]:
    return (placed.objection for placed in floor.ledger.objections if placed.side == floor.side)


def _fault(index: int, objection: Objection, code: str, wish: str) -> PointFault:
    return point_fault("objections", index, code, wish, subject=objection.target_claim_id)
