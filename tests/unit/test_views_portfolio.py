"""The rows of a portfolio's page, from books that can be reckoned on paper."""

from dataclasses import replace
from decimal import Decimal

import pytest

from alphaagent.domain.portfolio import Order, OrderStatus
from alphaagent.operations.benchmark import Benchmark
from alphaagent.operations.equity import Course, course
from alphaagent.views_portfolio import Caps, caps_of, course_rows, payments, position_rows, result, sector_rows, told
from tests.book_home import DAYS, Books, closes, opens, write_prices

CAPS = Caps(Decimal("0.10"), Decimal("0.20"), Decimal("0.98"))


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Course:
    home = write_prices(tmp_path_factory.mktemp("home"), {"ACME": [10, 11, 12, 13, 14, 15, 12, 12, 12], "ZINC": [100] * 9})
    books = Books(home)
    books.trade("BUY", "ACME", 20, 10, opens(1))
    books.trade("BUY", "ZINC", 1, 100, opens(2))
    books.pay(400, closes(3))
    books.trade("SELL", "ACME", 5, 16, opens(7))
    return course(books.workplace, "default")


def test_a_row_a_point_tells_return_drawdown_and_benchmark_in_per_cent(done: Course) -> None:
    line = tuple(Decimal(100 + place) / 100 for place in range(len(done.points)))
    rows = course_rows(done, Benchmark("SPX", "", line))
    second = rows[1]
    assert (second["nav"], second["return"], second["benchmark"], second["drawdown"], second["paid"]) == (1020, 2, 1, 0, 0)
    assert second["session"] == DAYS[1].isoformat()
    assert [rows[place]["drawdown"] for place in (-3, -2, -1)] == pytest.approx([0, (1440 / 1500 - 1) * 100, (1460 / 1500 - 1) * 100])


def test_without_a_benchmark_its_column_is_empty(done: Course) -> None:
    assert {row["benchmark"] for row in course_rows(done, None)} == {None}


def test_only_what_was_paid_after_the_opening_is_marked(done: Course) -> None:
    assert [(row["paid"], row["kind"]) for row in payments(course_rows(done, None))] == [(400, "paid in")]


def test_positions_stand_beside_the_cap_the_largest_first(done: Course) -> None:
    first, second = position_rows(done, CAPS)
    assert (first["ticker"], first["value"], first["unrealised"], first["cap %"]) == ("ACME", 180, 30, 10)
    assert first["weight %"] == pytest.approx(100 * 180 / 1460)
    assert (second["ticker"], second["unrealised %"], second["sector"]) == ("ZINC", 0, "sector not known")


def test_without_a_mandate_there_is_no_cap(done: Course) -> None:
    assert {row["cap %"] for row in (*position_rows(done, None), *sector_rows(done, None))} == {None}


def test_a_purchase_that_waits_counts_in_its_sector_and_a_sale_does_not(done: Course) -> None:
    def waiting(side: str) -> Order:
        return Order(
            id="ord_1",
            decision_id="dec_1",
            portfolio_id=1,
            instrument_id="XNAS:ZINC",
            symbol="ZINC",
            side=side,  # type: ignore[arg-type]
            quantity=Decimal(2),
            decision_price=Decimal(100),
            status=OrderStatus.PENDING,
            decided_at=closes(7),
            fill_session=DAYS[8],
        )

    both = replace(done, account=done.account.model_copy(update={"pending": (waiting("BUY"), waiting("SELL"))}))
    assert {row["sector"]: row["value"] for row in sector_rows(both, CAPS)} == {"sector not known": 300, "Goods": 180}


def test_the_sums_add_up(done: Course) -> None:
    came = result(done)
    assert (came.profit, came.paid_in, came.unrealised) == (60, 1400, 30)
    assert done.sums.realised == 30
    assert came.invested == Decimal(280) / 1460


def test_a_figure_in_words_has_both_ends_and_both_extremes(done: Course) -> None:
    words = told(course_rows(done, None), "nav", "NAV", "USD")
    assert words.startswith(f"NAV: 1,000.00 USD on {DAYS[0]}, 1,460.00 USD on")
    assert f"highest 1,500.00 on {DAYS[5]}" in words
    assert told([], "nav", "NAV", "USD") == "NAV: no value is known."


def test_the_caps_are_those_of_the_mandate() -> None:
    document = {"rules": {"H6": {"max_position_fraction": "0.1"}, "H7": {"max_sector_fraction": "0.2"}, "H8": {"max_gross_fraction": "0.98"}}}
    assert caps_of(document) == Caps(Decimal("0.1"), Decimal("0.2"), Decimal("0.98"))
