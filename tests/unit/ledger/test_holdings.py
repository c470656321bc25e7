"""Lots first in first out, and cash that has or has not settled."""

from datetime import date

import pytest

from alphaagent.ledger.holdings import Booking, Holdings, held

MONDAY, TUESDAY = date(2024, 1, 8), date(2024, 1, 9)


def buy(shares: int, cost: int) -> Booking:
    return Booking("trade", -cost, TUESDAY, "XYZ", shares)


def sell(shares: int, proceeds: int) -> Booking:
    return Booking("trade", proceeds, TUESDAY, "XYZ", -shares)


def position(state: Holdings) -> tuple[int, int]:
    return state.quantity("XYZ"), state.cost("XYZ")


@pytest.mark.parametrize(
    ("bookings", "expected"),
    [
        ([buy(10, 1001)], (10, 1001)),
        ([buy(10, 1000), buy(10, 2000), sell(10, 5)], (10, 2000)),
        ([buy(10, 1000), buy(10, 2000), sell(15, 5)], (5, 1000)),
        ([buy(10, 1000), sell(10, 5)], (0, 0)),
        ([buy(3, 100), sell(1, 5)], (2, 67)),
        ([buy(10, 1000), Booking("split", 0, MONDAY, "XYZ", 30)], (40, 1000)),
        ([buy(10, 1000), buy(1, 500), Booking("split", 0, MONDAY, "XYZ", -10)], (1, 1500)),
        ([buy(10, 1000), Booking("split", 0, MONDAY, "XYZ", -10), buy(1, 7)], (1, 7)),
        ([buy(10, 1000), Booking("dividend", 24, MONDAY)], (10, 1000)),
    ],
)
def test_the_oldest_shares_go_first_and_cost_follows_them(bookings: list[Booking], expected: tuple[int, int]) -> None:
    assert position(held(bookings, MONDAY)) == expected


def test_a_purchase_lowers_settled_cash_at_once_and_a_sale_raises_it_when_it_settles() -> None:
    bookings = [Booking("deposit", 1000, MONDAY), buy(1, 600), sell(1, 700)]
    assert (held(bookings, MONDAY).cash, held(bookings, MONDAY).settled) == (1100, 400)
    assert held(bookings, TUESDAY).settled == 1100
