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


def crew(bull: Answers = bull_opening, bear: Answers = bear_opening, cio: Answers = verdict) -> Callable[[Request], Behaviour]:
    """A script for the whole crew; each side is a function of its request."""

    def play(request: Request) -> Behaviour:
        said = {"bull": bull, "bear": bear, "cio": cio}[side_of(request)](request)
        return Text(said, usage=USAGE) if isinstance(said, str) else said

    return play
