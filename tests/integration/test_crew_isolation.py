"""What each model is shown, read off the wire: neither side anything of the other's before the verdict, the CIO everything."""

import json
import re
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from alphaagent.debate import orchestrate
from alphaagent.domain.evidence import SIDES
from tests.crew_home import AS_OF, Misbehaving, bounds, load_crewai, models, transcript, well
from tests.crew_script import USAGE, bear_opening, bull_opening, claim, crew, marker_of, opening, prompt_of, shown, shown_id, side_of, told, verdict
from tests.home import Home
from tests.scripted_provider import CallTools, Request, Text

CANARY = {"bull": "canary-of-the-bull-7141", "bear": "canary-of-the-bear-2718"}
HOLDS_BOTH = [CANARY["bull"], CANARY["bear"]]
OTHER = {"bull": "bear", "bear": "bull"}


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    load_crewai()


def with_canaries(side: str, request: Request) -> str:
    ids = [shown(request)[0]["id"]] if shown(request) else []
    return opening(side, [claim(f"A claim with {CANARY[side]}.", ids, kind="inference")], strongest_counter=f"A counter with {CANARY[side]}.")


def text_of(request: Request) -> str:
    """The whole request as it came, headers included."""
    return json.dumps(dict(request.headers)) + request.path + request.raw.decode()


def asked_of(requests: tuple[Request, ...], side: str) -> list[Request]:
    found = [request for request in requests if side_of(request) == side]
    assert found
    return found


def chatty(request: Request) -> Any:
    """Every side calls a tool first and has its first answer sent back, so that there are several requests of each."""
    side = side_of(request)
    said = [message["role"] for message in request.body["messages"]]
    if side == "cio":
        return Text(well("cio")(request), usage=USAGE)
    if "tool" not in said and "Previous attempt" not in prompt_of(request):
        return CallTools([("get_price_history", "{}")], usage=USAGE)
    if "validation" not in prompt_of(request):
        return Text(f"{CANARY[side]} in prose, which is no answer", usage=USAGE)
    return Text(with_canaries(side, request), usage=USAGE)


@pytest.mark.parametrize("evidence", ["upfront", "on_request"])
def test_nothing_of_one_side_is_in_any_request_of_the_other_before_the_verdict(home: Home, monkeypatch: pytest.MonkeyPatch, evidence: str) -> None:
    bounds(home, evidence=evidence)
    with models(monkeypatch, chatty) as provider:
        assert home.decide("AAPL", AS_OF)["provenance"] == "crew"
    for side, other in OTHER.items():
        mine, theirs = asked_of(provider.requests, side), asked_of(provider.requests, other)
        assert len(mine) >= 3
        marker = marker_of(mine[0])
        assert all(marker in text_of(request) for request in mine)
        assert [word for request in theirs for word in (marker, CANARY[side]) if word in text_of(request)] == []
    (verdict,) = asked_of(provider.requests, "cio")
    assert [word for word in HOLDS_BOTH if word in prompt_of(verdict)] == HOLDS_BOTH
    assert re.search("ref-[0-9a-f]{16}", text_of(verdict)) is None
    assert verdict.number == len(provider.requests)


