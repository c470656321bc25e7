"""The card of a refused order: how far over, what would change it, and words for every code that the guard has."""

import pytest

from alphaagent.domain.ruling import RuleTrace
from alphaagent.guard.registry import RULES
from alphaagent.views_blocked import LIFTED, SUPPLIED, UNITS, UNREADABLE, blocked_document, lifted_by, overage
from tests.builders import record, ruling, snapshot

CODES = sorted({code for rule in RULES.values() for code in rule.codes})


@pytest.mark.parametrize("code", CODES)
def test_every_code_of_the_guard_says_what_would_change_it(code: str) -> None:
    assert lifted_by(code) == LIFTED[code]


def test_no_words_stand_there_for_a_code_that_is_gone() -> None:
    assert set(LIFTED) <= set(CODES)
    assert set(UNITS) <= set(RULES)


def test_a_missing_figure_and_what_could_not_be_read_have_words_of_their_own() -> None:
    assert lifted_by("DATA_MISSING:equity") == SUPPLIED
    assert lifted_by("NOT_JSON") == UNREADABLE


@pytest.mark.parametrize(
    ("rule", "value", "limit", "told"),
    [
        ("H1", "60000", "19418.36", "over by 40,581.64 (209.0% of the limit)"),
        ("H2", "120", "100", "over by 20 shares (20.0% of the limit)"),
        ("G2", "3", "2", "over by 1 orders (50.0% of the limit)"),
        ("D6", "4.5", "5", "short by 0.50 a share (10.0% of the limit)"),
        ("H4", "10", "0.0", "over by 10.00"),
        ("E6", "90", "100", None),
        ("B1", "HALTED", "ACTIVE", None),
        ("H3", "7", None, None),
    ],
)
def test_by_how_much_is_said_only_where_a_difference_means_something(rule: str, value: str, limit: str | None, told: str | None) -> None:
    assert overage(RuleTrace(id=rule, verdict="block", value=value, limit=limit)) == told


def test_a_card_holds_the_findings_that_stopped_the_order_and_the_limits_that_they_read() -> None:
    traces = (
        RuleTrace(id="B1", verdict="pass"),
        RuleTrace(id="H1", verdict="block", code="FAT_FINGER_NOTIONAL", value="30", limit="20", reason="too much"),
    )
    refused = record(ruling=ruling(snapshot(), outcome="BLOCK", code="FAT_FINGER_NOTIONAL", codes=("FAT_FINGER_NOTIONAL",), rules=traces))
    refused = refused.model_copy(update={"mandate": {"name": "default", "limits": {"rules": {"H1": {"max_request_fraction": "0.20"}}}}})
    card = blocked_document(refused, {"H1": "Request, money"})
    (found,) = card["findings"]
    assert (found["title"], found["settings"], found["over"]) == ("Request, money", ["H1.max_request_fraction: 0.20"], "over by 10.00 (50.0% of the limit)")
    assert card["decision_id"] == refused.decision_id


def test_a_proposal_that_could_not_be_read_has_a_card_without_a_rule() -> None:
    refused = record(proposal=None, ruling=ruling(snapshot(), outcome="BLOCK", code="NOT_JSON", codes=("NOT_JSON",), rules=()))
    (found,) = blocked_document(refused, {})["findings"]
    assert (found["title"], found["lifted_by"]) == ("Strict parser", UNREADABLE)
