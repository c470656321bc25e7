"""How a decision stands on its evidence: how much there is, how old it is, and what of it is tainted."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date

from alphaagent.domain.evidence import BESIDE, EvidencePack, Status
from alphaagent.ports import Calendar


@dataclass(frozen=True, slots=True)
class Standing:
    """What the guard asks about the evidence."""

    count: int
    """Usable items that a side could argue with. An index speaks of the market and not of the name, and a date ahead of nothing that has happened."""
    age_sessions: int
    """Sessions from the newest of them to the session of the decision."""
    tainted: tuple[str, ...]
    """Tainted items that were counted in the score or relied on."""


def standing(pack: EvidencePack, relied_on: Collection[str], calendar: Calendar) -> Standing:
    """Of a sealed pack and the ids that the proposal names."""
    session = date.fromisoformat(pack.session)
    usable = [item for item in pack.items if item.status is Status.OK and item.sides != ("cio",) and item.kind not in ("index", *BESIDE)]
    newest = min(max((item.as_of.date() for item in usable), default=calendar.first), session)
    marked = [item for item in pack.find("get_news_sentiment", "headline") if item.payload.get("taint")]
    return Standing(
        count=len(usable),
        age_sessions=calendar.sessions_between(newest, session),
        tainted=tuple(item.id for item in marked if item.payload["weight"] != "0.0" or item.id in relied_on),
    )
