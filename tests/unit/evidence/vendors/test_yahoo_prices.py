"""Yahoo's prices: as traded whatever has been split since, and every row that cannot be used named."""

import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from alphaagent.clock import SessionTable
from alphaagent.domain.market import Bar, Instrument, Records
from alphaagent.errors import SourceFault, VendorFault
from alphaagent.evidence.live.vendors.yahoo import YahooPrices
from alphaagent.evidence.sources.snapshot import SnapshotPrices
from tests.snapshot_folder import ACME, RECORDED, recorded_calendar, recorded_instrument
from tests.vendors.yahoo import Listing
from tests.vendors.yahoo_desk import NOW, YahooDesk, yahoo_desk

CALENDAR = recorded_calendar()
COLUMNS = ["date", "open", "high", "low", "close", "volume", "dividend", "split"]
META = {"currency": "USD", "regularMarketPrice": "101.5", "regularMarketTime": "2020-03-05T15:00:00+00:00"}
FETCHED = datetime(2020, 3, 5, 15, 1, tzinfo=UTC)
Cells = list[str | None]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[YahooDesk]:
    with yahoo_desk(tmp_path, seconds=5) as made:
        yield made


def document(*rows: Cells, **meta: object) -> bytes:
    return json.dumps({"meta": META | meta, "columns": COLUMNS, "rows": rows}).encode()


def row(day: str, price: str | None = "100", **cells: str | None) -> Cells:
    found: dict[str, str | None] = {"date": day, "open": price, "high": price, "low": price, "close": price, "volume": "1000", "dividend": "0", "split": "0"}
    return list((found | cells).values())


def parsed(*rows: Cells, instrument: Instrument = ACME, calendar: SessionTable = CALENDAR, **meta: object) -> Records:
    return prices().parse(document(*rows, **meta), instrument, calendar, FETCHED)


def prices() -> YahooPrices:
    return YahooPrices(None)  # type: ignore[arg-type]  # parsing asks nothing


def fetched(desk: YahooDesk, instrument: Instrument, at: datetime) -> Records:
    desk.player.now = at
    came = desk.prices.fetch(instrument, None)
    assert came is not None
    return desk.prices.parse(came.raw or b"", instrument, CALENDAR, at)


def recorded(instrument: Instrument) -> Records:
    source = SnapshotPrices(RECORDED)
    return source.parse(source.fetch(instrument) or b"", instrument, CALENDAR)


@pytest.mark.parametrize("symbol", ["AAPL", "NVDA", "GOOG"])
def test_undoing_the_splits_gives_back_the_bars_and_the_dividends_as_they_were(desk: YahooDesk, symbol: str) -> None:
    instrument = recorded_instrument(symbol)
    came, expected = fetched(desk, instrument, NOW), recorded(instrument)
    known = [bar for bar in expected.bars if bar.known_at < NOW]
    assert list(came.bars) == known
    assert list(came.actions) == [action for action in expected.actions if action.known_at < NOW]
    assert came.faults == ()
    assert len(known) > 2_600


@pytest.mark.parametrize(("symbol", "split"), [("NVDA", date(2021, 7, 20)), ("AAPL", date(2020, 8, 31)), ("GOOG", date(2022, 7, 18))])
def test_a_split_booked_overnight_changes_no_bar_before_it(desk: YahooDesk, symbol: str, split: date) -> None:
    instrument = recorded_instrument(symbol)
    evening = CALENDAR.closes(CALENDAR.previous_session(split)) + timedelta(hours=1)
    before, after = fetched(desk, instrument, evening), fetched(desk, instrument, CALENDAR.opens(split) + timedelta(minutes=5))
    assert after.bars[:-1] == before.bars
    assert after.bars[-1].session == split
    assert [action.ex_date for action in after.actions if action not in before.actions] == [split]


