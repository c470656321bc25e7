"""The two probabilities round by round: the gap between them, how it ended, and whether that is a consensus.

Chosen on purpose: a gap counts from both sides' own numbers only, margins are strict, and a gap that closed without anybody giving way is
hollow. Sides that have crossed do not agree.
"""

from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Literal

from alphaagent.debate.hit_ledger import ledger
from alphaagent.debate.rows import Ledger
from alphaagent.debate.thresholds import Thresholds
from alphaagent.domain.argument import Debater, Turn
from alphaagent.domain.base import Frozen

Outcome = Literal["closed", "held", "widened"]
Consensus = Literal["earned", "hollow"]

_NINE_PLACES = Decimal("1e-9")


class RoundPoint(Frozen):
    """Both probabilities of one round. `signed` is bull minus bear."""

    round: int
    bull: Decimal
    bear: Decimal
    gap: Decimal
    signed: Decimal
    mid: Decimal


def trajectory(turns: Sequence[Turn]) -> tuple[RoundPoint, ...]:
    """One point for each round in which both sides spoke."""
    bull, bear = (_by_round(turns, side) for side in ("bull", "bear"))
    return tuple(_point(number, bull[number], bear[number]) for number in sorted(bull.keys() & bear.keys()) if number >= 1)


def outcome(points: Sequence[RoundPoint], thresholds: Thresholds) -> Outcome | None:
    """What became of the gap from the first round to the last; None before there are two."""
    if len(points) < 2:
        return None
    change = _exact(points[-1].gap - points[0].gap)
    if change < -thresholds.kappa:
        return "closed"
    return "widened" if change > thresholds.kappa else "held"


def closed_by(points: Sequence[RoundPoint], thresholds: Thresholds) -> Literal["bull", "bear", "both"] | None:
    """Who moved what closed the gap; None where it did not close."""
    if outcome(points, thresholds) != "closed":
        return None
    first, last = points[0], points[-1]
    way = 1 if first.signed >= 0 else -1
    bull, bear = (first.bull - last.bull) * way, (last.bear - first.bear) * way
    enough = _exact(thresholds.closing_share * (bull + bear))
    if _exact(bull) >= enough:
        return "bull"
    return "bear" if _exact(bear) >= enough else "both"


def drifted(points: Sequence[RoundPoint], thresholds: Thresholds) -> bool:
    """Whether both sides moved the same way while the gap held."""
    return outcome(points, thresholds) == "held" and _exact(abs(points[-1].mid - points[0].mid)) >= thresholds.kappa


def crossed_rounds(points: Sequence[RoundPoint]) -> tuple[int, ...]:
    """The rounds in which the bull stands below the bear."""
    return tuple(point.round for point in points if point.signed < 0)


def gap_closure(points: Sequence[RoundPoint]) -> Decimal | None:
    """G: the share of the first gap that was closed, at 1e-6, negative where it widened; None without a first gap."""
    if not points or points[0].gap == 0:
        return None
    return round((points[0].gap - points[-1].gap) / points[0].gap, 6)


def largest_move(points: Sequence[RoundPoint]) -> Decimal:
    """The most that either side moved from one round to the next; 0 where there is no next."""
    return max((abs(move) for one, other in pairwise(points) for move in (other.bull - one.bull, other.bear - one.bear)), default=Decimal(0))


def consensus(turns: Sequence[Turn], thresholds: Thresholds) -> Consensus | None:
    """Whether the last round is a consensus. Only an earned one may end the exchange; a hollow one is flagged and goes on."""
    points = trajectory(turns)
    if not points or points[-1].round < thresholds.consensus_from_round:
        return None
    if _exact(points[-1].gap) >= thresholds.theta:
        return None
    if not gave_way(ledger(turns)):
        return "hollow"
    return "earned" if points[-1].signed >= 0 else None


def gave_way(book: Ledger) -> bool:
    """Whether anybody conceded or accepted anything."""
    return any(row.closed_by in ("concession", "acceptance") for row in book.rows)


def exchange_due(disagreement: Decimal, thresholds: Thresholds) -> bool:
    """Whether views lie far enough apart for an exchange: the panel's spread, or without a panel the gap of the openings."""
    return _exact(disagreement) >= thresholds.min_disagreement


def worth_running(disagreement: Decimal, points: Sequence[RoundPoint], thresholds: Thresholds) -> bool:
    """Whether the debate did something: there was a disagreement and the gap closed. The movement of a blend says nothing about it."""
    return exchange_due(disagreement, thresholds) and outcome(points, thresholds) == "closed"


def _by_round(turns: Sequence[Turn], side: Debater) -> dict[int, Decimal]:
    return {turn.round: turn.p_up for turn in turns if turn.side == side}


def _point(number: int, bull: Decimal, bear: Decimal) -> RoundPoint:
    return RoundPoint(round=number, bull=bull, bear=bear, gap=abs(bull - bear), signed=bull - bear, mid=(bull + bear) / 2)


def _exact(value: Decimal) -> Decimal:
    """A difference of stated numbers without what lies under their precision."""
    return value.quantize(_NINE_PLACES)
