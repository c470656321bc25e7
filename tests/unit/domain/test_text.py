"""Hostile text made inert, and names that are names."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alphaagent.domain.text import inert, safe_name
from alphaagent.errors import UsageFault


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain text, ünd Zeichen 中", "plain text, ünd Zeichen 中"),
        ("\x1b[31mred\x1b[0m", " [31mred [0m"),
        ("two\nlines\r\n", "two lines  "),
        ("right\u202eleft", "right left"),
        ("zero\u200bwidth", "zero width"),
        ("line\u2028paragraph\u2029end", "line paragraph end"),
        ("lone \ud800 surrogate", "lone   surrogate"),
        ("private \ue000", "private  "),
    ],
)
def test_what_could_act_on_a_terminal_becomes_a_space(text: str, expected: str) -> None:
    assert inert(text) == expected


@given(st.text())
def test_inert_text_is_one_line_of_the_same_length_without_any_control_character(text: str) -> None:
    found = inert(text)

    assert len(found) == len(text)
    assert len(found.splitlines()) <= 1
    assert not any(unicodedata.category(character)[0] == "C" for character in found)
    assert inert(found) == found


@pytest.mark.parametrize("name", ["default", "A", "9lives", "my.book_2-x", "x" * 40])
def test_a_name_is_letters_digits_dots_dashes_and_underscores(name: str) -> None:
    assert safe_name("the slot", name) == name


@pytest.mark.parametrize("name", ["", " ", "a b", "-x", ".x", "../x", "a/b", "ä", "x" * 41, "x\n", "x|y", "\x1b[31m"])
def test_anything_else_is_refused_without_being_echoed_raw(name: str) -> None:
    with pytest.raises(UsageFault, match=r"the slot is .* which is no name") as caught:
        safe_name("the slot", name)

    assert caught.value.message.isprintable()
    assert caught.value.exit_code == 2
