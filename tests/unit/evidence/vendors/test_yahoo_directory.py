"""What a ticker is, by Yahoo: how it is spelled there, where it is listed, and what is refused by what it is."""

import json
from collections.abc import Iterator
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from exchange_calendars import get_calendar_names

from alphaagent.clock import exchange_of
from alphaagent.domain.market import Instrument
from alphaagent.errors import SourceFault, UsageFault
from alphaagent.evidence.live.vendors.yahoo import YahooDirectory, yahoo_symbol
from alphaagent.evidence.live.vendors.yahoo_markets import INDEX_MARKETS, MARKETS, symbol_of_ticker
from tests.vendors.yahoo import Listing
from tests.vendors.yahoo_desk import YahooDesk, yahoo_desk

PARSER = YahooDirectory(None)  # type: ignore[arg-type]  # parsing asks nothing


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[YahooDesk]:
    with yahoo_desk(tmp_path) as made:
        yield made


def instrument(symbol: str, mic: str, **more: object) -> Instrument:
    return Instrument.model_validate({"id": f"{mic}:{symbol}", "symbol": symbol, "name": symbol, "mic": mic, "currency": "USD", "kind": "common"} | more)


def said(symbol: str = "ACME", kind: str = "EQUITY", exchange: str = "NMS", name: str = "Acme", currency: str = "USD", **profile: str) -> Instrument:
    meta = {"instrumentType": kind, "exchangeName": exchange, "longName": name, "currency": currency, "fullExchangeName": f"Place {exchange}"}
    return PARSER.parse(json.dumps({"symbol": symbol, "meta": meta, "profile": profile}).encode(), symbol)


@pytest.mark.parametrize(
    ("symbol", "mic", "expected"),
    [
        *(("AAPL", "XNAS", "AAPL"), ("BRK.B", "XNYS", "BRK-B"), ("BF.B", "XNYS", "BF-B"), ("BRK/B", "XNYS", "BRK-B"), ("BRK-B", "XNYS", "BRK-B")),
        *(("AZN.L", "XLON", "AZN.L"), ("AZN", "XLON", "AZN.L"), ("BT.A", "XLON", "BT-A.L"), ("SMSN.IL", "XLON", "SMSN.IL"), ("VOLV.B.ST", "XSTO", "VOLV-B.ST")),
        *(
            ("0700.HK", "XHKG", "0700.HK"),
            ("700", "XHKG", "0700.HK"),
            ("7203", "XTKS", "7203.T"),
            ("035720.KQ", "XKRX", "035720.KQ"),
            ("SAP", "XETR", "SAP.DE"),
        ),
        *(("ACME.L", "XNAS", "ACME-L"), ("SHOP.TO", "ZZZZ", "SHOP.TO"), ("^GSPC", "XNYS", "^GSPC")),
    ],
)
def test_an_instrument_is_spelled_as_yahoo_spells_it(symbol: str, mic: str, expected: str) -> None:
    assert yahoo_symbol(instrument(symbol, mic)) == expected


def test_what_the_instrument_says_it_is_called_at_yahoo_wins() -> None:
    assert yahoo_symbol(instrument("ACME", "XNAS", vendor_symbols=(("edgar", "X"), ("yahoo", "ACM-E.F")))) == "ACM-E.F"


@pytest.mark.parametrize(
    ("ticker", "symbol"),
    [
        ("brk.b", "BRK-B"),
        ("BRK/B", "BRK-B"),
        ("azn.l", "AZN.L"),
        ("0700.hk", "0700.HK"),
        ("VOLV-B.ST", "VOLV-B.ST"),
        ("GC=F", "GC=F"),
        ("BTC-USD", "BTC-USD"),
        ("TRUE", "TRUE"),
    ],
)
def test_a_ticker_is_spelled_as_yahoo_spells_it(ticker: str, symbol: str) -> None:
    assert symbol_of_ticker(ticker) == symbol


