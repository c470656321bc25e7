"""What somebody is to be told: a topic, a key by which repeats are known, and facts. The words are found when it is sent.

Chosen on purpose: a notice is stored as facts and not as text, so that what was announced does not depend on how it is worded or to whom it goes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

from alphaagent.domain.base import Json

Topic = Literal["order", "block", "decision", "control", "breaker", "failure", "frozen", "sweep", "digest"]
"""An order placed, filled, expired or refused; a decision that the guard blocked; any decision; the kill switch turned by a person; turned by the
program itself; nothing was decided, or a scheduled run failed; a name that cannot be traded until somebody has looked; what a pass over a watchlist came
to; the morning digest."""
TOPICS: tuple[Topic, ...] = get_args(Topic)
Routes = Mapping[Topic, tuple[str, ...]]
"""Which targets hear of a topic."""
NOBODY: Routes = {}


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing to be told."""

    topic: Topic
    key: str
    """The same for the same thing: whoever receives it twice can tell."""
    facts: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Claimed:
    """A notice for one target, held by one sender until its lease ends."""

    id: int
    token: str
    target: str
    notice: Notice
    announced_at: datetime
    tries: int
    """This one included."""
