"""The eight recorded listings: their ranges, prices as traded around every split, dividends that were paid and none that were not, and names."""

import csv
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from recipe.companies import COMPANIES
from recipe.prices import Day, unhalved

from alphaagent.clock import Calendars, SessionTable
from alphaagent.domain.market import CorporateAction
from alphaagent.errors import ConfigFault
from alphaagent.evidence.manifest import read_manifest
from alphaagent.evidence.snapshot_status import snapshot_status
from alphaagent.evidence.sources.instruments import read_instruments
from alphaagent.evidence.sources.snapshot_market import SnapshotMarket
from tests.snapshot_folder import RECORDED, recorded_calendars

CALENDARS = recorded_calendars()
LISTED = {instrument.symbol: instrument for instrument in read_instruments(RECORDED)}
MARKET = SnapshotMarket(RECORDED, lambda instrument: CALENDARS.of(instrument.mic))
FIRST = date(2013, 1, 2)
LAST = dict.fromkeys(LISTED, date(2023, 9, 21)) | {"MSFT": date(2022, 6, 15), "AZN.L": date(2022, 6, 15)}
ALWAYS = date(2013, 1, 1), date(2030, 1, 1)


def actions(ticker: str, kind: str) -> tuple[CorporateAction, ...]:
    return tuple(action for action in MARKET.actions(LISTED[ticker], *ALWAYS) if action.kind == kind)


def close(ticker: str, session: str) -> Decimal:
    found = MARKET.bar(LISTED[ticker], date.fromisoformat(session))
    assert found is not None
    return found.close


def sessions_of(ticker: str) -> list[date]:
    with (RECORDED / "bars" / f"{ticker}.csv").open(encoding="utf-8", newline="") as file:
        return [date.fromisoformat(row["date"]) for row in csv.DictReader(file)]


def test_the_snapshot_is_whole_listed_and_small() -> None:
    files = snapshot_status(RECORDED)
    assert {file.state for file in files} == {"ok"}
    assert all(file.licence and file.origin for file in files)
    assert sum(file.bytes for file in read_manifest(RECORDED).files) < 3_500_000


def test_the_listings_are_those_of_the_recipe() -> None:
    assert set(LISTED) == {company.symbol for company in COMPANIES} == {"AAPL", "AMZN", "AZN.L", "GOOG", "META", "MSFT", "NFLX", "NVDA"}


@pytest.mark.parametrize("ticker", sorted(LAST))
def test_every_session_of_the_range_has_its_bar_and_no_other_day_has(ticker: str) -> None:
    calendar = CALENDARS.of(LISTED[ticker].mic)
    assert sessions_of(ticker) == [session for session in calendar.sessions if FIRST <= session <= LAST[ticker]]
    assert MARKET.last_session(LISTED[ticker]) == LAST[ticker]


@pytest.mark.parametrize(
    ("ticker", "session", "as_traded"),
    [
        ("AAPL", "2013-01-02", "549.03"),
        ("AAPL", "2014-06-06", "645.57"),
        ("AAPL", "2014-06-09", "93.70"),
        ("AAPL", "2020-08-28", "499.23"),
        ("AAPL", "2020-08-31", "129.04"),
        ("AMZN", "2013-01-02", "257.31"),
        ("AMZN", "2022-06-03", "2447.00"),
        ("AMZN", "2022-06-06", "124.79"),
        ("GOOG", "2013-01-02", "723.25"),
        ("GOOG", "2014-03-26", "1131.97"),
        ("GOOG", "2014-04-03", "569.74"),
        ("GOOG", "2022-07-15", "2255.34"),
        ("GOOG", "2022-07-18", "109.91"),
        ("META", "2013-01-02", "28.00"),
        ("META", "2022-06-08", "196.64"),
        ("MSFT", "2013-01-02", "27.62"),
        ("MSFT", "2022-06-15", "251.76"),
        ("NFLX", "2013-01-02", "92.01"),
        ("NFLX", "2015-07-14", "702.60"),
        ("NFLX", "2015-07-15", "98.13"),
        ("NVDA", "2021-07-19", "751.19"),
        ("NVDA", "2021-07-20", "186.12"),
        ("AZN.L", "2022-06-15", "9856"),
    ],
)
def test_a_bar_is_as_it_was_traded(ticker: str, session: str, as_traded: str) -> None:
    assert abs(close(ticker, session) - Decimal(as_traded)) <= Decimal("0.005")


