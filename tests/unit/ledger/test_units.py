"""Scaled integers: exact in, exact out, one rounding."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from alphaagent.errors import AlphaAgentError, UsageFault
from alphaagent.ledger.units import MAX_UNITS, SCALE, from_micros, from_units, half_even, notional, raised_units, rounded_units, to_micros, to_units


@given(st.integers(-MAX_UNITS, MAX_UNITS))
def test_units_come_back_as_they_were(units: int) -> None:
    assert to_units(from_units(units)) == units


def test_a_small_decimal_context_does_not_round_the_books() -> None:
    with localcontext() as context:
        context.prec = 3
        assert to_units(Decimal("123456789012.123456")) == 123456789012_123456
        assert str(from_units(123456789012_123456)) == "123456789012.123456"


@pytest.mark.parametrize("text", ["0.0000001", "1.1234567", "9223372036854.775808", "-9223372036854.775808", "NaN", "Infinity"])
def test_what_does_not_fit_is_refused(text: str) -> None:
    with pytest.raises(UsageFault):
        to_units(Decimal(text))


@given(st.integers(0, 10**15), st.integers(0, 10**12))
def test_a_notional_is_the_exact_product_rounded_half_even_once(quantity: int, price: int) -> None:
    assert notional(quantity, price) == round(Fraction(quantity * price, SCALE))


@given(st.integers(-(10**20), 10**20), st.integers(1, 10**9))
def test_half_even_agrees_with_fractions(numerator: int, denominator: int) -> None:
    assert half_even(numerator, denominator) == round(Fraction(numerator, denominator))


def test_search_columns_round_where_the_books_refuse() -> None:
    assert rounded_units(Decimal("0.0000015")) == 2
    assert rounded_units(Decimal("1e30")) == MAX_UNITS


@given(st.datetimes(timezones=st.integers(-12, 14).map(lambda hours: timezone(timedelta(hours=hours))), allow_imaginary=False))
def test_instants_come_back_to_the_microsecond(at: datetime) -> None:
    assume(2 < at.year < 9998)
    assert from_micros(to_micros(at)) == at
    assert from_micros(to_micros(at)).tzinfo is UTC


@given(st.decimals(0, "9000000000000", allow_nan=False, places=9))
def test_what_was_paid_never_looks_smaller_and_by_less_than_a_millionth_larger(amount: Decimal) -> None:
    assert 0 <= Fraction(raised_units(amount), SCALE) - Fraction(amount) < Fraction(1, SCALE)


@pytest.mark.parametrize("text", ["-0.0000001", "9223372036854.7758071", "NaN", "Infinity"])
def test_what_cannot_have_been_paid_is_refused(text: str) -> None:
    with pytest.raises(AlphaAgentError):
        raised_units(Decimal(text))
