"""config/feeds.yaml: which RSS and Atom feeds news is taken from, and for which instruments.

Chosen on purpose: a feed's host stands in the file letter by letter, so that nothing an instrument is called can lead anywhere else; what an
instrument fills in is quoted and goes into the path and the query alone.
"""

import re
from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import quote, urlsplit

from pydantic import Field, ValidationError, field_validator

from alphaagent.domain.base import Frozen
from alphaagent.domain.market import Instrument
from alphaagent.errors import ConfigFault, UsageFault
from alphaagent.evidence.live.limits import LOOPBACK
from alphaagent.evidence.sources.instruments import normal_ticker

FeedKind = Literal["press", "filing"]
FIELDS = ("symbol", "ticker", "cik", "name")
MOST_FEEDS = 20
_FIELD = re.compile(r"\{([^{}]*)\}")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_ADDRESS = re.compile(r"[!-~]{1,1000}")


class Feed(Frozen):
    """One feed: an address with fields in braces, and what it is asked for."""

    name: str
    address: str
    kind: FeedKind = "press"
    """`filing`: EDGAR's lists of what companies filed."""
    tickers: tuple[str, ...] = Field((), max_length=1000)
    """Asked for these alone, and believed to speak of them: a company's own feed. None: asked for every instrument."""
    enabled: bool = True

    @field_validator("address")
    @classmethod
    def _an_address(cls, value: str) -> str:
        unknown = next((field for field in _FIELD.findall(value) if field not in FIELDS), None)
        if unknown is not None:
            raise ValueError(f"there is no field {{{unknown}}}; there are {', '.join(f'{{{field}}}' for field in FIELDS)}")
        parts = urlsplit(_FIELD.sub("x", value))
        if not _ADDRESS.fullmatch(value) or "{" in parts.geturl() or "}" in parts.geturl():
            raise ValueError("write an address without blanks, and fields like {ticker}")
        if not parts.hostname or parts.scheme not in ("http", "https") or (parts.scheme == "http" and parts.hostname not in LOOPBACK) or parts.port == 0:
            raise ValueError("write https://host/path, or http:// for this machine alone")
        if "@" in parts.netloc or not value.startswith(f"{parts.scheme}://{parts.netloc}"):
            raise ValueError("write the host letter by letter, without a user; fields stand behind it")
        return value

    @field_validator("tickers")
    @classmethod
    def _tickers(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        try:
            return tuple(map(normal_ticker, value))
        except UsageFault as fault:
            raise ValueError(fault.message) from None

    @property
    def host(self) -> str:
        return urlsplit(self.address).hostname or ""

    def is_for(self, instrument: Instrument) -> bool:
        names = {normal_ticker(name) for name in (instrument.symbol, *instrument.aliases)}
        return self.enabled and (not self.tickers or not names.isdisjoint(self.tickers))

    def filled(self, fields: Mapping[str, str | None]) -> str | None:
        """The address for one instrument; None where it asks for something that the instrument does not have."""
        if any(not fields.get(field) for field in _FIELD.findall(self.address)):
            return None
        return _FIELD.sub(lambda match: quote(fields[match[1]] or "", safe=""), self.address)


def parse_feeds(document: Mapping[str, Any], path: str) -> tuple[Feed, ...]:
    """The feeds in the order of the file. Raises ConfigFault that names the file, the feed and the key."""
    if len(document) > MOST_FEEDS:
        raise ConfigFault(f"{path} has {len(document)} feeds, more than {MOST_FEEDS}", fix="remove some")
    return tuple(_feed(str(name), block, path) for name, block in document.items())


def _feed(name: str, block: object, path: str) -> Feed:
    if not _NAME.fullmatch(name):
        raise ConfigFault(f"{path}: {name[:60]!r} cannot name a feed", fix="use small letters, digits and dashes, at most 40")
    if not isinstance(block, Mapping):
        raise ConfigFault(f"{path}: {name} must hold keys and values", fix="give it an address")
    if "name" in block:
        raise ConfigFault(f"{path}: unknown key {name}.name", fix=_keys())
    try:
        return Feed.model_validate({**block, "name": name})
    except ValidationError as fault:
        first = fault.errors(include_url=False)[0]
        key = ".".join((name, *map(str, first["loc"])))
        if first["type"] == "extra_forbidden":
            raise ConfigFault(f"{path}: unknown key {key}", fix=_keys()) from None
        if first["type"] == "missing":
            raise ConfigFault(f"{path}: {key} is missing", fix="write the feed's address") from None
        said = first["msg"].removeprefix("Value error, ")
        raise ConfigFault(f"{path}: {key} is {str(first['input'])[:200]!r}: {said[:1].lower()}{said[1:]}", fix="correct the value") from None


def _keys() -> str:
    return f"use one of: {', '.join(key for key in Feed.model_fields if key != 'name')}"