@pytest.mark.parametrize("ticker", ["", " ", "A B", "A\nB", "../../etc", "A?x=1", "http://x", "A%2F", "A" * 21, "A..B", "ÄÖ", "ß", "A&B", "US0378331005"])
def test_what_may_not_stand_in_an_address_is_refused(desk: YahooDesk, ticker: str) -> None:
    with pytest.raises(UsageFault):
        desk.directory.fetch(ticker, None)
    with pytest.raises(UsageFault):
        desk.prices.fetch(instrument("ACME", "XNAS", vendor_symbols=(("yahoo", ticker),)), None)
    assert not desk.server.asked


def test_every_market_is_one_whose_sessions_and_time_zone_are_known() -> None:
    known = set(get_calendar_names())
    for code, market in MARKETS.items():
        assert exchange_of(market.mic) in known, code
        assert ZoneInfo(market.zone)
    assert set(INDEX_MARKETS.values()) <= set(MARKETS)


def test_a_share_is_found_with_its_exchange_its_currency_and_its_sector(desk: YahooDesk) -> None:
    came = desk.directory.fetch("aapl", None)
    assert came is not None
    assert came.notes == ()
    assert desk.directory.parse(came.raw or b"", "aapl") == Instrument(
        id="XNAS:AAPL", symbol="AAPL", name="Apple Inc.", mic="XNAS", currency="USD", kind="common", sector="Technology"
    )


def test_a_fund_has_no_profile_to_ask_for(desk: YahooDesk) -> None:
    desk.player.listings["AAPL"] = Listing("Acme Trust", kind="ETF", exchange="PCX")
    came = desk.directory.fetch("AAPL", None)
    assert came is not None
    assert not any("quoteSummary" in path for path in desk.server.seen)
    assert desk.directory.parse(came.raw or b"", "AAPL").id == "ARCX:AAPL"


def test_a_profile_that_does_not_come_is_noted_and_the_share_is_still_what_it_is(desk: YahooDesk) -> None:
    desk.server.mood("503", on="quoteSummary")
    came = desk.directory.fetch("AAPL", None)
    assert came is not None
    assert came.notes == ("the profile of AAPL did not come: yahoo is out of order (HTTP 503)",)
    assert desk.directory.parse(came.raw or b"", "AAPL").sector is None


def test_an_unknown_ticker_is_an_absence(desk: YahooDesk) -> None:
    assert desk.directory.fetch("XXXX", None) is None


@pytest.mark.parametrize(
    ("exchange", "mic"), [("NGM", "XNAS"), ("NYQ", "XNYS"), ("ASE", "XASE"), ("PCX", "ARCX"), ("BTS", "BATS"), ("TOR", "XTSE"), ("EBS", "XSWX")]
)
def test_exchanges_become_market_identifier_codes(exchange: str, mic: str) -> None:
    assert said(exchange=exchange).mic == mic


def test_minor_units_stay_as_yahoo_writes_them() -> None:
    assert said("AZN.L", exchange="LSE", currency="GBp").currency == "GBp"
    with pytest.raises(UsageFault, match="no currency"):
        said(currency="gold")


@pytest.mark.parametrize("symbol", ["BRK-B", "AZN.L", "VOLV-B.ST", "035720.KQ", "BT-A.L"])
def test_an_instrument_made_of_an_answer_is_asked_under_the_same_symbol(symbol: str) -> None:
    codes = {"L": "LSE", "ST": "STO", "KQ": "KOE"}
    found = said(symbol, exchange=codes.get(symbol.rpartition(".")[2], "NYQ"))
    assert yahoo_symbol(found) == symbol
    assert found.vendor_symbols == ()


