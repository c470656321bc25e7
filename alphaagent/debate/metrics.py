"""Everything that is computed from a debate's turns, in one record."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Literal

from alphaagent.debate.convergence import Convergence, convergence
from alphaagent.debate.flags import DebateClass, Flag, debate_class, flags
from alphaagent.debate.hit_ledger import ledger
from alphaagent.debate.rows import Ledger
from alphaagent.debate.stance import StanceReading, stances
from alphaagent.debate.thresholds import Thresholds
from alphaagent.debate.trajectory import Outcome, RoundPoint, closed_by, gap_closure, outcome, trajectory
from alphaagent.debate.unresolved import Unresolved, unresolved
from alphaagent.domain.argument import Debater, Turn
from alphaagent.domain.base import Frozen
from alphaagent.domain.evidence import EvidenceItem


class Metrics(Frozen):
    """What a debate came to."""

    debate_class: DebateClass
    outcome: Outcome | None
    closed_by: Debater | Literal["both"] | None
    gap_closure: Decimal | None
    convergence: Convergence
    trajectory: tuple[RoundPoint, ...]
    flags: tuple[Flag, ...]
    stances: tuple[StanceReading, ...]
    unresolved: tuple[Unresolved, ...]
    ledger: Ledger


def measure(turns: Sequence[Turn], known: Mapping[str, EvidenceItem], p0: Decimal, thresholds: Thresholds) -> Metrics:
    """The record of a debate so far; `p0` is the base rate."""
    points, book, found = trajectory(turns), ledger(turns), flags(turns, known, thresholds)
    return Metrics(
        debate_class=debate_class(turns, found, thresholds),
        outcome=outcome(points, thresholds),
        closed_by=closed_by(points, thresholds),
        gap_closure=gap_closure(points),
        convergence=convergence(book),
        trajectory=points,
        flags=found,
        stances=stances(turns, p0, thresholds),
        unresolved=unresolved(turns),
        ledger=book,
    )
