"""Limits that were approved by an earlier version of the rules still stand: a rule that is new is no change of the mandate."""

from typing import Any

from alphaagent.domain.base import fingerprint
from alphaagent.guard.mandate import Mandate

MANDATE = Mandate(name="default")


def without(rule: str) -> dict[str, Any]:
    """The mandate as a version that did not know this rule recorded it."""
    record = MANDATE.record()
    limits = record["limits"] | {"rules": {id: fields for id, fields in record["limits"]["rules"].items() if id != rule}}
    return {"name": "default", "limits": limits}


def test_limits_of_this_version_keep_their_hash() -> None:
    assert Mandate.approved_hash(MANDATE.record(), MANDATE.limits_hash, "dec_1") == MANDATE.limits_hash


def test_limits_recorded_before_a_rule_was_there_are_the_same_limits() -> None:
    earlier = without("F4")
    assert fingerprint(earlier["limits"]) != MANDATE.limits_hash
    assert Mandate.approved_hash(earlier, fingerprint(earlier["limits"]), "dec_1") == Mandate.from_record(earlier, "dec_1").limits_hash


def test_limits_that_are_not_the_recorded_ones_match_nothing() -> None:
    earlier = without("F4")
    assert Mandate.approved_hash(earlier, "0" * 64, "dec_1") == "0" * 64
