"""Who decides when no model can: never a rule-based decision by the back door."""

from decimal import Decimal

import pytest

from tests.home import Home

AS_OF = "2020-02-05"
"""A session on which the heuristic engine buys AAPL for more than half of the order cap."""


def refuse_fallback(monkeypatch: pytest.MonkeyPatch, text: str = "false") -> None:
    monkeypatch.setenv("ALLOW_HEURISTIC_FALLBACK", text)


def test_without_a_provider_the_heuristic_engine_decides_and_says_so(home: Home) -> None:
    document = home.decide("AAPL", AS_OF)
    assert (document["engine"], document["provenance"], document["fallback_reason"]) == ("heuristic", "heuristic", None)
    assert "no model" in document["bull_case"]["label"]


@pytest.mark.parametrize("text", ["false", "FALSE", "0", "no", "off"])
def test_without_a_provider_and_without_fallback_nothing_is_decided(home: Home, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    refuse_fallback(monkeypatch, text)
    ran = home.run("decide", "AAPL", "--as-of", AS_OF, "--json")
    assert ran.code == 4
    document = ran.document
    assert (document["proposal"], document["guard"], document["order"]) == (None, None, None)
    assert document["error"]["code"] == "ProviderFault"
    assert "ALLOW_HEURISTIC_FALLBACK" in ran.err
    assert "--engine heuristic" in ran.err


def test_the_failure_leaves_an_audit_row_a_free_slot_and_no_order(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_fallback(monkeypatch)
    home.run("decide", "AAPL", "--as-of", AS_OF)
    counts = home.counts()
    assert (counts["decision"], counts["orders"], counts["run_slot"]) == (0, 0, 0)
    assert home.sql("SELECT count(*) FROM audit_log WHERE kind = 'failure'") == [(1,)]
    assert home.run("audit", "verify").code == 0
    assert home.decide("AAPL", AS_OF, "--engine", "heuristic")["stored"] is False


def test_a_failing_dry_run_writes_nothing(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_fallback(monkeypatch)
    assert home.run("decide", "AAPL", "--as-of", AS_OF, "--dry-run").code == 4
    assert home.files() == []


def test_the_heuristic_engine_by_name_always_works(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_fallback(monkeypatch)
    document = home.decide("AAPL", AS_OF, "--engine", "heuristic")
    assert (document["provenance"], document["guard"]["code"]) == ("heuristic", "APPROVED")


def test_the_provider_none_always_works(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_fallback(monkeypatch)
    monkeypatch.setenv("ALPHAAGENT_LLM_PROVIDER", "none")
    assert home.decide("AAPL", AS_OF)["provenance"] == "heuristic"


def test_the_crew_without_fallback_fails(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_fallback(monkeypatch)
    ran = home.run("decide", "AAPL", "--as-of", AS_OF, "--engine", "crew", "--json")
    assert (ran.code, ran.document["error"]["code"]) == (4, "ProviderFault")
    assert home.counts()["decision"] == 0


@pytest.mark.parametrize("fallback", ["true", "false"])
@pytest.mark.parametrize("more", [["--engine", "crew"], []])
def test_a_named_provider_without_its_key_becomes_nothing_else(home: Home, monkeypatch: pytest.MonkeyPatch, more: list[str], fallback: str) -> None:
    refuse_fallback(monkeypatch, fallback)
    monkeypatch.setenv("ALPHAAGENT_LLM_PROVIDER", "openai")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "of-somebody-else")
    ran = home.run("decide", "AAPL", "--as-of", AS_OF, *more)
    assert ran.code == 2
    assert "OPENAI_API_KEY" in ran.err
    assert home.files() == []
    assert home.decide("AAPL", AS_OF, "--engine", "heuristic")["provenance"] == "heuristic"


def test_a_substitute_says_what_it_stands_in_for(home: Home) -> None:
    document = home.decide("AAPL", AS_OF, "--engine", "crew")
    assert (document["engine"], document["provenance"]) == ("heuristic", "fallback")
    assert document["fallback_reason"] == "no model provider is configured"
    assert "fallback: " in home.ok("show", "last").out


def test_a_substitute_s_order_is_clipped_and_says_by_which_rule(home: Home) -> None:
    chosen = home.decide("AAPL", AS_OF, "--dry-run")
    substitute = home.decide("AAPL", AS_OF, "--engine", "crew")
    assert (substitute["guard"]["outcome"], substitute["guard"]["code"]) == ("CLIP", "CLIP_PROVENANCE")
    price, quantity = Decimal(substitute["guard"]["price"]), Decimal(substitute["order"]["quantity"])
    assert Decimal(2490) < price * quantity <= Decimal(2500)
    assert Decimal(chosen["guard"]["quantity_out"]) > quantity
    (done,) = home.settle("2020-02-06")
    assert done["order"]["status"] == "filled"


def test_each_ticker_has_its_own_result_and_the_worst_exit_code_counts(home: Home) -> None:
    ran = home.run("decide", "AAPL", "ZZZZ", "NVDA", "--as-of", AS_OF, "--json")
    assert ran.code == 3
    assert [document["ticker"] for document in ran.documents] == ["AAPL", "ZZZZ", "NVDA"]
    assert ["error" in document for document in ran.documents] == [False, True, False]
    assert home.counts()["decision"] == 2
