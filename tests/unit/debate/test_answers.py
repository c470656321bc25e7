"""What a debater may answer, and what it is told when it answers something else."""

import json
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alphaagent.debate.answers import CODES, MAX_BYTES, answer_schema, read_answer, read_conclusion, read_opening, read_rebuttal, read_retort
from alphaagent.domain.argument import (
    ANSWERS,
    Adjudication,
    Answer,
    AnswerKind,
    Assertion,
    Claim,
    Fallacy,
    Move,
    Objection,
    Opening,
    PointResolution,
    Said,
    Steelman,
)
from alphaagent.domain.proposal import TradeProposal
from alphaagent.errors import AnswerRefused
from tests.unit.debate.debate_scenes import (
    as_json,
    assertion,
    carried,
    claim,
    conceded,
    conclusion,
    condition,
    ev,
    objection,
    opening,
    rebuttal,
    rebutted,
    retort,
    ruling,
)

GOOD: list[tuple[Callable[[str], Answer], Answer]] = [
    (read_opening, opening(claim(assertion=assertion()), claim("Cash flow is negative", severity="high", direction="down"))),
    (read_opening, opening(no_case="Nothing that I hold speaks for this side")),
    (read_rebuttal, rebuttal(objection("c_bear_1"), objection("c_bear_2", 1, fallacy="straw_man"), rulings=[ruling("o_bull_1")])),
    (read_retort, retort(conceded("o_bear_1", scope="partial", narrowed_text="Margins rose twice"), rebutted("o_bear_2"), carried("o_bear_3"))),
    (read_conclusion, conclusion(condition("o_bull_1"), rulings=[ruling("o_bull_2", "SUSTAIN", 1, ev(4))])),
]
BASE = as_json(opening(claim(assertion=assertion())))


def refusal(read: Callable[[str], Answer], document: Any) -> AnswerRefused:
    with pytest.raises(AnswerRefused) as refused:
        read(document if isinstance(document, str) else json.dumps(document))
    return refused.value


def changed(path: str, value: Any, base: dict[str, Any] = BASE) -> dict[str, Any]:
    """A copy of a document with one place set, or removed where the value is Ellipsis."""
    document = json.loads(json.dumps(base))
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    place = document
    for step in steps:
        place = place[step]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return document


@pytest.mark.parametrize(("read", "answer"), GOOD)
def test_C3_an_answer_comes_back_as_it_was_written(read: Callable[[str], Answer], answer: Answer) -> None:
    assert read(json.dumps(as_json(answer))) == answer
    assert read("```json\n" + json.dumps(as_json(answer)) + "\n```") == answer
    assert type(answer).model_validate_json(answer.model_dump_json()) == answer


def test_what_may_be_null_may_be_left_out() -> None:
    short = {"objection_id": "o_bear_1", "type": "REBUTTED", "reason": "", "evidence_ids": []}
    assert read_retort(json.dumps({"p_up": 1, "moves": [short]})).p_up == Decimal(1)


@pytest.mark.parametrize("literal", ['"0.6"', "true", "false", "null", "NaN", "Infinity", "-Infinity", "1.2", "-0.1", "6e-1", "[0.6]", "0.0000000000001"])
@pytest.mark.parametrize("kind", ANSWERS)
def test_A2_a_probability_is_a_plain_number_or_nothing(kind: AnswerKind, literal: str) -> None:
    whole = as_json(next(answer for _, answer in GOOD if type(answer) is ANSWERS[kind]))
    raw = json.dumps(changed("p_up", "HERE", whole)).replace('"HERE"', literal)
    refused = refusal(lambda text: read_answer(kind, text), raw)
    assert refused.code == "BAD_PROBABILITY"
    assert '"p_up" must be a plain JSON number from 0 to 1' in refused.message


def test_A2_a_missing_probability_is_never_guessed() -> None:
    refused = refusal(read_opening, changed("p_up", ...))
    assert refused.code == "BAD_PROBABILITY"
    assert refused.message.startswith('The key "p_up" is missing')


