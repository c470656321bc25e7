"""The files of a debate, at each bound and with each thing that may be wrong in them."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from alphaagent.debate.config import TASKS, DebateFile, parse_debate, parse_personas, parse_tasks
from alphaagent.errors import ConfigFault
from alphaagent.yaml_files import read_yaml

SHIPPED = Path(__file__).parents[3] / "config"


def shipped(name: str) -> dict[str, Any]:
    return read_yaml(SHIPPED / name)


def refused(parse: Any, document: Any, source: str = "f.yaml") -> str:
    with pytest.raises(ConfigFault) as fault:
        parse(document, source)
    assert fault.value.fix
    assert fault.value.message.startswith(source)
    return fault.value.message


def test_the_shipped_files_hold_what_the_program_has_without_them() -> None:
    assert parse_debate(shipped("debate.yaml"), "debate.yaml") == DebateFile() == parse_debate({}, "debate.yaml")
    assert set(parse_personas(shipped("agents.yaml"), "agents.yaml")) == {"bull", "bear", "cio"}
    assert set(parse_tasks(shipped("tasks.yaml"), "tasks.yaml")) == set(TASKS)


BOUNDS = [
    ("concurrency", 1, 64),
    ("call_attempts", 1, 5),
    ("prompt_characters", 4_000, 1_000_000),
]
OF_A_SIDE = [
    ("completion_tokens", 64, 64_000),
    ("tool_calls", 0, 20),
    ("repairs", 0, 5),
    ("calls", 1, 200),
    ("tokens", 1, 10_000_000),
]


@pytest.mark.parametrize(("key", "least", "most"), BOUNDS)
def test_a_bound_of_the_debate_holds_at_its_edges(key: str, least: int, most: int) -> None:
    assert [getattr(parse_debate({key: value}, "f.yaml"), key) for value in (least, most)] == [least, most]
    for value in (least - 1, most + 1, str(least), Decimal(least), True, None):
        assert key in refused(parse_debate, {key: value})


@pytest.mark.parametrize(("key", "least", "most"), OF_A_SIDE)
@pytest.mark.parametrize("side", ["bull", "bear", "cio"])
def test_a_bound_of_a_side_holds_at_its_edges(side: str, key: str, least: int, most: int) -> None:
    for value in (least, most):
        assert getattr(getattr(parse_debate({"sides": {side: {key: value}}}, "f.yaml").sides, side), key) == value
    for value in (least - 1, most + 1, str(least), True):
        assert f"sides.{side}.{key}" in refused(parse_debate, {"sides": {side: {key: value}}})


@pytest.mark.parametrize(
    ("document", "key"),
    [
        ({"decision_seconds": 0}, "decision_seconds"),
        ({"decision_seconds": Decimal("7200.1")}, "decision_seconds"),
        ({"decision_seconds": Decimal("NaN")}, "decision_seconds"),
        ({"sides": {"bull": {"call_seconds": 0}}}, "sides.bull.call_seconds"),
        ({"sides": {"bull": {"call_seconds": Decimal("3600.1")}}}, "sides.bull.call_seconds"),
        ({"sides": {"cio": {"temperature": Decimal("2.1")}}}, "sides.cio.temperature"),
        ({"sides": {"cio": {"temperature": -1}}}, "sides.cio.temperature"),
        ({"sides": {"cio": {"model": ""}}}, "sides.cio.model"),
        ({"sides": {"judge": {}}}, "sides.judge"),
        ({"sides": {"bull": {"cals": 3}}}, "sides.bull.cals"),
        ({"evidence": "later"}, "evidence"),
        ({"plan": "endless"}, "plan"),
        ({"rounds": 3}, "rounds"),
        ({"sides": []}, "sides"),
    ],
)
def test_what_is_wrong_is_named_with_its_file_and_key(document: dict[str, Any], key: str) -> None:
    assert key in refused(parse_debate, document)


@pytest.mark.parametrize("name", TASKS)
def test_a_placeholder_that_is_missing_unknown_or_twice_is_refused_by_name(name: str) -> None:
    for placeholder in TASKS[name][1]:
        for change, told in (("", "0 times"), (f"{{{placeholder}}} {{{placeholder}}}", "2 times")):
            tasks = shipped("tasks.yaml")
            tasks[name]["description"] = tasks[name]["description"].replace(f"{{{placeholder}}}", change)
            message = refused(parse_tasks, tasks)
            assert f"{name} holds {{{placeholder}}} {told}" in message
    tasks = shipped("tasks.yaml")
    tasks[name]["description"] += " {moon_phase}"
    assert f"{name} holds the unknown placeholder {{moon_phase}}" in refused(parse_tasks, tasks)
    tasks = shipped("tasks.yaml")
    tasks[name]["expected_output"] += " {answer}"
    assert f"{name}.expected_output holds a placeholder" in refused(parse_tasks, tasks)


def test_an_opening_can_ask_for_nothing_of_the_other_side() -> None:
    for name in ("bull_opening", "bear_opening"):
        assert "cases" not in TASKS[name][1]
        tasks = shipped("tasks.yaml")
        tasks[name]["description"] += " {cases}"
        assert "unknown placeholder {cases}" in refused(parse_tasks, tasks)


@pytest.mark.parametrize("name", TASKS)
def test_a_task_that_is_missing_or_somebody_else_s_is_refused(name: str) -> None:
    tasks = shipped("tasks.yaml")
    tasks[name]["agent"] = {"bull": "bear", "bear": "cio", "cio": "bull", "debater": "bull"}[TASKS[name][0]]
    assert f"{name}.agent" in refused(parse_tasks, tasks)
    del tasks[name]
    assert f"{name} is missing" in refused(parse_tasks, tasks)
    assert "unknown key judge" in refused(parse_tasks, shipped("tasks.yaml") | {"judge": {}})


@pytest.mark.parametrize("side", ["bull", "bear", "cio"])
@pytest.mark.parametrize("key", ["role", "goal", "backstory"])
def test_a_persona_has_its_three_texts_and_no_placeholder(side: str, key: str) -> None:
    for value, told in (("{evidence}", "the placeholder {evidence}"), ("", key), (None, key), (7, key)):
        personas = shipped("agents.yaml")
        personas[side][key] = value
        assert told in refused(parse_personas, personas)
    personas = shipped("agents.yaml")
    del personas[side]
    assert f"{side} is missing" in refused(parse_personas, personas)


def test_what_a_file_leaves_out_of_a_side_keeps_that_side_s_default() -> None:
    cio = parse_debate({"sides": {"cio": {"model": "judge"}, "bull": {"model": "lawyer"}}}, "debate.yaml").sides.cio
    assert (cio.model, cio.completion_tokens, cio.tool_calls, cio.repairs) == ("judge", 1200, 1, 2)
