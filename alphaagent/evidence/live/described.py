"""config/instruments.yaml: what the user knows of an instrument and no vendor says, or says wrongly.

Every value in the file is text: a ticker may be TRUE, NAN, ON or 1E5. A ticker that another company has had before is two entries, each with the
days on which it holds.
"""

import re
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StringConstraints, ValidationError, model_validator

from alphaagent.domain.base import Frozen
from alphaagent.domain.market import MINOR_UNITS, Instrument, InstrumentKind
from alphaagent.errors import ConfigFault, UsageFault
from alphaagent.evidence.sources.instruments import normal_ticker

_ID = re.compile(r"(?P<mic>[A-Z0-9]{4}):(?P<symbol>[A-Z0-9^][A-Z0-9.^=]{0,19})")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def _a_ticker(value: str) -> str:
    try:
        normal_ticker(value)
    except UsageFault as fault:
        raise ValueError(fault.message) from None
    return value


def _a_day(value: object) -> object:
    if value is not None and not (isinstance(value, str) and _DAY.fullmatch(value)):
        raise ValueError("write a date as 2024-01-31")
    return value


Ticker = Annotated[str, BeforeValidator(_a_ticker)]
Day = Annotated[date, BeforeValidator(_a_day)]
Words = Annotated[str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True)]


class Description(Frozen):
    """One entry; its key is the instrument's id, MIC:SYMBOL."""

    name: Words
    symbol: Ticker | None = None
    """What it is asked for by; what the id has after the colon where it is not stated."""
    mic: str | None = Field(None, pattern=r"^[A-Z0-9]{4}$")
    """The market it trades on; what the id has before the colon where it is not stated."""
    aliases: tuple[Ticker, ...] = ()
    currency: str = Field(pattern="^([A-Z]{3}|" + "|".join(MINOR_UNITS) + ")$")
    kind: InstrumentKind = "common"
    sector: Words | None = None
    cik: str | None = Field(None, pattern=r"^[0-9]{1,10}$")
    valid_from: Day | None = None
    valid_to: Day | None = None
    ads_ratio: Decimal | None = Field(None, gt=0, le=100_000)
    vendor_symbols: Mapping[str, Ticker] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _in_order(self) -> "Description":
        if self.valid_from and self.valid_to and self.valid_from > self.valid_to:
            raise ValueError("valid_from is after valid_to")
        return self

    def instrument(self, identity: str, mic: str, symbol: str) -> Instrument:
        """The instrument of an id that says where it trades and what it is called."""
        return Instrument(
            id=identity,
            symbol=normal_ticker(self.symbol or symbol),
            name=self.name,
            aliases=tuple(map(normal_ticker, self.aliases)),
            mic=self.mic or mic,
            currency=self.currency,
            kind=self.kind,
            sector=self.sector,
            cik=None if self.cik is None else self.cik.zfill(10),
            valid_from=self.valid_from,
            valid_to=self.valid_to,
            ads_ratio=self.ads_ratio,
            vendor_symbols=tuple(sorted(self.vendor_symbols.items())),
        )


def parse_instruments(document: Mapping[str, Any], path: str, vendors: tuple[str, ...]) -> tuple[Instrument, ...]:
    """The instruments of a file that was read as text. Raises ConfigFault that names the key."""
    return tuple(_instrument(identity, fields, path, vendors) for identity, fields in document.items())


def _instrument(identity: str, fields: Any, path: str, vendors: tuple[str, ...]) -> Instrument:
    parts = _ID.fullmatch(identity)
    if parts is None:
        raise ConfigFault(f"{path}: {identity[:40]!a} is no id", fix="write MIC:SYMBOL in capitals, a share class after a point: XNYS:BRK.B")
    try:
        entry = Description.model_validate(fields or {})
        _a_ticker(entry.symbol or parts["symbol"])
    except ValidationError as fault:
        raise _refused(identity, fault, path) from None
    except ValueError as fault:
        raise ConfigFault(f"{path}: {identity}: {fault}", fix="state a symbol that it is asked for by") from None
    for vendor in entry.vendor_symbols:
        if vendor not in vendors:
            raise ConfigFault(f"{path}: {identity}.vendor_symbols: there is no vendor {vendor!r}; there are {', '.join(vendors)}", fix="correct the name")
    return entry.instrument(identity, parts["mic"], parts["symbol"])


def _refused(identity: str, fault: ValidationError, path: str) -> ConfigFault:
    first = fault.errors(include_url=False)[0]
    key = ".".join((identity, *map(str, first["loc"])))
    if first["type"] == "extra_forbidden":
        return ConfigFault(f"{path}: unknown key {key}", fix=f"use one of: {', '.join(Description.model_fields)}")
    if first["type"] == "missing":
        return ConfigFault(f"{path}: {key} is missing", fix="state it")
    said = first["msg"].removeprefix("Value error, ")
    stated = f" is {str(first['input'])[:60]!r}" if first["loc"] else ""
    return ConfigFault(f"{path}: {key}{stated}: {said[0].lower()}{said[1:]}", fix="correct the value")
