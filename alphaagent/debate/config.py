"""config/agents.yaml, tasks.yaml and debate.yaml, read strictly: personas, task texts, and the bounds of a debate."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, ValidationError

from alphaagent.domain.base import Frozen
from alphaagent.domain.evidence import Side
from alphaagent.domain.record import PlanName
from alphaagent.errors import ConfigFault

PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
TASKS: Mapping[str, tuple[Side, frozenset[str]]] = {
    "bull_opening": ("bull", frozenset({"question", "evidence", "reference", "answer"})),
    "bear_opening": ("bear", frozenset({"question", "evidence", "reference", "answer"})),
    "verdict": ("cio", frozenset({"question", "cases", "evidence", "answer"})),
}
"""The tasks there are, who does them, and the placeholders that each text must hold."""

Shape = TypeVar("Shape", bound=Frozen)
Count = Annotated[int, Field(strict=True, ge=1)]
Text = Annotated[str, Field(strict=True, min_length=1)]


class Persona(Frozen):
    """Who speaks; the three texts that CrewAI makes its system prompt of."""

    role: Text
    goal: Text
    backstory: Text


class Task(Frozen):
    """One task text with its placeholders."""

    description: Text
    expected_output: Text
    agent: Side


class SideBounds(Frozen):
    """What one side may use in each of its turns, and which model speaks for it."""

    model: Text | None = None
    temperature: Annotated[Decimal, Field(ge=0, le=2)] | None = None
    completion_tokens: Annotated[Count, Field(ge=64, le=64_000)] = 1600
    call_seconds: Annotated[Decimal, Field(gt=0, le=3600)] | None = None
    tool_calls: Annotated[int, Field(strict=True, ge=0, le=20)] = 2
    repairs: Annotated[int, Field(strict=True, ge=0, le=5)] = 1
    calls: Annotated[Count, Field(le=200)] = 6
    tokens: Annotated[Count, Field(le=10_000_000)] = 40_000


class Sides(Frozen):
    bull: SideBounds = SideBounds()
    bear: SideBounds = SideBounds()
    cio: SideBounds = SideBounds(completion_tokens=1200, tool_calls=1, repairs=2)


class DebateFile(Frozen):
    """The shape of config/debate.yaml."""

    plan: PlanName = "quick"
    concurrency: Annotated[Count, Field(le=64)] = 8
    decision_seconds: Annotated[Decimal, Field(gt=0, le=7200)] = Decimal(180)
    call_attempts: Annotated[Count, Field(le=5)] = 2
    prompt_characters: Annotated[Count, Field(ge=4_000, le=1_000_000)] = 48_000
    max_claims: Annotated[Count, Field(le=20)] = 6
    evidence: Literal["upfront", "on_request"] = "upfront"
    sides: Sides = Sides()


class DebateConfig(Frozen):
    """The three files together."""

    file: DebateFile
    personas: dict[Side, Persona]
    tasks: dict[str, Task]


def parse_debate(document: Mapping[str, Any], source: str) -> DebateFile:
    """debate.yaml. Raises ConfigFault that names the file and the key."""
    return _validated(DebateFile, document, source)


def parse_personas(document: Mapping[str, Any], source: str) -> dict[Side, Persona]:
    """agents.yaml: exactly the three sides. Raises ConfigFault."""
    sides: tuple[Side, ...] = ("bull", "bear", "cio")
    _refuse_other_keys(document, sides, source)
    personas = {side: _validated(Persona, document[side], f"{source}: {side}") for side in sides}
    for side, persona in personas.items():
        found = PLACEHOLDER.findall(persona.role + persona.goal + persona.backstory)
        if found:
            raise ConfigFault(f"{source}: {side} holds the placeholder {{{found[0]}}}, and nothing fills one in there", fix="write the text out")
    return personas


def parse_tasks(document: Mapping[str, Any], source: str) -> dict[str, Task]:
    """tasks.yaml: exactly the tasks there are, each with exactly its placeholders, each of them once. Raises ConfigFault."""
    _refuse_other_keys(document, tuple(TASKS), source)
    tasks = {name: _validated(Task, document[name], f"{source}: {name}") for name in TASKS}
    for name, task in tasks.items():
        _refuse_other_placeholders(name, task, source)
    return tasks


def _refuse_other_placeholders(name: str, task: Task, source: str) -> None:
    side, wanted = TASKS[name]
    if task.agent != side:
        raise ConfigFault(f"{source}: {name}.agent is {task.agent!r}, and this task is the {side}'s", fix=f"write agent: {side}")
    found = PLACEHOLDER.findall(task.description)
    for placeholder in sorted(set(found) - wanted):
        raise ConfigFault(f"{source}: {name} holds the unknown placeholder {{{placeholder}}}", fix=f"use {_listed(wanted)}")
    for placeholder in sorted(wanted):
        if found.count(placeholder) != 1:
            raise ConfigFault(f"{source}: {name} holds {{{placeholder}}} {found.count(placeholder)} times", fix="write it exactly once")
    if PLACEHOLDER.search(task.expected_output):
        raise ConfigFault(f"{source}: {name}.expected_output holds a placeholder, and nothing fills one in there", fix="write the text out")


def _listed(names: frozenset[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in sorted(names))


def _refuse_other_keys(document: Mapping[str, Any], wanted: tuple[str, ...], source: str) -> None:
    for key in document:
        if key not in wanted:
            raise ConfigFault(f"{source}: unknown key {key}; valid: {', '.join(wanted)}", fix="remove it")
    for key in wanted:
        if key not in document:
            raise ConfigFault(f"{source}: {key} is missing", fix="see the shipped file of the same name")


def _validated(shape: type[Shape], document: object, source: str) -> Shape:
    try:
        return shape.model_validate(document)
    except ValidationError as fault:
        first = fault.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "the whole"
        if first["type"] == "extra_forbidden":
            raise ConfigFault(f"{source}: unknown key {key}", fix="see the shipped file of the same name for the keys there are") from None
        raise ConfigFault(f"{source}: {key} is {first['input']!r:.80}: {first['msg'].lower()}", fix="correct the value") from None
