"""Short ways to say what two debaters said. Every text is long enough and unlike every other one, unless a test wants it otherwise."""

import json
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from alphaagent.debate.faults import answer_faults
from alphaagent.debate.floor import Floor, floor
from alphaagent.debate.thresholds import Thresholds
from alphaagent.domain.argument import (
    Adjudication,
    Answer,
    AnswerKind,
    Assertion,
    Claim,
    Conclusion,
    Debater,
    Move,
    Objection,
    Opening,
    PointFault,
    PointResolution,
    Rebuttal,
    Resolution,
    Retort,
    Steelman,
    Turn,
)
from alphaagent.domain.evidence import EvidenceItem, Side, Status

AS_OF = datetime(2024, 3, 1, 21, 0, tzinfo=UTC)
BEFORE = AS_OF - timedelta(days=1)


def ev(number: int) -> str:
    return f"ev_{number:012x}"


def item(number: int, *sides: Side, kind: str = "momentum", payload: dict[str, Any] | None = None, known_at: datetime = BEFORE) -> EvidenceItem:
    return EvidenceItem(
        id=ev(number),
        tool="get_price_history",
        kind=kind,
        sides=sides or ("bull", "bear"),
        as_of=known_at,
        known_at=known_at,
        source="scene",
        status=Status.OK,
        summary="a measure",
        payload={"value": "1.5"} if payload is None else payload,
    )


def items(*given: EvidenceItem) -> dict[str, EvidenceItem]:
    return {one.id: one for one in given}


WORDS = (
    *("margin debt order backlog churn lease freight tariff pension dividend", "cobalt turbine orchard lantern quarry saddle violet harbour timber"),
    *("breadth volume spread auction ladder tape sweep iceberg imbalance", "licence patent royalty cohort renewal upsell pilot tender bundle"),
    *("glacier compass anchor rigging ballast keel mast rudder galley", "nickel lithium smelter concentrate assay furnace slag ingot alloy"),
    *("warranty recall airbag sensor firmware chassis axle gearbox clutch", "ward surgeon catheter trial placebo endpoint cohort dosage label"),
)


def words(seed: int) -> str:
    """A reason of more than forty characters, unlike that of every other seed from 0 to 7."""
    return f"Because of the {WORDS[seed % len(WORDS)]} in period {seed}."


def claim(text: str = "Margins rose three quarters in a row", *ids: str, **fields: Any) -> Claim:
    said = {"kind": "fact", "direction": "up", "severity": "med"} | fields
    return Claim(text=text, evidence_ids=ids or (ev(1),), **said)


def assertion(op: Any = ">", value: str = "1", *, id: str = ev(1), path: str = "value", tolerance: str = "0") -> Assertion:
    return Assertion(evidence_id=id, path=path, op=op, value=Decimal(value), tolerance=Decimal(tolerance))


def opening(*claims: Claim, p_up: str = "0.6", stance: Any = "BULLISH", no_case: str | None = None, counter: str = "Rates may rise; I hold on.") -> Opening:
    return Opening(stance=stance, p_up=Decimal(p_up), no_case=no_case, claims=claims, strongest_counter=counter)


def objection(target: str, seed: int = 0, *ids: str, **fields: Any) -> Objection:
    said = {"argument": f"This leaves out the {WORDS[seed % len(WORDS)]} entirely", "severity": "med"} | fields
    return Objection(target_claim_id=target, evidence_ids=ids if ids or fields.get("fallacy") else (ev(2),), **said)


def rebuttal(*objections: Objection, p_up: str = "0.6", steelman: Iterable[str] = ("c_bear_1",), rulings: Iterable[Adjudication] = ()) -> Rebuttal:
    best = Steelman(claim_ids=tuple(steelman), text="At its best the case says that cash runs out.")
    return Rebuttal(steelman=best, p_up=Decimal(p_up), objections=objections, adjudications=tuple(rulings))


def resolution(threshold: str = "2", observable: str = "get_price_history.momentum.value", by: date = date(2024, 6, 1)) -> Resolution:
    return Resolution(observable=observable, operator=">", threshold=Decimal(threshold), by_date=by, says="up")


