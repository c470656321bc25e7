"""Configurations that could not come out as a debate: each is refused with the file, the field and what to mend, before anybody is asked."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from alphaagent.debate.config import parse_debate, parse_personas, parse_tasks
from alphaagent.errors import ConfigFault
from tests.fake_room import SHIPPED

Document = dict[str, Any]
OPENING, REBUTTAL, RETORT = {"kind": "opening"}, {"kind": "rebuttal"}, {"kind": "retort"}


def shipped(name: str) -> Document:
    document: Document = yaml.safe_load((Path(SHIPPED) / name).read_text(encoding="utf-8"))
    return document


def plan(*phases: Any) -> Document:
    return {"plans": {"deep": list(phases)}}


def debate(document: Document) -> None:
    parse_debate(document, "debate.yaml")


def personas(change: Callable[[Document], object]) -> None:
    document = shipped("agents.yaml")
    change(document)
    parse_personas(document, "agents.yaml")


def tasks(change: Callable[[Document], object]) -> None:
    document = shipped("tasks.yaml")
    change(document)
    parse_tasks(document, "tasks.yaml")


BAD: dict[str, tuple[Callable[[], None], str]] = {
    "an unknown key": (lambda: debate({"rounds": 3}), "debate.yaml: unknown key rounds"),
    "an unknown kind": (lambda: debate(plan(OPENING, {"kind": "prep"})), "debate.yaml: plans.deep.1.kind is 'prep'"),
    "no opening first": (lambda: debate(plan(REBUTTAL, RETORT)), "debate.yaml: plans.deep: a plan begins with the openings"),
    "two openings": (lambda: debate(plan(OPENING, OPENING)), "debate.yaml: plans.deep: the openings come once"),
    "a rebuttal without a retort": (lambda: debate(plan(OPENING, REBUTTAL)), "debate.yaml: plans.deep: a rebuttal is followed by a retort"),
    "a retort without a rebuttal": (lambda: debate(plan(OPENING, RETORT)), "debate.yaml: plans.deep: a retort answers a rebuttal"),
    "a conclusion of nothing": (lambda: debate(plan(OPENING, {"kind": "conclusion"})), "debate.yaml: plans.deep: a conclusion comes last, once"),
    "openings one after the other": (
        lambda: debate(plan({"kind": "opening", "turn_order": "alternating"})),
        "debate.yaml: plans.deep: the openings are taken in isolation",
    ),
    "a rebuttal that is always held": (
        lambda: debate(plan(OPENING, {"kind": "rebuttal", "always": True}, RETORT)),
        "debate.yaml: plans.deep: a rebuttal cannot be taken always",
    ),
    "true as a number": (lambda: debate({"sides": {"bull": {"repairs": True}}}), "debate.yaml: sides.bull.repairs is True"),
    "a word as a truth": (lambda: debate({"consensus_stop": "yes"}), "debate.yaml: consensus_stop is 'yes'"),
    "a share over one": (lambda: debate({"thresholds": {"theta": 1.5}}), "debate.yaml: thresholds.theta is 1.5"),
    "repeated zero times": (lambda: debate(plan(OPENING, {"repeat": 0, "phases": [REBUTTAL, RETORT]})), "debate.yaml: plans.deep, step 2 must be {repeat:"),
    "more phases than can be": (
        lambda: debate(plan(OPENING, {"repeat": 12, "phases": [REBUTTAL, RETORT]})),
        "debate.yaml: plans.deep has more than 24 phases",
    ),
    "a plan that is not there": (lambda: debate({"plan": "deep"}), "debate.yaml: plan is deep, and there is no such plan"),
    "two bulls": (lambda: personas(lambda document: document.update(bull2=document["bull"])), "agents.yaml: unknown key bull2"),
    "no bear": (lambda: personas(lambda document: document.pop("bear")), "agents.yaml: bear is missing"),
    "a placeholder in a persona": (
        lambda: personas(lambda document: document["bull"].update(goal="Win with {evidence}")),
        "agents.yaml: bull holds the placeholder {evidence}",
    ),
    "a task without its evidence": (
        lambda: tasks(lambda document: document["rebuttal"].update(description=document["rebuttal"]["description"].replace("{evidence}", ""))),
        "tasks.yaml: rebuttal holds {evidence} 0 times",
    ),
    "a task with the debate in an opening": (
        lambda: tasks(lambda document: document["bull_opening"].update(description=document["bull_opening"]["description"] + "{debate}")),
        "tasks.yaml: bull_opening holds the unknown placeholder {debate}",
    ),
    "a task of the wrong agent": (lambda: tasks(lambda document: document["verdict"].update(agent="bull")), "tasks.yaml: verdict.agent is 'bull'"),
}


@pytest.mark.parametrize("name", BAD)
def test_D8_a_configuration_that_cannot_be_is_refused_by_its_field_with_a_fix(name: str) -> None:
    read, expected = BAD[name]
    with pytest.raises(ConfigFault) as fault:
        read()
    assert fault.value.message.startswith(expected), fault.value.message
    assert fault.value.fix


def test_D8_there_are_more_than_fifteen_and_the_shipped_ones_are_none_of_them() -> None:
    assert len(BAD) > 15
    debate(shipped("debate.yaml"))
    personas(lambda _: None)
    tasks(lambda _: None)
