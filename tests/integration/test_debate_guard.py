"""F4 with the real crew: a debate that settled nothing opens nothing, whatever its verdict says."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests import crew_script
from tests.crew_home import AS_OF, models
from tests.crew_script import Answers, crew, owed, shown_id, side_of, verdict, waiting
from tests.home import Home
from tests.scripted_wire import Request

AFTER = "2020-02-06"
LATER = "2020-02-10"


def silent(request: Request) -> str:
    """A retort that answers none of the objections that were put."""
    return json.dumps({"p_up": 0.6 if side_of(request) == "bull" else 0.5, "moves": [], "adjudications": []})


def groundless(request: Request) -> str:
    """Talk without a ground: every objection carried on, without a reason and without a condition."""
    moves = [move(name, "CARRIED", reason="We will see.") for name in owed(request)]
    return json.dumps({"p_up": 0.6 if side_of(request) == "bull" else 0.5, "moves": moves, "adjudications": []})


def yielding(request: Request) -> str:
    """Concedes whatever was put."""
    moves = [move(name, "CONCEDED", scope="full", reason="That is so, and this claim has no other ground to stand on.") for name in owed(request)]
    return json.dumps({"p_up": 0.56 if side_of(request) == "bull" else 0.5, "moves": moves, "adjudications": []})


def two_objections(request: Request) -> str:
    """The ordinary rebuttal with a second objection to the same claim."""
    said = json.loads(crew_script.rebuttal(request))
    second = {
        **said["objections"][0],
        "argument": "What fell once from its high may well fall further in these weeks.",
        "evidence_ids": [shown_id(request, "drawdown")],
    }
    return json.dumps(said | {"objections": [*said["objections"], second]})


def unmoved_but_near(request: Request) -> str:
    """The last word of somebody who accepts nothing and yet says the other side's number."""
    reason = "The distance from the high says nothing about what these weeks will bring."
    said = [{"objection_id": name, "verdict": "SUSTAIN", "reason": reason, "evidence_ids": []} for name in waiting(request)]
    whole = {"p_up": 0.58 if side_of(request) == "bull" else 0.56, "summary": "Both sides end near each other.", "adjudications": said}
    return json.dumps(whole | {"would_resolve_if": []})


def move(objection: str, kind: str, **changes: Any) -> dict[str, Any]:
    empty = {"reason": "", "evidence_ids": [], "scope": None, "narrowed_text": None, "would_resolve_if": None}
    return {"objection_id": objection, "type": kind, **empty, **changes}


def selling(request: Request) -> str:
    return verdict(request, "SELL", 500, p_up=0.4)


def on_evidence_alone(request: Request) -> str:
    """A verdict that stands on no claim: a conceded one carries nothing."""
    return verdict(request, relied_on=[shown_id(request, "momentum")])


WORTHLESS: Mapping[str, tuple[str, Mapping[str, Answers]]] = {
    "silent": ("theater", {"retort": silent}),
    "groundless": ("theater", {"retort": groundless}),
    "yielding": ("capitulated", {"rebuttal": two_objections, "retort": yielding, "cio": on_evidence_alone}),
    "near": ("hollow", {"conclusion": unmoved_but_near}),
}


def f4(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = next(rule for rule in document["guard"]["rules"] if rule["id"] == "F4")
    return found


@pytest.fixture
def decide(home: Home, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    """A decision on AAPL by the crew; `argued` replaces phases of the ordinary script."""

    def run(*more: str, as_of: str = AS_OF, cio: Answers = verdict, **argued: Answers) -> dict[str, Any]:
        with models(monkeypatch, crew(cio=cio, **argued)):
            return home.decide("AAPL", as_of, "--plan", "standard", *more)

    return run


def test_an_ordinary_debate_opens(decide: Callable[..., dict[str, Any]]) -> None:
    document = decide()
    assert (document["provenance"], document["guard"]["outcome"], document["guard"]["codes"]) == ("crew", "APPROVE", ["APPROVED"])
    assert f4(document)["verdict"] == "pass"
    assert document["order"]["side"] == "BUY"


@pytest.mark.parametrize("script", WORTHLESS)
def test_a_debate_that_settled_nothing_opens_nothing(home: Home, decide: Callable[..., dict[str, Any]], script: str) -> None:
    found, argued = WORTHLESS[script]
    document = decide(**argued)
    assert (document["provenance"], document["proposal"]["action"]) == ("crew", "BUY")
    assert (document["guard"]["outcome"], document["guard"]["codes"]) == ("BLOCK", ["LOW_QUALITY_DEBATE"])
    assert (f4(document)["value"], document["order"]) == (found, None)
    assert home.counts()["orders"] == 0
    home.ok("replay", "last")


def test_what_was_bought_may_be_sold_on_any_debate(home: Home, decide: Callable[..., dict[str, Any]]) -> None:
    decide()
    (filled,) = home.settle(AFTER)
    assert filled["order"]["status"] == "filled"
    document = decide(as_of=LATER, cio=selling, retort=silent)
    assert (document["provenance"], document["guard"]["codes"], document["order"]["side"]) == ("crew", ["APPROVED"], "SELL")
    assert f4(document)["verdict"] == "not_applicable"


@pytest.mark.parametrize(("most", "codes"), [("0.03", ["LOW_QUALITY_DEBATE"]), ("0.04", ["APPROVED"])])
def test_a_mandate_may_limit_the_gap_that_is_left(home: Home, decide: Callable[..., dict[str, Any]], most: str, codes: list[str]) -> None:
    home.own_config("mandate.yaml", lambda text: text.replace('max_gap: "off"', f"max_gap: {most}", 1))
    document = decide()
    assert (document["guard"]["codes"], f4(document)["limit"]) == (codes, most)


@pytest.mark.parametrize("more", [("--plan", "quick"), ("--engine", "heuristic")])
def test_without_an_exchange_the_rule_is_silent(home: Home, monkeypatch: pytest.MonkeyPatch, more: tuple[str, str]) -> None:
    home.own_config("mandate.yaml", lambda text: text.replace('max_gap: "off"', "max_gap: 0.03", 1))
    with models(monkeypatch):
        document = home.decide("AAPL", AS_OF, *more)
    assert (document["proposal"]["action"], document["order"]["side"]) == ("BUY", "BUY")
    assert (f4(document)["verdict"], f4(document)["reason"]) == ("not_applicable", "there was no debate")


def test_the_fallback_for_a_debate_that_broke_has_no_debate_either(decide: Callable[..., dict[str, Any]]) -> None:
    document = decide(retort=lambda _: "no JSON at all")
    assert (document["provenance"], f4(document)["reason"]) == ("fallback", "there was no debate")
