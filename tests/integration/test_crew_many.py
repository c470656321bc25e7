"""Several debates in one run and several runs on one database: at once, under one ceiling, and each failing for itself alone."""

from typing import Any

import pytest

from tests.crew_home import AS_OF, KEY, SCRIPTED, bounds, load_crewai, models, well
from tests.crew_script import USAGE, crew, prompt_of, side_of
from tests.home import Home, finish, start
from tests.scripted_provider import Request, ScriptedProvider, Status, Text

TICKERS = ("AAPL", "NVDA", "MSFT", "GOOG")
PRICE = "as_of: 2026-11-30\nmodels:\n  openai-compatible/scripted-model: {prompt: 1, completion: 1}\n"
MOST = "0.12"
"""What a debate of three turns with 40000 tokens each can cost at that price."""


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    load_crewai()


def slow(request: Request) -> Text:
    return Text(well(side_of(request))(request), usage=USAGE, latency=1.0)


def about(request: Request, ticker: str) -> bool:
    return f"{ticker}, decided at" in prompt_of(request)


def decided(home: Home, *tickers: str) -> list[dict[str, Any]]:
    return home.run("decide", *tickers, "--as-of", AS_OF, "--json").documents


@pytest.mark.parametrize(("concurrency", "least", "most"), [(1, 2, 2), (2, 3, 4), (4, 5, 8)])
def test_debates_run_at_once_as_many_as_configured(home: Home, monkeypatch: pytest.MonkeyPatch, concurrency: int, least: int, most: int) -> None:
    bounds(home, concurrency=concurrency)
    with models(monkeypatch, slow) as provider:
        documents = decided(home, *TICKERS)
    assert [document["provenance"] for document in documents] == ["crew"] * 4
    assert least <= provider.in_flight_most <= most
    assert len(provider.requests) == 12


