"""A mandate: the limits in force, every one of them within its rule's hard bounds.

Chosen on purpose: limits arrive from a file that people edit, so every fault names the file, the key, the nearest valid key and the bound.
A limit that is NaN, zero or an empty list never means "no limit". Numbers may be written as YAML numbers or as strings; a boolean is never a number.
"""

import difflib
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Annotated, Any, Literal, NoReturn, TypeVar, get_args, get_origin

from pydantic import Field, ValidationError
from pydantic.fields import FieldInfo

from alphaagent.domain.base import Frozen, decimal_text, fingerprint
from alphaagent.errors import ConfigFault
from alphaagent.guard.registry import RULES
from alphaagent.guard.rule import Rule
from alphaagent.guard.versions import GUARD_VERSION, rules_of

SomeLimits = TypeVar("SomeLimits", bound=Frozen)
RiskProfile = Literal["low", "medium", "high"]
_KEYS = ("risk_profile", "lot", "rules")
_PROFILES = ("low", "medium", "high")
_NUMBER = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,12})?")
_BOUND_WORDS = {"gt": "more than", "ge": "at least", "lt": "less than", "le": "at most"}


class Lots(Frozen):
    """The unit of quantity; at least the micro-share that the books can store."""

    lot: Decimal = Field(Decimal("0.0001"), ge=Decimal("0.000001"), le=1000, decimal_places=6)


class Mandate(Frozen):
    """The limits of one portfolio; `rules` holds every rule that `guard_version` has, in order."""

    name: str
    risk_profile: RiskProfile = "medium"
    lot: Decimal = Decimal("0.0001")
    rules: tuple[Rule, ...] = Field(default_factory=lambda: tuple(kind() for kind in RULES.values()))
    guard_version: str = GUARD_VERSION

    @classmethod
    def parse(cls, name: str, document: Mapping[str, Any], where: str, guard_version: str = GUARD_VERSION) -> "Mandate":
        """The mandate that a document describes; what it leaves out keeps its default. Raises ConfigFault."""
        at = f"{where}: {name}"
        fields = _mapping(document, at)
        _known_keys(fields, _KEYS, at)
        profile = fields.get("risk_profile", "medium")
        if profile not in _PROFILES:
            _fault(f"{at}.risk_profile", f"{profile!r} is not one of {', '.join(_PROFILES)}")
        lots = {"lot": fields["lot"]} if "lot" in fields else {}
        limits = _mapping(fields.get("rules", {}), f"{at}.rules")
        known = rules_of(guard_version)
        _known_keys(limits, known, f"{at}.rules")
        rules = tuple(_limits(kind, _mapping(limits.get(id, {}), f"{at}.rules.{id}"), f"{at}.rules.{id}") for id, kind in known.items())
        return cls(name=name, risk_profile=profile, lot=_limits(Lots, lots, at).lot, rules=rules, guard_version=guard_version)

    def document(self) -> dict[str, Any]:
        """The whole mandate as plain values; parses back to the same."""
        limits = {rule.id: {field: plain_limit(getattr(rule, field)) for field in type(rule).model_fields} for rule in self.rules}
        return {"risk_profile": self.risk_profile, "lot": decimal_text(self.lot), "rules": {id: fields for id, fields in limits.items() if fields}}

    def record(self) -> dict[str, Any]:
        """The mandate as a decision's record carries it; `from_record` reads it back."""
        return {"name": self.name, "limits": self.document()}

    @classmethod
    def from_record(cls, record: Mapping[str, Any], where: str, guard_version: str = GUARD_VERSION) -> "Mandate":
        """The mandate that was in force when a decision was recorded; for the guard of today, or as an earlier one knew it."""
        return cls.parse(str(record["name"]), record["limits"], where, guard_version)

    @classmethod
    def approved_hash(cls, record: Mapping[str, Any], limits_hash: str, where: str) -> str:
        """The hash that recorded limits have under the rules of today, for B4 to compare with.

        A version that knows one more rule writes the same limits with one line more; that is no change of the mandate, and must not strand an
        order that was approved before. Limits that do not hash to what was recorded keep the recorded hash, which then matches nothing.
        """
        return cls.from_record(record, where).limits_hash if fingerprint(record["limits"]) == limits_hash else limits_hash

    def __hash__(self) -> int:
        # Cheap on purpose: every evaluation looks a mandate up, and the same object is then found without comparing fifty rules.
        return hash((self.name, self.risk_profile, self.lot))

    @property
    def limits_hash(self) -> str:
        """What B4 compares with the hash on file."""
        return _hash(self)

    @property
    def fault(self) -> str | None:
        """Why this object could not have come from a file, where it was made some other way."""
        return _fault_of(self)


# Cached by value, outside the model: a value kept inside it would survive `model_copy` and vouch for limits that it never saw.
@lru_cache(maxsize=64)
def _hash(mandate: Mandate) -> str:
    return fingerprint(mandate.document())


