"""Lots under every method: what is sold, what is left, and that nothing is lost in between."""

from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alphaagent.domain.lots import LotMethod, is_long_term
from alphaagent.ledger import postings
from alphaagent.ledger.holdings import Booking, Holdings, Lot, held

DAY = date(2024, 1, 8)


def buy(shares: int, cost: int, day: int = 0, fees: int = 0) -> Booking:
    return Booking("trade", -cost, DAY, "XYZ", shares, DAY + timedelta(days=day), fees)


def sell(shares: int, proceeds: int, method: LotMethod, day: int = 9, fees: int = 0) -> Booking:
    return Booking("trade", proceeds, DAY, "XYZ", -shares, DAY + timedelta(days=day), fees, method)


@pytest.mark.parametrize(("method", "cost"), [("fifo", 100), ("lifo", 200), ("highest_cost", 300)])
def test_the_method_chooses_the_lot(method: LotMethod, cost: int) -> None:
    state = held([buy(10, 100), buy(10, 300, 1), buy(10, 200, 2), sell(10, 500, method)], DAY)
    assert [(part.cost, part.proceeds) for part in state.realised] == [(cost, 500)]
    assert state.quantity("XYZ") == 20


def test_of_lots_that_cost_the_same_the_oldest_goes_first() -> None:
    state = held([buy(10, 100), buy(10, 100, 1), sell(5, 60, "highest_cost")], DAY)
    assert state.realised[0].acquired == DAY


def test_a_sale_over_several_lots_is_told_lot_by_lot_with_its_fees() -> None:
    state = held([buy(10, 101, 0, 1), buy(10, 202, 1, 2), sell(15, 299, "fifo", fees=3)], DAY)
    assert [(part.quantity, part.proceeds, part.cost, part.fees) for part in state.realised] == [(10, 199, 101, 3), (5, 100, 101, 2)]


def test_a_split_scales_lots_and_keeps_cost_and_day() -> None:
    state = held([buy(10, 100), buy(5, 90, 1), Booking("split", 0, DAY, "XYZ", 45)], DAY)
    assert [(lot.quantity, lot.cost, lot.acquired) for lot in state.lots["XYZ"]] == [(40, 100, DAY), (20, 90, DAY + timedelta(days=1))]


def test_imported_lots_keep_their_day_and_the_oldest_goes_first() -> None:
    older, newer = Lot(5, 50, date(2015, 1, 2)), Lot(5, 70, date(2020, 1, 2))
    state = held([Booking("import", 9, DAY, opening=(("XYZ", newer), ("XYZ", older))), sell(5, 60, "fifo")], DAY)
    assert state.realised[0].acquired == older.acquired
    assert state.cash == 69


@pytest.mark.parametrize(
    ("acquired", "sold", "long"),
    [
        (date(2020, 3, 2), date(2021, 3, 2), False),
        (date(2020, 3, 2), date(2021, 3, 3), True),
        (date(2020, 2, 29), date(2021, 2, 28), False),
        (date(2020, 2, 29), date(2021, 3, 1), True),
    ],
)
def test_long_term_is_more_than_one_year(acquired: date, sold: date, long: bool) -> None:
    assert is_long_term(acquired, sold) is long


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("buy"), st.integers(1, 10**9), st.integers(1, 10**12)),
        st.tuples(st.just("sell"), st.integers(1, 10**9), st.integers(-1000, 10**12)),
        st.tuples(st.just("split"), st.sampled_from(["2", "4", "1.5", "0.1", "0.05"]), st.just(0)),
    ),
    max_size=25,
)


def play(steps: list[tuple[str, object, int]], method: LotMethod) -> tuple[Holdings, int]:
    """A history that never sells more than is held, and the shares that there must then be."""
    state, shares = Holdings(), 0
    for day, (kind, size, money) in enumerate(steps):
        if kind == "buy":
            assert isinstance(size, int)
            state.apply(buy(size, money, day, money // 100), DAY)
            shares += size
        elif kind == "sell" and shares:
            assert isinstance(size, int)
            amount = min(size, shares)
            state.apply(sell(amount, money, method, day, 7), DAY)
            shares -= amount
        elif kind == "split" and shares:
            change = sum(leg.amount for leg in postings.split(shares, Decimal(str(size)), "XYZ", DAY) if leg.kind == "position")
            if change:
                state.apply(Booking("split", 0, DAY, "XYZ", change), DAY)
            shares += change
    return state, shares


@given(steps=STEPS, method=st.sampled_from(["fifo", "lifo", "highest_cost"]))
def test_lots_add_up_to_the_position_and_gains_to_the_cash(steps: list[tuple[str, object, int]], method: LotMethod) -> None:
    state, shares = play(steps, method)
    assert state.quantity("XYZ") == shares
    assert all(lot.quantity > 0 for lot in state.lots.get("XYZ", ()))
    # Cash is what sales brought less what purchases cost, so that realised gain less the cost still held is the cash.
    realised = sum(part.proceeds - part.cost for part in state.realised)
    assert realised - state.cost("XYZ") == state.cash


@given(held_=st.integers(1, 10**12), ratio=st.decimals("0.01", "50", places=4), price=st.decimals("0.01", "5000", places=2))
def test_value_is_conserved_across_a_split_to_within_one_micro_share(held_: int, ratio: Decimal, price: Decimal) -> None:
    change = sum(leg.amount for leg in postings.split(held_, ratio, "XYZ", DAY) if leg.kind == "position")
    price_after = Fraction(price) / Fraction(ratio)
    after = Fraction(held_ + change) * price_after
    assert 0 <= held_ * Fraction(price) - after <= price_after
