"""A room whose models read their answers off a script, for debates that need neither CrewAI nor a socket.

An answer is checked and sent back exactly as in the crew's room, as often as the turn's bounds allow. What the script does not hold raises:
an answer that nobody wrote is never an empty one.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import yaml

from alphaagent.debate.events import Events
from alphaagent.debate.orchestrate import Asked, Debate, Held
from alphaagent.debate.record import Bounds, PhaseSetup, Repair, Setup, SideSetup
from alphaagent.debate.thresholds import Thresholds
from alphaagent.domain.argument import Answer, AnswerKind, Debater, Opening
from alphaagent.domain.evidence import EvidencePack, Side
from alphaagent.domain.transcript import Fault, PhaseKind
from alphaagent.engines.crew.tools import names_of
from alphaagent.errors import DebateFault
from alphaagent.guard.intake import parse_proposal
from tests.pack_builder import news_items, pack
from tests.unit.debate.debate_scenes import KINDS, as_json, claim, opening

SHIPPED = Path(__file__).resolve().parent.parent / "config"
DEBATERS: tuple[Debater, Debater] = ("bull", "bear")
Key = tuple[PhaseKind, int, Side]
Line = Answer | str | Fault
Lines = Line | Sequence[Line]
Script = Mapping[Key, Lines]


class UnscriptedTurn(LookupError):
    """A turn was asked for an answer that its script does not hold."""


class FakeRoom:
    """Where scripted models speak. `asked` holds every turn as it was asked for, in order."""

    def __init__(self, script: Script) -> None:
        self._left = {key: [lines] if isinstance(lines, Answer | str | Fault) else list(lines) for key, lines in script.items()}
        self.asked: list[Asked] = []
        self.together_sizes: list[int] = []

    def together(self, asked: Sequence[Asked]) -> tuple[str | Fault, ...]:
        """The answers of a group, one after the other: nobody's answer can depend on another's."""
        self.together_sizes.append(len(asked))
        self.asked += asked
        return tuple(self._spoken(one) for one in asked)

    def prompt(self, phase: PhaseKind, round_: int, side: Side) -> str:
        """What one turn was shown."""
        return next(one.description for one in self.asked if (one.phase, one.round, one.side) == (phase, round_, side))

    def prompts_of(self, side: Side) -> list[str]:
        return [one.description for one in self.asked if one.side == side]

    def taken(self) -> list[Key]:
        """The turns that were asked for, by key."""
        return [(one.phase, one.round, one.side) for one in self.asked]

    def _spoken(self, asked: Asked) -> str | Fault:
        sent_back: list[Repair] = []
        while True:
            line = self._next(asked)
            if isinstance(line, Fault):
                return line
            raw = line if isinstance(line, str) else said(line)
            try:
                wrong = asked.check(raw, False)
            except DebateFault:
                return asked.broken() or Fault(kind="internal", message="a check failed without a fault")
            if wrong is None:
                return raw
            sent_back.append(wrong)
            if len(sent_back) > asked.bounds.repairs:
                return Fault(kind="unusable", message=wrong.message)

    def _next(self, asked: Asked) -> Line:
        key = (asked.phase, asked.round, asked.side)
        lines = self._left.get(key)
        if not lines:
            raise UnscriptedTurn(f"the script holds no answer for {key}")
        return lines.pop(0)


def said(answer: Answer) -> str:
    """An answer as its model writes it."""
    return json.dumps(as_json(answer))


def proposal(action: str = "HOLD", amount: float = 0, **changes: Any) -> str:
    """A verdict as its model writes it."""
    sentiment = {"BUY": "BULLISH", "SELL": "BEARISH", "HOLD": "NEUTRAL"}[action]
    document = {"action": action, "amount": amount, "sentiment": sentiment, "reasoning": "The cases balance.", "p_up": 0.55, "relied_on": []}
    return json.dumps(document | changes)


def spoken(*rounds: tuple[Lines, Lines], cio: Lines | None = None) -> dict[Key, Lines]:
    """A script by rounds, bull's lines before bear's; the CIO speaks after the last. A round's kind is that of the answers in it."""
    script: dict[Key, Lines] = {}
    for number, pair in enumerate(rounds, start=1):
        for side, lines in zip(DEBATERS, pair, strict=True):
            script[_kind(pair), number, side] = lines
    return script | {("verdict", len(rounds) + 1, "cio"): proposal() if cio is None else cio}