@lru_cache(maxsize=64)
def _fault_of(mandate: Mandate) -> str | None:
    try:
        again = Mandate.parse(mandate.name, mandate.document(), "mandate", mandate.guard_version)
    except ConfigFault as fault:
        return fault.message
    return None if again == mandate else "its rules are not the registered ones"


def parse_mandates(documents: Mapping[str, Any], where: str) -> dict[str, Mandate]:
    """Every mandate of a file by name. Raises ConfigFault."""
    return {name: Mandate.parse(name, document, where) for name, document in documents.items()}


def _limits(kind: type[SomeLimits], fields: Mapping[str, Any], at: str) -> SomeLimits:
    _known_keys(fields, kind.model_fields, at)
    values = {key: _value(kind.model_fields[key], value, f"{at}.{key}") for key, value in fields.items()}
    try:
        return kind(**values)
    except ValidationError as fault:
        first = fault.errors()[0]
        key = str(first["loc"][0])
        _fault(f"{at}.{key}", f"{_shown(fields[key])} is refused; it must be {bounds_in_words(kind.model_fields[key])}")


def _value(field: FieldInfo, value: Any, at: str) -> Any:
    """A YAML value as the type of its limit; what does not fit is left to the limit's own validation."""
    kinds = _kinds(field.annotation)
    if Decimal in kinds or int in kinds:
        if isinstance(value, str) and value in _words(kinds):
            return value
        number = _number(value, at, bounds_in_words(field))
        return int(number) if int in kinds and number.is_finite() and number == number.to_integral_value() else number
    return tuple(_symbol(item, at) for item in value) if isinstance(value, list | tuple) else value


def _kinds(annotation: Any) -> list[Any]:
    """The types that a limit may have: the members of a union, each without its annotations."""
    if get_origin(annotation) is Annotated:
        return _kinds(get_args(annotation)[0])
    union = get_args(annotation) if get_origin(annotation) not in (Literal, tuple) else ()
    return [kind for part in union for kind in _kinds(part)] or [annotation]


def _words(kinds: Iterable[Any]) -> list[Any]:
    """The values that a limit may have besides numbers and lists."""
    return [word for kind in kinds if get_origin(kind) is Literal for word in get_args(kind)]


def _number(value: Any, at: str, bounds: str) -> Decimal:
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return Decimal(value)
    if isinstance(value, float):
        return Decimal(repr(value))
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return Decimal(value)
    _fault(at, f"{_shown(value)} is not a number; it must be {bounds}")


def _symbol(value: Any, at: str) -> str:
    if not isinstance(value, str):
        _fault(at, f"{_shown(value)} is not a ticker; write tickers in quotes, YAML reads ON, TRUE and 1E5 as something else")
    return value


def bounds_in_words(field: FieldInfo) -> str:
    """What a limit may be, hard bounds included."""
    kinds = _kinds(field.annotation)
    words = [f"`{str(word).lower() if isinstance(word, bool) else word}`" for word in _words(kinds)]
    if Decimal in kinds or int in kinds:
        marks = [mark for part in (field.annotation, *get_args(field.annotation)) for item in getattr(part, "__metadata__", ()) for mark in item.metadata]
        parts = [f"{says} {getattr(mark, side)}" for mark in (*field.metadata, *marks) for side, says in _BOUND_WORDS.items() if hasattr(mark, side)]
        words.append(("a whole number, " if int in kinds else "") + " and ".join(parts))
    elif entries := next((get_args(kind) for kind in kinds if get_origin(kind) is tuple), ()):
        named = get_args(entries[0])
        words.append(f"a list of at least one of {', '.join(named)}" if named else "a list of at least one ticker in capitals")
    elif len(words) == 1:
        return f"{words[0]}, which is all that this version supports"
    return ", or ".join(words)


def plain_limit(value: Decimal | int | str | tuple[str, ...]) -> Any:
    """A limit as YAML and JSON write it."""
    match value:
        case Decimal():
            return decimal_text(value) if value.is_finite() else str(value)
        case tuple():
            return list(value)
        case _:
            return value


def _mapping(value: Any, at: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        _fault(at, f"{_shown(value)} is not a mapping of keys to values")
    return value


def _known_keys(fields: Mapping[str, Any], valid: Iterable[str], at: str) -> None:
    keys = list(valid)
    for key in fields:
        if key not in keys:
            near = difflib.get_close_matches(str(key), keys, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]!r}?" if near else f"valid keys: {', '.join(keys) or 'none, this rule has no limit to set'}"
            _fault(at, f"unknown key {_shown(key)}; {hint}")


def _shown(value: object) -> str:
    return repr(value)[:60]


def _fault(at: str, message: str) -> NoReturn:
    raise ConfigFault(f"{at}: {message}", fix="Correct the mandate file; `alphaagent doctor` reads it without trading.")