@pytest.mark.parametrize(
    ("ticker", "splits"),
    [
        ("AAPL", {"2014-06-09": "7", "2020-08-31": "4"}),
        ("AMZN", {"2022-06-06": "20"}),
        ("AZN.L", {}),
        ("GOOG", {"2014-03-27": "2.002", "2015-04-27": "1.0027455", "2022-07-18": "20"}),
        ("META", {}),
        ("MSFT", {}),
        ("NFLX", {"2015-07-15": "7"}),
        ("NVDA", {"2021-07-20": "4"}),
    ],
)
def test_the_splits_are_on_record(ticker: str, splits: dict[str, str]) -> None:
    assert {str(action.ex_date): action.value for action in actions(ticker, "split")} == {day: Decimal(ratio) for day, ratio in splits.items()}


@pytest.mark.parametrize("ticker", sorted(set(LAST) - {"AZN.L"}))
def test_over_a_split_the_value_of_a_holding_moves_no_more_than_a_day_can(ticker: str) -> None:
    for action in actions(ticker, "split"):
        before = close(ticker, str(CALENDARS.of("XNAS").previous_session(action.ex_date)))
        assert abs(close(ticker, str(action.ex_date)) * action.value / before - 1) < Decimal("0.04")


@pytest.mark.parametrize(("ticker", "paid"), [("AAPL", 43), ("MSFT", 38), ("NVDA", 43), ("AMZN", 0), ("GOOG", 0), ("META", 0), ("NFLX", 0), ("AZN.L", 0)])
def test_dividends_are_those_that_were_paid(ticker: str, paid: int) -> None:
    assert len(actions(ticker, "dividend")) == paid


def test_microsofts_dividends_rise_each_autumn_and_come_four_times_a_year() -> None:
    found = actions("MSFT", "dividend")
    by_year = {year: [action.value for action in found if action.ex_date.year == year] for year in range(2013, 2022)}
    assert {year: len(values) for year, values in by_year.items()} == dict.fromkeys(range(2013, 2022), 4)
    assert [by_year[year][-1] for year in (2013, 2017, 2021)] == [Decimal("0.28"), Decimal("0.42"), Decimal("0.62")]
    assert [action.value for action in found] == sorted(action.value for action in found)


def test_london_has_no_file_of_actions_and_one_day_without_volume() -> None:
    assert not read_manifest(RECORDED).lists("actions/AZN.L.csv")
    idle = MARKET.bar(LISTED["AZN.L"], date(2017, 7, 11))
    assert idle is not None
    assert idle.volume == 0


@pytest.mark.parametrize("ticker", ["AMZN", "AZN.L", "META", "NFLX"])
def test_what_was_not_recorded_has_no_file_rather_than_an_empty_one(ticker: str) -> None:
    listed = read_manifest(RECORDED)
    assert [listed.lists(f"fundamentals/{ticker}.csv"), listed.lists(f"news/{ticker}.xml")] == [False, False]


@pytest.mark.parametrize("name", ["META", "meta", "FB", "fb"])
def test_meta_is_found_under_its_old_name_too(name: str) -> None:
    assert [one.id for one in MARKET.resolve(name, date(2020, 1, 2))] == ["XNAS:META"]


@pytest.mark.parametrize("name", ["AZN", "AZN.LN", "GOOGL", "BRK.B", "TRUE", "NAN", "ON", "1E5", "GC=F", "EURUSD=X", "0700.HK"])
def test_a_name_that_is_not_on_record_is_nobodys(name: str) -> None:
    """AZN is the ADS in dollars, and GOOGL the class A share: neither is a listing recorded here."""
    assert MARKET.resolve(name, date(2020, 1, 2)) == ()


def test_a_london_share_is_found_in_both_spellings_and_priced_in_pence() -> None:
    (point,), (dash,) = MARKET.resolve("azn.l", date(2020, 1, 2)), MARKET.resolve("AZN-L", date(2020, 1, 2))
    assert (point, point.currency, point.mic) == (dash, "GBp", "XLON")


