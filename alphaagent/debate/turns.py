"""The append-only list of turns: how one more is added, in what order they count, and what they hold.

Chosen on purpose: both sides of a simultaneous phase are one step, so that neither counts as an answer to the other; a turn of an
alternating phase is a step of its own.
"""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import groupby

from alphaagent.domain.argument import Answer, Conclusion, Debater, Opening, PlacedClaim, PlacedObjection, Rebuttal, Retort, Turn
from alphaagent.errors import DebateFault

DEBATERS: tuple[Debater, Debater] = ("bull", "bear")


def appended(turns: Sequence[Turn], turn: Turn) -> tuple[Turn, ...]:
    """The turns with one more. DebateFault where that side has one in the phase or round already, or the phase is over."""
    if any(turn.side == other.side and (turn.phase == other.phase or turn.round == other.round) for other in turns):
        raise DebateFault("PHASE_FAILED", f"{turn.side} has spoken in phase {turn.phase}, round {turn.round} already")
    if turns and turn.phase < turns[-1].phase:
        raise DebateFault("PHASE_FAILED", f"phase {turn.phase} is over")
    return (*turns, turn)


def require_grid(turns: Iterable[Turn]) -> None:
    """DebateFault unless every phase that has a turn has exactly one of each side, of one kind and one round."""
    for phase, group in groupby(turns, key=lambda turn: turn.phase):
        spoken = list(group)
        if sorted(turn.side for turn in spoken) != sorted(DEBATERS) or len({(turn.kind, turn.round) for turn in spoken}) != 1:
            raise DebateFault("PHASE_FAILED", f"phase {phase} does not have exactly one turn of each side")


def steps(turns: Iterable[Turn]) -> Iterator[tuple[Turn, ...]]:
    """The turns in groups that did not see each other."""
    for _, group in groupby(turns, key=lambda turn: (turn.phase, turn.order)):
        yield tuple(group)


def last_p_up(turns: Iterable[Turn], side: Debater) -> Decimal | None:
    """What a side stated last; None before its first turn."""
    return next((turn.p_up for turn in reversed(tuple(turns)) if turn.side == side), None)


def placed_claims(turn: Turn) -> tuple[PlacedClaim, ...]:
    """The claims of an opening with their ids, c_bull_1 and on; an opening is stored as kept, so all of them stand."""
    if not isinstance(turn.answer, Opening):
        return ()
    return tuple(
        PlacedClaim(id=f"c_{turn.side}_{number}", side=turn.side, round=turn.round, claim=claim) for number, claim in enumerate(turn.answer.claims, start=1)
    )


def placed_objections(turn: Turn, already: int) -> tuple[PlacedObjection, ...]:
    """The valid objections of a rebuttal with their ids; the side has raised `already` before."""
    if not isinstance(turn.answer, Rebuttal):
        return ()
    faulty = turn.faulty("objections")
    valid = [objection for index, objection in enumerate(turn.answer.objections) if index not in faulty]
    return tuple(
        PlacedObjection(id=f"o_{turn.side}_{number}", side=turn.side, round=turn.round, phase=turn.phase, objection=objection)
        for number, objection in enumerate(valid, start=already + 1)
    )


def texts(answer: Answer) -> tuple[str, ...]:
    """What a side says in its own name: not the steelman, which speaks for the opponent, nor the counter-argument."""
    match answer:
        case Opening(claims=claims):
            return tuple(claim.text for claim in claims)
        case Rebuttal(objections=objections):
            return tuple(objection.argument for objection in objections)
        case Retort(moves=moves):
            return tuple(text for move in moves for text in (move.reason, move.narrowed_text) if text)
        case Conclusion(summary=summary):
            return (summary,)
