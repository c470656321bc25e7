"""What a decision would cost is told before it begins, and nobody is asked for it."""

import pytest

from tests.home import Home

ESTIMATE = ("decide", "AAPL", "--as-of", "2020-02-05", "--estimate")


def test_without_a_model_it_costs_nothing(home: Home) -> None:
    document = home.ok(*ESTIMATE, "--json").document
    assert (document["engine"], document["calls"], document["usd"]) == ("heuristic", "0", "0.0")
    assert home.files() == []


@pytest.mark.parametrize(("plan", "calls"), [("quick", "3 (3 to 18)"), ("standard", "9 (3 to 54)")])
def test_a_plan_costs_its_turns_and_at_most_its_bounds(home: Home, monkeypatch: pytest.MonkeyPatch, plan: str, calls: str) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    document = home.ok(*ESTIMATE, "--plan", plan, "--json").document
    assert (document["engine"], document["plan"], document["calls"]) == ("crew", plan, calls)
    assert 0 < float(document["usd"]) < float(document["at_most_usd"]) < 1
    assert home.files() == []
