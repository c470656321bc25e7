"""Prices for the guard and the fills come from the same rows as the evidence, and never from a broken one."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from alphaagent.domain.market import Quote
from alphaagent.errors import SourceFault, UsageFault
from alphaagent.evidence.sources.snapshot_market import SnapshotMarket
from tests.snapshot_folder import ACME, ACTION_HEADER, BAR_HEADER, RECORDED, recorded_calendar, recorded_instrument, write_folder

CALENDAR = recorded_calendar()
RECORDED_MARKET = SnapshotMarket(RECORDED, lambda _: CALENDAR)
AAPL = recorded_instrument("AAPL")
CLOSE = CALENDAR.closes(date(2020, 1, 3))
MOMENT = timedelta(microseconds=1)


def market(folder: Path, *rows: str, actions: tuple[str, ...] = ()) -> SnapshotMarket:
    files = {"bars/ACME.csv": BAR_HEADER + "".join(row + "\n" for row in rows), "actions/ACME.csv": ACTION_HEADER + "".join(row + "\n" for row in actions)}
    return SnapshotMarket(write_folder(folder, files), lambda _: CALENDAR)


def bar(day: str, close: str = "11") -> str:
    return f"{day},10,12,9,{close},1000"


def test_a_ticker_resolves_to_the_recorded_instrument() -> None:
    (apple,) = RECORDED_MARKET.resolve("aapl", date(2020, 1, 2))
    assert (apple.id, apple.name, apple.mic, apple.currency, apple.cik) == ("XNAS:AAPL", "Apple Inc.", "XNAS", "USD", "0000320193")
    assert RECORDED_MARKET.tickers() == ("AAPL", "AMZN", "AZN.L", "GOOG", "META", "MSFT", "NFLX", "NVDA")


def test_what_cannot_be_a_ticker_is_a_usage_fault() -> None:
    with pytest.raises(UsageFault, match="AA PL"):
        RECORDED_MARKET.resolve("AA PL", date(2020, 1, 2))


def test_the_quote_is_the_last_close_strictly_before_the_instant() -> None:
    assert RECORDED_MARKET.quote(AAPL, CLOSE + MOMENT) == Quote(price=Decimal("297.43"), session=date(2020, 1, 3), known_at=CLOSE, source="snapshot")
    at_the_close = RECORDED_MARKET.quote(AAPL, CLOSE)
    assert at_the_close is not None
    assert at_the_close.session == date(2020, 1, 2)


@pytest.mark.parametrize("as_of", [datetime(2000, 1, 1, tzinfo=UTC), CALENDAR.closes(CALENDAR.first)])
def test_before_the_first_close_there_is_no_quote(as_of: datetime) -> None:
    assert RECORDED_MARKET.quote(AAPL, as_of) is None


def test_an_instrument_without_bars_has_no_prices_at_all() -> None:
    assert RECORDED_MARKET.quote(ACME, CLOSE) is None
    assert RECORDED_MARKET.bar(ACME, date(2020, 1, 3)) is None
    assert RECORDED_MARKET.actions(ACME, date(2020, 1, 3), date(2021, 1, 4)) == ()
    assert RECORDED_MARKET.last_session(ACME) is None


def test_the_last_session_is_that_of_the_last_bar_and_not_of_the_calendar() -> None:
    assert RECORDED_MARKET.last_session(AAPL) == date(2023, 9, 21)


def test_a_bar_is_that_of_its_session_or_none() -> None:
    found = RECORDED_MARKET.bar(AAPL, date(2020, 8, 31))
    assert found is not None
    assert (found.open, found.close) == (Decimal("127.58"), Decimal("129.04"))
    assert RECORDED_MARKET.bar(AAPL, date(2023, 9, 22)) is None
    assert RECORDED_MARKET.bar(AAPL, date(2020, 8, 30)) is None


@pytest.mark.parametrize(
    ("after", "upto", "count"),
    [((2020, 8, 30), (2020, 8, 31), 1), ((2020, 8, 31), (2020, 9, 1), 0), ((2020, 8, 6), (2020, 11, 6), 3), ((2020, 8, 7), (2020, 11, 5), 1)],
)
def test_actions_are_those_after_one_date_up_to_and_with_another(after: tuple[int, int, int], upto: tuple[int, int, int], count: int) -> None:
    assert len(RECORDED_MARKET.actions(AAPL, date(*after), date(*upto))) == count


def test_a_broken_row_at_or_before_the_quote_is_a_failure_and_a_later_one_is_not(tmp_path: Path) -> None:
    broken = market(tmp_path, bar("2020-01-02"), bar("2020-01-03", "NaN"), bar("2020-01-06"))
    before = broken.quote(ACME, CLOSE)
    assert before is not None
    assert before.session == date(2020, 1, 2)
    for as_of in (CLOSE + MOMENT, CALENDAR.closes(date(2020, 1, 6)) + MOMENT):
        with pytest.raises(SourceFault, match=r"bars/ACME\.csv line 3: close 'NaN'"):
            broken.quote(ACME, as_of)


def test_the_bar_of_a_broken_row_is_a_failure_and_its_neighbours_are_bars(tmp_path: Path) -> None:
    broken = market(tmp_path, bar("2020-01-02"), bar("2020-01-03", "0"), bar("2020-01-06"))
    with pytest.raises(SourceFault, match="close '0' is not above zero"):
        broken.bar(ACME, date(2020, 1, 3))
    assert broken.bar(ACME, date(2020, 1, 2)) is not None
    assert broken.bar(ACME, date(2020, 1, 6)) is not None


def test_a_bar_that_is_there_twice_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(SourceFault, match="occurs again"):
        market(tmp_path, bar("2020-01-02"), bar("2020-01-02", "10")).bar(ACME, date(2020, 1, 2))


def test_an_absent_bar_beside_a_row_without_a_date_is_a_failure(tmp_path: Path) -> None:
    broken = market(tmp_path, bar("2020-01-02"), bar("someday"))
    assert broken.bar(ACME, date(2020, 1, 2)) is not None
    with pytest.raises(SourceFault, match="date 'someday' is not a date"):
        broken.bar(ACME, date(2020, 1, 3))


def test_a_broken_action_fails_the_range_that_it_lies_in(tmp_path: Path) -> None:
    broken = market(tmp_path, bar("2020-01-02"), actions=("split,2020-01-03,x", "dividend,2020-01-07,1"))
    with pytest.raises(SourceFault, match="value 'x'"):
        broken.actions(ACME, date(2020, 1, 2), date(2020, 1, 3))
    assert len(broken.actions(ACME, date(2020, 1, 3), date(2020, 1, 7))) == 1


def test_a_changed_file_is_seen_at_once(tmp_path: Path) -> None:
    changing = market(tmp_path, bar("2020-01-02"))
    assert changing.last_session(ACME) == date(2020, 1, 2)
    (tmp_path / "bars/ACME.csv").write_text(BAR_HEADER + bar("2020-01-03") + "\n", encoding="utf-8")
    assert changing.last_session(ACME) == date(2020, 1, 3)


def test_a_listed_file_that_is_missing_is_a_failure(tmp_path: Path) -> None:
    gone = market(tmp_path, bar("2020-01-02"))
    (tmp_path / "bars/ACME.csv").unlink()
    with pytest.raises(SourceFault, match="missing"):
        gone.quote(ACME, CLOSE)