def test_a_symbol_that_does_not_follow_from_the_market_is_kept() -> None:
    found = said("ACME.XC", exchange="LSE")
    assert found.vendor_symbols == (("yahoo", "ACME.XC"),)
    assert yahoo_symbol(found) == "ACME.XC"


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        ("FUTURE", "a future"),
        ("CURRENCY", "a currency pair"),
        ("CRYPTOCURRENCY", "a cryptocurrency"),
        ("MUTUALFUND", "a mutual fund"),
        ("OPTION", "an option"),
        ("ECNQUOTE", "calls 'ECNQUOTE'"),
    ],
)
def test_what_is_no_share_and_no_fund_is_refused_by_what_it_is(kind: str, what: str) -> None:
    with pytest.raises(UsageFault, match=what) as caught:
        said("GC=F", kind=kind)
    assert "only shares and funds" in caught.value.message


def test_what_is_traded_over_the_counter_or_where_nobody_knows_the_sessions_is_refused() -> None:
    with pytest.raises(UsageFault, match="over the counter"):
        said(exchange="PNK")
    with pytest.raises(UsageFault, match="'Place NSI', whose sessions are not known"):
        said(exchange="NSI")


def test_an_index_is_listed_where_its_sessions_are_kept() -> None:
    found = said("^GSPC", kind="INDEX", exchange="SNP", name="S&P 500")
    assert (found.kind, found.mic, found.symbol) == ("index", "XNYS", "^GSPC")
    with pytest.raises(UsageFault):
        said(exchange="SNP")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("SPDR S&P 500 ETF Trust", "etf"),
        ("Direxion Daily AAPL Bull 2X Shares", "leveraged_etf"),
        ("ProShares UltraPro QQQ", "leveraged_etf"),
        ("ProShares Ultra S&P500", "leveraged_etf"),
        ("GraniteShares 1.5x Long NVDA Daily ETF", "leveraged_etf"),
        ("Direxion Daily AAPL Bear 1X Shares", "inverse_etf"),
        ("ProShares UltraShort 20+ Year Treasury", "inverse_etf"),
        ("ProShares UltraPro Short QQQ", "inverse_etf"),
        ("ProShares Short 20+ Year Treasury", "inverse_etf"),
        ("MicroSectors Gold Miners -3X Inverse Leveraged ETN", "inverse_etf"),
        ("Vanguard Short-Term Corporate Bond Index Fund ETF Shares", "etf"),
        ("iShares Short Treasury Bond ETF", "etf"),
        ("JPMorgan Ultra-Short Income ETF", "etf"),
        ("Invesco Ultra Short Duration ETF", "etf"),
        ("iShares Ultra Short Duration Bond Active ETF", "etf"),
        ("Xtrackers Short Duration High Yield Bond ETF", "etf"),
        ("Forbear 12X1 Trust", "etf"),
    ],
)
def test_a_funds_kind_is_told_by_the_words_of_its_name(name: str, kind: str) -> None:
    assert said(kind="ETF", name=name).kind == kind


@pytest.mark.parametrize(
    ("industry", "sector"),
    [("Banks - Diversified", "Banks"), ("Insurance - Life", "Insurance"), ("Asset Management", "Financial Services"), ("", "Financial Services")],
)
def test_banks_and_insurers_are_told_by_their_industry(industry: str, sector: str) -> None:
    assert said(sector="Financial Services", industry=industry).sector == sector


def test_a_name_is_plain_text() -> None:
    assert said(name="Acme <b>Inc</b>\u202e&amp; Co" + "x" * 500).name.startswith("Acme Inc & Co")
    assert len(said(name="x" * 500).name) == 120
    assert said(name="").name == "ACME"


@pytest.mark.parametrize("raw", [b"", b"[]", b"{}", b'{"symbol":"A","meta":[],"profile":{}}', b'{"symbol":1,"meta":{},"profile":{}}', b"\xff"])
def test_a_document_that_is_none_is_refused(raw: bytes) -> None:
    with pytest.raises(SourceFault, match="cannot be read"):
        PARSER.parse(raw, "ACME")
