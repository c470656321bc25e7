"""The fast way to canonical bytes is the standard's way."""

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from alphaagent.domain.base import LARGEST_INTEGER, canonical

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
SCALARS = st.none() | st.booleans() | st.integers(-LARGEST_INTEGER, LARGEST_INTEGER) | TEXT
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4))


@given(VALUES)
def test_every_value_has_the_bytes_of_rfc_8785(value: object) -> None:
    assert canonical(value) == rfc8785.dumps(value)  # type: ignore[arg-type]


def test_keys_beyond_the_basic_plane_are_sorted_by_utf_16() -> None:
    value = {"\ue000": 1, "\U00010000": 2, '\x00\x1f\x7f"\\/': "\b\t\n\f\r\u2028"}
    assert canonical(value) == rfc8785.dumps(value)


@pytest.mark.parametrize("value", [LARGEST_INTEGER + 1, -LARGEST_INTEGER - 1, {"a": [10**30]}])
def test_an_integer_that_readers_would_round_has_no_canonical_form(value: object) -> None:
    with pytest.raises(ValueError, match=r"beyond 2\^53"):
        canonical(value)
