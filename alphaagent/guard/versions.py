"""Which guard this is, and what of it earlier ones did not have yet.

A ruling is stored with its guard's version and must come out the same again. A rule and a snapshot field say since when they are there, so that
this guard rules as an earlier one did by leaving them out; further back than `OLDEST` other things differed as well.
"""

from collections.abc import Mapping

from alphaagent.domain.base import fingerprint
from alphaagent.domain.ruling import GuardSnapshot
from alphaagent.guard.registry import RULES
from alphaagent.guard.rule import Rule

GUARD_VERSION = "4"
OLDEST = "3"
REPLAYED = tuple(str(version) for version in range(int(OLDEST), int(GUARD_VERSION) + 1))
"""The versions whose rulings this guard makes again."""


def rules_of(version: str) -> Mapping[str, type[Rule]]:
    """The rules that a version had, in order."""
    return {id: kind for id, kind in RULES.items() if int(kind.since) <= int(version)}


def snapshot_hash(snapshot: GuardSnapshot, version: str) -> str:
    """The fingerprint of what a version is shown of a snapshot."""
    if version == GUARD_VERSION:
        return fingerprint(snapshot)
    return fingerprint({name: getattr(snapshot, name) for name, field in GuardSnapshot.model_fields.items() if _since(field.json_schema_extra) <= int(version)})


def _since(mark: object) -> int:
    return int(str(mark["since"])) if isinstance(mark, dict) else int(OLDEST)
