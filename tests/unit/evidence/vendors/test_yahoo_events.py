"""Yahoo's dates ahead: by the exchange's day whatever the machine's time zone, and none where none is stated."""

import time
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from alphaagent.domain.market import ComingEvent, Instrument
from alphaagent.errors import SourceFault, VendorFault
from alphaagent.evidence.live.vendors.yahoo import YahooEvents
from tests.snapshot_folder import ACME, recorded_calendar
from tests.vendors.yahoo import Listing
from tests.vendors.yahoo_desk import YahooDesk, yahoo_desk

FETCHED = datetime(2025, 2, 9, 12, tzinfo=UTC)
CALENDAR = recorded_calendar()
PARSER = YahooEvents(None)  # type: ignore[arg-type]  # parsing asks nothing
SYDNEY = Instrument(id="XASX:ACME.AX", symbol="ACME.AX", name="Acme", mic="XASX", currency="AUD", kind="common")
RANGE = {"earnings": {"earningsDate": [1746010740, 1746446400], "isEarningsDateEstimate": True}, "exDividendDate": 1739145600, "dividendDate": 1739404800}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[YahooDesk]:
    with yahoo_desk(tmp_path) as made:
        yield made


def events_of(desk: YahooDesk, at: datetime = FETCHED, **events: Any) -> tuple[ComingEvent, ...]:
    desk.player.listings["ACME"] = Listing("Acme Corporation", events=events)
    came = desk.events.fetch(ACME, None)
    assert came is not None
    return desk.events.parse(came.raw or b"", ACME, CALENDAR, at).coming


def test_earnings_in_a_span_and_the_ex_dividend_date(desk: YahooDesk) -> None:
    assert events_of(desk, **RANGE) == (
        ComingEvent("earnings", date(2025, 4, 30), date(2025, 5, 5), FETCHED),
        ComingEvent("ex_dividend", date(2025, 2, 10), date(2025, 2, 10), FETCHED),
    )


def test_one_date_is_a_span_of_one_day(desk: YahooDesk) -> None:
    (event,) = events_of(desk, earnings={"earningsDate": [1746010740]})
    assert event.day == event.last_day == date(2025, 4, 30)


@pytest.mark.parametrize("zone", ["America/New_York", "Pacific/Auckland"])
def test_the_machines_time_zone_moves_no_date(desk: YahooDesk, zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        found = events_of(desk, **RANGE)
    finally:
        monkeypatch.undo()
        time.tzset()
    assert [(event.day, event.last_day) for event in found] == [(date(2025, 4, 30), date(2025, 5, 5)), (date(2025, 2, 10), date(2025, 2, 10))]


def test_an_instant_is_dated_where_the_share_is_listed() -> None:
    evening = int(datetime(2025, 8, 18, 22, 30, tzinfo=UTC).timestamp())
    raw = f'{{"earnings":[{evening}],"ex_dividend":[]}}'.encode()
    (there,) = PARSER.parse(raw, SYDNEY, CALENDAR, FETCHED).coming
    (here,) = PARSER.parse(raw, ACME, CALENDAR, FETCHED).coming
    assert (there.day, here.day) == (date(2025, 8, 19), date(2025, 8, 18))


@pytest.mark.parametrize("events", [{}, {"earnings": {"earningsDate": []}}, {"earnings": {}}], ids=["nothing", "no dates", "empty"])
def test_nothing_stated_is_a_document_without_dates(desk: YahooDesk, events: dict[str, Any]) -> None:
    assert events_of(desk, **events) == ()


def test_what_is_past_is_not_coming_and_what_is_today_is(desk: YahooDesk) -> None:
    later = datetime(2025, 5, 6, 2, tzinfo=UTC)
    assert events_of(desk, at=later, **RANGE) == (ComingEvent("earnings", date(2025, 4, 30), date(2025, 5, 5), later),)
    assert events_of(desk, at=datetime(2025, 5, 6, 12, tzinfo=UTC), **RANGE) == ()


@pytest.mark.parametrize(
    "events", [{"earnings": {"earningsDate": ["soon"]}}, {"earnings": {"earningsDate": [{"raw": 1}]}}, {"exDividendDate": "soon"}, {"earnings": []}]
)
def test_dates_of_another_shape_are_no_document(desk: YahooDesk, events: dict[str, Any]) -> None:
    with pytest.raises(VendorFault) as caught:
        events_of(desk, **events)
    assert caught.value.kind == "schema"


def test_an_index_has_no_dates_to_ask_for(desk: YahooDesk) -> None:
    index = Instrument(id="XNYS:^GSPC", symbol="^GSPC", name="S&P 500", mic="XNYS", currency="USD", kind="index")
    assert "reports no earnings" in (desk.events.not_asked(index) or "")
    assert desk.events.not_asked(ACME) is None


@pytest.mark.parametrize(
    "raw", [b"", b"[]", b"{}", b'{"earnings":["x"],"ex_dividend":[]}', b'{"earnings":[9e99],"ex_dividend":[]}', b'{"earnings":1,"ex_dividend":[]}']
)
def test_a_document_that_is_none_is_refused(raw: bytes) -> None:
    with pytest.raises(SourceFault, match="cannot be read"):
        PARSER.parse(raw, ACME, CALENDAR, FETCHED)
