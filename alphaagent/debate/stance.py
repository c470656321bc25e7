"""Whether a side's number says what its words say.

Chosen on purpose: a short closed list of words of direction, counted, with a negation turning a word round; a text that says nothing
clear agrees with every number. A departure is a label for the reader and never ends a debate.
"""

import re
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Literal

from alphaagent.debate.hit_ledger import ledger
from alphaagent.debate.likeness import tokens
from alphaagent.debate.thresholds import Thresholds
from alphaagent.debate.trajectory import trajectory
from alphaagent.debate.turns import DEBATERS, texts
from alphaagent.debate.zombies import zombie_claims
from alphaagent.domain.argument import Debater, Direction, Opening, Retort, Stance, Turn
from alphaagent.domain.base import Frozen

Departure = Literal["text", "stated", "move", "zombie", "crossed"]

UP = re.compile(
    r"bullish|upside|under(valued|priced)|outperform(s|ed)?|rall(y|ies|ied)|rebound(s|ed)?"
    r"|rise|rises|rising|rose|climb(s|ed|ing)?|gain(s|ed|ing)?|higher|appreciat(e|es|ed|ion)|cheap"
)
DOWN = re.compile(
    r"bearish|downside|over(valued|priced)|underperform(s|ed)?|selloff|crash(es|ed)?|slump(s|ed)?"
    r"|fall|falls|falling|fell|drop(s|ped|ping)?|declin(e|es|ed|ing)|lower|depreciat(e|es|ed|ion)|expensive"
)
NEGATION = re.compile(r"not?|never|without|unlikely|hardly|cannot|n?either|nor|isn|aren|won|doesn|don|didn")
NEGATION_REACH = 3
_STATED: dict[Stance, Direction | None] = {"BULLISH": "up", "BEARISH": "down", "NEUTRAL": None}
EXPLAINED_BY_CONCEDING: frozenset[Departure] = frozenset({"text", "stated", "crossed"})


class StanceReading(Frozen):
    """Whether one turn is of a piece, and in what it is not."""

    round: int
    side: Debater
    verdict: Literal["ok", "honest_concession", "stance_drift"]
    departures: tuple[Departure, ...] = ()


def stances(turns: Sequence[Turn], p0: Decimal, thresholds: Thresholds) -> tuple[StanceReading, ...]:
    """A reading of every turn against the base rate `p0`."""
    zombies = {(zombie.side, zombie.round) for zombie in zombie_claims(turns, ledger(turns), thresholds)}
    crossed = _crossings(turns)
    return tuple(_reading(turn, p0, (turn.side, turn.round) in zombies, (turn.side, turn.round) in crossed) for turn in turns)


def leaning(text: str) -> Direction | None:
    """The way a text points by its words of direction; None where it has none or as many of each."""
    words = tokens(text)
    balance = sum(_sign(words, at) for at in range(len(words)))
    if balance == 0:
        return None
    return "up" if balance > 0 else "down"


def _sign(words: Sequence[str], at: int) -> int:
    too = at > 0 and words[at - 1] == "too"
    up = UP.fullmatch(words[at]) or (too and words[at] == "low")
    down = DOWN.fullmatch(words[at]) or (too and words[at] == "high")
    negated = any(NEGATION.fullmatch(word) for word in words[max(0, at - NEGATION_REACH) : at])
    return (bool(up) - bool(down)) * (-1 if negated else 1)


def _reading(turn: Turn, p0: Decimal, zombie: bool, crossed: bool) -> StanceReading:
    seen: dict[Departure, bool] = {
        "text": _against(leaning(" ".join(texts(turn.answer))), turn.p_up, p0),
        "stated": isinstance(turn.answer, Opening) and _against(_STATED[turn.answer.stance], turn.p_up, p0),
        "move": any(fault.code == "P_UP_CONTRADICTS_MOVE" for fault in turn.faults),
        "zombie": zombie,
        "crossed": crossed,
    }
    departures = tuple(name for name, departs in seen.items() if departs)
    explained = _concedes(turn) and EXPLAINED_BY_CONCEDING.issuperset(departures)
    departed: Literal["honest_concession", "stance_drift"] = "honest_concession" if explained else "stance_drift"
    return StanceReading(round=turn.round, side=turn.side, verdict=departed if departures else "ok", departures=departures)


def _against(direction: Direction | None, p_up: Decimal, p0: Decimal) -> bool:
    return (direction == "up" and p_up < p0) or (direction == "down" and p_up > p0)


def _concedes(turn: Turn) -> bool:
    faulty = turn.faulty("moves")
    return isinstance(turn.answer, Retort) and any(move.type == "CONCEDED" and index not in faulty for index, move in enumerate(turn.answer.moves))


def _crossings(turns: Sequence[Turn]) -> set[tuple[Debater, int]]:
    """Who went over to the other side of the opponent's number, and in which round."""
    points = trajectory(turns)
    found: set[tuple[Debater, int]] = {(side, point.round) for point in points[:1] if point.signed < 0 for side in DEBATERS}
    for before, after in pairwise(points):
        if after.signed < 0 <= before.signed:
            found |= {("bull", after.round)} if after.bull < before.bull else set()
            found |= {("bear", after.round)} if after.bear > before.bear else set()
    return found
