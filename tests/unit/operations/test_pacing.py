"""A portfolio's part of the money that is left: by how many of the debates ahead are its own."""

from decimal import Decimal as D

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alphaagent.operations.pacing import fair_share

MONEY = st.decimals("0", "100", places=6)
COUNT = st.integers(0, 100)


@pytest.mark.parametrize(
    ("left", "most", "mine", "others", "share"),
    [
        ("5", "0.12", 10, 10, "2.5"),
        ("5", "0.12", 10, 0, "5"),
        ("1", "0.12", 1, 2, "0.333333"),
        ("1", "0.50", 1, 9, "0.5"),
        ("0.3", "0.50", 1, 9, "0.3"),
        ("-1", "0.50", 1, 9, "0"),
        ("5", "0.12", 0, 10, "0"),
    ],
    ids=["half", "all", "rounded down", "one debate at least", "no more than is left", "nothing is left", "nothing to debate"],
)
def test_the_part_of_a_portfolio(left: str, most: str, mine: int, others: int, share: str) -> None:
    assert fair_share(D(left), D(most), mine, others) == D(share)


@given(MONEY, MONEY, COUNT, COUNT)
def test_what_is_left_is_never_passed_and_others_never_raise_a_part(left: D, most: D, mine: int, others: int) -> None:
    share = fair_share(left, most, mine, others)
    assert 0 <= share <= left
    assert fair_share(left, most, mine, others + 1) <= share
