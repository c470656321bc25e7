"""Dates ahead, a second source and doubtful prices from the supply to the decision, the guard and the replay."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from alphaagent.domain.evidence import Status
from alphaagent.domain.market import ComingEvent, Instrument, Records
from alphaagent.evidence import gather as gather_module
from alphaagent.evidence.gather import supply
from alphaagent.evidence.gathered import Gathered, SecondOpinion, Supplied
from alphaagent.evidence.registry import SOURCES
from alphaagent.ports import Calendar, EvidenceSource
from tests.crew_home import AS_OF, models
from tests.crew_script import claim, crew, opening, shown, shown_id, verdict
from tests.fakes import FakeSource
from tests.home import Home, read_rows, write_rows
from tests.scripted_wire import Request

AFTER = "2020-02-06"
KNOWN = datetime(2020, 2, 3, 12, tzinfo=UTC)
CLOSE = Decimal("321.45")
"""Of AAPL on 2020-02-05, as traded."""

Stated = Callable[..., None]


@pytest.fixture
def stated(monkeypatch: pytest.MonkeyPatch) -> Stated:
    """The dates ahead that this home is supplied with: earnings on a day, none, or a fault."""

    def put(day: date | None = None, fault: str | None = None) -> None:
        coming = (ComingEvent("earnings", day, day, KNOWN),) if day else ()
        source = FakeSource("events", Records(coming=coming), fetch_fault=fault)
        monkeypatch.setitem(SOURCES, "events", lambda _: source)  # type: ignore[arg-type]

    return put


def blackout(home: Home, sessions: int = 3) -> None:
    home.own_config("mandate.yaml", lambda text: text.replace("      sessions: 0 ", f"      sessions: {sessions} ", 1))


def rule(document: dict[str, Any], id: str) -> dict[str, Any]:
    (line,) = [one for one in document["rules"] if one["id"] == id]
    return dict(line)


def item(document: dict[str, Any], kind: str) -> dict[str, Any]:
    (found,) = [one for one in document["evidence"]["items"] if one["kind"] == kind]
    return dict(found)


def budget(document: dict[str, Any]) -> Decimal:
    return Decimal(item(document, "portfolio")["payload"]["budget"])


def test_the_recorded_snapshot_supplies_none_of_it(home: Home) -> None:
    document = home.decide("AAPL", AS_OF, "--dry-run")

    assert not {"earnings_date", "ex_dividend", "last_price", "second_source"} & {one["kind"] for one in document["evidence"]["items"]}
    assert {rule(document["guard"], id)["verdict"] for id in ("E8", "E11")} == {"not_configured"}
    assert (rule(document["guard"], "E12")["verdict"], "doubt" in item(document, "quote")["payload"]) == ("pass", False)


@pytest.mark.parametrize(("day", "ahead", "opens"), [(date(2020, 2, 7), 2, False), (date(2020, 2, 10), 3, False), (date(2020, 2, 11), 4, True)])
def test_a_blackout_before_earnings_ends_where_the_mandate_says(home: Home, stated: Stated, day: date, ahead: int, opens: bool) -> None:
    stated(day)
    blackout(home)
    document = home.decide("AAPL", AS_OF)

    assert (document["proposal"]["action"], item(document, "earnings_date")["payload"]["sessions"]) == ("BUY", ahead)
    assert document["guard"]["codes"] == (["APPROVED"] if opens else ["EARNINGS_BLACKOUT"])
    assert (budget(document) > 0) is opens
    assert home.ok("replay", "last", "--json").document["agrees"] is True


def test_what_was_allowed_the_evening_before_settles_inside_the_span(home: Home, stated: Stated) -> None:
    stated(date(2020, 2, 11))
    blackout(home)
    home.decide("AAPL", AS_OF)
    (settled,) = home.settle(AFTER)

    assert settled["order"]["status"] == "filled"
    assert rule(settled["guard"], "E11")["verdict"] == "not_applicable"


@pytest.mark.parametrize(
    ("arrange", "words"),
    [
        (lambda stated: None, "nothing here supplies dates ahead"),
        (lambda stated: stated(), "no date is stated"),
        (lambda stated: stated(fault="the vendor timed out"), "the vendor timed out"),
    ],
)
def test_a_date_that_is_not_known_is_no_permission(home: Home, stated: Stated, arrange: Callable[[Stated], None], words: str) -> None:
    arrange(stated)
    blackout(home)
    document = home.decide("AAPL", AS_OF)

    assert (document["guard"]["codes"], budget(document)) == (["EARNINGS_UNKNOWN"], 0)
    assert words in rule(document["guard"], "E11")["reason"]


def test_what_is_held_may_be_sold_in_a_blackout(home: Home, stated: Stated, monkeypatch: pytest.MonkeyPatch) -> None:
    home.decide("AAPL", AS_OF)
    home.settle(AFTER)
    stated(fault="the vendor timed out")
    blackout(home)
    with models(monkeypatch, crew(cio=lambda request: verdict(request, "SELL", 500, p_up=0.4))):
        document = home.decide("AAPL", "2020-02-10")

    assert (document["provenance"], document["guard"]["codes"], document["order"]["side"]) == ("crew", ["APPROVED"], "SELL")


def test_a_lost_supply_of_dates_is_a_hole_and_changes_no_score(home: Home, stated: Stated) -> None:
    plain = home.decide("AAPL", AS_OF, "--dry-run")
    stated(fault="the vendor timed out")
    document = home.decide("AAPL", AS_OF, "--dry-run")

    hole = "get_news_sentiment: earnings_date lost: the vendor timed out"
    assert (hole in document["bull_case"]["holes"], hole in document["bear_case"]["holes"]) == (True, True)
    assert document["reading"] == plain["reading"]
    assert document["proposal"] | {"relied_on": []} == plain["proposal"] | {"relied_on": []}
    assert document["guard"]["codes"] == plain["guard"]["codes"] == ["APPROVED"]


def test_a_debater_may_cite_when_earnings_are_due(home: Home, stated: Stated, monkeypatch: pytest.MonkeyPatch) -> None:
    stated(date(2020, 2, 11))

    def bear(request: Request) -> str:
        return opening("bear", [claim("Earnings come within a week.", [shown_id(request, "earnings_date")], direction="down")])

    with models(monkeypatch, crew(bear=bear)):
        document = home.decide("AAPL", AS_OF)

    assert document["provenance"] == "crew"
    assert document["bear_case"]["lines"][0]["evidence_ids"] == [item(document, "earnings_date")["id"]]


# --- a second source ------------------------------------------------------------------------------------------------------------------------


def second(monkeypatch: pytest.MonkeyPatch, close: str | None, status: Status = Status.OK, note: str | None = None) -> None:
    """A second source that has closed AAPL so, or has not."""
    value = None if close is None else Decimal(close)
    opinion = SecondOpinion("stooq", date(2020, 2, 5), value, Decimal("0.01"), status, note)
    monkeypatch.setattr(gather_module, "Gathered", lambda **found: Gathered(**found | {"second": opinion}))


def test_two_sources_that_agree_let_an_order_pass(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    second(monkeypatch, "321.40")
    document = home.decide("AAPL", AS_OF)

    assert (item(document, "quote")["payload"]["price"], item(document, "second_source")["status"]) == (str(CLOSE), "ok")
    assert document["guard"]["codes"] == ["APPROVED"]
    assert (rule(document["guard"], "E8")["verdict"], rule(document["guard"], "E8")["value"], rule(document["guard"], "E8")["limit"]) == (
        "pass",
        "321.45",
        "321.4",
    )
    assert rule(home.settle(AFTER)[0]["guard"], "E8")["verdict"] == "not_configured"


def test_two_sources_that_differ_dispute_the_price_with_both_values(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    second(monkeypatch, "80.36")
    document = home.decide("AAPL", AS_OF)

    assert (document["guard"]["codes"], budget(document), item(document, "second_source")["status"]) == (["PRICE_DISPUTED"], 0, "conflict")
    assert (rule(document["guard"], "E8")["value"], rule(document["guard"], "E8")["limit"]) == ("321.45", "80.36")
    assert home.ok("replay", "last", "--json").document["agrees"] is True


def test_a_second_source_that_failed_stops_what_opens(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    second(monkeypatch, None, Status.FAILED, "stooq timed out")
    document = home.decide("AAPL", AS_OF)

    assert (document["guard"]["codes"], budget(document)) == (["DATA_MISSING:second_price"], 0)
    assert rule(document["guard"], "E8")["reason"] == "the second source of prices gave none: stooq timed out"


# --- prices that are not sound --------------------------------------------------------------------------------------------------------------

WHY = "the vendor has rewritten 2019-12-31"
DOUBTFUL = [Status.STALE, Status.CONFLICT]


def doubtful(monkeypatch: pytest.MonkeyPatch, status: Status) -> None:
    """Prices with every bar that there is, which stand so."""

    def supplied(source: EvidenceSource, calendar: Calendar, instrument: Instrument, as_of: datetime, session: date) -> Supplied:
        found = supply(source, calendar, instrument, as_of, session)
        return replace(found, status=status, note=WHY) if source.supplies == "prices" else found

    monkeypatch.setattr(gather_module, "supply", supplied)


@pytest.mark.parametrize("status", DOUBTFUL)
def test_the_heuristic_engine_opens_nothing_on_doubtful_prices(home: Home, monkeypatch: pytest.MonkeyPatch, status: Status) -> None:
    assert home.decide("AAPL", AS_OF, "--dry-run")["proposal"]["action"] == "BUY"
    doubtful(monkeypatch, status)
    document = home.decide("AAPL", AS_OF)

    assert (document["proposal"]["action"], document["guard"]["codes"], document["order"]) == ("HOLD", ["NO_ORDER"], None)
    assert WHY in document["proposal"]["reasoning"]
    assert any(WHY in hole for hole in document["bull_case"]["holes"])
    assert (item(document, "valuation")["status"], item(document, "quote")["status"]) == (status, status)
    assert home.ok("replay", "last", "--json").document["agrees"] is True


@pytest.mark.parametrize("status", DOUBTFUL)
def test_the_heuristic_engine_leaves_the_book_as_it_is_on_doubtful_prices(home: Home, monkeypatch: pytest.MonkeyPatch, status: Status) -> None:
    """A holding far above its target is trimmed by rule on sound prices, and left alone where no size can be reckoned."""
    (home.folder / "held.csv").write_text("ticker,quantity,cost,date,cash\nAAPL,200,40000,2019-01-02,\n,,,,50000\n", encoding="utf-8")
    home.ok("portfolio", "import", "held.csv", "--as-of", "2020-02-04")
    assert home.decide("AAPL", AS_OF, "--dry-run")["proposal"]["action"] == "SELL"
    doubtful(monkeypatch, status)
    document = home.decide("AAPL", AS_OF)

    assert (document["proposal"]["action"], document["guard"]["codes"], document["order"]) == ("HOLD", ["NO_ORDER"], None)


@pytest.mark.parametrize("status", DOUBTFUL)
@pytest.mark.parametrize("action", ["BUY", "SELL"])
def test_a_crew_is_told_in_every_line_and_may_only_reduce(home: Home, monkeypatch: pytest.MonkeyPatch, status: Status, action: str) -> None:
    home.decide("AAPL", AS_OF)
    home.settle(AFTER)
    doubtful(monkeypatch, status)
    told: list[dict[str, Any]] = []

    def cio(request: Request) -> str:
        told.extend(shown(request))
        return verdict(request, action, 500, p_up=0.68 if action == "BUY" else 0.4)

    with models(monkeypatch, crew(cio=cio)):
        document = home.decide("AAPL", "2020-02-10")

    lines = {line["kind"]: line for line in told}
    assert {lines[kind]["status"] for kind in ("history", "momentum", "quote", "valuation")} == {status}
    assert all(WHY in lines[kind]["says"] for kind in ("history", "momentum", "quote", "valuation"))
    assert (document["provenance"], document["proposal"]["action"], budget(document)) == ("crew", action, 0)
    if action == "BUY":
        assert (document["guard"]["codes"], document["order"]) == (["PRICES_IN_DOUBT"], None)
        assert rule(document["guard"], "E12")["reason"] == f"the prices are in doubt: {WHY}"
    else:
        assert (document["guard"]["codes"], document["order"]["side"]) == (["APPROVED"], action)
    assert home.ok("replay", "last", "--json").document["agrees"] is True


def test_what_was_decided_on_sound_prices_settles_whatever_the_vendor_says_since(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.decide("AAPL", AS_OF)
    doubtful(monkeypatch, Status.CONFLICT)
    (settled,) = home.settle(AFTER)

    assert (settled["order"]["status"], rule(settled["guard"], "E12")["verdict"]) == ("filled", "not_applicable")


def without_the_last_bar(home: Home) -> None:
    path = home.own_snapshot() / "bars" / "AAPL.csv"
    write_rows(path, [row for row in read_rows(path) if row["date"] != "2020-02-10"])


@pytest.mark.parametrize("action", ["BUY", "SELL"])
def test_a_bar_that_is_not_of_the_last_session_trades_neither_side(home: Home, monkeypatch: pytest.MonkeyPatch, action: str) -> None:
    home.decide("AAPL", AS_OF)
    home.settle(AFTER)
    without_the_last_bar(home)
    assert home.decide("AAPL", "2020-02-10", "--engine", "heuristic", "--dry-run")["proposal"]["action"] == "HOLD"
    with models(monkeypatch, crew(cio=lambda request: verdict(request, action, 500, p_up=0.68 if action == "BUY" else 0.4))):
        document = home.decide("AAPL", "2020-02-10", "--slot", "crew")

    assert (document["provenance"], "QUOTE_STALE" in document["guard"]["codes"], document["order"]) == ("crew", True, None)
    assert "PRICES_IN_DOUBT" not in document["guard"]["codes"]


def test_an_older_answer_without_the_last_session_is_told_as_both(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    without_the_last_bar(home)
    doubtful(monkeypatch, Status.STALE)
    with models(monkeypatch, crew(cio=lambda request: verdict(request, "BUY", 500, p_up=0.68))):
        document = home.decide("AAPL", "2020-02-10")

    assert document["provenance"] == "crew"
    assert {"QUOTE_STALE", "PRICES_IN_DOUBT"} <= set(document["guard"]["codes"])
