"""Double entry: whatever happens, every transaction sums to zero in every commodity, and value is conserved."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alphaagent.errors import BooksUnsound
from alphaagent.ledger import postings
from alphaagent.ledger.holdings import Booking, Holdings
from alphaagent.ledger.postings import Leg, imbalance, refuse_imbalance
from alphaagent.ledger.units import SCALE

DAY, LATER = date(2024, 1, 4), date(2024, 1, 5)


def amounts(legs: tuple[Leg, ...]) -> list[tuple[str, str, int]]:
    return [(leg.kind, leg.commodity, leg.amount) for leg in legs]


def test_a_purchase_is_booked_as_the_design_says() -> None:
    legs = postings.trade("BUY", "XYZ", "USD", quantity=10 * SCALE, price=100 * SCALE, fee=1 * SCALE, settle_on=DAY)
    assert amounts(legs) == [
        ("cash", "USD", -1001 * SCALE),
        ("trading", "USD", 1000 * SCALE),
        ("fee", "USD", 1 * SCALE),
        ("position", "XYZ", 10 * SCALE),
        ("trading", "XYZ", -10 * SCALE),
    ]


def test_a_sale_pays_its_fee_out_of_the_proceeds() -> None:
    legs = postings.trade("SELL", "XYZ", "USD", quantity=10 * SCALE, price=100 * SCALE, fee=1 * SCALE, settle_on=DAY)
    assert amounts(legs)[0] == ("cash", "USD", 999 * SCALE)
    assert not imbalance([(leg.commodity, leg.amount) for leg in legs])


@pytest.mark.parametrize(("held", "ratio", "change"), [(10, "4", 30), (10, "0.1", -9), (3, "1.5", 1.5)])
def test_a_split_moves_shares_and_no_money(held: int, ratio: str, change: float) -> None:
    legs = postings.split(held * SCALE, Decimal(ratio), "XYZ", DAY)
    assert amounts(legs) == [("position", "XYZ", int(change * SCALE)), ("suspense", "XYZ", -int(change * SCALE))]


def test_a_split_cuts_the_fraction_of_a_share_that_cannot_be_held() -> None:
    (position, _) = postings.split(1, Decimal("1.5"), "XYZ", DAY) or (None, None)
    assert position is None
    assert postings.split(3, Decimal("1.5"), "XYZ", DAY)[0].amount == 1


def test_a_dividend_is_income_in_cash() -> None:
    assert amounts(postings.dividend(10 * SCALE, Decimal("0.245"), "USD", DAY)) == [("cash", "USD", 2_450_000), ("realized", "USD", -2_450_000)]


def test_postings_that_do_not_balance_are_refused() -> None:
    with pytest.raises(BooksUnsound):
        refuse_imbalance((Leg("cash", "USD", 1, DAY), Leg("equity", "USD", -2, DAY)))
    with pytest.raises(BooksUnsound):
        refuse_imbalance(())


UNITS = st.integers(1, 10**13)
EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("deposit"), UNITS),
        st.tuples(st.just("BUY"), st.sampled_from("ABC"), UNITS, UNITS, st.integers(0, 10**7)),
        st.tuples(st.just("SELL"), st.sampled_from("ABC"), st.fractions(0, 1), UNITS, st.integers(0, 10**7)),
        st.tuples(st.just("split"), st.sampled_from("ABC"), st.sampled_from(["2", "4", "1.5", "0.1", "0.05", "20", "3"])),
        st.tuples(st.just("dividend"), st.sampled_from("ABC"), st.decimals("0.000001", 100, places=6)),
    ),
    max_size=40,
)


def play(event: tuple, state: Holdings) -> tuple[Leg, ...]:
    match event:
        case ("deposit", amount):
            return postings.deposit(amount, "USD", DAY)
        case ("BUY", name, quantity, price, fee):
            return postings.trade("BUY", name, "USD", quantity=quantity, price=price, fee=fee, settle_on=LATER)
        case ("SELL", name, part, price, fee):
            quantity = int(state.quantity(name) * part)
            return postings.trade("SELL", name, "USD", quantity=quantity, price=price, fee=fee, settle_on=LATER) if quantity else ()
        case ("split", name, ratio):
            return postings.split(state.quantity(name), Decimal(ratio), name, DAY)
        case (_, name, per_share):
            return postings.dividend(state.quantity(name), per_share, "USD", DAY)


@given(EVENTS)
def test_any_history_balances_and_never_goes_short(events: list[tuple]) -> None:
    state, everything = Holdings(), []
    for event in events:
        legs = play(event, state)
        if not legs:
            continue
        refuse_imbalance(legs)
        everything += legs
        cost = {name: state.cost(name) for name in "ABC"}
        moved = next((leg for leg in legs if leg.kind == "position"), None)
        cash = sum(leg.amount for leg in legs if leg.kind == "cash")
        state.apply(Booking(event[0].lower(), cash, legs[0].settle_on, moved.commodity if moved else None, moved.amount if moved else 0), DAY)
        for name in "ABC":
            assert all(lot.quantity > 0 for lot in state.lots.get(name, ()))
            assert state.quantity(name) == sum(leg.amount for leg in everything if (leg.kind, leg.commodity) == ("position", name))
            if event[0] == "split" and state.quantity(name):
                assert state.cost(name) == cost[name]
    assert not imbalance([(leg.commodity, leg.amount) for leg in everything])
    assert state.cash == sum(leg.amount for leg in everything if leg.kind == "cash")
    assert state.settled <= state.cash
