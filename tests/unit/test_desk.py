"""The desk's doors: the strictest kill switch counts, patience ends, and a ticker is one instrument or none."""

from collections.abc import Callable
from contextlib import nullcontext
from datetime import date, timedelta
from decimal import Decimal as D
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from alphaagent.desk import Desk, find_portfolio, fresh_book, halt_if_told, refuse_if_halted, resolve, stop_if_unsound
from alphaagent.domain.ruling import ControlState
from alphaagent.errors import BooksUnsound, ConfigFault, Halted, NoEvidence, UsageFault
from alphaagent.evidence.index_history import IndexHistory
from alphaagent.portfolio_files import PortfolioFile
from alphaagent.ports import Control
from tests.fakes import ACME, BETA, FakeBooks, FakeClock, FakeMarket, closes, weekday_calendar
from tests.record_builder import MANDATE

CALENDAR = weekday_calendar()

THURSDAY = date(2020, 1, 9)
AS_OF = closes(THURSDAY) + timedelta(seconds=1)


def desk(tmp_path: Path, **changes: Any) -> Desk:
    plain: dict[str, Any] = {
        "clock": FakeClock(AS_OF),
        "calendar_of": lambda _: CALENDAR,
        "own_prices": None,
        "market": FakeMarket(),
        "sources": {},
        "tools": {},
        "index": IndexHistory(tmp_path, frozenset()),
        "engines": {},
        "mandates": {"default": MANDATE},
        "broker": None,
        "store": None,
        "existing_store": lambda: None,
        "slot_patience_seconds": 3.0,
        "sleep": lambda seconds: None,
        "staff": lambda: None,
        "markers": dict,
        "provider": None,
        "allow_fallback": True,
        "daily_spend": None,
        "starting_cash": D(100_000),
        "default_mandate": "default",
        "configuration": "c",
        "lot_method": "fifo",
        "halt_file": tmp_path / "HALT",
        "halt_variable": False,
    }
    return Desk(**(plain | changes))


def stored(state: ControlState) -> Control:
    return Control(state, "a test", AS_OF)


@pytest.mark.parametrize(
    ("database", "file", "variable", "expected"),
    [
        ("ACTIVE", False, False, ("ACTIVE", ())),
        ("REDUCING", False, False, ("REDUCING", ("database",))),
        ("HALTED", False, False, ("HALTED", ("database",))),
        (None, False, False, ("HALTED", ("database",))),
        ("ACTIVE", True, False, ("HALTED", ("file",))),
        ("ACTIVE", False, True, ("HALTED", ("environment",))),
        ("REDUCING", True, False, ("HALTED", ("file",))),
        ("REDUCING", False, True, ("HALTED", ("environment",))),
        ("HALTED", True, True, ("HALTED", ("file", "environment", "database"))),
    ],
)
def test_the_strictest_of_database_file_and_environment_counts(
    tmp_path: Path, database: ControlState | None, file: bool, variable: bool, expected: tuple[str, tuple[str, ...]]
) -> None:
    if file:
        (tmp_path / "HALT").touch()
    asked = desk(tmp_path, halt_variable=variable)

    assert asked.control(stored(database) if database else None) == expected


def test_without_books_file_and_environment_still_count(tmp_path: Path) -> None:
    assert desk(tmp_path).control_without_books() == ("ACTIVE", ())
    assert desk(tmp_path, halt_variable=True).control_without_books() == ("HALTED", ("environment",))


def store(books: FakeBooks) -> Any:
    return SimpleNamespace(read=lambda: nullcontext(books))


def test_a_halted_system_refuses_with_the_reason_and_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(Halted, match="the system is halted by environment and database: a test") as caught:
        refuse_if_halted(desk(tmp_path, halt_variable=True), store(FakeBooks(stored_control=stored("HALTED"))))

    assert caught.value.fix == "unset ALPHAAGENT_HALT, then run `alphaagent resume --reason WHY`"


def test_a_reducing_system_goes_on(tmp_path: Path) -> None:
    refuse_if_halted(desk(tmp_path), store(FakeBooks(stored_control=stored("REDUCING"))))


def test_unsound_books_halt_the_system_and_stop_the_run() -> None:
    told: list[tuple[str, str, str]] = []
    writing = SimpleNamespace(soundness_fault=lambda: "a hole in the chain", set_control=lambda state, why, actor, at: told.append((state, why, actor)))
    both = SimpleNamespace(read=lambda: nullcontext(writing), write=lambda: nullcontext(writing))

    with pytest.raises(BooksUnsound, match="a hole in the chain"):
        stop_if_unsound(both, AS_OF)  # type: ignore[arg-type]
    assert told == [("HALTED", "the books are unsound: a hole in the chain", "guard")]