def test_the_document_is_the_same_twice_and_holds_what_the_vendor_wrote(desk: YahooDesk) -> None:
    one, two = (desk.prices.fetch(recorded_instrument("AAPL"), None) for _ in range(2))
    assert one == two
    assert one is not None
    held = json.loads(one.raw or b"")
    assert held["columns"] == COLUMNS
    assert held["rows"][0][0] == "2013-01-02"
    assert float(held["rows"][0][4]) == pytest.approx(549.03 / 28, rel=1e-7)
    assert held["meta"]["exchangeName"] == "NMS"


def test_the_last_trade_is_no_bar(desk: YahooDesk) -> None:
    noon = datetime(2023, 8, 31, 16, tzinfo=UTC)
    found = fetched(desk, recorded_instrument("AAPL"), noon)
    (last,) = found.last_prices
    assert (last.traded_at, last.known_at) == (noon, noon)
    assert found.bars[-1].known_at == CALENDAR.closes(date(2023, 8, 31)) > noon


def test_a_trade_is_never_later_than_it_was_seen() -> None:
    (last,) = parsed(row("2020-03-04"), regularMarketTime="2020-03-05T15:02:00+00:00").last_prices
    assert (last.price, last.traded_at, last.known_at) == (Decimal("101.5"), FETCHED, FETCHED)


@pytest.mark.parametrize("meta", [{"regularMarketPrice": None}, {"regularMarketTime": None}, {"regularMarketPrice": "0"}, {"regularMarketTime": "2020-03-05"}])
def test_no_last_trade_where_it_is_not_stated_whole(meta: dict[str, str | None]) -> None:
    assert parsed(row("2020-03-04"), **meta).last_prices == ()


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"close": None}, "close is missing"),
        ({"high": "99", "low": "101"}, "high 99 is below low 101"),
        ({"open": "0"}, "open 0 is not above zero"),
        ({"low": "-1"}, "low -1 is not above zero"),
        ({"low": "0.00001"}, "low 0.00001 is too small to be a price"),
        ({"close": "100.02"}, "close 100.02 lies outside low 100 to high 100"),
        ({"open": "99.98"}, "open 99.98 lies outside low 100 to high 100"),
        ({"volume": "-5"}, "volume -5 is below zero"),
        ({"volume": None}, "volume is missing"),
        ({"close": "1e3"}, "close '1e3' is not a plain decimal number"),
        ({"dividend": "-1"}, "dividend -1 is below zero"),
        ({"split": "x"}, "split 'x' is not a plain decimal number"),
        ({"price": "9" * 18}, None),
    ],
)
def test_a_row_that_cannot_be_used_is_a_fault_of_its_session(cells: dict[str, str | None], message: str | None) -> None:
    found = parsed(row("2020-03-03"), row("2020-03-04", **cells))
    if message is None:
        assert found.faults == ()
        return
    (fault,) = found.faults
    assert (fault.message, fault.session, fault.known_at) == (message, date(2020, 3, 4), CALENDAR.closes(date(2020, 3, 4)))
    assert fault.where == "yahoo's prices of ACME, row 2"
    assert [bar.session for bar in found.bars] == [date(2020, 3, 3)]


def test_a_hole_on_a_session_is_a_fault_and_on_a_holiday_nothing() -> None:
    hole = {"price": None, "volume": "0"}
    found = parsed(row("2020-03-03"), row("2020-03-04", **hole), row("2020-03-07", **hole))
    assert [fault.session for fault in found.faults] == [date(2020, 3, 4)]


def test_a_bar_on_no_session_is_a_fault() -> None:
    (fault,) = parsed(row("2020-03-06"), row("2020-03-07")).faults
    assert (fault.message, fault.session, fault.known_at) == ("date 2020-03-07 is no session of the exchange", date(2020, 3, 7), None)


def test_a_date_that_is_none_is_a_fault_that_could_belong_anywhere() -> None:
    (fault,) = parsed(row("yesterday")).faults
    assert (fault.session, fault.known_at) == (None, None)


@pytest.mark.parametrize("again", ["2020-03-03", "2020-03-02"])
def test_a_row_out_of_order_is_a_fault_and_its_actions_are_not_booked_twice(again: str) -> None:
    found = parsed(row("2020-03-03", dividend="1"), row(again, dividend="1"))
    assert len(found.bars) == len(found.actions) == len(found.faults) == 1


