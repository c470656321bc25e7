"""Settings and the vendors of the registry become the room of live data."""

from typing import TYPE_CHECKING

from alphaagent.evidence.live.vendor import Topic

if TYPE_CHECKING:
    pass

TOPICS: tuple[Topic, ...] = ("prices", "fundamentals", "news", "events")
SECOND_ONLY = ("stooq",)
"""Vendors that are asked for a second opinion and for nothing else."""
