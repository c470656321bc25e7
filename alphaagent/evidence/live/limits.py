"""config/vendors.yaml: where each vendor lives, how often and how long it is asked, and how much of an answer is read."""

from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from pydantic import Field, ValidationError, field_validator

from alphaagent.domain.base import Frozen
from alphaagent.errors import ConfigFault

LOOPBACK = ("127.0.0.1", "localhost", "::1")


class VendorLimits(Frozen):
    """What one vendor is held to. Every bound is ours, and stricter than what the vendor publishes where it publishes anything."""

    address: str | None = None
    """In place of the vendor's own: a mirror, or a stand-in on this machine."""
    requests_per_second: Decimal = Field(Decimal(2), gt=0, le=50)
    at_once: int = Field(2, ge=1, le=16)
    """Requests on their way at the same time."""
    seconds: Decimal = Field(Decimal(15), gt=0, le=120)
    """How long one request may take, from its first byte out to its last byte in."""
    megabytes: Decimal = Field(Decimal(8), gt=0, le=64)
    """How much of an answer is read, unpacked."""
    attempts: int = Field(3, ge=1, le=6)
    """How often a request is made at most, where it fails in a way that may pass."""
    longest_wait_seconds: Decimal = Field(Decimal(20), ge=0, le=300)
    """How long is waited between two attempts at most, also where the vendor asks for more."""
    failures_to_rest: int = Field(5, ge=1, le=100)
    """After so many failed requests in a row the vendor is not asked for `rest_seconds`."""
    rest_seconds: Decimal = Field(Decimal(60), gt=0, le=3600)

    @field_validator("address")
    @classmethod
    def _an_address(cls, value: str | None) -> str | None:
        if value is None:
            return None
        parts = urlsplit(value)
        parts.port  # noqa: B018 - raises where there is none that can be
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError("write the scheme and the host alone, and a port if there must be one")
        if not parts.hostname or parts.scheme not in ("http", "https") or (parts.scheme == "http" and parts.hostname not in LOOPBACK):
            raise ValueError("write https://host, or http:// for this machine alone")
        return value.rstrip("/")


def parse_limits(document: dict[str, Any], path: str, vendors: tuple[str, ...]) -> dict[str, VendorLimits]:
    """The limits of every vendor there is; one that the file does not name has the defaults. Raises ConfigFault that names the key."""
    for name in document:
        if name not in vendors:
            raise ConfigFault(f"{path}: there is no vendor {name!r}; there are {', '.join(vendors)}", fix="correct the name or remove the block")
    found = {}
    for name in vendors:
        try:
            found[name] = VendorLimits.model_validate(document.get(name) or {})
        except ValidationError as fault:
            first = fault.errors(include_url=False)[0]
            key = ".".join((name, *map(str, first["loc"])))
            if first["type"] == "extra_forbidden":
                raise ConfigFault(f"{path}: unknown key {key}", fix=f"use one of: {', '.join(VendorLimits.model_fields)}") from None
            raise ConfigFault(f"{path}: {key} is {first['input']!r}: {first['msg'].lower()}", fix="correct the value") from None
    return found