def test_what_lies_outside_the_calendar_is_left_out() -> None:
    found = parsed(row("2001-01-02"), row("2020-03-04"), row("2099-01-02"))
    assert [bar.session for bar in found.bars] == [date(2020, 3, 4)]
    assert found.faults == ()


def test_a_split_that_is_only_announced_has_divided_nothing() -> None:
    found = parsed(row("2020-03-04", price="25"), row("2099-01-02", split="4"))
    assert [bar.close for bar in found.bars] == [Decimal(25)]


def test_a_split_that_the_price_as_traded_does_not_show_is_a_fault_and_no_action() -> None:
    found = parsed(row("2020-03-03", price="25"), row("2020-03-04", price="100", split="4"))
    assert found.actions == ()
    assert "a split of 4 is listed for 2020-03-04, and the price as traded does not show it" in found.faults[0].message


def test_a_split_in_a_row_without_prices_is_undone_before_it() -> None:
    found = parsed(row("2020-03-03", price="25"), row("2020-03-04", price=None, split="4"))
    assert found.bars[0].close == 100
    assert [(action.kind, action.value) for action in found.actions] == [("split", Decimal(4))]


def test_a_close_outside_by_rounding_is_taken_for_the_nearer_bound() -> None:
    (bar,) = parsed(row("2020-03-04", close="100.0099", open="99.9901")).bars
    assert (bar.open, bar.close) == (Decimal(100), Decimal(100))


def test_numbers_of_32_bits_are_read_as_what_was_meant() -> None:
    (bar,) = parsed(row("2020-03-04", price="239.64999389648438")).bars
    assert bar.close == Decimal("239.65")
    (bar,) = parsed(row("2020-03-04", price="2900.1201171875")).bars
    assert bar.close == Decimal("2900.12")


def test_a_price_is_rounded_to_the_places_that_a_32_bit_number_is_good_for() -> None:
    high = parsed(row("2020-03-03", price="145.00599670410156"), row("2020-03-04", price="145", split="20")).bars[0]
    low = parsed(row("2020-03-03", price="0.012345678"), row("2020-03-04", price="0.012", split="2")).bars[0]
    assert (high.close, low.close) == (Decimal("2900.12"), Decimal("0.0247"))


def test_a_reverse_split_is_undone_too() -> None:
    found = parsed(row("2020-03-03", price="50", volume="100"), row("2020-03-04", price="49", split="0.1"))
    assert (found.bars[0].close, found.bars[0].volume) == (Decimal(5), 1000)


def test_a_dividend_is_on_the_shares_of_its_ex_date() -> None:
    found = parsed(row("2020-03-02", dividend="0.094643"), row("2020-03-03", dividend="1.395492"), row("2020-03-04", dividend="1.1234", split="28"))
    assert [(action.kind, action.value) for action in found.actions] == [
        ("dividend", Decimal("2.65")),
        ("dividend", Decimal("39.0738")),
        ("split", Decimal(28)),
        ("dividend", Decimal("1.1234")),
    ]
    assert all(action.known_at == CALENDAR.opens(action.ex_date) for action in found.actions)


def test_a_split_that_the_prices_do_not_know_of_is_a_fault() -> None:
    found = parsed(row("2020-03-03", price="100"), row("2020-03-04", price="25.5", split="4"))
    (fault,) = found.faults
    assert fault.message == "the prices before 2020-03-04 are not divided by the split of 4 that is listed for it"
    spun_off = parsed(row("2020-03-03", price="100"), row("2020-03-04", price="80", split="1.25"))
    assert spun_off.faults == ()


def test_a_price_in_another_currency_is_refused_by_both_names() -> None:
    with pytest.raises(SourceFault, match=r"prices ACME in 'GBp', the instrument is in USD"):
        parsed(row("2020-03-04"), currency="GBp")


