"""Live data over the whole path: vendors played on this machine, an archive, decisions, and what a vendor cannot do to them."""

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from tests.home import Home
from tests.live_home import NIGHT, TestClock, live_home
from tests.snapshot_folder import recorded_calendar
from tests.vendors.edgar import Edgar
from tests.vendors.feeds import FeedPlayer
from tests.vendors.server import VendorServer, serving
from tests.vendors.yahoo import YahooPlayer

CALENDAR = recorded_calendar()
BEFORE_SPLIT = datetime(2021, 7, 19, 21, 0, tzinfo=UTC)
"""The evening before NVIDIA's split of four for one."""


@pytest.fixture
def yahoo() -> YahooPlayer:
    return YahooPlayer(NIGHT)


@pytest.fixture
def server(yahoo: YahooPlayer) -> Iterator[VendorServer]:
    with serving(yahoo, Edgar(upto=NIGHT.date()), FeedPlayer(NIGHT)) as running:
        yield running


@pytest.fixture
def live(home: Home, server: VendorServer, monkeypatch: pytest.MonkeyPatch) -> Home:
    return live_home(home, server, monkeypatch)


def decide(live: Home, ticker: str = "AAPL", *more: str) -> dict[str, Any]:
    return live.ok("decide", ticker, "--engine", "heuristic", "--json", *more).document


def statuses(document: dict[str, Any]) -> dict[str, str]:
    """The worst standing of each tool's items."""
    worst: dict[str, str] = {}
    for one in document["evidence"]["items"]:
        if one["status"] != "not_applicable" and worst.get(one["tool"], "ok") == "ok":
            worst[one["tool"]] = one["status"]
    return worst


def later(at: datetime, yahoo: YahooPlayer) -> None:
    TestClock.at = yahoo.now = at


def rows(live: Home, *command: str) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row["ticker"], row["topic"]): row for row in map(json.loads, live.run("data", *command, "--json").out.splitlines())}


def test_a_decision_stands_on_everything_that_the_vendors_told_and_replays(live: Home) -> None:
    document = decide(live)
    sources = {one["source"] for one in document["evidence"]["items"] if one["tool"] != "get_portfolio"}
    assert sources == {"yahoo", "edgar", "feeds"}
    assert statuses(document)["get_financial_health"] == "ok"
    assert live.ok("replay", "last").code == 0


