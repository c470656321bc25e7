"""What three well-behaved models answer, made from what they were shown; tests change one of them at a time."""

import json
import re
from collections.abc import Callable
from typing import Any

from tests.scripted_wire import Behaviour, Request, Text

ROLES = {"You are Bullish Research Analyst": "bull", "You are Risk Assessor": "bear", "You are Chief Investment Officer": "cio"}
USAGE = (900, 120)
Answers = Callable[[Request], Behaviour | str]


def side_of(request: Request) -> str:
    """Which agent a request is from, by its system prompt."""
    whole = json.dumps(request.body, ensure_ascii=False)
    return next(side for words, side in ROLES.items() if words in whole)


def prompt_of(request: Request) -> str:
    """The text of the task, as the model reads it."""
    if "messages" in request.body:
        content = next(message["content"] for message in request.body["messages"] if message["role"] == "user")
        return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
    return "".join(part.get("text", "") for message in request.body["contents"] for part in message["parts"] if message["role"] == "user")


def shown(request: Request) -> list[dict[str, Any]]:
    """The evidence lines of a prompt."""
    return [json.loads(line) for line in prompt_of(request).splitlines() if line.startswith('{"id": "ev_')]


def shown_id(request: Request, kind: str) -> str:
    return str(next(item["id"] for item in shown(request) if item["kind"] == kind))


def marker_of(request: Request) -> str:
    found = re.search(r"ref-[0-9a-f]{16}", prompt_of(request))
    assert found
    return found[0]


def claim(text: str, ids: list[str], *, kind: str = "fact", direction: str = "up", severity: str = "med") -> dict[str, Any]:
    return {"text": text, "kind": kind, "direction": direction, "severity": severity, "evidence_ids": ids, "assertion": None}


def opening(side: str, claims: list[dict[str, Any]], p_up: float | None = None, **changes: Any) -> str:
    bull = side == "bull"
    said = {
        "stance": "BULLISH" if bull else "BEARISH",
        "p_up": p_up if p_up is not None else (0.66 if bull else 0.45),
        "no_case": None,
        "claims": claims,
        "strongest_counter": "The other side will point at volatility; it is high for every name these weeks.",
    }
    return json.dumps(said | changes)


def bull_opening(request: Request) -> str:
    return opening("bull", [claim("Twelve-month momentum is strong.", [shown_id(request, "momentum")])])


def bear_opening(request: Request) -> str:
    return opening("bear", [claim("The operating margin is below where it was.", [shown_id(request, "test.margin")], direction="down")])


def verdict(request: Request, action: str = "BUY", amount: float = 2000, p_up: float = 0.68, **changes: Any) -> str:
    said = {
        "action": action,
        "amount": amount,
        "sentiment": {"BUY": "BULLISH", "SELL": "BEARISH", "HOLD": "NEUTRAL"}[action],
        "reasoning": "Momentum carries the case and the margin is a slow risk; a close below the 200-session average would change my mind.",
        "p_up": p_up,
        "relied_on": ["c_bull_1", shown_id(request, "momentum")],
    }
    return json.dumps(said | changes)


PHASES = {
    "Write the opening": "opening",
    "attack what does not hold": "rebuttal",
    "Your claims were attacked": "retort",
    "for the last time": "conclusion",
    "Decide.": "verdict",
}


def phase_of(request: Request) -> str:
    """Which phase a request belongs to, by its task."""
    prompt = prompt_of(request)
    return next(phase for words, phase in PHASES.items() if words in prompt)


def told(request: Request) -> dict[str, Any]:
    """The debate so far, as the request tells it."""
    line = next(line for line in prompt_of(request).splitlines() if line.startswith('{"p_up": ['))
    return dict(json.loads(line))


def owed(request: Request) -> list[str]:
    """The objections that a retort has to answer."""
    found = re.search(r"Objections that you have to answer, one move each: ([^.]*)\.", prompt_of(request))
    return found[1].split(", ") if found else []


def waiting(request: Request) -> list[str]:
    """The rebuttals that wait for a word."""
    found = re.search(r'wait for your word in "adjudications": ([^.]*)\.', prompt_of(request))
    return found[1].split(", ") if found else []


def rebuttal(request: Request) -> str:
    side, debate = side_of(request), told(request)
    target = next(claim["id"] for claim in debate["claims"] if claim["by"] != side)
    cited = shown_id(request, "volatility")
    objection = {
        "target_claim_id": target,
        "argument": f"The {side} sees volatility where this claim sees a trend.",
        "severity": "med",
        "evidence_ids": [cited],
        "fallacy": None,
    }
    steelman = {"claim_ids": [target], "text": "At its best the other side reads a persistent measure and reads it right."}
    return json.dumps({"steelman": steelman, "p_up": 0.62 if side == "bull" else 0.48, "objections": [objection], "adjudications": []})


def retort(request: Request) -> str:
    side = side_of(request)
    fresh = shown_id(request, "drawdown")
    moves = [
        {
            "objection_id": name,
            "type": "REBUTTED",
            "reason": "The distance from the high is small, which high volatility alone would not leave.",
            "evidence_ids": [fresh],
            "scope": None,
            "narrowed_text": None,
            "would_resolve_if": None,
        }
        for name in owed(request)
    ]
    return json.dumps({"p_up": 0.61 if side == "bull" else 0.52, "moves": moves, "adjudications": []})


def conclusion(request: Request) -> str:
    side = side_of(request)
    said = [{"objection_id": name, "verdict": "ACCEPT", "reason": "The drawdown does answer it.", "evidence_ids": []} for name in waiting(request)]
    whole = {"p_up": 0.6 if side == "bull" else 0.56, "summary": "Both agree on the trend and differ on its price.", "adjudications": said}
    return json.dumps(whole | {"would_resolve_if": []})


ARGUED: dict[str, Answers] = {"rebuttal": rebuttal, "retort": retort, "conclusion": conclusion}


def crew(bull: Answers = bull_opening, bear: Answers = bear_opening, cio: Answers = verdict, **argued: Answers) -> Callable[[Request], Behaviour]:
    """A script for the whole crew: each opening, the verdict, and by phase what both debaters answer in between."""

    def play(request: Request) -> Behaviour:
        phase, side = phase_of(request), side_of(request)
        play_it = {"bull": bull, "bear": bear, "cio": cio}[side] if phase in ("opening", "verdict") else (ARGUED | argued)[phase]
        said = play_it(request)
        return Text(said, usage=USAGE) if isinstance(said, str) else said

    return play
