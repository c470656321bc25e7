"""Signs of a failing model in a raw reply."""

import json

import pytest

from alphaagent.debate.degradation import degradation
from alphaagent.debate.thresholds import Thresholds

LONG = "The margin rose again in the third quarter."


def signs(raw: str, hit_budget: bool = False) -> tuple[str, ...]:
    return degradation(raw, hit_budget=hit_budget, thresholds=Thresholds())


def summary(text: str) -> str:
    return json.dumps({"p_up": 0.5, "summary": text, "adjudications": [], "would_resolve_if": []}, indent=1)


@pytest.mark.parametrize("raw", ["", "  \n ", "...", "{}"])
def test_C16_empty(raw: str) -> None:
    assert signs(raw) == ("empty",)


@pytest.mark.parametrize(
    "text",
    [
        "I cannot provide financial advice.",
        "I\u2019m unable to take part in this.",
        "As an AI language model I have no view.",
        "We can't assist with trading decisions.",
        "I AM NOT ABLE TO answer.",
    ],
)
def test_C16_refusal_as_prose_and_inside_an_answer(text: str) -> None:
    assert signs(text) == ("refusal",)
    assert signs(summary(text)) == ("refusal",)


@pytest.mark.parametrize("text", ["The company cannot provide guidance.", "I cannot accept this objection.", "Management is unable to help margins."])
def test_a_firm_that_cannot_is_no_refusal(text: str) -> None:
    assert signs(text) == ()


def test_C16_repetition_from_the_third_time_on() -> None:
    assert signs(summary(f"{LONG} {LONG.upper()} And {LONG}")) == ()
    assert signs(summary(f"{LONG} {LONG.upper()} And so. {LONG}")) == ("repetition",)


def test_a_sentence_is_long_from_four_words_on() -> None:
    assert signs(summary("Margins rose this year. " * 3)) == ("repetition",)
    assert signs(summary("Margins rose twice. " * 3)) == ()


def test_short_sentences_and_equal_fields_may_return() -> None:
    claim = {"kind": "fact", "evidence_ids": ["ev_000000000001"], "observable": "get_price_history.momentum.value", "by_date": "2024-06-01"}
    assert signs(json.dumps({"claims": [claim] * 5, "text": "Yes. Yes. Yes. Yes."}, indent=2)) == ()


@pytest.mark.parametrize(("hit_budget", "expected"), [(True, ("truncated",)), (False, ())])
def test_C16_truncated_is_an_answer_that_broke_off_at_the_budget(hit_budget: bool, expected: tuple[str, ...]) -> None:
    assert signs(summary("All is said")[:-20], hit_budget) == expected


def test_C16_an_answer_that_just_fits_is_not_truncated() -> None:
    assert signs(summary("All is said"), hit_budget=True) == ()