@pytest.mark.parametrize("ticker", sorted(LAST))
def test_an_instrument_is_described_and_unknown_before_its_listing(ticker: str) -> None:
    instrument = LISTED[ticker]
    assert instrument.sector
    assert len(instrument.cik or "") == 10
    assert instrument.valid_from is not None
    assert MARKET.resolve(ticker, instrument.valid_from - timedelta(days=1)) == ()
    assert MARKET.resolve(ticker, instrument.valid_from) == (instrument,)


def rows(exchange: str) -> Iterator[tuple[date, datetime, datetime]]:
    table = CALENDARS.of(exchange)
    return ((session, table.opens(session), table.closes(session)) for session in table.sessions)


@pytest.mark.parametrize(
    ("exchange", "session", "closes_at"),
    [
        ("XLON", "2020-01-06", "16:30"),
        ("XLON", "2020-07-06", "15:30"),
        ("XLON", "2020-12-24", "12:30"),
        ("XLON", "2021-12-31", "12:30"),
        ("XNYS", "2020-01-06", "21:00"),
        ("XNYS", "2020-07-06", "20:00"),
        ("XNYS", "2020-11-27", "18:00"),
        ("XLON", "2020-11-27", "16:30"),
    ],
)
def test_an_exchange_closes_at_its_own_hour_also_in_summer_and_on_half_days(exchange: str, session: str, closes_at: str) -> None:
    assert CALENDARS.of(exchange).closes(date.fromisoformat(session)) == datetime.fromisoformat(f"{session}T{closes_at}:00+00:00")


@pytest.mark.parametrize(
    ("day", "london", "new_york"), [("2020-05-08", False, True), ("2020-07-03", True, False), ("2022-06-03", False, True), ("2020-12-25", False, False)]
)
def test_a_holiday_is_one_exchanges_own(day: str, london: bool, new_york: bool) -> None:
    assert [CALENDARS.of(mic).is_session(date.fromisoformat(day)) for mic in ("XLON", "XNAS")] == [london, new_york]


@pytest.mark.parametrize("exchange", ["XNYS", "XLON"])
def test_both_calendars_cover_every_bar_and_twenty_sessions_more(exchange: str) -> None:
    table = CALENDARS.of(exchange)
    assert (table.first, len([session for session in table.sessions if session > date(2023, 9, 21)])) == (FIRST, 20)
    assert all(opened < closed and opened.tzinfo is UTC for _, opened, closed in rows(exchange))


def test_markets_that_keep_new_yorks_hours_share_its_table() -> None:
    assert {id(CALENDARS.of(mic)) for mic in ("XNYS", "XNAS", "ARCX", "BATS")} == {id(CALENDARS.of("XNYS"))}


def test_a_table_is_made_once_and_an_unknown_market_is_named() -> None:
    asked: list[str] = []

    def load(exchange: str) -> SessionTable:
        asked.append(exchange)
        if exchange == "XXXX":
            raise ConfigFault("the sessions of XXXX are unknown")
        return CALENDARS.of(exchange)

    calendars = Calendars(load)
    assert calendars.of("XNAS") is calendars.of("XNYS")
    assert asked == ["XNYS"]
    with pytest.raises(ConfigFault, match="XXXX"):
        calendars.of("XXXX")


def test_a_table_extended_keeps_its_own_rows_and_takes_others_around_them() -> None:
    def table(*days: int, hour: int) -> SessionTable:
        return SessionTable((date(2020, 1, day), datetime(2020, 1, day, hour, tzinfo=UTC), datetime(2020, 1, day, hour + 1, tzinfo=UTC)) for day in days)

    joined = table(7, 8, hour=10).extended(table(6, 7, 9, hour=12))
    assert [(session.day, joined.opens(session).hour) for session in joined.sessions] == [(6, 12), (7, 10), (8, 10), (9, 12)]


def test_volumes_that_the_original_halved_are_brought_back_to_whole_hundreds() -> None:
    price = (Decimal(1),) * 4
    day = Day(date(2013, 1, 2), price, Decimal(2541300), None)
    assert unhalved(day, date(2014, 3, 27), Decimal("1.998")).volume == 5077500
    assert unhalved(day, date(2013, 1, 2), Decimal("1.998")) == day
