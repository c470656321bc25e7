"""config/feeds.yaml: what is shipped works, and a slip in it is told by file, feed and key."""

from pathlib import Path
from typing import Any

import pytest

from alphaagent.domain.market import Instrument
from alphaagent.errors import ConfigFault
from alphaagent.evidence.live.feeds_config import MOST_FEEDS, Feed, parse_feeds
from alphaagent.yaml_files import read_yaml

SHIPPED = Path(__file__).parents[3] / "config" / "feeds.yaml"
BRK = Instrument(id="XNYS:BRK.B", symbol="BRK.B", name="Berkshire Hathaway Inc.", aliases=("BRKB",), mic="XNYS", currency="USD", kind="common")
FIELDS = {"ticker": "BRK.B", "symbol": "BRK-B", "cik": None, "name": "Berkshire Hathaway"}


def fault_of(document: dict[str, Any]) -> ConfigFault:
    with pytest.raises(ConfigFault) as caught:
        parse_feeds(document, "feeds.yaml")
    return caught.value


def feed(address: str = "https://a.example/x", **keys: Any) -> Feed:
    (parsed,) = parse_feeds({"acme": {"address": address, **keys}}, "feeds.yaml")
    return parsed


def test_the_shipped_feeds_are_yahoo_google_and_edgar_and_all_of_them_https() -> None:
    feeds = parse_feeds(read_yaml(SHIPPED), "feeds.yaml")
    assert [(one.name, one.host, one.kind, one.enabled) for one in feeds] == [
        ("yahoo", "feeds.finance.yahoo.com", "press", True),
        ("google", "news.google.com", "press", True),
        ("edgar-8k", "www.sec.gov", "filing", True),
        ("edgar-6k", "www.sec.gov", "filing", False),
    ]
    assert all(one.address.startswith("https://") for one in feeds)


def test_fields_are_quoted_into_the_address() -> None:
    shipped = parse_feeds(read_yaml(SHIPPED), "feeds.yaml")
    assert shipped[0].filled(FIELDS) == "https://feeds.finance.yahoo.com/rss/2.0/headline?s=BRK-B&region=US&lang=en-US"
    assert (shipped[1].filled(FIELDS) or "").startswith("https://news.google.com/rss/search?q=%22Berkshire%20Hathaway%22%20stock")
    assert feed("https://a.example/{name}?q={ticker}").filled({"name": "A/B & C?#", "ticker": "é"}) == "https://a.example/A%2FB%20%26%20C%3F%23?q=%C3%A9"


def test_a_feed_whose_field_the_instrument_lacks_is_left_out_for_it() -> None:
    assert feed("https://a.example/?c={cik}").filled(FIELDS) is None
    assert feed("https://a.example/?c={cik}").filled({"cik": "0000000001"}) == "https://a.example/?c=0000000001"


def test_a_feed_is_asked_for_its_tickers_alone_by_any_name_of_theirs() -> None:
    assert feed().is_for(BRK)
    assert feed(tickers=["AAPL", "brk/b"]).is_for(BRK)
    assert feed(tickers=["BRKB"]).is_for(BRK)
    assert not feed(tickers=["AAPL"]).is_for(BRK)
    assert not feed(enabled=False).is_for(BRK)


@pytest.mark.parametrize("address", ["http://127.0.0.1:8080/{ticker}", "http://localhost/x", "https://a.example", "https://a.example:444/x"])
def test_an_address_that_can_be_used_is_taken(address: str) -> None:
    assert feed(address).address == address


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("http://a.example/x", "https://host/path"),
        ("ftp://a.example/x", "https://host/path"),
        ("file:///etc/passwd", "https://host/path"),
        ("a.example/x", "https://host/path"),
        ("https:///x", "https://host/path"),
        ("https://{ticker}.example/x", "letter by letter"),
        ("https://a.example{ticker}/x", "letter by letter"),
        ("{name}://a.example/x", "https://host/path"),
        ("https://me:secret@a.example/x", "letter by letter"),
        ("https://a.example/{price}", "there is no field {price}"),
        ("https://a.example/{ticker.__class__}", "there is no field {ticker.__class__}"),
        ("https://a.example/{ticker", "without blanks"),
        ("https://a.example/ticker}", "without blanks"),
        ("https://a.example/a b", "without blanks"),
        ("https://a.example/\u00e9", "without blanks"),
        ("https://a.example:99999/x", "port"),
        ("https://[a.example/x", "invalid ipv6"),
        ("", "without blanks"),
    ],
)
def test_an_address_that_cannot_be_used_is_named(address: str, says: str) -> None:
    fault = fault_of({"acme": {"address": address}})
    assert fault.message.startswith("feeds.yaml: acme.address is ")
    assert says in fault.message.lower() or says in fault.message


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ({"acme": {"address": "https://a.example", "adress": "x"}}, "feeds.yaml: unknown key acme.adress"),
        ({"acme": {"address": "https://a.example", "name": "x"}}, "feeds.yaml: unknown key acme.name"),
        ({"acme": {"kind": "press"}}, "feeds.yaml: acme.address is missing"),
        ({"acme": None}, "feeds.yaml: acme must hold keys and values"),
        ({"acme": "https://a.example"}, "feeds.yaml: acme must hold keys and values"),
        ({"acme": {"address": "https://a.example", "kind": "blog"}}, "feeds.yaml: acme.kind is 'blog'"),
        ({"acme": {"address": "https://a.example", "enabled": "maybe"}}, "feeds.yaml: acme.enabled is 'maybe'"),
        ({"acme": {"address": "https://a.example", "tickers": "AAPL"}}, "feeds.yaml: acme.tickers is 'AAPL'"),
        ({"acme": {"address": "https://a.example", "tickers": [True]}}, "feeds.yaml: acme.tickers.0 is 'True'"),
        ({"acme": {"address": "https://a.example", "tickers": ["A B"]}}, "feeds.yaml: acme.tickers is "),
        ({"Acme News": {"address": "https://a.example"}}, "feeds.yaml: 'Acme News' cannot name a feed"),
        ({f"f{n}": {"address": "https://a.example"} for n in range(MOST_FEEDS + 1)}, f"more than {MOST_FEEDS}"),
    ],
)
def test_a_slip_is_told_by_feed_and_key(document: dict[str, Any], says: str) -> None:
    fault = fault_of(document)
    assert says in fault.message
    assert fault.fix


def test_no_feeds_at_all_is_no_fault() -> None:
    assert parse_feeds({}, "feeds.yaml") == ()
