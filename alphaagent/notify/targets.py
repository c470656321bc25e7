"""config/notify.yaml: the targets, what each of them hears of, and when it is quiet.

Chosen on purpose: an address of Apprise holds a password or a token, so that the file only names the environment variable that has it; whoever decides
needs to know which targets there are, and only whoever sends needs their addresses.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, time
from typing import Any, Literal
from zoneinfo import ZoneInfo

from pydantic import Field, ValidationError, field_validator

from alphaagent.domain.base import Frozen
from alphaagent.domain.notice import TOPICS, Routes, Topic
from alphaagent.domain.text import NAME
from alphaagent.errors import ConfigFault

URL_VARIABLE = r"^ALPHAAGENT_NOTIFY_[A-Z0-9_]{1,40}$"
CLOCK_TIME = r"^([01][0-9]|2[0-3]):[0-5][0-9]$"
MOST_TARGETS = 20


class TargetSettings(Frozen):
    """Where notices go."""

    url_variable: str = Field(pattern=URL_VARIABLE)
    """The environment variable that holds the address."""
    topics: tuple[Topic, ...] = Field(("order", "block", "control", "breaker", "failure", "frozen", "sweep", "digest"), min_length=1)
    """What it hears of: everything but the decisions that come to nothing."""


class QuietHours(Frozen):
    """A time of every day in which nothing is sent; what is announced then is sent afterwards."""

    zone: str
    begins: str = Field(pattern=CLOCK_TIME)
    ends: str = Field(pattern=CLOCK_TIME)
    except_for: tuple[Topic, ...] = ("control", "breaker", "failure")
    """What is sent all the same."""

    @field_validator("zone")
    @classmethod
    def _a_zone(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (KeyError, ValueError, OSError):
            raise ValueError("write the name of a time zone, such as America/New_York") from None
        return value

    def silent(self, at: datetime) -> bool:
        """Whether an instant lies in them, by the wall clock of the zone; they may pass over midnight."""
        local, begins, ends = at.astimezone(ZoneInfo(self.zone)).time(), time.fromisoformat(self.begins), time.fromisoformat(self.ends)
        return begins <= local < ends if begins <= ends else not ends <= local < begins


class NotifyFile(Frozen):
    """The shape of the file."""

    targets: dict[str, TargetSettings] = Field(default_factory=dict, max_length=MOST_TARGETS)
    quiet_hours: QuietHours | None = None


@dataclass(frozen=True, slots=True)
class Notify:
    """The file, read."""

    file: NotifyFile

    @property
    def routes(self) -> Routes:
        """Which targets hear of each topic; topics that nobody hears of are left out."""
        heard = {topic: tuple(name for name, target in self.file.targets.items() if topic in target.topics) for topic in TOPICS}
        return {topic: names for topic, names in heard.items() if names}

    def topics_at(self, at: datetime) -> Collection[Topic]:
        """What may be sent at an instant."""
        quiet = self.file.quiet_hours
        return quiet.except_for if quiet is not None and quiet.silent(at) else TOPICS


def parse_notify(document: dict[str, Any], path: str) -> Notify:
    """The file's targets. Raises ConfigFault that names the key."""
    try:
        file = NotifyFile.model_validate(document)
    except ValidationError as fault:
        first = fault.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"]))
        if first["type"] == "extra_forbidden":
            raise ConfigFault(f"{path}: unknown key {key}", fix=f"use one of: {', '.join(_keys(first['loc']))}") from None
        if key.endswith(".url_variable") or "://" in str(first.get("input")):
            fix = "give url_variable the name of a variable: ALPHAAGENT_NOTIFY_ and a word"
            raise ConfigFault(f"{path}: {key} is no name of a variable (what stands there is not shown)", fix=fix) from None
        raise ConfigFault(f"{path}: {key} is {first.get('input')!r}: {first['msg'].lower()}", fix="correct the value") from None
    for name in file.targets:
        if not NAME.fullmatch(name):
            raise ConfigFault(f"{path}: targets.{name!r} is no name", fix="use 1 to 40 letters, digits, dots, dashes or underscores")
    return Notify(file)


def _keys(place: tuple[int | str, ...]) -> Collection[str]:
    shapes: dict[str | Literal[""], type[Frozen]] = {"targets": TargetSettings, "quiet_hours": QuietHours}
    return shapes.get(str(place[0]) if len(place) > 1 else "", NotifyFile).model_fields