def test_the_bars_are_as_traded_and_the_measures_those_of_the_recorded_data(live: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = decide(live, "NVDA")
    monkeypatch.setenv("ALPHAAGENT_DATA", "snapshot")
    recorded = decide(live, "NVDA", "--as-of", "2020-03-16", "--dry-run")
    for kind in ("momentum", "trend", "drawdown", "volatility"):
        (one,), (other,) = (
            [item for item in both["evidence"]["items"] if (item["tool"], item.get("kind")) == ("get_price_history", kind)] for both in (mine, recorded)
        )
        assert one["summary"] == other["summary"]


def test_what_still_holds_is_not_asked_for_again(live: Home, server: VendorServer) -> None:
    decide(live)
    before = sum(server.seen.values())
    decide(live, "AAPL", "--slot", "again")
    assert sum(server.seen.values()) == before


def test_a_decision_of_now_is_dated_after_everything_that_was_fetched_for_it(live: Home) -> None:
    document = decide(live)
    assert document["as_of"] > max(one["known_at"] for one in document["evidence"]["items"])
    assert document["as_of"].startswith("2020-03-16T21:00")


def test_a_later_run_at_an_earlier_instant_sees_what_was_known_then(live: Home, yahoo: YahooPlayer) -> None:
    first = decide(live, "AAPL", "--dry-run")
    at = first["as_of"]
    yahoo.change = doubled
    later(NIGHT + timedelta(days=7), yahoo)
    live.ok("data", "fetch", "AAPL")
    again = decide(live, "AAPL", "--as-of", at, "--dry-run")
    assert again["evidence"]["pack_sha256"] == first["evidence"]["pack_sha256"]


def doubled(result: dict[str, Any]) -> None:
    """The whole history at twice its price, with no split that would explain it."""
    (quote,) = result["indicators"]["quote"]
    for name in ("open", "high", "low", "close"):
        quote[name] = [price and price * 2 for price in quote.get(name, [])]


def test_a_history_that_is_rewritten_overnight_places_no_order_and_can_be_accepted(live: Home, yahoo: YahooPlayer) -> None:
    live.ok("data", "fetch", "AAPL")
    yahoo.change = doubled
    later(NIGHT + timedelta(days=1), yahoo)
    document = decide(live)
    assert document["order"] is None
    assert statuses(document)["get_price_history"] == "conflict"
    assert "now gives other closes" in rows(live, "status", "AAPL")["AAPL", "prices"]["note"]
    assert live.run("data", "accept", "NVDA", "--reason", "x").code == 2
    live.ok("data", "accept", "AAPL", "--reason", "checked against the exchange")
    assert statuses(decide(live, "AAPL", "--slot", "after"))["get_price_history"] == "ok"
    assert live.run("data", "accept", "AAPL", "--reason", "twice").code == 2


def test_old_decisions_replay_whatever_a_vendor_does_to_its_history(live: Home, yahoo: YahooPlayer) -> None:
    decide(live)
    yahoo.change = doubled
    later(NIGHT + timedelta(days=1), yahoo)
    live.ok("data", "fetch", "AAPL", "--force")
    assert live.ok("replay", "last").code == 0


def test_a_split_that_the_vendor_lists_is_no_conflict_and_no_fall(
    home: Home, server: VendorServer, yahoo: YahooPlayer, monkeypatch: pytest.MonkeyPatch
) -> None:
    yahoo.now = BEFORE_SPLIT
    live = live_home(home, server, monkeypatch, BEFORE_SPLIT)
    live.ok("data", "fetch", "NVDA")
    later(BEFORE_SPLIT + timedelta(days=1), yahoo)
    document = decide(live, "NVDA")
    assert statuses(document)["get_price_history"] == "ok"
    (history,) = [one for one in document["evidence"]["items"] if one.get("kind") == "history"]
    assert "close 186.12" in history["summary"]
    assert "-7" not in history["summary"].split("over 5")[0].split(";")[1]


def test_an_order_fills_at_the_next_open_once_the_session_is_over(live: Home, yahoo: YahooPlayer) -> None:
    live.ok("decide", "NVDA", "--engine", "heuristic", "--json")
    pending = live.portfolio()["pending"]
    later(CALENDAR.opens(date(2020, 3, 17)) + timedelta(hours=1), yahoo)
    assert live.ok("settle", "--json").documents == []
    later(CALENDAR.closes(date(2020, 3, 17)) + timedelta(hours=1), yahoo)
    settled = live.ok("settle", "--json").documents
    assert len(settled) == len(pending)


def test_recorded_data_decide_as_the_live_ones_did(live: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = decide(live, "NVDA", "--dry-run")
    live.ok("data", "record", "NVDA", "AAPL", "--to", str(live.folder / "data" / "snapshot"))
    assert live.run("data", "record", "NVDA", "--to", str(live.folder / "data" / "snapshot")).code == 2
    monkeypatch.setenv("ALPHAAGENT_DATA", "snapshot")
    assert live.ok("data", "status").code == 0
    recorded = decide(live, "NVDA", "--as-of", "2020-03-16", "--dry-run")
    for name in ("action", "sentiment"):
        assert recorded["proposal"][name] == mine["proposal"][name]
    assert recorded["reading"]["score"] == mine["reading"]["score"]


def test_a_difference_between_two_looks_is_told(live: Home, yahoo: YahooPlayer) -> None:
    live.ok("data", "fetch", "AAPL")
    assert live.run("data", "diff", "AAPL").code == 3
    later(NIGHT + timedelta(days=1), yahoo)
    live.ok("data", "fetch", "AAPL")
    assert "bar       2020-03-17: nothing -> 252.86" in live.ok("data", "diff", "AAPL").out
    since = "2020-03-16T22:00:00Z"
    found = [json.loads(line) for line in live.ok("data", "diff", "AAPL", "--since", since, "--json").out.splitlines()]
    assert {one["before"][:13] for one in found} == {"2020-03-16T21"}
    assert live.run("data", "diff", "AAPL", "--since", since, "--until", since).code == 3


EXPECTED = {"429": "rate_limited", "403": "refused", "503": "unavailable", "html": "malformed", "drift": "schema", "slow": "timeout", "bomb": "too_large"}
"""Some of the moods; every one of them is tried on each vendor by itself."""


@pytest.mark.parametrize("mood", EXPECTED)
def test_a_mood_of_the_price_vendor_ends_in_exit_3_with_its_own_words(home: Home, server: VendorServer, monkeypatch: pytest.MonkeyPatch, mood: str) -> None:
    live = live_home(home, server, monkeypatch, seconds=1, attempts=1)
    server.mood(mood, on="/v8/finance/chart/AAPL")
    ran = live.run("decide", "AAPL", "--engine", "heuristic", "--json")
    assert ran.code == 3, ran.out
    assert "yahoo" in ran.err
    assert "Traceback" not in ran.err
    state = rows(live, "status", "AAPL")["AAPL", "prices"]["state"]
    assert state == EXPECTED[mood]


@pytest.mark.parametrize("mood", ["429", "html", "slow"])
@pytest.mark.parametrize(("path", "tool", "topic"), [("/api/xbrl", "get_financial_health", "fundamentals"), ("rss", "get_news_sentiment", "news")])
def test_a_mood_of_another_vendor_leaves_a_hole_that_the_decision_shows(
    home: Home, server: VendorServer, monkeypatch: pytest.MonkeyPatch, mood: str, path: str, tool: str, topic: str
) -> None:
    live = live_home(home, server, monkeypatch, seconds=1, attempts=1)
    server.mood(mood, on=path)
    if topic == "news":
        server.mood(mood, on="browse-edgar")
    document = decide(live)
    assert statuses(document)[tool] == "failed"
    assert rows(live, "status", "AAPL")["AAPL", topic]["state"] == EXPECTED[mood]


def test_a_vendor_that_fails_after_it_has_told_something_leaves_stale_prices_and_no_new_position(live: Home, server: VendorServer, yahoo: YahooPlayer) -> None:
    live.ok("data", "fetch", "NVDA")
    later(NIGHT + timedelta(days=1), yahoo)
    server.mood("503", on="/v8/finance/chart")
    document = decide(live, "NVDA")
    assert document["order"] is None
    assert statuses(document)["get_price_history"] == "stale"


def test_a_ticker_that_nobody_knows_is_exit_3_and_one_that_is_not_supported_says_why(live: Home) -> None:
    unknown = live.run("decide", "NOSUCH")
    assert (unknown.code, "unknown" in unknown.err) == (3, True)
    for ticker, what in (("GC=F", "a future"), ("EURUSD=X", "a currency pair"), ("BTC-USD", "a pair of a cryptocurrency")):
        ran = live.run("decide", ticker)
        assert ran.code in (2, 3)
        assert what in ran.err


def test_without_a_contact_the_sec_is_not_asked_and_the_case_shows_the_hole(home: Home, server: VendorServer, monkeypatch: pytest.MonkeyPatch) -> None:
    live = live_home(home, server, monkeypatch)
    home.own_config("alphaagent.yaml", lambda text: text)
    document = decide(live)
    assert statuses(document)["get_financial_health"] == "failed"
    assert not [asked for asked in server.asked if "xbrl" in asked.path]
    assert "set data.contact" in live.run("doctor").out.replace("\n", " ").replace("  ", " ")


def test_own_bars_as_the_second_source_make_a_dispute_visible(live: Home) -> None:
    folder = live.folder / "mine"
    folder.mkdir()
    bars = [bar for bar in CALENDAR.sessions if date(2020, 1, 2) <= bar <= date(2020, 3, 16)]
    (folder / "AAPL.csv").write_text("date,open,high,low,close,volume\n" + "".join(f"{day},200,200,200,200,1000\n" for day in bars), encoding="utf-8")
    live.own_config("alphaagent.yaml", lambda text: text.replace("own_prices: null", "own_prices: mine").replace("second_source: null", "second_source: own"))
    document = decide(live)
    (second,) = [one for one in document["evidence"]["items"] if one.get("kind") == "second_source"]
    assert second["status"] == "conflict"


def test_the_doctor_tells_who_answers_and_how_old_it_is(live: Home, server: VendorServer) -> None:
    ran = live.ok("doctor", "--json")
    told = {one["check"]: one for one in map(json.loads, ran.out.splitlines())}
    assert told["vendors"]["state"] in ("ok", "note")
    assert "answer about AAPL" in told["vendors"]["detail"]
    assert "answers hold" in told["live data"]["detail"]
    server.mood("503")
    TestClock.at += timedelta(days=1)
    broken = live.run("doctor", "--json")
    assert broken.code == 3
    assert "yahoo (prices of AAPL) unavailable" in broken.out
