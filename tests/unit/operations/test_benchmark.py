"""What a portfolio is held against, and what is said of it."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path

import pytest

from alphaagent.domain.market import CorporateAction
from alphaagent.operations.benchmark import benchmark, worth_of_one
from alphaagent.operations.equity import Prices, course
from alphaagent.operations.portfolios import JUST_AFTER
from tests.book_home import DAYS, Books, closes, opens, write_prices
from tests.sweep_home import portfolio

PRICES = {"ACME": [10, 11, 12, 13, 14, 15, 16, 17, 18], "ZINC": [100, 90, 80, 90, 100, 110, 120, 130, 140]}
INDEX = [2000, 2010, 2020, 2030, 2040, 2050, 2060, 2070, 2100]


def held(home: Path, prices: Mapping[str, Sequence[object]] = PRICES, index: Sequence[object] = ()) -> Books:
    """Books that hold ACME up to the last session but one."""
    books = Books(write_prices(home, prices, index=index))
    books.trade("BUY", "ACME", 10, 10, opens(1))
    books.trade("SELL", "ACME", 10, 18, opens(8))
    return books


def test_the_index_is_taken_where_it_has_a_close_for_every_point(tmp_path: Path) -> None:
    books = held(tmp_path, index=INDEX)
    found = benchmark(books.workplace, course(books.workplace, "default"))
    assert found is not None
    assert (found.name, found.growth[0], found.growth[1]) == ("SPX", 1, Decimal("1.005"))
    assert "without dividends" in found.told


def test_an_index_that_ends_in_the_middle_is_none(tmp_path: Path) -> None:
    books = held(tmp_path, index=INDEX[:4])
    found = benchmark(books.workplace, course(books.workplace, "default"))
    assert found is not None
    assert found.name == "Equal weight"


def test_without_an_index_the_watchlist_is_held_in_equal_parts(tmp_path: Path) -> None:
    portfolio(tmp_path, "default", ["ACME", "ZINC"])
    books = held(tmp_path)
    done = course(books.workplace, "default")
    found = benchmark(books.workplace, done)
    assert found is not None
    by_day = dict(zip((point.session for point in done.points), found.growth, strict=True))
    assert by_day[DAYS[3]] == (Decimal("1.3") + Decimal("0.9")) / 2
    assert "the watchlist: ACME, ZINC" in found.told


def test_what_had_no_price_at_the_start_is_left_out_and_named(tmp_path: Path) -> None:
    portfolio(tmp_path, "default", ["ACME", "ZINC", "NOBODY"])
    books = held(tmp_path, PRICES | {"ZINC": [None, None, 80, 90, 100, 110, 120, 130, 140]})
    found = benchmark(books.workplace, course(books.workplace, "default"))
    assert found is not None
    assert "without ZINC, NOBODY" in found.told
    assert found.growth[1] == Decimal("1.1")


def test_a_portfolio_without_a_file_is_held_against_what_it_has_held(tmp_path: Path) -> None:
    portfolio(tmp_path, "another", ["ZINC"])
    books = held(tmp_path)
    found = benchmark(books.workplace, course(books.workplace, "default"))
    assert found is not None
    assert found.told.startswith("the names that it has held or ordered: ACME;")


def test_a_watchlist_without_prices_gives_way_to_what_was_held(tmp_path: Path) -> None:
    portfolio(tmp_path, "default", ["NOBODY"])
    books = held(tmp_path)
    found = benchmark(books.workplace, course(books.workplace, "default"))
    assert found is not None
    assert found.growth[1] == Decimal("1.1")


def test_without_any_price_there_is_no_benchmark(tmp_path: Path) -> None:
    portfolio(tmp_path, "default", ["NOBODY"])
    books = Books(write_prices(tmp_path, PRICES))
    assert benchmark(books.workplace, course(books.workplace, "default")) is None


def test_a_share_keeps_its_splits_and_its_dividends_as_cash() -> None:
    actions = (CorporateAction("split", DAYS[1], Decimal(2), opens(1)), CorporateAction("dividend", DAYS[2], Decimal(1), opens(2)))
    known = tuple(closes(day) for day in range(3))
    prices = Prices(known, (Decimal(10), Decimal(6), Decimal(5)), actions, actions[:1])
    assert worth_of_one(prices, [closes(day) + JUST_AFTER for day in range(3)]) == (10, 12, 12)


@pytest.mark.parametrize(("per_share", "line"), [("9", (10, 9, 9)), ("0", (10, 6, 5))])
def test_a_takeover_for_cash_turns_all_into_cash_and_one_for_shares_leaves_the_last_close(per_share: str, line: tuple[int, ...]) -> None:
    merger = CorporateAction("merger", DAYS[1], Decimal(per_share), opens(1))
    prices = Prices(tuple(closes(day) for day in range(3)), (Decimal(10), Decimal(6), Decimal(5)), (merger,))
    assert worth_of_one(prices, [closes(day) + JUST_AFTER for day in range(3)]) == line


def test_a_share_without_a_price_at_the_start_is_worth_nothing_that_could_be_drawn() -> None:
    assert worth_of_one(Prices((closes(1),), (Decimal(10),)), [closes(1), closes(2)]) == ()
