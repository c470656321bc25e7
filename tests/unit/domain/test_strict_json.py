"""The JSON reader that the guard and the debate share."""

import pytest

from alphaagent.domain.strict_json import JsonRefused, Number, read_object, shown


def read(raw: str) -> dict[str, object]:
    return read_object(raw, max_bytes=200, max_depth=3)


def test_numbers_stay_as_they_were_written() -> None:
    assert read('{"a": 1.50, "b": -0, "c": 1e400, "d": NaN}') == {"a": Number("1.50"), "b": Number("-0"), "c": Number("1e400"), "d": Number("NaN")}


def test_a_number_is_no_text() -> None:
    assert not isinstance(read('{"a": 1}')["a"], str)


def test_one_clean_fence_is_tolerated() -> None:
    assert read('```json\n{"a": "b"}\n```\n') == {"a": "b"}


@pytest.mark.parametrize(
    ("raw", "flaw"),
    [
        ('{"a": "' + "x" * 200 + '"}', "too_large"),
        ('{"a": "' + "é" * 96 + '"}', "too_large"),
        ('{"a": [[[1]]]}', "too_deep"),
        ("", "not_single"),
        ("[1]", "not_single"),
        ('{"a": 1} {"b": 2}', "not_single"),
        ('Here it is: {"a": 1}', "not_single"),
        ("```\n{}\n```", "not_single"),
        ('{"a": "' + "{[" * 40 + '"', "not_single"),
        ('{"a": 1, "a": 2}', "repeated_key"),
        ('{"a": {"b": 1, "b": 2}}', "repeated_key"),
    ],
)
def test_every_flaw_has_its_name(raw: str, flaw: str) -> None:
    with pytest.raises(JsonRefused) as refused:
        read(raw)
    assert refused.value.flaw == flaw


def test_a_repeated_key_is_quoted_without_its_hidden_characters() -> None:
    with pytest.raises(JsonRefused, match=r"'k\\u202e' appears more than once"):
        read('{"k\u202e": 1, "k\u202e": 2}')
    assert shown("x" * 50) == "'" + "x" * 40 + "'"


def test_brackets_in_a_text_are_no_nesting() -> None:
    assert read('{"a": "[[[[[["}') == {"a": "[[[[[["}