@pytest.mark.parametrize(("literal", "value"), [("0", "0"), ("1", "1"), ("0.0", "0"), ("0.123456789012", "0.123456789012")])
def test_the_ends_of_the_range_are_probabilities(literal: str, value: str) -> None:
    raw = json.dumps(changed("p_up", "HERE")).replace('"HERE"', literal)
    assert read_opening(raw).p_up == Decimal(value)


@pytest.mark.parametrize(
    ("path", "value", "code", "message"),
    [
        ("confidence", 1, "EXTRA_KEY", "Remove the key 'confidence'."),
        ("claims.0.id", "c_bull_1", "EXTRA_KEY", "Remove the key 'claims[0].id'."),
        ("strongest_counter", ..., "MISSING_KEY", 'Add the key "strongest_counter".'),
        ("claims.0.evidence_ids", ..., "MISSING_KEY", 'Add the key "claims[0].evidence_ids".'),
        ("stance", "bullish", "BAD_FIELD", "\"stance\" must be exactly 'BULLISH', 'BEARISH' or 'NEUTRAL'."),
        ("stance", 1, "BAD_FIELD", "\"stance\" must be exactly 'BULLISH', 'BEARISH' or 'NEUTRAL'."),
        ("claims", "none", "BAD_FIELD", '"claims" must be a list.'),
        ("claims.0", "none", "BAD_FIELD", '"claims[0]" must be a JSON object.'),
        ("claims.0.text", 5, "BAD_FIELD", '"claims[0].text" must be a text of visible characters.'),
        ("claims.0.text", " \n", "BAD_FIELD", '"claims[0].text" must be a text that is not empty.'),
        ("claims.0.text", "x" * 601, "BAD_FIELD", '"claims[0].text" must have at most 600 characters; yours has 601.'),
        ("claims.0.text", "a\u200bb", "BAD_FIELD", "invisible or control character U+200B at position 1"),
        ("claims.0.text", "a\ud800b", "BAD_FIELD", '"claims[0].text" must be a text of visible characters.'),
        ("claims.0.evidence_ids", [5], "BAD_FIELD", '"claims[0].evidence_ids[0]" must be a text'),
        ("claims.0.evidence_ids", ev(1), "BAD_FIELD", '"claims[0].evidence_ids" must be a list.'),
        ("claims.0.evidence_ids", [ev(1)] * 17, "BAD_FIELD", "must have at most 16 items; yours has 17."),
        ("claims.0.assertion.value", "5", "BAD_FIELD", '"claims[0].assertion.value" must be a plain JSON number such as 2.5'),
        ("claims.0.assertion.value", True, "BAD_FIELD", '"claims[0].assertion.value" must be a plain JSON number such as 2.5'),
        ("claims.0.assertion.tolerance", -1, "BAD_FIELD", "must be a number that is not negative."),
        ("claims.0.assertion.op", "=", "BAD_FIELD", "must be exactly '<', '<=', '==', '>=' or '>'."),
        ("strongest_counter", "x" * 1501, "BAD_FIELD", "at most 1500 characters"),
        ("no_case", "None at all", "BAD_FIELD", 'Give either "claims" or "no_case", not both.'),
    ],
)
def test_every_fault_says_what_to_mend(path: str, value: Any, code: str, message: str) -> None:
    refused = refusal(read_opening, changed(path, value))
    assert refused.code == code
    assert message in refused.message


@pytest.mark.parametrize(
    ("by_date", "message"),
    [("2024-02-30", "is 2024-02-30, which is not in the calendar"), ("20240601", 'must be a date such as "2024-03-28"'), (20240601, "must be a date")],
)
def test_a_date_is_a_day_of_the_calendar(by_date: Any, message: str) -> None:
    document = changed("would_resolve_if.0.by_date", by_date, as_json(conclusion(condition("o_bull_1"))))
    assert message in refusal(read_conclusion, document).message


