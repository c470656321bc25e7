"""When two texts count as the same."""

import random
import time
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alphaagent.debate.likeness import likeness, repeats, sentences


def test_case_width_and_punctuation_make_no_difference() -> None:
    assert likeness("Margins rose, twice!", "margins ｒｏｓｅ twice") == 1


def test_the_ratio_is_exact() -> None:
    ten = "one two three four five six seven eight nine ten"
    assert likeness(ten, ten.replace("ten", "eleven")) == Decimal("0.9")


@pytest.mark.parametrize(("one", "other", "expected"), [("", "", 1), ("...", "", 1), ("a", "", 0), ("up", "down", 0), ("c_bull_1", "c_bull_10", 0)])
def test_the_ends_of_the_scale(one: str, other: str, expected: int) -> None:
    assert likeness(one, other) == expected


@given(st.text(max_size=80), st.text(max_size=80))
def test_likeness_is_between_none_and_all(one: str, other: str) -> None:
    assert 0 <= likeness(one, other) <= 1
    assert likeness(one, one) == 1


def test_sentences_end_at_marks_and_lines() -> None:
    assert sentences("Up 2.5 percent. Down?\n\nSideways... ") == ["Up 2.5 percent.", "Down?", "Sideways..."]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We start here. Margins rose three quarters in a row! And we end.", True),
        ("Margins rose three quarters in a row", True),
        ("Margins did not rise three quarters in a row, they fell in two of them.", False),
        ("Something else.", False),
        ("", False),
    ],
)
def test_a_saying_is_found_whole_within_a_text(text: str, expected: bool) -> None:
    assert repeats(text, "Margins rose three quarters in a row.", Decimal("0.9")) is expected


def test_a_saying_of_two_sentences_is_found_as_two() -> None:
    said = "Debt doubled. Cash halved within the year."
    assert repeats(f"First this. {said} Then that.", said, Decimal("0.9"))
    assert not repeats("Debt doubled. Nothing else happened to it all.", said, Decimal("0.9"))


def shuffled(seed: int, times: int) -> str:
    """Sentences of the same few words in every order, which no count of words tells apart."""
    return " ".join(random.Random(seed).choices(["a b.", "b a.", "a a.", "b b."], k=times))


@pytest.mark.parametrize(("said", "text"), [("a b. " * 119, "b. a " * 600), (shuffled(1, 119), shuffled(2, 600)), ("\ufdfa. " * 199, "\ufdfa! x. " * 500)])
def test_no_text_is_dear_to_compare(said: str, text: str) -> None:
    started = time.thread_time()
    for number in range(12):
        repeats(f"{number}. {text}", said, Decimal(1))
    assert time.thread_time() - started < 5


def test_order_counts_and_only_the_first_words_do() -> None:
    assert likeness("a b c d", "b a d c") == Decimal("0.5")
    assert likeness("a " * 200 + "b", "a " * 200 + "c") == 1