@pytest.mark.parametrize("raw", [b"", b"{}", b"[]", b"\xff", b'{"meta":{},"columns":[],"rows":[]}', document(["2020-03-04"]), b"[" * 100_000])
def test_a_document_that_is_none_is_refused(raw: bytes) -> None:
    with pytest.raises(SourceFault, match="cannot be read"):
        prices().parse(raw, ACME, CALENDAR, FETCHED)


def without_currency(result: dict[str, Any]) -> None:
    del result["meta"]["currency"]


def weekly(result: dict[str, Any]) -> None:
    result["meta"]["dataGranularity"] = "1wk"


def without_volume(result: dict[str, Any]) -> None:
    del result["indicators"]["quote"][0]["volume"]


def of_other_length(result: dict[str, Any]) -> None:
    result["timestamp"].pop()


def of_no_zone(result: dict[str, Any]) -> None:
    result["meta"]["exchangeTimezoneName"] = "Mars/Olympus"


@pytest.mark.parametrize("change", [without_currency, weekly, without_volume, of_other_length, of_no_zone])
def test_a_chart_of_another_shape_is_no_document(desk: YahooDesk, change: Callable[[dict[str, Any]], None]) -> None:
    desk.player.since = date(2023, 8, 1)
    desk.player.change = change
    with pytest.raises(VendorFault) as caught:
        desk.prices.fetch(recorded_instrument("AAPL"), None)
    assert caught.value.kind == "schema"


def test_holes_and_infinities_come_through_as_holes(desk: YahooDesk) -> None:
    def holed(result: dict[str, Any]) -> None:
        quote = result["indicators"]["quote"][0]
        quote["close"][0], quote["high"][1] = None, "Infinity"

    desk.player.since = date(2023, 8, 1)
    desk.player.change = holed
    found = fetched(desk, recorded_instrument("AAPL"), NOW)
    assert [(fault.session, fault.message) for fault in found.faults] == [(date(2023, 8, 1), "close is missing"), (date(2023, 8, 2), "high is missing")]


def test_a_split_of_this_morning_is_undone_before_the_first_trade(desk: YahooDesk) -> None:
    def split_today(result: dict[str, Any]) -> None:
        at = int(CALENDAR.opens(date(2023, 9, 5)).timestamp())
        result["events"] = {"splits": {str(at): {"date": at, "numerator": 2, "denominator": 1, "splitRatio": "2:1"}}}
        quote = result["indicators"]["quote"][0]
        for name in ("open", "high", "low", "close"):
            quote[name] = [price / 2 for price in quote[name]]

    desk.player.since = date(2023, 8, 1)
    nvda = recorded_instrument("NVDA")
    before = fetched(desk, nvda, NOW)
    desk.player.change = split_today
    after = fetched(desk, nvda, datetime(2023, 9, 5, 12, tzinfo=UTC))
    assert [bar.close for bar in after.bars] == [bar.close for bar in before.bars]
    (hole,) = after.faults
    assert hole.known_at == CALENDAR.closes(date(2023, 9, 5))


def test_an_instrument_is_asked_under_its_symbol_at_yahoo(desk: YahooDesk) -> None:
    desk.player.listings["BRK-B"] = Listing("Berkshire Hathaway Inc.", exchange="NYQ")
    brk = Instrument(id="XNYS:BRK.B", symbol="BRK.B", name="Berkshire Hathaway", mic="XNYS", currency="USD", kind="common")
    assert desk.prices.fetch(brk, None) is None
    assert desk.server.asked[-1].path == "/v8/finance/chart/BRK-B"
    assert desk.server.asked[-1].query["range"] == "10y"
    assert desk.prices.not_asked(brk) is None


def test_parsing_ten_years_is_quick_and_a_second_time_costs_nothing() -> None:
    days = [session for session in CALENDAR.sessions if session.year > 2013][:2_400]
    raw = document(*(row(day.isoformat(), price="19.607999801635742") for day in days))
    first: list[Bar] = list(prices().parse(raw, ACME, CALENDAR, FETCHED).bars)
    began = time.thread_time()
    again = prices().parse(raw, ACME, CALENDAR, FETCHED)
    assert time.thread_time() - began < 0.02
    assert list(again.bars) == first