def test_a_side_is_shown_the_items_of_its_own_tools_and_no_other(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    with models(monkeypatch) as provider:
        document = home.decide("AAPL", AS_OF)
    of = {item["id"]: item for item in document["evidence"]["items"]}
    for side in ("bull", "bear", "cio"):
        (request,) = asked_of(provider.requests, side)
        visible = {id for id, item in of.items() if side in item["side"] or side == "cio"}
        assert {item["id"] for item in shown(request)} == visible
        hidden = [id for id in of if id not in visible]
        assert [id for id in hidden if id in text_of(request)] == []
        assert {tool["function"]["name"] for tool in request.body["tools"]} == {tool for tool, sides in SIDES.items() if side in sides} - {"get_portfolio"}
    assert {item["tool"] for item in shown(asked_of(provider.requests, "bull")[0])} == {"get_price_history", "get_news_sentiment"}
    assert "get_financial_health" in {item["tool"] for item in shown(asked_of(provider.requests, "bear")[0])}


def test_accounts_never_reach_the_bull_whatever_it_calls(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = (CallTools([("get_financial_health", "{}")], usage=USAGE), CallTools([("get_market_price", "{}")], usage=USAGE), well("bull"))
    with models(monkeypatch, Misbehaving("bull", steps)) as provider:
        document = home.decide("AAPL", AS_OF)
    assert document["provenance"] == "crew"
    accounts = [item["id"] for item in document["evidence"]["items"] if item["tool"] == "get_financial_health"]
    assert accounts
    assert [id for request in asked_of(provider.requests, "bull") for id in accounts if id in text_of(request)] == []
    assert [(tool["tool"], tool["status"]) for tool in transcript(home)["tools"]] == [("get_financial_health", "blocked"), ("get_market_price", "blocked")]


def test_the_verdict_is_asked_with_both_cases_the_quote_and_the_portfolio(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.decide("NVDA", "2020-01-31", "--engine", "heuristic")
    home.settle("2020-02-03")
    with models(monkeypatch, crew(lambda request: with_canaries("bull", request), bear_opening)) as provider:
        home.decide("AAPL", AS_OF)
    (request,) = asked_of(provider.requests, "cio")
    claims = told(request)["claims"]
    assert [claim["by"] for claim in claims] == ["bull", "bear"]
    assert claims[0]["text"] == f"A claim with {CANARY['bull']}."
    by_tool = {item["tool"]: item for item in shown(request)}
    assert by_tool["get_market_price"]["values"]["price"]
    portfolio = next(item["values"] for item in shown(request) if item["kind"] == "portfolio")
    held = home.portfolio(AS_OF)
    assert Decimal(portfolio["cash"]) == Decimal(held["cash"])
    assert {"cash", "equity", "budget", "risk_profile"} <= set(portfolio)
    assert any("quantity" in key or "position" in key for key in portfolio)


def test_a_prompt_that_leaks_is_not_sent(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutation of the program: the bear's prompt is made with the bull's private word in it."""
    honest = orchestrate.opening_prompt

    def leaking(pack: Any, setup: Any, phase: Any, side: Any) -> Any:
        prompt = honest(pack, setup, phase, side)
        return replace(prompt, text=f"{prompt.text} {setup.markers['bull']}") if side == "bear" else prompt

    monkeypatch.setattr(orchestrate, "opening_prompt", leaking)
    with models(monkeypatch) as provider:
        document = home.decide("AAPL", AS_OF)
    assert document["fallback_reason"] == "isolation: the bear was about to be shown the other side's private input; nothing was sent"
    assert [side_of(request) for request in provider.requests] == ["bull"]


@pytest.mark.parametrize("where", ["in its answer", "in a tool call"])
def test_a_model_that_writes_the_other_side_s_private_word_ends_the_debate(home: Home, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    monkeypatch.setattr("alphaagent.bootstrap.new_markers", lambda: {"bull": "ref-" + "b" * 16, "bear": "ref-" + "e" * 16})
    stolen = "ref-" + "b" * 16

    def bear(request: Request) -> Any:
        if where == "in a tool call":
            return CallTools([("get_price_history", json.dumps({"reference": stolen}))], usage=USAGE)
        return bear_opening(request).replace("The operating margin", f"{stolen}: the operating margin")

    with models(monkeypatch, crew(bull_opening, bear)) as provider:
        document = home.decide("AAPL", AS_OF)
    assert document["fallback_reason"] == "isolation: the bear wrote what only the other side was told"
    assert sorted(side_of(request) for request in provider.requests) == ["bear", "bull"]
    assert home.run("replay", "last").code == 0


def test_each_decision_and_each_side_has_a_private_word_of_its_own(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    with models(monkeypatch) as provider:
        for ticker in ("AAPL", "NVDA"):
            home.decide(ticker, AS_OF)
    markers = [marker_of(request) for side in ("bull", "bear") for request in asked_of(provider.requests, side)]
    assert len(set(markers)) == 4


def test_what_a_side_may_not_see_cannot_be_cited_by_it(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """An id of the accounts, known to the bull by whatever way, is sent back and then taken out."""
    with models(monkeypatch) as provider:
        home.decide("AAPL", AS_OF, "--slot", "first")
    foreign = shown_id(asked_of(provider.requests, "bear")[0], "test.margin")
    citing = opening("bull", [claim("Margins are fine.", [foreign])], no_case=None)
    with models(monkeypatch, crew(lambda _: citing, bear_opening, lambda request: verdict(request, relied_on=["c_bear_1"]))) as provider:
        document = home.decide("AAPL", AS_OF, "--slot", "second")
    assert len(asked_of(provider.requests, "bull")) == 2
    assert "you have not been shown" in prompt_of(asked_of(provider.requests, "bull")[1])
    assert document["bull_case"]["lines"] == []
