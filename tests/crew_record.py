"""A crew's decision as a record and its transcript, without a model: what the pages and the documents are made of."""

import json
from decimal import Decimal
from typing import Any

from alphaagent.debate.record import Bounds, DebateRecord, PhaseSetup, Setup, SideSetup, Transcript, TurnRecord
from alphaagent.debate.thresholds import Thresholds
from alphaagent.domain.base import fingerprint
from alphaagent.domain.debate import Case, CaseLine, DebateRound, DebateSummary, EngineResult
from alphaagent.domain.record import DecisionRecord, Usage
from alphaagent.domain.transcript import CallRecord, Fault, Reply, TokenUsage
from alphaagent.guard.evaluate import evaluate
from alphaagent.guard.intake import read_proposal
from tests.pack_builder import AS_OF, pack
from tests.record_builder import MANDATE, record, snapshot

PACK = pack({"momentum": {"p_21": "150.0"}})
USAGE = Usage(calls=3, prompt_tokens=2700, completion_tokens=360, cost_usd="0.012")
ROUND = DebateRound(round=1, bull="0.66", bear="0.45", gap="0.21", mid="0.555")
SUMMARY = DebateSummary(plan="quick", rounds=(ROUND,), outcome=None, debate_class=None, flags=())
COUNTER = "Volatility is high; it is high for every name."


def line(side: str, number: int = 1, **changes: Any) -> CaseLine:
    said: dict[str, Any] = {
        "text": f"claim {number} of the {side}",
        "factor": "fact",
        "weight": "0.0",
        "evidence_ids": (PACK.items[0].id,),
        "claim_id": f"c_{side}_{number}",
        "severity": "med",
        "direction": "up" if side == "bull" else "down",
    }
    return CaseLine(**(said | changes))


def case(side: str, *lines: CaseLine, **changes: Any) -> Case:
    """A side's case; its summary repeats its first claim, as the engine makes it."""
    said: dict[str, Any] = {
        "side": side,
        "label": f"{side}, toy at openai-compatible",
        "summary": lines[0].text if lines else "nothing stood",
        "no_case": None,
        "lines": lines,
        "holes": (),
        "evidence_ids": (),
        "p_up": "0.66" if side == "bull" else "0.45",
        "stance": "BULLISH" if side == "bull" else "BEARISH",
        "counter": COUNTER,
    }
    return Case(**(said | changes))


def crew_record(bull: Case | None = None, bear: Case | None = None, action: str = "BUY") -> DecisionRecord:
    """The record of a crew's decision, ruled on like any other."""
    proposal = {
        "action": action,
        "amount": 0 if action == "HOLD" else 2000,
        "sentiment": "NEUTRAL" if action == "HOLD" else "BULLISH",
        "reasoning": "Momentum carries it.",
        "p_up": 0.68,
        "relied_on": ["c_bull_1"],
    }
    text = json.dumps(proposal)
    bull, bear = bull or case("bull", line("bull")), bear or case("bear", line("bear"))
    result = EngineResult(engine="crew", proposal_text=text, bull_case=bull, bear_case=bear, base_rate="0.55", debate=SUMMARY)
    seen = snapshot(PACK, result, provenance="crew")
    made = record(PACK)
    changes = {
        "request": made.request.model_copy(update={"plan": "quick"}),
        "provenance": "crew",
        "result": result,
        "proposal": read_proposal(text, "ACME"),
        "snapshot": seen,
        "ruling": evaluate(text, seen, MANDATE, AS_OF),
        "usage": USAGE,
        "transcript_sha256": fingerprint(transcript()),
    }
    return made.model_copy(update=changes)


def transcript(bear_model: str = "toy", *, priced: bool = True, fault: Fault | None = None, **changes: Any) -> Transcript:
    """A transcript of three turns; `changes` replaces its parts."""
    models = {"bull": "toy", "bear": bear_model, "cio": "toy"}
    setup = Setup(
        plan="quick",
        phases=(PhaseSetup(kind="opening", turn_order="simultaneous", length="medium", always=False, bull=_bounds("toy"), bear=_bounds(bear_model)),),
        first_speaker="bull",
        consensus_stop=True,
        provider="openai-compatible",
        base_url="http://127.0.0.1:1/v1",
        sides=tuple(_side(side, model) for side, model in models.items()),
        tasks={},
        decision_seconds="180.0",
        call_attempts=2,
        prompt_characters=48_000,
        evidence="upfront",
        thresholds=Thresholds(),
        prices={model: {"prompt": "0.0", "completion": "0.0"} for model in models.values()} if priced else {},
        markers={},
        prompt_fingerprint="f" * 64,
        crewai_version="0",
    )
    said: dict[str, Any] = {
        "status": "failed" if fault else "completed",
        "started_at": AS_OF,
        "pack_sha256": PACK.sha256,
        "setup": setup,
        "turns": (TurnRecord(phase="opening", round=1, side="bull", answer='{"p_up": 0.66}'),),
        "debate": DebateRecord(p0=Decimal("0.55")),
        "fault": fault,
        "usage": USAGE,
    }
    return Transcript(**(said | changes))


def _side(side: Any, model: str) -> SideSetup:
    return SideSetup(side=side, role=side, goal="g", backstory="b", tools=(), bounds=_bounds(model))


def _bounds(model: str) -> Bounds:
    return Bounds(model=model, temperature=None, completion_tokens=1600, call_seconds="60.0", tool_calls=2, repairs=1, calls=6, tokens=40_000)


def call(request: str, response: str | None = None, reply: Reply | None = None, fault: Fault | None = None) -> CallRecord:
    """One call of the bull's opening."""
    place: dict[str, Any] = {"phase": "opening", "round": 1, "side": "bull", "number": 1, "attempt": 1, "seq": 1, "model": "toy", "path": "/v1"}
    took: dict[str, Any] = {"request_sha256": "0" * 64, "status": None if response is None else 200, "started_ms": 0, "latency_ms": 12}
    return CallRecord(**place, **took, request=request, response=response, reply=reply, fault=fault)


def reply(text: str, **changes: Any) -> Reply:
    said: dict[str, Any] = {"text": text, "finish_reason": "stop", "usage": TokenUsage(prompt=900, completion=120), "model": "toy"}
    return Reply(**(said | changes))
