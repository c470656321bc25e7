"""Stooq's closes: bars as they stand, and every way in which it refuses at status 200."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest

from alphaagent.domain.market import Instrument
from alphaagent.errors import SourceFault, VendorFault
from alphaagent.evidence.live.gate import Gate
from alphaagent.evidence.live.limits import VendorLimits
from alphaagent.evidence.live.vendor import Fetched, Seen, Vendor
from alphaagent.evidence.live.vendors.stooq import MOST_SESSIONS, StooqPrices, stooq_symbol
from alphaagent.evidence.live.wire import Wire
from tests.fakes import bar, closes, weekday_calendar
from tests.vendors.server import MOODS, VendorServer, serving
from tests.vendors.stooq import KEY_PAGE, LIMIT, PATH, play_stooq, table

AT = datetime(2020, 6, 16, 23, tzinfo=UTC)
CALENDAR = weekday_calendar()
ROWS = ("2020-06-12,100,102,99.5,101.25,12000.75", "2020-06-15,101.3,103,101,102.5,9000000", "2020-06-16,102,104,100,103.125,11000")
TABLES = {"aapl.us": table(*ROWS)}


def instrument(symbol: str = "AAPL", mic: str = "XNAS", kind: str = "common", **more: object) -> Instrument:
    return Instrument.model_validate({"id": f"{mic}:{symbol}", "symbol": symbol, "name": symbol, "mic": mic, "currency": "USD", "kind": kind, **more})


@pytest.fixture(scope="module")
def running() -> Iterator[VendorServer]:
    with serving(play_stooq(TABLES)) as server:
        yield server


@pytest.fixture
def server(running: VendorServer) -> Iterator[VendorServer]:
    yield running
    running.well()
    running.asked.clear()
    TABLES.clear()
    TABLES["aapl.us"] = table(*ROWS)


@pytest.fixture
def stooq(server: VendorServer) -> Iterator[StooqPrices]:
    wire = wire_of()
    yield StooqPrices(wire, address=server.address)
    wire.close()


def wire_of(seconds: str = "10") -> Wire:
    settings = VendorLimits.model_validate({"requests_per_second": 50, "seconds": seconds, "megabytes": 2, "attempts": 1})
    return Wire(Gate("stooq", settings, lambda _: None), "test/1.0", hosts=("127.0.0.1",))


def fault_of(stooq: StooqPrices) -> VendorFault:
    with pytest.raises(VendorFault) as caught:
        stooq.fetch(instrument(), None)
    return caught.value


def test_it_is_a_vendor_of_prices(stooq: StooqPrices) -> None:
    vendor: Vendor = stooq
    assert (vendor.name, vendor.topic) == ("stooq", "prices")


def test_a_table_comes_as_it_stands_and_becomes_bars_known_at_their_close(stooq: StooqPrices, server: VendorServer) -> None:
    came = stooq.fetch(instrument(), None)
    assert came == Fetched(TABLES["aapl.us"])
    assert server.asked[0].query == {"s": "aapl.us", "i": "d"}
    found = stooq.parse(TABLES["aapl.us"], instrument(), CALENDAR, AT)
    assert [(one.session, one.close, one.volume, one.known_at) for one in found.bars] == [
        (date(2020, 6, 12), Decimal("101.25"), 12000, closes(date(2020, 6, 12))),
        (date(2020, 6, 15), Decimal("102.5"), 9000000, closes(date(2020, 6, 15))),
        (date(2020, 6, 16), Decimal("103.125"), 11000, closes(date(2020, 6, 16))),
    ]
    assert (found.faults, found.actions) == ((), ())


def test_only_the_newest_sessions_of_the_calendar_are_read(stooq: StooqPrices) -> None:
    days = [date(2019, 1, 1) + timedelta(days=n) for n in range(730)]
    rows = [f"{day},1,1,1,1,5" for day in days if day.weekday() < 5]
    long = weekday_calendar(date(2019, 1, 1), date(2020, 12, 31))
    assert len(stooq.parse(table(*rows), instrument(), long, AT).bars) == MOST_SESSIONS
    found = stooq.parse(table("1984-09-07,0.1,0.1,0.1,0.1,5", *ROWS), instrument(), CALENDAR, AT)
    assert (len(found.bars), found.faults) == (3, ())


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("2020-06-13,1,1,1,1,5", "no session"),
        ("2020-06-16,1,1,1,N/A,5", "close 'N/A'"),
        ("2020-06-16,1,0.5,1,1,5", "high"),
        ("2020-06-16,1,1,1,1", "columns"),
        ("2020-06-16,1,1,1,1,-5", "volume"),
        ("2020-06-16,1,1,1,1e5,5", "close"),
    ],
)
def test_a_bad_row_is_a_fault_and_the_others_stand(stooq: StooqPrices, row: str, says: str) -> None:
    found = stooq.parse(table(ROWS[0], row), instrument(), CALENDAR, AT)
    assert [one.close for one in found.bars] == [bar(date(2020, 6, 12), "101.25").close]
    assert [says in fault.message for fault in found.faults] == [True]


@pytest.mark.parametrize("raw", [b"", b"\xff", b"<html>", b"Date,Close\r\n"])
def test_what_is_no_table_is_a_fault(stooq: StooqPrices, raw: bytes) -> None:
    with pytest.raises(SourceFault, match="stooq"):
        stooq.parse(raw, instrument(), CALENDAR, AT)


KINDS = {
    **dict.fromkeys(("429", "429 later", "429 much later"), "rate_limited"),
    **dict.fromkeys(("401", "403"), "refused"),
    **dict.fromkeys(("500", "503"), "unavailable"),
    **dict.fromkeys(("html", "truncated", "charset", "empty", "undeclared gzip"), "malformed"),
    **dict.fromkeys(("slow", "drip"), "timeout"),
    **dict.fromkeys(("loop", "away"), "redirected"),
    **dict.fromkeys(("bomb", "large"), "too_large"),
    "drift": "schema",
    "hang up": "unreachable",
}


def test_every_mood_has_a_kind() -> None:
    assert set(KINDS) == set(MOODS)


@pytest.mark.parametrize("mood", MOODS)
def test_every_mood_is_a_fault_of_its_own_kind(server: VendorServer, mood: str) -> None:
    wire = wire_of("0.6" if mood in ("slow", "drip") else "10")
    server.mood(mood)
    assert fault_of(StooqPrices(wire, address=server.address)).kind == KINDS[mood]
    wire.close()


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (LIMIT, "rate_limited"),
        (LIMIT + b"!\n", "rate_limited"),
        (KEY_PAGE, "refused"),
        (b"<html><body>Get your apikey</body></html>", "refused"),
        (b"<html><body>Maintenance</body></html>", "malformed"),
        (b"Date,Open,High,Low,Close\r\n2020-06-16,1,1,1,1\r\n", "schema"),
        (b"Write to www@stooq.com if you want to use our data", "schema"),
    ],
)
def test_a_refusal_in_words_is_told_by_its_words(stooq: StooqPrices, server: VendorServer, body: bytes, kind: str) -> None:
    TABLES["aapl.us"] = body
    fault = fault_of(stooq)
    assert fault.kind == kind
    assert (fault.fix is not None) == (kind in ("rate_limited", "refused"))


@pytest.mark.parametrize("body", [b"No data", b"No data\r\n", table()])
def test_no_data_is_an_absence(stooq: StooqPrices, server: VendorServer, body: bytes) -> None:
    TABLES["aapl.us"] = body
    assert stooq.fetch(instrument(), Seen(b"", AT, {})) is None


def test_a_key_goes_with_the_request_and_into_no_message(server: VendorServer) -> None:
    wire = Wire(Gate("stooq", VendorLimits(attempts=1), lambda _: None), "test/1.0")
    with_key = StooqPrices(wire, key="s3cret&x", address=server.address)
    assert with_key.fetch(instrument(), None) is not None
    assert server.asked[0].query["apikey"] == "s3cret&x"
    server.mood("403")
    assert "s3cret" not in str(fault_of(with_key))
    wire.close()


@pytest.mark.parametrize(
    ("symbol", "mic", "called"),
    [
        ("AAPL", "XNAS", "aapl.us"),
        ("BRK.B", "XNYS", "brk-b.us"),
        ("SPY", "ARCX", "spy.us"),
        ("AZN.L", "XLON", "azn.uk"),
        ("AZN", "XLON", "azn.uk"),
        ("SAP.DE", "XETR", "sap.de"),
        ("7203.T", "XTKS", "7203.jp"),
        ("0700.HK", "XHKG", "700.hk"),
    ],
)
def test_each_market_has_its_ending(symbol: str, mic: str, called: str) -> None:
    assert stooq_symbol(instrument(symbol, mic)) == called


def test_its_own_name_for_an_instrument_goes_before_all_rules(stooq: StooqPrices) -> None:
    odd = instrument("ODD", "XSWX", vendor_symbols=(("stooq", "odd.ch"),))
    assert (stooq.not_asked(odd), stooq_symbol(odd)) == (None, "odd.ch")


@pytest.mark.parametrize(("one", "says"), [(instrument("X.PA", "XPAR"), "XPAR"), (instrument("^GSPC", "XNYS", "index"), "an index")])
def test_what_it_is_not_asked_about_has_a_reason(stooq: StooqPrices, server: VendorServer, one: Instrument, says: str) -> None:
    assert says in (stooq.not_asked(one) or "")
    assert stooq.fetch(one, None) is None
    assert not server.asked


def test_the_path_is_stooqs(stooq: StooqPrices, server: VendorServer) -> None:
    stooq.fetch(instrument(), None)
    assert server.asked[0].path == PATH
