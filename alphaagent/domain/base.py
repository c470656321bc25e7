"""What every domain model shares: frozen, no unknown fields, one canonical byte form.

Canonical bytes are RFC 8785 JSON over strings, integers, booleans, null, lists and objects. Floats are refused on purpose:
a measured number is written as a decimal string once, where it is measured, so that no second machine can print it otherwise.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from typing import Annotated

import rfc8785
from pydantic import AfterValidator, BaseModel, ConfigDict

LARGEST_INTEGER = 2**53 - 1
LAST_OF_BASIC_PLANE = "\uffff"

Json = str | int | bool | None | Sequence["Json"] | Mapping[str, "Json"]


def _utc(value: datetime) -> datetime:
    if value.tzinfo is None:
        raise ValueError("a time must carry a time zone")
    return value.astimezone(UTC)


Instant = Annotated[datetime, AfterValidator(_utc)]
"""An aware datetime, always converted to UTC."""


class Frozen(BaseModel):
    """Base of the domain models."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


def plain(value: object) -> Json:
    """The canonical JSON value of a domain value: times ISO 8601 UTC, decimals as plain strings. TypeError on a float."""
    match value:
        case None | bool() | str() if not isinstance(value, Enum):
            return value
        case int() if not isinstance(value, Enum):
            return _exact(value)
        case Enum():
            return str(value.value)
        case Decimal():
            return decimal_text(value)
        case datetime():
            return instant_text(value)
        case date():
            return value.isoformat()
        case BaseModel():
            return {name: plain(getattr(value, name)) for name in type(value).model_fields}
        case Mapping():
            return {str(key): plain(item) for key, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
        case set() | frozenset():
            return sorted((plain(item) for item in value), key=str)
        case _:
            raise TypeError(f"{type(value).__name__} has no canonical form; write measured numbers as decimal strings")


def _exact(value: int) -> int:
    """An integer that every JSON reader keeps exactly. Raises ValueError beyond 2^53."""
    if abs(value) > LARGEST_INTEGER:
        raise ValueError(f"{value} is beyond 2^53; write it as a string")
    return value


def canonical(value: object) -> bytes:
    """The RFC 8785 bytes of a value.

    Over these values the standard library's encoder, five times as fast, writes the same bytes; it sorts keys by code point and the RFC by
    UTF-16 unit, which differ only beyond the basic plane, so text from there takes the slow way.
    """
    document = plain(value)
    text = json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return rfc8785.dumps(document) if max(text) > LAST_OF_BASIC_PLANE else text.encode()


def sha256_hex(data: bytes) -> str:
    """Lower-case hex SHA-256."""
    return hashlib.sha256(data).hexdigest()


def fingerprint(value: object) -> str:
    """SHA-256 (hex) of a value's canonical bytes."""
    return sha256_hex(canonical(value))


def instant_text(value: datetime) -> str:
    """ISO 8601 in UTC with a Z; microseconds only where there are some. ValueError without a time zone."""
    if value.tzinfo is None:
        raise ValueError("a time must carry a time zone")
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z")


def decimal_text(value: Decimal) -> str:
    """A Decimal as a plain string with a decimal point and no exponent; at least one decimal, trailing zeros cut, zero without a sign.

    Raises ValueError on NaN or infinity.
    """
    if not value.is_finite():
        raise ValueError(f"{value} has no canonical form")
    text = format(value or Decimal(0), "f")
    if "." not in text:
        return text + ".0"
    whole, _, part = text.partition(".")
    return f"{whole}.{part.rstrip('0') or '0'}"


def measured(value: float | Decimal | None, places: int = 6) -> str | None:
    """A measured number as the decimal string that evidence carries, quantised half-even; None stays None.

    Raises ValueError on NaN or infinity: a measure that is not a number is missing, and missing is None.
    """
    if value is None:
        return None
    # Through float: the repr of a NumPy number is no number.
    number = Decimal(value) if isinstance(value, int | Decimal) else Decimal(repr(float(value)))
    if not number.is_finite():
        raise ValueError("a measure must be finite; missing is None")
    return decimal_text(round(number, places) + 0)
