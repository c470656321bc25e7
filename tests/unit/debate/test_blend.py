"""The panel's probability and the debate's, put together."""

from decimal import Decimal
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alphaagent.debate.blend import Blend, blend
from alphaagent.debate.flags import DebateClass


def made(p_agg: str | None, of_class: DebateClass = "earned", weight: str = "0.3", p_mid: str = "0.48") -> Blend:
    return blend(None if p_agg is None else Decimal(p_agg), Decimal(p_mid), Decimal("0.4"), of_class, Decimal(weight))


def test_A7_the_books_value() -> None:
    assert (made("0.4133").p_blend, made("0.4133").p_final) == (Decimal("0.43331"), Decimal("0.43331"))


@pytest.mark.parametrize("of_class", [name for name in get_args(DebateClass) if name != "earned"])
def test_A7_only_an_earned_debate_has_weight(of_class: DebateClass) -> None:
    found = made("0.4133", of_class)
    assert (found.weight_used, found.p_final, found.p_blend) == (0, Decimal("0.4133"), Decimal("0.43331"))


@pytest.mark.parametrize(("weight", "expected"), [("0", "0.4133"), ("1", "0.48")])
def test_A7_the_ends_of_the_weight(weight: str, expected: str) -> None:
    assert made("0.4133", weight=weight).p_final == Decimal(expected)


def test_A8_a_blend_that_moved_is_not_used_where_the_gap_held() -> None:
    found = made("0.40", "stubborn", "0.5", p_mid="0.50")
    assert (found.p_blend, found.p_final) == (Decimal("0.45"), Decimal("0.40"))


def test_A9_zero_is_a_probability_and_none_is_no_panel() -> None:
    assert (made("0.0").p_final, made("0.0").anchored) == (Decimal("0.144"), True)
    assert (made(None).p_final, made(None).p_agg, made(None).anchored) == (Decimal("0.48"), None, False)


@given(st.integers(0, 100), st.integers(0, 100), st.integers(0, 100), st.sampled_from(get_args(DebateClass)))
def test_A7_the_identity_of_the_blend(p_agg: int, p_mid: int, weight: int, of_class: DebateClass) -> None:
    found = made(str(Decimal(p_agg) / 100), of_class, str(Decimal(weight) / 100), str(Decimal(p_mid) / 100))
    assert found.p_agg is not None
    assert found.p_final - found.p_agg == found.weight_used * (found.p_mid - found.p_agg)