def _kind(pair: Iterable[Lines]) -> AnswerKind:
    lines = [line for one in pair for line in ([one] if isinstance(one, Answer | str | Fault) else one)]
    return next(KINDS[type(line)] for line in lines if isinstance(line, Answer))


BOUNDS = Bounds(model="scripted-model", temperature=None, completion_tokens=1600, call_seconds="60.0", tool_calls=2, repairs=1, calls=6, tokens=40_000)
MARKERS = {"bull": "ref-00000000000000aa", "bear": "ref-00000000000000bb"}


def phase(kind: AnswerKind, turn_order: Literal["simultaneous", "alternating"] = "simultaneous", **changes: Any) -> PhaseSetup:
    fields: dict[str, Any] = {"length": "medium", "always": kind == "conclusion", "bull": BOUNDS, "bear": BOUNDS}
    return PhaseSetup(kind=kind, turn_order=turn_order, **(fields | changes))


QUICK = (phase("opening"),)
EXCHANGE = (phase("rebuttal"), phase("retort"))
STANDARD = (*QUICK, *EXCHANGE, phase("conclusion"))
DEEP = (*QUICK, *EXCHANGE, *EXCHANGE, phase("conclusion"))


def setup(*phases: PhaseSetup, **changes: Any) -> Setup:
    """The shipped texts with plain bounds; the standard plan unless other phases are given."""
    personas = yaml.safe_load((SHIPPED / "agents.yaml").read_text(encoding="utf-8"))
    tasks = yaml.safe_load((SHIPPED / "tasks.yaml").read_text(encoding="utf-8"))
    sides: tuple[Side, ...] = (*DEBATERS, "cio")
    fields: dict[str, Any] = {
        "plan": "standard",
        "phases": phases or STANDARD,
        "first_speaker": "bull",
        "consensus_stop": True,
        "provider": "openai-compatible",
        "base_url": "http://127.0.0.1/v1",
        "sides": tuple(SideSetup(side=side, tools=names_of(side), bounds=BOUNDS, **personas[side]) for side in sides),
        "tasks": {name: {"description": task["description"], "expected_output": task["expected_output"]} for name, task in tasks.items()},
        "decision_seconds": "300.0",
        "call_attempts": 1,
        "prompt_characters": 48_000,
        "evidence": "upfront",
        "thresholds": Thresholds(),
        "prices": {},
        "markers": MARKERS,
        "prompt_fingerprint": "f" * 64,
        "crewai_version": "none",
    }
    return Setup(**(fields | changes))


PACK: EvidencePack = pack(news=news_items("0.4", headlines=("0.4",)))
"""Prices for both debaters, news, accounts for the bear alone, and the portfolio for the CIO alone."""


def id_of(kind: str) -> str:
    """The id of the one item of a kind in `PACK`."""
    (found,) = [item.id for item in PACK.items if item.kind == kind]
    return found


def seen_by_both() -> list[str]:
    """Ids that either debater may cite from the start."""
    return [item.id for item in PACK.items if {"bull", "bear"} <= set(item.sides)]


def bull_case(p_up: str = "0.70", **fields: Any) -> Opening:
    """One claim on momentum."""
    return opening(claim("Momentum has been strong for a year", id_of("momentum"), **fields), p_up=p_up)


def bear_case(p_up: str = "0.40", **fields: Any) -> Opening:
    """One claim on the drawdown."""
    return opening(claim("The stock lies far under its high", id_of("drawdown"), direction="down", **fields), p_up=p_up, stance="BEARISH")


def hold(room: FakeRoom, of: Setup | None = None, evidence: EvidencePack = PACK, tell: Events | None = None) -> Held:
    """A debate held in a room."""
    return Debate(evidence, of or setup(), room, lambda raw, ticker: parse_proposal(raw, ticker=ticker), tell or Events()).hold()
