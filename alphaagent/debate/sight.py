"""What a side may cite, and how a point that is at fault is said to its author.

Chosen on purpose: an id counts as written, whole; a prefix, another case or a made-up one is unknown.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from alphaagent.domain.argument import Claim, Debater, Opening, Part, PointFault, Turn
from alphaagent.domain.evidence import EvidenceItem
from alphaagent.domain.strict_json import shown

Evidence = Mapping[str, EvidenceItem]
CITING: tuple[Part, ...] = ("objections", "moves", "adjudications")
"""The parts of a later turn that cite evidence."""

_WHY = {
    "UNKNOWN_EVIDENCE": "is no evidence id that you were given",
    "NOT_VISIBLE": "belongs to evidence that you have not been shown",
    "AFTER_CUTOFF": "was not known before the decision's time",
}


@dataclass(frozen=True, slots=True)
class Sight:
    """What one side may cite at one moment: `visible` out of all that is `known` to the debate, at `as_of`."""

    visible: Evidence
    known: Evidence
    as_of: datetime

    def code(self, id: str) -> str | None:
        """Why an id may not be cited; None where it may."""
        if id not in self.known:
            return "UNKNOWN_EVIDENCE"
        if id not in self.visible:
            return "NOT_VISIBLE"
        return "AFTER_CUTOFF" if self.known[id].known_at >= self.as_of else None

    def faults(self, part: Part, index: int, ids: Iterable[str]) -> Iterator[PointFault]:
        """One fault for each different id that may not be cited."""
        for id in dict.fromkeys(ids):
            code = self.code(id)
            if code is not None:
                yield point_fault(part, index, code, f"{shown(id)} {_WHY[code]}", subject=id)


def point_fault(part: Part, index: int | None, code: str, wish: str, *, subject: str = "") -> PointFault:
    """A fault whose message names its place as a reader of JSON does, and then says what to mend."""
    place = part if index is None else f"{part}[{index}]"
    return PointFault(part=part, index=index, subject=subject, code=code, message=f"{place}: {wish}.")


def visible_evidence(side: Debater, known: Evidence, revealed: Iterable[Turn]) -> dict[str, EvidenceItem]:
    """A side's own items and those that a revealed turn of its opponent has cited, in the order of `known`."""
    shared = {id for turn in revealed if turn.side != side for id in cited_ids(turn)}
    return {id: item for id, item in known.items() if side in item.sides or id in shared}


def cited_ids(turn: Turn) -> Iterator[str]:
    """Every evidence id that a turn's points cite, the points at fault excepted.

    An opening is stored as kept, so all that is left of it counts: its faults speak of the places as they were written.
    """
    if isinstance(turn.answer, Opening):
        yield from (id for claim in turn.answer.claims for id in claim_ids(claim))
        return
    for part in CITING:
        faulty = turn.faulty(part)
        points = getattr(turn.answer, part, ())
        for index, point in enumerate(points):
            if index not in faulty:
                yield from point.evidence_ids


def claim_ids(claim: Claim) -> tuple[str, ...]:
    """The evidence ids of a claim, its assertion's included."""
    return (*claim.evidence_ids, claim.assertion.evidence_id) if claim.assertion else claim.evidence_ids
