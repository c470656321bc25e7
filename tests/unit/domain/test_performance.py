"""The arithmetic of returns: the owner's payments make none, falls are measured from the highest point, and equal parts are equal."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from alphaagent.domain.performance import Growth, Point, change, drawdowns, equal_weight, relative, share_earned

AT = datetime(2020, 1, 2, 21, 0, tzinfo=UTC)


def D(text: str) -> Decimal:
    return Decimal(text)


def point(nav: str | None, growth: str = "1", paid_in: str = "100") -> Point:
    return Point(AT, date(2020, 1, 2), None if nav is None else D(nav), D(growth), D(paid_in))


def test_without_payments_the_growth_is_the_last_value_over_the_first() -> None:
    growth = Growth()
    for value in ("100", "110", "99", "120"):
        growth.valued(D(value))
    assert growth.whole == D("1.2")


def test_money_that_comes_and_goes_makes_no_return() -> None:
    growth = Growth()
    growth.valued(D(100))
    growth.valued(D(110))
    growth.paid(D(1000), valued=True)
    growth.valued(D(1110))
    growth.paid(D(-500), valued=True)
    growth.valued(D(610))
    assert growth.whole == D("1.1")


def test_two_halves_count_the_same_whatever_money_was_there_in_each() -> None:
    growth = Growth()
    growth.valued(D(100))
    growth.valued(D(150))
    growth.paid(D(9850), valued=True)
    growth.valued(D(8000))
    assert growth.whole == D("1.5") * D("0.8")


def test_a_payment_at_which_nothing_could_be_valued_counts_at_the_end_of_its_piece() -> None:
    growth = Growth()
    growth.valued(D(100))
    growth.paid(D(50), valued=False)
    growth.valued(D(160))
    assert growth.whole == D("1.1")


def test_what_begins_with_nothing_earns_nothing() -> None:
    growth = Growth()
    growth.valued(D(0))
    growth.paid(D(100), valued=True)
    growth.valued(D(90))
    growth.paid(D(-90), valued=True)
    growth.valued(D(0))
    growth.paid(D(10), valued=True)
    growth.valued(D(11))
    assert growth.whole == D("0.9") * D("1.1")


def test_a_drawdown_is_measured_from_the_highest_point_before_it() -> None:
    assert drawdowns([D(1), D("1.25"), D(1), D("1.5"), D("0.75")]) == (0, 0, D("-0.2"), 0, D("-0.5"))


def test_equal_parts_are_the_mean_of_the_multiples_and_not_of_the_prices() -> None:
    assert relative([D(50), D(75)]) == (1, D("1.5"))
    assert equal_weight({"A": [D(1000), D(1100)], "B": [D(2), D(4)]}) == (1, D("1.55"))
    assert equal_weight({}) == ()


def test_what_a_day_earned_leaves_the_payment_out() -> None:
    before, after = point("100"), point("215", "1.15", "200")
    assert (change(before, after), share_earned(before, after)) == (15, D("0.15"))


@pytest.mark.parametrize(("before", "after"), [(point(None), point("1")), (point("1"), point(None))])
def test_a_day_without_a_value_has_no_figure(before: Point, after: Point) -> None:
    assert change(before, after) is None
    assert share_earned(before, after) is None
