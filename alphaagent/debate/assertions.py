"""A claim's number looked up again: code decides, not a model.

Chosen on purpose: only a number that is recorded at exactly the path that the claim names is compared. A path that leads nowhere, to a
text or to a truth value decides nothing. A tolerance counts for the claim, up to a tenth of what is recorded: with one of any size every
number would be right.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Literal

from alphaagent.domain.argument import Assertion, Operator
from alphaagent.domain.evidence import EvidenceItem

Verdict = Literal["supported", "contradicted", "not_checkable"]

WIDEST_TOLERANCE = Decimal("0.1")
"""As a share of the recorded number."""
_NUMBER = re.compile(r"-?[0-9]{1,30}(\.[0-9]{1,30})?")


def verdict(assertion: Assertion, known: Mapping[str, EvidenceItem]) -> Verdict:
    """Whether the recorded evidence bears an assertion out."""
    item = known.get(assertion.evidence_id)
    actual = None if item is None else number_at(item.payload, assertion.path)
    if actual is None:
        return "not_checkable"
    tolerance = min(assertion.tolerance, abs(actual) * WIDEST_TOLERANCE)
    return "supported" if holds(actual, assertion.op, assertion.value, tolerance) else "contradicted"


def number_at(payload: Mapping[str, Any], path: str) -> Decimal | None:
    """The number at a dotted path of a payload; None where no number stands there."""
    value: object = payload
    for step in path.split("."):
        if not isinstance(value, Mapping) or step not in value:
            return None
        value = value[step]
    return _number(value)


def holds(actual: Decimal, op: Operator, value: Decimal, tolerance: Decimal = Decimal(0)) -> bool:
    """The comparison itself; a tolerance widens every operator."""
    match op:
        case "<":
            return actual < value + tolerance
        case "<=":
            return actual <= value + tolerance
        case "==":
            return abs(actual - value) <= tolerance
        case ">=":
            return actual >= value - tolerance
        case ">":
            return actual > value - tolerance


def observables(items: Iterable[EvidenceItem]) -> frozenset[str]:
    """What a condition may name: tool.kind.path of every number, of the kinds that a pack holds once."""
    given = tuple(items)
    times = Counter((item.tool, item.kind) for item in given)
    return frozenset(f"{item.tool}.{item.kind}.{path}" for item in given if times[item.tool, item.kind] == 1 for path in _number_paths(item.payload))


def observed(name: str, items: Iterable[EvidenceItem]) -> Decimal | None:
    """The number that an observable names, in the items of some day; None where it is not there."""
    given = [item for item in items if name.startswith(f"{item.tool}.{item.kind}.")]
    found = [number_at(item.payload, name.removeprefix(f"{item.tool}.{item.kind}.")) for item in given]
    return next((number for number in found if number is not None), None)


def _number_paths(payload: Mapping[str, Any], above: str = "") -> Iterator[str]:
    for key, value in payload.items():
        if isinstance(value, Mapping):
            yield from _number_paths(value, f"{above}{key}.")
        elif _number(value) is not None:
            yield f"{above}{key}"


def _number(value: object) -> Decimal | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int) or (isinstance(value, str) and _NUMBER.fullmatch(value)):
        return Decimal(value)
    return None
