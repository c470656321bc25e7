"""One mandate beside another: each limit with its default and hard bounds, and which of them let more through than before.

Every limit says which way it loosens; what is looser is said and recorded, so that nobody widens a limit unnoticed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from alphaagent.guard.mandate import Mandate, bounds_in_words, plain_limit
from alphaagent.guard.registry import RULES
from alphaagent.guard.rule import Rule

_NO_BOUND = Decimal("Infinity")


@dataclass(frozen=True, slots=True)
class LimitLine:
    """One limit of a mandate."""

    rule: str
    title: str
    limit: str
    value: Any
    default: Any
    bounds: str
    looser: bool
    """Whether it lets more through than the default does."""


def limit_lines(mandate: Mandate) -> Iterator[LimitLine]:
    """Every limit of a mandate, in the order of the rules."""
    for rule in mandate.rules:
        for name, field in type(rule).model_fields.items():
            value, default = getattr(rule, name), field.default
            yield LimitLine(
                rule.id, rule.title, name, plain_limit(value), plain_limit(default), bounds_in_words(field), is_looser(type(rule), name, default, value)
            )


def loosened(before: Mandate, after: Mandate) -> tuple[str, ...]:
    """The limits that let more through in the second mandate than in the first, as `H4.max_order_fraction`."""
    pairs = zip(before.rules, after.rules, strict=True)
    return tuple(
        f"{new.id}.{name}" for old, new in pairs for name in type(new).model_fields if is_looser(type(new), name, getattr(old, name), getattr(new, name))
    )


def is_looser(rule: type[Rule], name: str, before: Any, after: Any) -> bool:
    """Whether the second value of a limit lets through what the first one did not."""
    match direction(rule, name):
        case "higher":
            return _size(after) > _size(before)
        case "lower":
            return _size(after) < _size(before)
        case "longer":
            return before != "any" and (after == "any" or bool(set(after) - set(before)))
        case _:
            return before != "none" and (after == "none" or bool(set(before) - set(after)))


def direction(rule: type[Rule], name: str) -> str:
    """Which way a limit loosens: `higher`, `lower`, `longer` or `shorter`."""
    extra = RULES[rule.id].model_fields[name].json_schema_extra
    return str(extra["looser"]) if isinstance(extra, dict) else ""


def _size(value: Decimal | int | str) -> Decimal:
    return _NO_BOUND if isinstance(value, str) else Decimal(value)