def test_sound_books_let_the_run_go_on() -> None:
    stop_if_unsound(store(FakeBooks()), AS_OF)


@pytest.mark.parametrize(("patience", "waits"), [(3.0, 3), (2.5, 3), (0.0, 0)])
def test_patience_ends_after_its_seconds(tmp_path: Path, patience: float, waits: int) -> None:
    slept: list[float] = []
    wait = desk(tmp_path, slot_patience_seconds=patience, sleep=slept.append).patience()
    for _ in range(waits):
        wait(1.0)

    with pytest.raises(UsageFault, match=f"deciding this slot for {waits} seconds"):
        wait(1.0)
    assert slept == [1.0] * waits


def test_each_wait_starts_with_fresh_patience(tmp_path: Path) -> None:
    asked = desk(tmp_path, slot_patience_seconds=1.0)
    first, second = asked.patience(), asked.patience()
    first(1.0)

    second(1.0)


def test_a_ticker_is_resolved_to_its_instrument_and_the_last_completed_session(tmp_path: Path) -> None:
    assert resolve(desk(tmp_path), "ACME", AS_OF) == (ACME, THURSDAY)


def test_an_unknown_ticker_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(NoEvidence, match="NOPE is unknown here") as caught:
        resolve(desk(tmp_path), "NOPE", AS_OF)
    assert caught.value.fix == "known tickers: ACME, BETA"


def test_an_ambiguous_ticker_is_refused_with_the_ids(tmp_path: Path) -> None:
    twin = BETA.model_copy(update={"symbol": "ACME"})
    with pytest.raises(UsageFault, match="ACME is ambiguous at 2020-01-09: XNAS:ACME, XNYS:BETA"):
        resolve(desk(tmp_path, market=FakeMarket(instruments=(ACME, twin))), "ACME", AS_OF)


def test_an_unknown_mandate_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(ConfigFault, match=r"the mandate 'bold' is not in mandate\.yaml") as caught:
        desk(tmp_path).mandate("bold")
    assert caught.value.fix == "use one of: default"


def test_a_fresh_book_is_the_starting_cash(tmp_path: Path) -> None:
    book = fresh_book(desk(tmp_path), "default", AS_OF, None)

    assert (book.equity, book.account.cash, book.account.positions, book.limits_on_file) == (100_000, 100_000, (), MANDATE.limits_hash)
    assert book.account.book_time < AS_OF


def test_a_fresh_book_is_refused_to_a_halted_system(tmp_path: Path) -> None:
    with pytest.raises(Halted):
        fresh_book(desk(tmp_path, halt_variable=True), "default", AS_OF, None)


def test_only_default_and_a_portfolio_with_a_file_are_made_without_being_asked_for(tmp_path: Path) -> None:
    books: Any = SimpleNamespace(portfolio=lambda name: None, portfolios=lambda: ())
    mine = PortfolioFile(watchlist=("ACME",), cash=D(5))
    assert find_portfolio(desk(tmp_path), books, "default") is None
    assert find_portfolio(desk(tmp_path, portfolio_files=lambda: {"mine": mine}), books, "mine") is None
    with pytest.raises(UsageFault, match=r"there is no portfolio 'mine' \(there is: none yet\)"):
        find_portfolio(desk(tmp_path), books, "mine")


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        (PortfolioFile(watchlist=("ACME",)), (D(100_000), "default")),
        (PortfolioFile(watchlist=("ACME",), cash=D(0), mandate="bold"), (D(0), "bold")),
    ],
)
def test_what_a_portfolio_opens_with_is_what_its_file_says(tmp_path: Path, file: PortfolioFile, expected: tuple[D, str]) -> None:
    found = desk(tmp_path, portfolio_files=lambda: {"mine": file}).opening("mine")
    assert found is not None
    assert (found.cash, found.mandate) == expected


@pytest.mark.parametrize(("reason", "expected"), [("books unsound", [("HALTED", "books unsound", "guard")]), (None, [])])
def test_a_ruling_that_demands_a_halt_gets_one(reason: str | None, expected: list[tuple[str, ...]]) -> None:
    calls: list[tuple[str, ...]] = []
    note: Callable[..., None] = lambda state, why, actor, at: calls.append((state, why, actor))  # noqa: E731 - a stand-in of one line
    halt_if_told(SimpleNamespace(set_control=note), SimpleNamespace(halt=reason), AS_OF)  # type: ignore[arg-type]

    assert calls == expected
