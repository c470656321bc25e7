"""Which names are worth a debate today: the heuristic engine reads all of them, and what has not moved since the last decision is left to it.

A name is debated where it is held or an order for it waits, where it was never decided, where the heuristic engine would buy it, and where its
action, its score or its hard flags are others than on the evidence of the last decision. So nothing is bought and nothing is sold by the screen:
what it leaves out is not held, and the heuristic engine holds.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal

from alphaagent import pipeline
from alphaagent.desk import Ask, Desk
from alphaagent.domain.debate import EngineResult
from alphaagent.domain.evidence import EvidencePack
from alphaagent.errors import AlphaAgentError
from alphaagent.guard.intake import read_proposal

SCORE_MOVED = Decimal("0.10")
"""By how much the score must have changed, from -1 to +1; what is bought has at least +0.20 to +0.30, by risk profile."""


@dataclass(frozen=True, slots=True)
class Screened:
    """Whether a name is debated, and why."""

    debated: bool
    why: str


@dataclass(frozen=True, slots=True)
class Read:
    """What the heuristic engine makes of a pack."""

    action: str
    score: Decimal
    flags: frozenset[str]


def screen(desk: Desk, asks: Sequence[Ask], held: frozenset[str]) -> list[Screened]:
    """One answer per request, in their order; `held` are the tickers that are held or have an order that waits. Nothing is written."""
    with ThreadPoolExecutor(max_workers=pipeline.EVIDENCE_THREADS) as pool:
        return list(pool.map(lambda ask: _screened(desk, ask, is_held=ask.ticker in held), asks))


def _screened(desk: Desk, ask: Ask, *, is_held: bool) -> Screened:
    """What cannot be read is left to the decision, which then says why."""
    if is_held:
        return Screened(debated=True, why="held, or an order waits")
    store = desk.existing_store()
    past = store.decisions(ticker=ask.ticker, portfolio=ask.portfolio, limit=1) if store else ()
    if not past:
        return Screened(debated=True, why="never decided before")
    try:
        desk.begin()
        _, pack = pipeline.evidence_of(desk, ask)
        now, before = _read(desk, pack), _read(desk, past[0].record.pack)
    except AlphaAgentError as fault:
        return Screened(debated=True, why=f"could not be screened: {fault.message}")
    return compared(before, now, past[0].record.request.session)


def _read(desk: Desk, pack: EvidencePack) -> Read:
    result = desk.engines["heuristic"].decide(pack)
    flags = pack.find("get_financial_health", "hard_flag")
    return Read(_action(result, pack.ticker), Decimal(result.score or 0), frozenset(f"{item.payload['flag']}:{item.payload['accession']}" for item in flags))


def _action(result: EngineResult, ticker: str) -> str:
    proposal = read_proposal(result.proposal_text, ticker)
    return proposal.action.value if proposal else "none"


def compared(before: Read, now: Read, session: str) -> Screened:
    """Whether anything has moved since the evidence of the last decision, which was made on a session."""
    if now.action == "BUY":
        return Screened(debated=True, why="the heuristic engine would buy")
    if now.action != before.action:
        return Screened(debated=True, why=f"the heuristic engine says {now.action} after {before.action}")
    if abs(now.score - before.score) >= SCORE_MOVED:
        return Screened(debated=True, why=f"the score went from {before.score:+.3f} to {now.score:+.3f}")
    if now.flags != before.flags:
        return Screened(debated=True, why="a hard flag was raised or has gone")
    return Screened(debated=False, why=f"as on {session}: {now.action}, score {now.score:+.3f} after {before.score:+.3f}")
