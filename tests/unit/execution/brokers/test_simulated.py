"""The simulated broker: slippage and fee, every rounding against the order."""

from decimal import Decimal as D
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alphaagent.execution.brokers.simulated import SimulatedBroker

BROKER = SimulatedBroker(slippage_bps=D(5), fee_bps=D(1))


@pytest.mark.parametrize(("side", "price", "fee"), [("BUY", "100.05", "0.10005"), ("SELL", "99.95", "0.09995")])
def test_a_fill_is_worse_than_the_open_by_the_slippage(side: Literal["BUY", "SELL"], price: str, fee: str) -> None:
    fill = BROKER.fill(side, D(10), D(100))

    assert (fill.price, fill.fee) == (D(price), D(fee))


def test_roundings_go_against_the_order() -> None:
    buy, sell = BROKER.fill("BUY", D("0.0001"), D("0.000003")), BROKER.fill("SELL", D("0.0001"), D("0.000003"))

    assert (buy.price, sell.price, sell.fee) == (D("0.000004"), D("0.000002"), D("0.000001"))


def test_free_trading_is_possible() -> None:
    fill = SimulatedBroker(D(0), D(0)).fill("BUY", D(3), D("12.34"))

    assert (fill.price, fill.fee) == (D("12.34"), 0)


@given(st.decimals("0.0001", 10**6, places=6), st.decimals("0.01", 10**6, places=6), st.decimals(0, 500, places=2), st.decimals(0, 500, places=2))
def test_the_books_can_always_hold_a_fill_and_it_is_never_better_than_the_terms(quantity: D, open_price: D, slippage: D, fee: D) -> None:
    broker = SimulatedBroker(slippage, fee)
    buy, sell = broker.fill("BUY", quantity, open_price), broker.fill("SELL", quantity, open_price)

    assert buy.price >= open_price * (1 + slippage / 10_000) and sell.price <= open_price * (1 - slippage / 10_000)  # noqa: PT018 - one claim
    assert all(number == round(number, 6) for number in (buy.price, buy.fee, sell.price, sell.fee))
    assert buy.fee >= round(quantity * buy.price * fee / 10_000, 6) - D("0.000001")
