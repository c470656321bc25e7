"""Settings and the vendors of the registry become the room of live data."""

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from alphaagent.clock import SessionTable
from alphaagent.domain.market import Instrument
from alphaagent.errors import ConfigFault
from alphaagent.evidence.live.archive import Archive
from alphaagent.evidence.live.gate import Gate
from alphaagent.evidence.live.limits import parse_limits
from alphaagent.evidence.live.market import LiveMarket
from alphaagent.evidence.live.room import LiveRoom
from alphaagent.evidence.live.site import MakeVendors, Site
from alphaagent.evidence.live.source import LiveSource
from alphaagent.evidence.live.vendor import Topic, Vendor
from alphaagent.evidence.sources.own_prices import OwnPrices
from alphaagent.ports import Clock
from alphaagent.settings import Settings

if TYPE_CHECKING:
    pass

TOPICS: tuple[Topic, ...] = ("prices", "fundamentals", "news", "events")
SECOND_ONLY = ("stooq",)
"""Vendors that are asked for a second opinion and for nothing else."""