@pytest.mark.parametrize("verdict", ["partially rebutted", "accept", "ACCEPTED", ""])
def test_D12_a_verdict_outside_the_vocabulary_is_refused(verdict: str) -> None:
    document = changed("adjudications.0.verdict", verdict, as_json(conclusion(rulings=[ruling("o_bull_1")])))
    assert refusal(read_conclusion, document).code == "BAD_FIELD"


def test_a_fallacy_comes_from_the_closed_list() -> None:
    document = changed("objections.0.fallacy", "it is silly", as_json(rebuttal(objection("c_bear_1"))))
    assert refusal(read_rebuttal, document).code == "BAD_FIELD"


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        ("I think it goes up.", "NOT_SINGLE_JSON"),
        ("", "NOT_SINGLE_JSON"),
        ("[]", "NOT_SINGLE_JSON"),
        (json.dumps(BASE) + json.dumps(BASE), "NOT_SINGLE_JSON"),
        (json.dumps(BASE)[:-1] + ', "p_up": 0.4}', "DUP_KEY"),
        (json.dumps(changed("strongest_counter", "x" * MAX_BYTES)), "TOO_LARGE"),
        (json.dumps(changed("claims", [[[[[[[[]]]]]]]])), "TOO_LARGE"),
    ],
)
def test_a_text_that_is_not_one_object_is_refused(raw: str, code: str) -> None:
    assert refusal(read_opening, raw).code == code


def test_all_faults_are_named_up_to_a_bound_and_the_probability_first() -> None:
    document = changed("claims", [{}, {}]) | {"p_up": 2}
    refused = refusal(read_opening, document)
    assert refused.code == "BAD_PROBABILITY"
    assert refused.message.startswith('"p_up"')
    assert refused.message.endswith("And 3 more.")


def test_a_key_that_tries_to_speak_is_quoted_harmlessly() -> None:
    assert "\u202e" not in refusal(read_opening, changed("\u202eyes", 1)).message


def test_C17_fifty_claims_can_be_read() -> None:
    assert len(read_opening(json.dumps(as_json(opening(*[claim()] * 50)))).claims) == 50


def code_of(raw: str) -> str | None:
    try:
        read_opening(raw)
    except AnswerRefused as refused:
        return refused.code
    return None


@given(st.text(max_size=200))
def test_any_text_is_an_answer_or_a_coded_refusal(text: str) -> None:
    assert code_of(text) in (None, *CODES)


@given(st.dictionaries(st.sampled_from([*Opening.model_fields, "other"]), st.one_of(st.none(), st.text(max_size=5), st.integers(), st.lists(st.integers()))))
def test_any_object_is_an_answer_or_a_coded_refusal(document: dict[str, Any]) -> None:
    assert code_of(json.dumps(document)) in (None, *CODES)


PARTS: dict[AnswerKind, tuple[type[Said], ...]] = {
    "opening": (Claim, Assertion),
    "rebuttal": (Steelman, Objection, Adjudication),
    "retort": (Move, Adjudication),
    "conclusion": (Adjudication, PointResolution),
}


@pytest.mark.parametrize("kind", ANSWERS)
def test_the_shape_shown_names_every_key_and_no_other(kind: AnswerKind) -> None:
    keys = {key for model in (ANSWERS[kind], *PARTS[kind]) for key in model.model_fields}
    if kind == "retort":
        keys |= PointResolution.model_fields.keys() - {"objection_id"}
    assert set(re.findall(r'"(\w+)":', answer_schema(kind))) == keys


@pytest.mark.parametrize("kind", ANSWERS)
def test_the_shape_shown_gives_every_choice(kind: AnswerKind) -> None:
    shape = answer_schema(kind)
    for model in (ANSWERS[kind], *PARTS[kind]):
        for field in model.model_fields.values():
            options = [option for option in get_args(field.annotation) if isinstance(option, str)]
            assert all(f'"{option}"' in shape for option in options)


def test_the_proposal_has_a_shape_too() -> None:
    assert set(re.findall(r'"(\w+)":', answer_schema("proposal"))) == set(TradeProposal.model_fields)


def test_the_rebuttal_names_every_fallacy() -> None:
    assert all(label in answer_schema("rebuttal") for label in get_args(Fallacy))
