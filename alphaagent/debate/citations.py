"""Whether an opening may stand: enough claims, not too many, each on evidence that its side has seen and that was known in time.

Chosen on purpose: what still stands at fault after repair is taken out by name, so that a claim never carries evidence that nobody can
look up, and a claim that needs evidence goes with the last id it had.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from alphaagent.debate.sight import Evidence, Sight, claim_ids, point_fault
from alphaagent.debate.thresholds import Thresholds
from alphaagent.domain.argument import Claim, Opening, PointFault


@dataclass(frozen=True, slots=True)
class KeptOpening:
    """An opening without what could not stand; `removed` are the claims that went, by their index as written."""

    opening: Opening
    removed: tuple[int, ...]


def opening_faults(opening: Opening, visible: Evidence, known: Evidence, as_of: datetime, thresholds: Thresholds) -> tuple[PointFault, ...]:
    """Everything in an opening that may not stand. Claims beyond the cap are not looked into."""
    if not opening.claims and opening.no_case is None:
        return (point_fault("claims", None, "NO_CLAIMS", 'give at least one claim, or say in "no_case" why you have none'),)
    sight, cap = Sight(visible, known, as_of), thresholds.max_claims
    found = [fault for index, claim in enumerate(opening.claims[:cap]) for fault in _claim_faults(index, claim, sight)]
    beyond = range(cap, len(opening.claims))
    return (*found, *(point_fault("claims", index, "CLAIM_CAP", f"leave this one out; at most {cap} claims are heard") for index in beyond))


def kept_opening(opening: Opening, faults: Iterable[PointFault]) -> KeptOpening:
    """The opening with only what can stand: no bad id, no claim beyond the cap, none that needs evidence and has none left."""
    found = tuple(faults)
    capped = {fault.index for fault in found if fault.code == "CLAIM_CAP"}
    within = {index: _without(claim, _bad_ids(found, index)) for index, claim in enumerate(opening.claims) if index not in capped}
    standing = {index: claim for index, claim in within.items() if claim.evidence_ids or not needs_evidence(claim)}
    removed = tuple(index for index in range(len(opening.claims)) if index not in standing)
    return KeptOpening(opening.model_copy(update={"claims": tuple(standing.values())}), removed)


def needs_evidence(claim: Claim) -> bool:
    """Whether a claim may not stand without an evidence id."""
    return claim.kind == "fact" or claim.severity == "high"


def _claim_faults(index: int, claim: Claim, sight: Sight) -> Iterator[PointFault]:
    yield from sight.faults("claims", index, claim_ids(claim))
    if needs_evidence(claim) and not claim.evidence_ids:
        what = 'a "fact"' if claim.kind == "fact" else 'a claim of "high" severity'
        yield point_fault("claims", index, "NO_EVIDENCE", f"{what} needs at least one evidence id")


def _bad_ids(faults: Iterable[PointFault], index: int) -> set[str]:
    return {fault.subject for fault in faults if fault.index == index and fault.subject}


def _without(claim: Claim, bad: Collection[str]) -> Claim:
    ids = tuple(dict.fromkeys(id for id in claim.evidence_ids if id not in bad))
    assertion = None if claim.assertion is None or claim.assertion.evidence_id in bad else claim.assertion
    return claim.model_copy(update={"evidence_ids": ids, "assertion": assertion})
