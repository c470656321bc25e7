"""What somebody sees of a crew's decision on a terminal, from the line before it to its last prompt."""

import pytest

from tests.crew_home import AS_OF, models
from tests.crew_script import crew
from tests.home import Home

ASKING = "asking scripted-model at openai-compatible, plan {}: bull and bear, then CIO; at most USD 0.00"


@pytest.fixture(params=[80, 140])
def columns(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setenv("COLUMNS", str(request.param))
    return int(request.param)


def test_a_debate_is_announced_shown_and_laid_out(home: Home, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    with models(monkeypatch):
        decided = home.ok("decide", "AAPL", "--as-of", AS_OF, "--plan", "standard")
        again = home.ok("decide", "AAPL", "--as-of", AS_OF, "--plan", "standard")
        shown = home.ok("show", "last", "--calls")
    assert ASKING.format("standard") in decided.err
    assert "asking" not in again.err
    assert "crew: scripted-model at openai-compatible, plan standard" in decided.out
    assert "round 4: p(up) bull 0.600, bear 0.560" in decided.out
    assert "c_bull_1  fact, medium severity, upheld" in decided.out
    assert "The CIO, verdict, request 1: scripted-model, HTTP 200" in shown.out
    assert max(map(len, (decided.out + shown.out).splitlines())) <= columns


def test_a_fallback_leads_to_its_transcript(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    with models(monkeypatch, crew(cio=lambda _: "I would buy")):
        decided = home.ok("decide", "AAPL", "--as-of", AS_OF, "--plan", "quick")
    assert "fallback: unusable: the answer could not be used after 2 repairs" in decided.out
    assert "The debate's transcript is kept" in decided.out
    assert "ended by unusable" in home.ok("show", "last", "--transcript").out


def test_several_tickers_have_the_counter_alone_and_a_dry_run_is_announced(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    with models(monkeypatch):
        several = home.ok("decide", "AAPL", "NVDA", "--as-of", AS_OF, "--plan", "quick", "--dry-run", "--json")
        dry = home.ok("decide", "AAPL", "--as-of", AS_OF, "--plan", "quick", "--dry-run", "--json")
    assert "asking" not in several.err
    assert ASKING.format("quick") in dry.err
    assert dry.document["crew"]["models"]["cio"] == ["scripted-model"]
    assert dry.document["debate"]["rounds"] == [{"round": 1, "bull": "0.66", "bear": "0.45", "gap": "0.21", "mid": "0.555"}]
