"""What an opening may cite, and what is left of one that cites wrongly."""

from datetime import timedelta
from typing import Any

import pytest

from alphaagent.debate.citations import kept_opening, opening_faults
from alphaagent.debate.sight import visible_evidence
from alphaagent.debate.thresholds import Thresholds
from alphaagent.domain.argument import Opening, PointFault
from alphaagent.domain.evidence import EvidenceItem
from tests.unit.debate.debate_scenes import AS_OF, assertion, claim, ev, item, items, objection, opening, rebuttal, turn

LIMITS = Thresholds()
KNOWN = items(
    item(1), item(2, "bull"), item(3, "bear"), item(4, "cio"), item(5, known_at=AS_OF), item(6, known_at=AS_OF - timedelta(microseconds=1)), item(16, "bull")
)


def faults(given: Opening, known: dict[str, EvidenceItem] = KNOWN) -> tuple[PointFault, ...]:
    return opening_faults(given, visible_evidence("bull", known, ()), known, AS_OF, LIMITS)


def codes(given: Opening) -> list[str]:
    return [fault.code for fault in faults(given)]


@pytest.mark.parametrize("id", [ev(1), ev(2), ev(6)])
def test_what_a_side_was_given_in_time_may_be_cited(id: str) -> None:
    assert faults(opening(claim("A claim", id))) == ()


@pytest.mark.parametrize(
    ("id", "code", "message"),
    [
        (ev(9), "UNKNOWN_EVIDENCE", "is no evidence id that you were given"),
        (ev(16)[:-1], "UNKNOWN_EVIDENCE", "is no evidence id that you were given"),
        (ev(1) + "0", "UNKNOWN_EVIDENCE", "is no evidence id that you were given"),
        (ev(1).upper(), "UNKNOWN_EVIDENCE", "is no evidence id that you were given"),
        (f"see {ev(1)}", "UNKNOWN_EVIDENCE", "is no evidence id that you were given"),
        ("The 10-K says so", "UNKNOWN_EVIDENCE", "is no evidence id that you were given"),
        ("", "UNKNOWN_EVIDENCE", "is no evidence id that you were given"),
        (ev(3), "NOT_VISIBLE", "belongs to evidence that you have not been shown"),
        (ev(4), "NOT_VISIBLE", "belongs to evidence that you have not been shown"),
        (ev(5), "AFTER_CUTOFF", "was not known before the decision's time"),
    ],
)
def test_C14_A10_every_other_id_is_at_fault(id: str, code: str, message: str) -> None:
    [fault] = faults(opening(claim(), claim("Another claim", ev(1), id)))
    assert (fault.code, fault.index, fault.subject) == (code, 1, id)
    assert fault.message.startswith("claims[1]: ")
    assert message in fault.message


def test_an_id_of_an_assertion_is_judged_too_and_named_once() -> None:
    assert codes(opening(claim("A claim", ev(9), assertion=assertion(id=ev(9))))) == ["UNKNOWN_EVIDENCE"]
    assert codes(opening(claim("A claim", ev(1), assertion=assertion(id=ev(3))))) == ["NOT_VISIBLE"]


@pytest.mark.parametrize(
    ("kind", "severity", "expected"),
    [
        ("fact", "low", ['claims[0]: a "fact" needs at least one evidence id.']),
        ("fact", "high", ['claims[0]: a "fact" needs at least one evidence id.']),
        ("value", "high", ['claims[0]: a claim of "high" severity needs at least one evidence id.']),
        ("inference", "med", []),
    ],
)
def test_C14_a_fact_and_a_high_severity_need_evidence(kind: str, severity: str, expected: list[str]) -> None:
    bare = claim(kind=kind, severity=severity).model_copy(update={"evidence_ids": ()})
    assert codes(opening(bare)) == ["NO_EVIDENCE"] * len(expected)
    assert [fault.message for fault in faults(opening(bare))] == expected


def test_C17_of_fifty_claims_six_are_kept_and_the_rest_is_named() -> None:
    given = opening(*[claim(f"Claim {n}") for n in range(50)])
    found = faults(given)
    assert [(fault.code, fault.index) for fault in found] == [("CLAIM_CAP", index) for index in range(6, 50)]
    kept = kept_opening(given, found)
    assert [one.text for one in kept.opening.claims] == [f"Claim {n}" for n in range(6)]
    assert kept.removed == tuple(range(6, 50))


def test_exactly_the_cap_is_no_fault() -> None:
    assert codes(opening(*[claim()] * 6)) == []


def test_neither_a_claim_nor_a_reason_for_none_is_a_fault() -> None:
    [fault] = faults(opening())
    assert (fault.code, fault.index) == ("NO_CLAIMS", None)
    assert codes(opening(no_case="Nothing speaks for it")) == []


def test_a_kept_claim_has_only_good_ids_each_once() -> None:
    given = opening(claim("A claim", ev(1), ev(9), ev(1), assertion=assertion(id=ev(9))))
    kept = kept_opening(given, faults(given))
    assert kept.opening == opening(claim("A claim", ev(1)))
    assert kept.removed == ()


@pytest.mark.parametrize(("fields", "removed"), [({"kind": "fact"}, (1,)), ({"kind": "value", "severity": "high"}, (1,)), ({"kind": "value"}, ())])
def test_a_claim_that_needs_evidence_goes_with_its_last_id(fields: dict[str, Any], removed: tuple[int, ...]) -> None:
    given = opening(claim(), claim("Unproven", ev(9), **fields))
    assert kept_opening(given, faults(given)).removed == removed


def test_an_opening_without_fault_is_kept_as_it_is() -> None:
    given = opening(claim(assertion=assertion()))
    assert kept_opening(given, ()).opening == given


def test_an_opponents_item_is_seen_once_it_is_cited_in_a_revealed_turn() -> None:
    said = turn(0, "bear", opening(claim("Debt is high", ev(3), direction="down")))
    assert list(visible_evidence("bull", KNOWN, ())) == [ev(1), ev(2), ev(5), ev(6), ev(16)]
    assert list(visible_evidence("bull", KNOWN, (said,))) == [ev(1), ev(2), ev(3), ev(5), ev(6), ev(16)]


def test_a_point_at_fault_shows_nobody_anything() -> None:
    fault = PointFault(part="objections", index=0, subject=ev(3), code="BAD_TARGET", message="")
    said = turn(1, "bear", rebuttal(objection("c_bull_1", 0, ev(3))), fault)
    assert ev(3) not in visible_evidence("bull", KNOWN, (said,))


def test_an_assertions_item_is_shown_with_it() -> None:
    said = turn(0, "bear", opening(claim("Debt is high", ev(1), assertion=assertion(id=ev(3)))))
    assert ev(3) in visible_evidence("bull", KNOWN, (said,))