def conceded(id: str, seed: int = 0, scope: Any = "full", **fields: Any) -> Move:
    return Move(**({"objection_id": id, "type": "CONCEDED", "reason": words(seed), "evidence_ids": (), "scope": scope} | fields))


def rebutted(id: str, seed: int = 1, *ids: str, **fields: Any) -> Move:
    return Move(**({"objection_id": id, "type": "REBUTTED", "reason": words(seed), "evidence_ids": ids or (ev(3),)} | fields))


def carried(id: str, seed: int = 2, **fields: Any) -> Move:
    said = {"objection_id": id, "type": "CARRIED", "reason": words(seed), "evidence_ids": (), "would_resolve_if": resolution()}
    return Move(**(said | fields))


def retort(*moves: Move, p_up: str = "0.6", rulings: Iterable[Adjudication] = ()) -> Retort:
    return Retort(p_up=Decimal(p_up), moves=moves, adjudications=tuple(rulings))


def ruling(id: str, verdict: Any = "ACCEPT", seed: int = 3, *ids: str) -> Adjudication:
    return Adjudication(objection_id=id, verdict=verdict, reason=words(seed), evidence_ids=ids)


def conclusion(*conditions: PointResolution, p_up: str = "0.6", rulings: Iterable[Adjudication] = (), summary: str = "That is all.") -> Conclusion:
    return Conclusion(p_up=Decimal(p_up), summary=summary, adjudications=tuple(rulings), would_resolve_if=conditions)


def condition(id: str, **fields: Any) -> PointResolution:
    return PointResolution(objection_id=id, **dict(resolution(**fields)))


KINDS: dict[type[Answer], AnswerKind] = {Opening: "opening", Rebuttal: "rebuttal", Retort: "retort", Conclusion: "conclusion"}


def turn(phase: int, side: Debater, answer: Answer, *faults: PointFault, order: Any = None, attempts: int = 1) -> Turn:
    return Turn(phase=phase, round=phase + 1, kind=KINDS[type(answer)], side=side, order=order, answer=answer, attempts=attempts, faults=faults)


def as_json(answer: Answer) -> dict[str, Any]:
    """The answer as a model would write it, numbers as numbers."""
    return json.loads(json.dumps(answer.model_dump(), default=lambda value: float(value) if isinstance(value, Decimal) else str(value)))


# One stage that most tests play on: bull makes one claim, bear twelve; bear raises two objections.

KNOWN = items(
    item(1),
    item(2, kind="breadth"),
    item(3, kind="trend"),
    item(4, kind="volatility"),
    item(5, "bull", kind="news"),
    item(6, "bear", kind="debt"),
    item(7, known_at=AS_OF, kind="late"),
    item(8, "cio", kind="quote"),
)
STRICT = Thresholds()
OPENINGS = (
    turn(0, "bull", opening(claim("Momentum is strong and has been for a year", ev(1), severity="high"), p_up="0.70")),
    turn(0, "bear", opening(*[claim(f"Point {n} of the {words(n)}", ev(2), direction="down") for n in range(12)], p_up="0.40")),
)
ATTACK = (
    turn(1, "bull", rebuttal(p_up="0.70")),
    turn(1, "bear", rebuttal(objection("c_bull_1"), objection("c_bull_1", 1), p_up="0.40", steelman=["c_bull_1"])),
)

WAITING = (*ATTACK, turn(2, "bull", retort(rebutted("o_bear_1", 1, ev(3)), carried("o_bear_2"))), turn(2, "bear", retort()))
"""Bull has rebutted the first and carried the second."""


def at(side: Debater, *turns: Turn, thresholds: Thresholds = STRICT) -> Floor:
    return floor(side, (*OPENINGS, *turns), KNOWN, AS_OF, thresholds)


def codes(answer: Answer, place: Floor) -> list[tuple[str, int | None, str]]:
    return [(fault.part, fault.index, fault.code) for fault in answer_faults(answer, place)]
