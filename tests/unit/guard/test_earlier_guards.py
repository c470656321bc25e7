"""What an earlier guard ruled comes out the same again: what is new is left out of its rules, its limits and what it was shown."""

from pathlib import Path

import pytest

from alphaagent.domain.base import canonical
from alphaagent.domain.record import DecisionRecord
from alphaagent.domain.ruling import GuardSnapshot, Ruling
from alphaagent.errors import ConfigFault, UsageFault
from alphaagent.guard.mandate import Mandate
from alphaagent.guard.registry import RULES
from alphaagent.guard.versions import GUARD_VERSION, REPLAYED, rules_of, snapshot_hash
from alphaagent.replay import rule_again
from tests.unit.guard.guard_scenes import DEFAULT, deciding, judge, line

STORED = (Path(__file__).parent / "recorded" / "decision_of_guard_3.json").read_bytes()
RECORD = DecisionRecord.model_validate_json(STORED)
"""As version 3 wrote it: a purchase under the default mandate."""


def again(record: DecisionRecord, ruling: Ruling | None = None) -> Ruling:
    return rule_again(record, record.snapshot, ruling or record.ruling)


def test_a_ruling_of_version_3_comes_out_the_same_byte_for_byte() -> None:
    assert (RECORD.ruling.guard_version, RECORD.ruling.code, GUARD_VERSION) == ("3", "APPROVED", "4")
    assert canonical(again(RECORD)) == canonical(RECORD.ruling)
    assert not {"E11", "E12"} & {line.id for line in again(RECORD).rules}


def test_what_it_was_shown_and_the_limits_that_it_went_by_are_still_compared() -> None:
    poorer = RECORD.model_copy(update={"snapshot": RECORD.snapshot.model_copy(update={"scheduled": True})})
    assert again(poorer).snapshot_hash != RECORD.ruling.snapshot_hash

    limits = {**RECORD.mandate["limits"], "lot": "0.01"}
    assert again(RECORD.model_copy(update={"mandate": {**RECORD.mandate, "limits": limits}})).limits_hash != RECORD.ruling.limits_hash


def test_the_same_order_is_ruled_on_by_every_rule_of_today_where_it_is_new() -> None:
    today = judge(snapshot=deciding())
    assert (today.guard_version, line(today, "E11").verdict, line(today, "E12").verdict) == (GUARD_VERSION, "not_configured", "pass")


@pytest.mark.parametrize("version", ["1", "2", "5", ""])
def test_a_version_that_this_guard_cannot_be_is_named(version: str) -> None:
    with pytest.raises(UsageFault, match=f"version {version} of the guard; this is version {GUARD_VERSION}"):
        again(RECORD, RECORD.ruling.model_copy(update={"guard_version": version}))


def test_every_version_has_the_rules_that_were_there_by_then() -> None:
    assert ("3" in REPLAYED, list(rules_of(GUARD_VERSION)), set(RULES) - set(rules_of("3"))) == (True, list(RULES), {"E11", "E12"})
    assert all(kind.since in REPLAYED for kind in RULES.values())


def test_a_mandate_of_an_earlier_guard_knows_no_later_rule_and_is_sound_for_its_version_alone() -> None:
    earlier = Mandate.parse("default", {}, "a test", "3")
    assert ("E11" in earlier.document()["rules"], earlier.fault) == (False, None)
    assert earlier.limits_hash != DEFAULT.limits_hash
    assert earlier.model_copy(update={"guard_version": GUARD_VERSION}).fault is not None
    with pytest.raises(ConfigFault, match="unknown key 'E11'"):
        Mandate.parse("default", {"rules": {"E11": {"sessions": 3}}}, "a test", "3")


def test_only_what_is_new_is_left_out_of_what_an_earlier_guard_was_shown() -> None:
    new = {name for name in GuardSnapshot.model_fields if name not in RECORD.snapshot.model_fields_set}
    assert {"second_missing", "earnings_in_sessions", "earnings_unknown", "prices_doubt"} <= new
    told = deciding(second_missing="it failed", earnings_in_sessions=3, earnings_unknown="it failed", prices_doubt="it failed")
    assert snapshot_hash(told, "3") == snapshot_hash(deciding(), "3")
    assert snapshot_hash(told, GUARD_VERSION) != snapshot_hash(deciding(), GUARD_VERSION)
    assert snapshot_hash(deciding(second_price=deciding().price), "3") != snapshot_hash(deciding(), "3")