def test_one_failing_debate_costs_one_ticker_and_its_holding_is_kept(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def script(request: Request) -> Any:
        return Status(401) if about(request, "NVDA") else crew()(request)

    home.ok("decide", "NVDA", "--as-of", "2020-01-31", "--engine", "heuristic")
    home.settle("2020-02-03")
    held = [row for row in home.portfolio()["positions"] if row["ticker"] == "NVDA"]
    assert held
    with models(monkeypatch, script, ALLOW_HEURISTIC_FALLBACK="false"):
        alone = home.run("decide", "AAPL", "MSFT", "--as-of", AS_OF, "--json", "--dry-run").documents
        ran = home.run("decide", "AAPL", "NVDA", "MSFT", "--as-of", AS_OF, "--json")
    aapl, nvda, msft = ran.documents
    assert ran.code == 4
    assert (nvda["error"]["code"], nvda["order"]) == ("ProviderFault", None)
    assert nvda["error"]["message"].startswith("http: ")
    assert [one["guard"]["quantity_out"] for one in (aapl, msft)] == [one["guard"]["quantity_out"] for one in alone]
    home.settle("2020-02-06")
    assert [row["quantity"] for row in home.portfolio()["positions"] if row["ticker"] == "NVDA"] == [row["quantity"] for row in held]


def test_each_ticker_is_told_as_soon_as_it_is_known(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    with models(monkeypatch, lambda request: Status(404) if about(request, "MSFT") else crew()(request), ALLOW_HEURISTIC_FALLBACK="false"):
        ran = home.run("decide", "AAPL", "MSFT", "--as-of", AS_OF, "--json")
    lines = [line for line in ran.err.splitlines() if line.startswith(("1/2", "2/2"))]
    assert sorted(line[4:].partition(":")[0] for line in lines) == ["AAPL", "MSFT"]
    assert any("MSFT: failed: http: " in line for line in lines)
    assert KEY not in ran.out + ran.err


def priced(home: Home, monkeypatch: pytest.MonkeyPatch, prices: str = PRICE) -> None:
    """An endpoint on this machine that costs something all the same."""
    monkeypatch.setattr("alphaagent.llm.prices.is_loopback", lambda _: False)
    home.own_config("prices.yaml", lambda _: prices)


def dear(request: Request) -> Text:
    """Answers that take nearly all that a turn may."""
    return Text(well(side_of(request))(request), usage=(39_000, 500))


def test_a_ceiling_is_shared_and_the_debate_that_would_pass_it_is_not_held(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    priced(home, monkeypatch)
    with models(monkeypatch, dear, ALPHAAGENT_DAILY_SPEND_USD="0.30") as provider:
        documents = decided(home, "AAPL", "NVDA", "MSFT")
        reasons = [document["fallback_reason"] for document in documents]
        spent = home.ok("spend", "--json").document
    assert sorted(document["provenance"] for document in documents) == ["crew", "crew", "fallback"]
    (reason,) = [reason for reason in reasons if reason]
    assert reason.startswith("spend: the ceiling of 0.30 USD")
    assert f"this debate may take {MOST}" in reason
    assert len(provider.requests) == 6
    assert (spent["calls"], spent["prompt_tokens"], spent["spent_usd"], spent["reserved_usd"]) == (6, 234_000, "0.237", "0.0")


def test_a_failed_debate_is_paid_for_too(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    priced(home, monkeypatch)
    with models(monkeypatch, lambda request: Text("no", usage=(1000, 100), finish="length")):
        assert home.decide("AAPL", AS_OF)["fallback_reason"].startswith("cut: ")
        assert home.ok("spend", "--json").document["spent_usd"] == "0.0022"


@pytest.mark.parametrize("more", [[], ["--dry-run"]])
def test_a_ceiling_of_nothing_asks_nobody(home: Home, monkeypatch: pytest.MonkeyPatch, more: list[str]) -> None:
    priced(home, monkeypatch)
    with models(monkeypatch, ALPHAAGENT_DAILY_SPEND_USD="0") as provider:
        assert home.decide("AAPL", AS_OF, *more)["fallback_reason"].startswith("spend: ")
        assert provider.requests == ()


@pytest.mark.parametrize("tickers", [("AAPL",), ("AAPL", "NVDA")])
def test_a_model_without_a_price_is_refused_under_a_ceiling_with_the_way_out(home: Home, monkeypatch: pytest.MonkeyPatch, tickers: tuple[str, ...]) -> None:
    priced(home, monkeypatch, "as_of: 2026-11-30\nmodels: {}\n")
    with models(monkeypatch) as provider:
        ran = home.run("decide", *tickers, "--as-of", AS_OF)
        assert provider.requests == ()
    assert (ran.code, home.counts()) == (2, {})
    assert "has no price for openai-compatible/scripted-model" in ran.err
    assert "add a line for openai-compatible/scripted-model there, or set ALPHAAGENT_DAILY_SPEND_USD to off" in ran.err


def test_without_a_ceiling_a_model_without_a_price_runs(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    priced(home, monkeypatch, "as_of: 2026-11-30\nmodels: {}\n")
    with models(monkeypatch, ALPHAAGENT_LLM_PROVIDER="openai", ALPHAAGENT_DAILY_SPEND_USD="off") as provider:
        assert home.decide("AAPL", AS_OF)["provenance"] == "crew"
        assert len(provider.requests) == 3
    spent = home.ok("spend", "--json").document
    assert (spent["calls"], spent["unpriced"], spent["lines"][0]["provider"]) == (3, 1, "openai")


def environment(provider: ScriptedProvider) -> dict[str, str]:
    return {**SCRIPTED, "ALPHAAGENT_LLM_BASE_URL": provider.base_url}


def test_two_processes_at_once_hold_and_pay_each_debate_once(home: Home) -> None:
    """One name that both want, and one besides that only one of them wants."""
    bounds(home)
    with ScriptedProvider(slow) as provider:
        both = [start(home.folder, "decide", "AAPL", other, "--as-of", AS_OF, "--json", **environment(provider)) for other in ("NVDA", "MSFT")]
        ran = [finish(process) for process in both]
        assert [one.code for one in ran] == [0, 0], [one.err for one in ran]
        documents = [document for one in ran for document in one.documents]
        assert [document["provenance"] for document in documents] == ["crew"] * 4
        assert len(provider.requests) == 9
    shared = [document for document in documents if document["ticker"] == "AAPL"]
    assert sorted(document["stored"] for document in shared) == [False, True]
    assert len({document["decision_id"] for document in shared}) == 1
    assert home.counts()["decision"] == 3
    assert home.ok("spend", "--json").document["calls"] == 9
    assert home.run("audit", "verify").code == 0
