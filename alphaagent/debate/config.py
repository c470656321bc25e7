"""config/agents.yaml, tasks.yaml and debate.yaml, read strictly: personas, task texts, and the bounds of a debate."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, ValidationError

from alphaagent.debate.plan import Count, Phase, Text, expanded, refuse_impossible
from alphaagent.debate.thresholds import Thresholds
from alphaagent.domain.argument import Debater
from alphaagent.domain.base import Frozen
from alphaagent.domain.evidence import Side
from alphaagent.domain.record import PlanName
from alphaagent.errors import ConfigFault

PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
OPENING = frozenset({"question", "evidence", "reference", "length", "answer"})
ARGUMENT = frozenset({"side", "question", "evidence", "reference", "debate", "duty", "length", "answer"})
TASKS: Mapping[str, tuple[str, frozenset[str]]] = {
    "bull_opening": ("bull", OPENING),
    "bear_opening": ("bear", OPENING),
    "rebuttal": ("debater", ARGUMENT),
    "retort": ("debater", ARGUMENT),
    "conclusion": ("debater", ARGUMENT),
    "verdict": ("cio", frozenset({"question", "cases", "evidence", "answer"})),
}
"""The tasks there are, who does them (`debater` is each of the two), and the placeholders that each text must hold."""

Shape = TypeVar("Shape", bound=Frozen)

PLANS: Mapping[PlanName, tuple[Phase, ...]] = {
    "quick": (Phase(kind="opening"),),
    "standard": (Phase(kind="opening"), Phase(kind="rebuttal"), Phase(kind="retort"), Phase(kind="conclusion", always=True)),
}
"""The plans that are there where debate.yaml names none of its own; the verdict comes after every one of them."""


class Persona(Frozen):
    """Who speaks; the three texts that CrewAI makes its system prompt of."""

    role: Text
    goal: Text
    backstory: Text


class Task(Frozen):
    """One task text with its placeholders."""

    description: Text
    expected_output: Text
    agent: Literal["bull", "bear", "cio", "debater"]


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


class CioBounds(SideBounds):
    """The same for the CIO, whose defaults are others; what a file leaves out keeps them."""

    completion_tokens: Annotated[Count, Field(ge=64, le=64_000)] = 1200
    tool_calls: Annotated[int, Field(strict=True, ge=0, le=20)] = 1
    repairs: Annotated[int, Field(strict=True, ge=0, le=5)] = 2


class Sides(Frozen):
    bull: SideBounds = SideBounds()
    bear: SideBounds = SideBounds()
    cio: CioBounds = CioBounds()


class DebateFile(Frozen):
    """The shape of config/debate.yaml."""

    plan: PlanName = "standard"
    plans: dict[PlanName, tuple[Phase, ...]] = Field(default_factory=lambda: dict(PLANS))
    first_speaker: Debater = "bull"
    consensus_stop: Annotated[bool, Field(strict=True)] = True
    concurrency: Annotated[Count, Field(le=64)] = 8
    decision_seconds: Annotated[Decimal, Field(gt=0, le=7200)] = Decimal(300)
    call_attempts: Annotated[Count, Field(le=5)] = 2
    prompt_characters: Annotated[Count, Field(ge=4_000, le=1_000_000)] = 48_000
    evidence: Literal["upfront", "on_request"] = "upfront"
    sides: Sides = Sides()
    thresholds: Thresholds = Thresholds()


def parse_debate(document: Mapping[str, Any], source: str) -> DebateFile:
    """debate.yaml. Raises ConfigFault that names the file and the key."""
    plans = document.get("plans")
    if isinstance(plans, dict):
        written = {name: expanded(steps, f"{source}: plans.{name}") for name, steps in plans.items()}
        document = {**document, "plans": dict(PLANS) | written}
    file = _validated(DebateFile, document, source)
    for name, phases in file.plans.items():
        refuse_impossible(phases, f"{source}: plans.{name}")
    if file.plan not in file.plans:
        raise ConfigFault(f"{source}: plan is {file.plan}, and there is no such plan", fix=f"use one of: {', '.join(file.plans)}")
    return file


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
    agent, wanted = TASKS[name]
    if task.agent != agent:
        raise ConfigFault(f"{source}: {name}.agent is {task.agent!r}, and this task is the {agent}'s", fix=f"write agent: {agent}")
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
