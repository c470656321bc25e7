"""Gathering: one gate, a failed source is an item, and nothing depends on who finishes first."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from functools import partial
from typing import Any

import pytest

from alphaagent.domain.evidence import EvidenceItem, EvidencePack, Status
from alphaagent.domain.market import Article, ComingEvent, Fact, Records, RowFault
from alphaagent.errors import NoEvidence
from alphaagent.evidence import gather as gather_module
from alphaagent.evidence.fundamentals_tool import fundamental_items
from alphaagent.evidence.gather import Tool, gather, recorded, supply
from alphaagent.evidence.gathered import Gathered, Supplied
from alphaagent.evidence.items import lost_item
from alphaagent.evidence.price_tool import market_items, price_items
from alphaagent.ports import Supply
from tests.fakes import ACME, FakeSource, bar, closes, opens, weekday_calendar
from tests.pack_builder import item
from tests.unit.evidence.measure_builders import NO_INDEX

CALENDAR = weekday_calendar()
SESSION = date(2020, 3, 16)
AS_OF = closes(SESSION) + timedelta(seconds=1)
DAYS = [day for day in CALENDAR.sessions if day <= SESSION]
BARS = Records(bars=tuple(bar(day, "100") for day in DAYS))


def article(known_at: Any, guid: str = "g") -> Article:
    return Article(guid, "Acme sells an anvil", "", "", "Wire", "press", None, known_at, known_at)


def fact(day: date) -> Fact:
    return Fact("Assets", "USD", None, date(2019, 12, 31), 5, day, "10-K", "0-1", opens(day))  # type: ignore[arg-type]


NEWS = Records(articles=(article(opens(SESSION)),))
FILINGS = Records(facts=(fact(date(2020, 2, 3)),))
SOUND = {"fundamentals": Supplied("fake-fundamentals", Status.OK, FILINGS), "news": Supplied("fake-news", Status.OK, NEWS)}
WHY = "fetched nine days ago"


def sources(**changes: FakeSource) -> dict[Supply, FakeSource]:
    plain = {"prices": FakeSource("prices", BARS), "fundamentals": FakeSource("fundamentals", FILINGS), "news": FakeSource("news", NEWS)}
    return plain | changes  # type: ignore[return-value]


def count_news(g: Gathered) -> tuple[EvidenceItem, ...]:
    if g.news.status is not Status.OK:
        return (lost_item(g, "get_news_sentiment", "news", g.news, "no news"),)
    return (item("get_news_sentiment", "news", {"stories": [one.guid for one in g.news.records.articles]}),)


TOOLS: Mapping[Any, Tool] = {
    "get_price_history": partial(price_items, index=NO_INDEX),
    "get_news_sentiment": count_news,
    "get_financial_health": fundamental_items,
    "get_market_price": market_items,
}


def nothing_else(_: Gathered) -> Sequence[EvidenceItem]:
    return ()


def gathered(given: dict[Supply, FakeSource], instrument: Any = ACME, extra: Any = nothing_else, tools: Any = TOOLS) -> EvidencePack:
    return gather({name: recorded(source) for name, source in given.items()}, tools, CALENDAR, instrument, "ACME", AS_OF, SESSION, extra)


def statuses(pack: EvidencePack) -> dict[str, set[str]]:
    return {tool: {one.status.value for one in pack.find(tool)} for tool in TOOLS}


def test_a_pack_is_sealed_and_in_the_order_of_the_tools() -> None:
    pack = gathered(sources())

    assert pack.sha256 == pack.digest()
    assert list(dict.fromkeys(one.tool for one in pack.items)) == list(TOOLS)
    assert (pack.ticker, pack.instrument_id, pack.session) == ("ACME", "XNAS:ACME", "2020-03-16")


@pytest.mark.parametrize("fault", ["fetch_fault", "parse_fault"])
def test_a_source_that_fails_is_an_item_that_says_so_and_the_run_goes_on(fault: str) -> None:
    pack = gathered(
        sources(news=FakeSource("news", NEWS, **{fault: "the feed is no XML"}), fundamentals=FakeSource("fundamentals", FILINGS, **{fault: "gone"}))
    )

    assert statuses(pack)["get_news_sentiment"] == statuses(pack)["get_financial_health"] == {"failed"}
    assert pack.find("get_news_sentiment")[0].summary == "news lost: the feed is no XML"
    assert pack.find("get_price_history", "history")[0].status is Status.OK


@pytest.mark.parametrize("nothing", [None, Records(), Records(articles=(article(AS_OF),))])
def test_a_source_without_anything_is_an_empty_item(nothing: Records | None) -> None:
    assert statuses(gathered(sources(news=FakeSource("news", nothing))))["get_news_sentiment"] == {"empty"}


def test_a_fund_has_no_statements_and_is_not_asked_for_them() -> None:
    given = sources()
    pack = gathered(given, ACME.model_copy(update={"kind": "etf"}))

    assert statuses(pack)["get_financial_health"] == {"not_applicable"}
    assert given["fundamentals"].done == []


@pytest.mark.parametrize(
    ("source", "message", "fix"),
    [
        (FakeSource("prices", BARS, fetch_fault="the disk is gone"), "the disk is gone", "data status"),
        (FakeSource("prices", None), "fake-prices has no prices of ACME", "choose a later --as-of"),
        (FakeSource("prices", Records(bars=(bar(date(2020, 3, 17), "1"),))), "fake-prices has no prices of ACME before this instant", "choose a later --as-of"),
        (FakeSource("prices", replace(BARS, faults=(RowFault("row 7", "no close", SESSION),))), "row 7: no close", "data status"),
    ],
)
def test_without_usable_prices_there_is_no_evidence(source: FakeSource, message: str, fix: str) -> None:
    with pytest.raises(NoEvidence, match=message) as caught:
        gathered(sources(prices=source))

    assert fix in str(caught.value.fix)


DOUBTFUL = [Status.STALE, Status.CONFLICT]


def doubtful(status: Status, records: Records, monkeypatch: pytest.MonkeyPatch) -> EvidencePack:
    """A pack whose prices are not sound and say why."""
    monkeypatch.setattr(gather_module, "supply", lambda source, *_: {**SOUND, "prices": Supplied("fake-prices", status, records, WHY)}[source.supplies])
    return gathered(sources())


@pytest.mark.parametrize("status", DOUBTFUL)
def test_stale_and_conflicting_prices_make_a_pack_that_says_so_in_every_item(status: Status, monkeypatch: pytest.MonkeyPatch) -> None:
    pack = doubtful(status, BARS, monkeypatch)
    priced = [one for one in (*pack.find("get_price_history"), *pack.find("get_market_price")) if one.kind != "index"]

    assert ({one.status for one in priced}, all(WHY in one.summary for one in priced)) == ({status}, True)
    assert [one.kind for one in priced][-1] == "quote"
    assert statuses(pack)["get_news_sentiment"] == {"ok"}


@pytest.mark.parametrize("status", [*DOUBTFUL, Status.FAILED, Status.EMPTY])
def test_without_a_bar_no_status_makes_a_pack(status: Status, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NoEvidence, match=WHY):
        doubtful(status, Records(), monkeypatch)


@pytest.mark.parametrize("status", [Status.FAILED, Status.EMPTY])
def test_prices_that_failed_make_no_pack_whatever_came_with_them(status: Status, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NoEvidence, match=WHY):
        doubtful(status, BARS, monkeypatch)


def test_dates_ahead_are_a_supply_like_the_others_where_there_is_one() -> None:
    seen: list[Gathered] = []
    date_ahead = ComingEvent("earnings", date(2020, 4, 30), date(2020, 4, 30), opens(SESSION))
    late = replace(date_ahead, known_at=AS_OF)

    def looking(g: Gathered) -> Sequence[EvidenceItem]:
        seen.append(g)
        return ()

    gathered(sources(), extra=looking)
    gathered(sources(events=FakeSource("events", Records(coming=(date_ahead, late)))), extra=looking)
    gathered(sources(events=FakeSource("events", fetch_fault="it timed out")), extra=looking)

    assert (seen[0].events, seen[0].second) == (None, None)
    assert seen[1].events == Supplied("fake-events", Status.OK, Records(coming=(date_ahead,)))
    assert seen[2].events == Supplied("fake-events", Status.FAILED, note="it timed out")


def test_faults_in_admitted_rows_fail_the_whole_supply() -> None:
    faults = (RowFault("row 3", "no title", SESSION), RowFault("row 9", "no date", None))
    found = supply(FakeSource("news", replace(NEWS, faults=faults)), CALENDAR, ACME, AS_OF, SESSION)

    assert (found.status, found.note, found.records) == (Status.FAILED, "row 3: no title (and 1 more rows)", Records())


def test_a_fault_of_a_later_session_is_not_known_yet() -> None:
    faults = (RowFault("row 3", "no title", date(2020, 3, 17)),)

    assert supply(FakeSource("news", replace(NEWS, faults=faults)), CALENDAR, ACME, AS_OF, SESSION).status is Status.OK


def test_evidence_known_at_as_of_itself_is_not_in_the_pack() -> None:
    known = Records(articles=(article(AS_OF - timedelta(microseconds=1), "before"), article(AS_OF, "at"), article(AS_OF + timedelta(1), "after")))
    pack = gathered(sources(news=FakeSource("news", known)))

    assert pack.find("get_news_sentiment")[0].payload["stories"] == ["before"]
    assert all(one.known_at < AS_OF for one in pack.items)


@pytest.mark.parametrize("late", [timedelta(0), timedelta(seconds=1)])
def test_a_tool_that_passes_late_evidence_is_stopped(late: timedelta) -> None:
    def leaking(_: Gathered) -> Sequence[EvidenceItem]:
        return (item("get_portfolio", "portfolio", {}).model_copy(update={"known_at": AS_OF + late}),)

    with pytest.raises(AssertionError, match="evidence known at or after as_of reached the pack"):
        gathered(sources(), extra=leaking)


def test_the_result_does_not_depend_on_which_source_finishes_first() -> None:
    slow_prices, slow_news = sources(prices=FakeSource("prices", BARS, seconds=0.2)), sources(news=FakeSource("news", NEWS, seconds=0.2))

    assert gathered(slow_prices).sha256 == gathered(slow_news).sha256 == gathered(dict(reversed(sources().items()))).sha256


def test_sources_are_asked_at_the_same_time() -> None:
    finished: list[str] = []
    given = sources(prices=FakeSource("prices", BARS, seconds=0.2, done=finished), news=FakeSource("news", NEWS, done=finished))
    gathered(given)

    assert finished == ["news", "prices"]


def test_what_is_not_fetched_comes_last() -> None:
    extra = item("get_portfolio", "portfolio", {"cash": "1.0"})

    assert gathered(sources(), extra=lambda _: (extra,)).items[-1] == extra
