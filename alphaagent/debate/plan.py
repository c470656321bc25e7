"""Plans as data: which phases a debate has, in what order, and how each is taken.

Chosen on purpose: a plan that could not come out is refused when it is read, with what to mend. What a phase allows follows from its kind
alone; nothing anywhere asks for the number of a phase.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field

from alphaagent.domain.argument import AnswerKind, Debater
from alphaagent.domain.base import Frozen
from alphaagent.errors import ConfigFault

Length = Literal["short", "medium", "long"]
Capability = Literal["tools", "claims", "steelman", "objections", "moves", "adjudicate", "resolution", "p_up"]
Count = Annotated[int, Field(strict=True, ge=1)]
Text = Annotated[str, Field(strict=True, min_length=1)]

SENTENCES: Mapping[Length, int] = {"short": 2, "medium": 5, "long": 10}
"""How many sentences a length stands for, about."""
CAPABILITIES: Mapping[AnswerKind, frozenset[Capability]] = {
    "opening": frozenset({"tools", "claims", "p_up"}),
    "rebuttal": frozenset({"steelman", "objections", "adjudicate", "p_up"}),
    "retort": frozenset({"moves", "adjudicate", "p_up"}),
    "conclusion": frozenset({"adjudicate", "resolution", "p_up"}),
}
ISOLATED: frozenset[AnswerKind] = frozenset({"opening"})
"""Phases in which a side is shown nothing of the other."""
MOST_PHASES = 24


class PhaseBounds(Frozen):
    """What one side may use in one phase; what is null is that of the side."""

    model: Text | None = None
    temperature: Annotated[Decimal, Field(ge=0, le=2)] | None = None
    completion_tokens: Annotated[Count, Field(ge=64, le=64_000)] | None = None
    call_seconds: Annotated[Decimal, Field(gt=0, le=3600)] | None = None
    tool_calls: Annotated[int, Field(strict=True, ge=0, le=20)] | None = None
    repairs: Annotated[int, Field(strict=True, ge=0, le=5)] | None = None
    calls: Annotated[Count, Field(le=200)] | None = None
    tokens: Annotated[Count, Field(le=10_000_000)] | None = None


class Phase(Frozen):
    """One phase of a plan."""

    kind: AnswerKind
    turn_order: Literal["simultaneous", "alternating"] = "simultaneous"
    length: Length = "medium"
    always: Annotated[bool, Field(strict=True)] = False
    """Taken also where the exchange ended early."""
    bull: PhaseBounds = PhaseBounds()
    bear: PhaseBounds = PhaseBounds()

    @property
    def isolated(self) -> bool:
        return self.kind in ISOLATED

    def allows(self, capability: Capability) -> bool:
        """Whether a turn of this phase may hold something."""
        return capability in CAPABILITIES[self.kind]

    def bounds(self, side: Debater) -> PhaseBounds:
        return self.bull if side == "bull" else self.bear


def expanded(steps: object, where: str) -> list[Any]:
    """A plan's list with each `{repeat: n, phases: [...]}` written out. Raises ConfigFault."""
    if not isinstance(steps, list) or not steps:
        raise ConfigFault(f"{where} must be a list of phases", fix="write phases like - {kind: opening}")
    found: list[Any] = []
    for number, step in enumerate(steps, start=1):
        found += _repeated(step, f"{where}, step {number}") if isinstance(step, dict) and "repeat" in step else [step]
        if len(found) > MOST_PHASES:
            raise ConfigFault(f"{where} has more than {MOST_PHASES} phases", fix="make the plan shorter")
    return found


def _repeated(step: dict[str, Any], where: str) -> list[Any]:
    times, phases = step["repeat"], step.get("phases")
    if isinstance(times, bool) or not isinstance(times, int) or not 1 <= times <= MOST_PHASES or set(step) != {"repeat", "phases"}:
        raise ConfigFault(f"{where} must be {{repeat: a number from 1, phases: [...]}}", fix="correct the step")
    return expanded(phases, where) * times


def refuse_impossible(phases: Sequence[Phase], where: str) -> None:
    """Raises ConfigFault where a plan could not come out as a debate."""
    kinds = [phase.kind for phase in phases]
    for message, fix in _objections(kinds, phases):
        raise ConfigFault(f"{where}: {message}", fix=fix)


def _objections(kinds: list[AnswerKind], phases: Sequence[Phase]) -> list[tuple[str, str]]:
    found = []
    if kinds[0] != "opening":
        found.append(("a plan begins with the openings", "put {kind: opening} first"))
    if kinds.count("opening") > 1:
        found.append(("the openings come once", "remove the second opening"))
    for kind, after in zip(kinds, [*kinds[1:], None], strict=True):
        if kind == "rebuttal" and after != "retort":
            found.append(("a rebuttal is followed by a retort, or its objections are never answered", "put {kind: retort} after it"))
        if after == "retort" and kind != "rebuttal":
            found.append(("a retort answers a rebuttal", "put {kind: rebuttal} before it"))
    if "conclusion" in kinds and (kinds.count("conclusion") > 1 or kinds[-1] != "conclusion" or "rebuttal" not in kinds):
        found.append(("a conclusion comes last, once, and after an exchange", "put {kind: conclusion} at the end"))
    for phase in phases:
        if phase.isolated and phase.turn_order != "simultaneous":
            found.append(("the openings are taken in isolation, and so at the same time", "remove turn_order: alternating"))
        if phase.always and phase.kind != "conclusion":
            found.append((f"a {phase.kind} cannot be taken always: an exchange that ended early has no more of it", "remove always: true"))
    return found
