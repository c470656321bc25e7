"""Models that argue in ways that a page has to show: numbers that hold and do not hold, a concession, a point that stays open, a side without a case."""

import json

from tests.crew_script import claim, opening, owed, shown_id, side_of
from tests.scripted_wire import Request


def asserting(request: Request) -> str:
    """Two claims of the bull: the evidence bears out the number of one, and not that of the other."""
    momentum, drawdown = shown_id(request, "momentum"), shown_id(request, "drawdown")
    claims = [
        claim("Twelve-month momentum is strong.", [momentum]) | {"assertion": _number(momentum, "p_21", ">", 100)},
        claim("The share has fallen far from its high and is cheap for it.", [drawdown], severity="low")
        | {"assertion": _number(drawdown, "drawdown", ">", 0.5)},
    ]
    return opening("bull", claims)


def _number(evidence_id: str, path: str, op: str, value: float) -> dict[str, object]:
    return {"evidence_id": evidence_id, "path": path, "op": op, "value": value, "tolerance": 0}


def giving_ground(request: Request) -> str:
    """The bear concedes what it is attacked for; the bull says what would settle its own point."""
    bull = side_of(request) == "bull"
    carried = {"type": "CARRIED", "reason": "Whether the trend outlasts this volatility cannot be read from what is here.", "scope": None}
    conceded = {"type": "CONCEDED", "reason": "One quarter of a lower margin is a thin ground; I give this point up.", "scope": "full"}
    condition = {"observable": "get_price_history.volatility.sigma", "operator": "<", "threshold": 0.3, "by_date": "2020-04-01", "says": "up"}
    common = {"evidence_ids": [], "narrowed_text": None, "would_resolve_if": condition if bull else None}
    moves = [{"objection_id": name, **(carried if bull else conceded), **common} for name in owed(request)]
    return json.dumps({"p_up": 0.61 if bull else 0.52, "moves": moves, "adjudications": []})


def silent(request: Request) -> str:
    """A bear that has nothing to say, and says so."""
    return opening("bear", [], p_up=0.5, stance="NEUTRAL", no_case="Nothing in these figures speaks against the share.")
