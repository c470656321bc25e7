"""The index from the recorded file to the decision, the guard and the settlement."""

import json
from typing import Any

import pytest

from tests.home import Home


def e10(document: dict[str, Any]) -> dict[str, Any]:
    (line,) = [rule for rule in document["rules"] if rule["id"] == "E10"]
    return dict(line)


def named(text: str) -> str:
    """The shipped mandates; the default one watches the S&P 500."""
    assert "      index: none " in text
    return text.replace("      index: none ", "      index: SPX ", 1)


@pytest.mark.parametrize(
    ("ticker", "day", "status"), [("AAPL", "2018-12-31", "ok"), ("AAPL", "2019-01-02", "not_applicable"), ("AZN.L", "2018-06-01", "not_applicable")]
)
def test_the_decision_carries_it_and_shows_no_hole(home: Home, ticker: str, day: str, status: str) -> None:
    document = home.decide(ticker, day, "--dry-run")

    assert [item["status"] for item in document["evidence"]["items"] if item["kind"] == "index"] == [status]
    assert "SPX" not in json.dumps([document[case]["holes"] for case in ("bull_case", "bear_case")])
    assert "index not_applicable" not in home.ok("decide", ticker, "--as-of", day, "--dry-run").out


def test_by_default_no_index_is_asked_for(home: Home) -> None:
    assert e10(home.decide("AAPL", "2018-06-01", "--dry-run")["guard"])["verdict"] == "not_configured"


def test_a_mandate_that_names_it_is_given_its_change_at_both_stages(home: Home) -> None:
    home.own_config("mandate.yaml", named)
    decided = home.decide("AAPL", "2018-06-01")
    assert (e10(decided["guard"])["verdict"], e10(decided["guard"])["value"]) == ("pass", "0.010849")

    (settled,) = home.settle("2018-06-05")
    assert settled["order"]["status"] == "filled"
    assert (e10(settled["guard"])["verdict"], e10(settled["guard"])["value"]) == ("pass", "0.010849")


def test_where_the_named_index_has_ended_there_is_no_budget_and_nothing_opens(home: Home) -> None:
    home.own_config("mandate.yaml", named)
    document = home.decide("AAPL", "2019-11-01")

    assert document["guard"]["outcome"] == "BLOCK" or document["proposal"]["action"] != "BUY"
    (portfolio,) = [item for item in document["evidence"]["items"] if item["kind"] == "portfolio"]
    assert portfolio["payload"]["budget"] in ("0.00", "0.0")
