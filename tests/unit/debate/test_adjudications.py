"""What an objector may say to the rebuttal of its objection, and what a conclusion has to say of what stays open."""

from typing import Any

import pytest

from alphaagent.debate.faults import answer_faults
from alphaagent.domain.argument import Adjudication, PointResolution
from tests.unit.debate.debate_scenes import AS_OF, WAITING, at, codes, conclusion, condition, ev, rebuttal, retort, ruling, turn


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (ruling("o_bear_1"), []),
        (ruling("o_bear_1").model_copy(update={"reason": ""}), ["NO_REASON"]),
        (ruling("o_bear_1", "ACCEPT", 3, ev(99)), ["UNKNOWN_EVIDENCE"]),
        (ruling("o_bear_1", "SUSTAIN", 4, ev(6)), []),
        (ruling("o_bear_1", "SUSTAIN", 4, ev(3)), []),
        (ruling("o_bear_1", "SUSTAIN", 4), ["NO_EVIDENCE"]),
        (ruling("o_bear_1", "SUSTAIN", 4, ev(2)), ["NOT_NEW_EVIDENCE"]),
        (ruling("o_bear_1", "SUSTAIN", 4, ev(1)), ["NOT_NEW_EVIDENCE"]),
        (ruling("o_bear_1", "SUSTAIN", 4, ev(7)), ["AFTER_CUTOFF"]),
        (ruling("o_bear_1", "SUSTAIN", 1, ev(6)), ["BOILERPLATE_REASON"]),
        (ruling("o_bear_1", "SUSTAIN", 4, ev(6)).model_copy(update={"reason": "No."}), ["NO_REASON"]),
        (ruling("o_bear_2"), ["NOT_REBUTTED"]),
        (ruling("o_bear_9"), ["UNKNOWN_OBJECTION"]),
        (ruling("o_bear_10"), ["UNKNOWN_OBJECTION"]),
    ],
)
def test_only_a_waiting_rebuttal_is_ruled_on_and_to_sustain_has_a_price(said: Any, expected: list[str]) -> None:
    answer = rebuttal(steelman=["c_bull_1"], rulings=[said])
    assert [fault.code for fault in answer_faults(answer, at("bear", *WAITING))] == expected


def test_the_answering_side_does_not_rule_on_itself() -> None:
    assert codes(rebuttal(rulings=[ruling("o_bear_1")]), at("bull", *WAITING)) == [("adjudications", 0, "NOT_ADDRESSED_TO_YOU")]


def test_two_verdicts_on_one_point_spoil_each_other() -> None:
    two = [ruling("o_bear_1"), ruling("o_bear_1", "SUSTAIN", 4, ev(6))]
    assert [code for _, _, code in codes(rebuttal(steelman=["c_bull_1"], rulings=two), at("bear", *WAITING))] == ["DUPLICATE_MOVE"] * 2


def test_a_closed_one_is_closed() -> None:
    told = (*WAITING, turn(3, "bull", rebuttal()), turn(3, "bear", rebuttal(steelman=["c_bull_1"], rulings=[ruling("o_bear_1")])))
    assert codes(retort(rulings=[ruling("o_bear_1")]), at("bear", *told)) == [("adjudications", 0, "ALREADY_CLOSED")]


def test_silence_is_legal() -> None:
    assert codes(rebuttal(steelman=["c_bull_1"]), at("bear", *WAITING)) == []


def open_ones(*given: PointResolution, rulings: tuple[Adjudication, ...] = ()) -> list[tuple[str, int | None, str]]:
    """Codes of bear's conclusion, where o_bear_1 waits for its word and o_bear_2 was carried."""
    return codes(conclusion(*given, rulings=rulings), at("bear", *WAITING))


SUSTAINED = ruling("o_bear_1", "SUSTAIN", 4, ev(3))


def test_C15_every_objection_that_stays_open_needs_its_condition() -> None:
    assert open_ones() == [("would_resolve_if", None, "NO_RESOLUTION_CONDITION")]
    assert open_ones(condition("o_bear_2")) == []
    assert open_ones(condition("o_bear_2"), rulings=(SUSTAINED,)) == [("would_resolve_if", None, "NO_RESOLUTION_CONDITION")]
    assert open_ones(condition("o_bear_2"), condition("o_bear_1", threshold="5"), rulings=(SUSTAINED,)) == []


def test_C15_the_missing_one_is_named() -> None:
    [fault] = answer_faults(conclusion(), at("bear", *WAITING))
    assert (fault.subject, fault.message) == ("o_bear_2", "would_resolve_if: say what would settle o_bear_2.")


def test_C15_two_points_do_not_share_a_condition() -> None:
    given = (condition("o_bear_2"), condition("o_bear_1"))
    assert open_ones(*given, rulings=(SUSTAINED,)) == [("would_resolve_if", 1, "NO_RESOLUTION_CONDITION")]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"observable": "get_price_history.momentum"}, '"observable" must be one of those listed'),
        ({"by": AS_OF.date()}, '"by_date" must be after 2024-03-01'),
    ],
)
def test_C15_a_condition_is_machine_checkable_and_lies_ahead(fields: dict[str, Any], message: str) -> None:
    [fault] = answer_faults(conclusion(condition("o_bear_2", **fields)), at("bear", *WAITING))
    assert fault.code == "NO_RESOLUTION_CONDITION"
    assert message in fault.message


def test_a_condition_is_for_what_stays_open_and_once() -> None:
    two, one = condition("o_bear_2"), condition("o_bear_1", threshold="5")
    assert open_ones(two, one) == [("would_resolve_if", 1, "ALREADY_CLOSED")]
    assert open_ones(two, condition("o_bear_22", threshold="5")) == [("would_resolve_if", 1, "UNKNOWN_OBJECTION")]
    assert open_ones(two, condition("o_bear_2", threshold="5")) == [("would_resolve_if", 1, "DUPLICATE_MOVE")]


def test_the_answering_side_may_say_what_would_settle_a_point_and_need_not() -> None:
    assert codes(conclusion(), at("bull", *WAITING)) == []
    assert codes(conclusion(condition("o_bear_2")), at("bull", *WAITING)) == []
    assert codes(conclusion(condition("o_bear_1")), at("bull", *WAITING)) == []
