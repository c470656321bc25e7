"""The crew engine: a setup and a pack go in, an opinion or a fault comes out, and the whole of it as a transcript.

The same code runs live and from a record; only the carrier differs.
"""

import importlib
import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from alphaagent.debate.events import Events
from alphaagent.debate.orchestrate import Asked, Debate, Held, ReadProposal
from alphaagent.debate.prompts import HORIZON
from alphaagent.debate.record import Bounds, DebateRecord, Setup, Transcript
from alphaagent.debate.rows import ClaimState
from alphaagent.domain.argument import Debater, Opening
from alphaagent.domain.base import decimal_text
from alphaagent.domain.debate import Case, CaseLine, DebateRound, DebateSummary, EngineResult
from alphaagent.domain.evidence import EvidencePack
from alphaagent.domain.record import Usage
from alphaagent.domain.transcript import CallRecord, Fault, ToolRecord
from alphaagent.engines.crew.tools import DESCRIPTIONS, tools_of
from alphaagent.errors import ReplayDiffers
from alphaagent.llm.carrier import Carrier, RecordedCarrier
from alphaagent.llm.dialects import DIALECTS
from alphaagent.llm.network import NetworkCarrier, network_client
from alphaagent.llm.prices import Price
from alphaagent.llm.provider import Provider
from alphaagent.llm.purse import Purse
from alphaagent.llm.steps import Steps, ToolStatus
from alphaagent.llm.trace import Trace
from alphaagent.llm.wire import Seat, Wire, unanswered

if TYPE_CHECKING:
    from alphaagent.engines.crew.room import Place


ROOM = "alphaagent.engines.crew.room"
_LOADING = threading.Lock()
_CALLING: set[NetworkCarrier] = set()
"""The debates that are using the network."""
NOTHING_STOOD = "None of its claims stood: what they cite was not given."


@dataclass(frozen=True, slots=True)
class Debated:
    """What became of a debate: a result, or the fault that ended it; and everything that was said either way."""

    result: EngineResult | None
    transcript: Transcript

    @property
    def fault(self) -> Fault | None:
        return self.transcript.fault


@dataclass(frozen=True, slots=True)
class Crew:
    """One configured crew. `key` is asked for when it is needed and kept nowhere."""

    provider: Provider
    base_url: str | None
    key: Callable[[], str]
    read: ReadProposal
    contain: Callable[[], AbstractContextManager[None]]
    """Keeps CrewAI away from the user's environment and home folder while it is imported."""

    def debate(self, pack: EvidencePack, setup: Setup, started_at: datetime, tell: Events) -> Debated:
        """A debate over the network. What goes wrong in it is a fault of the transcript and raises nothing; loading CrewAI is no part of its time."""
        _room(self.contain)
        sides = {side: list(models) for side, models in setup.models().items()}
        phases = [phase.kind for phase in setup.phases]
        tell("run", ticker=pack.ticker, as_of=pack.as_of, horizon=HORIZON, plan=setup.plan, phases=phases, sides=sides, started_at=started_at)
        client = network_client(self.base_url or "")
        carrier, trace = NetworkCarrier(client, float(setup.decision_seconds)), Trace(lambda call: _tell_call(tell, call))
        with _hanging_up(carrier):
            held = self._held(pack, setup, carrier, trace, carrier.left, self.key(), tell)
        trace.close(unanswered(parcel, carried, json.loads(parcel.body).get("model", "")) for parcel, carried in carrier.close())
        return _debated(pack, setup, started_at, held, trace)

    def again(self, pack: EvidencePack, transcript: Transcript) -> Debated:
        """The same debate from its record, without a socket. Raises ReplayDiffers at the first request that is not the recorded one."""
        carrier, trace = RecordedCarrier(transcript.calls, transcript.fault), Trace()
        held = self._held(pack, transcript.setup, carrier, trace, lambda: None, "from-the-record", Events())
        difference = carrier.difference or carrier.unused()
        if difference:
            raise ReplayDiffers(difference, fix="replay it with the program and the packages that made it")
        return _debated(pack, transcript.setup, transcript.started_at, held, trace)

    def _held(self, pack: EvidencePack, setup: Setup, carrier: Carrier, trace: Trace, left: Callable[[], float | None], key: str, tell: Events) -> Held:
        room = _room(self.contain)

        def seated(asked: Asked) -> "Place":
            who, bounds = setup.side(asked.side), asked.bounds
            steps = _steps(bounds, who.tools if asked.has_tools else (), asked, trace, tell)
            place: Place = room.Place(
                role=who.role,
                goal=who.goal,
                backstory=who.backstory,
                route=self.provider.route,
                model=bounds.model,
                temperature=None if bounds.temperature is None else float(bounds.temperature),
                api_key=key,
                base_url=self.base_url,
                repairs=bounds.repairs,
                tools=tools_of(asked.side, pack, steps) if asked.has_tools else (),
                wire=Wire(self._seat(setup, asked), DIALECTS[self.provider.route], carrier, Purse(bounds.calls, bounds.tokens), steps, trace),
            )
            return place

        return Debate(pack, setup, room.CrewRoom(seated, left), self.read, tell).hold()

    def _seat(self, setup: Setup, asked: Asked) -> Seat:
        price, bounds = setup.prices.get(asked.bounds.model), asked.bounds
        return Seat(
            phase=asked.phase,
            round=asked.round,
            side=asked.side,
            model=bounds.model,
            cap=bounds.completion_tokens,
            seconds=float(bounds.call_seconds),
            attempts=setup.call_attempts,
            cap_field=self.provider.cap_field,
            headers=self.provider.headers,
            foreign_markers=tuple(marker for side, marker in setup.markers.items() if asked.side in setup.markers and side != asked.side),
            price=None if price is None else Price(prompt=Decimal(price["prompt"]), completion=Decimal(price["completion"])),
        )


@contextmanager
def _hanging_up(carrier: NetworkCarrier) -> Iterator[None]:
    """Whatever ends a debate ends its exchanges: who interrupts the program does not wait for a model."""
    _CALLING.add(carrier)
    try:
        yield
    finally:
        _CALLING.discard(carrier)
        carrier.close()


def hang_up() -> None:
    """Ends the exchanges of every debate of this process."""
    for carrier in tuple(_CALLING):
        carrier.close()


def _room(contain: Callable[[], AbstractContextManager[None]]) -> Any:
    """The module that imports CrewAI, loaded once: several debates may begin at the same time."""
    with _LOADING:
        if ROOM in sys.modules:
            return sys.modules[ROOM]
        with contain():
            return importlib.import_module(ROOM)


def _steps(bounds: Bounds, own: tuple[str, ...], asked: Asked, trace: Trace, tell: Events) -> Steps:
    def told(number: int, name: str, arguments: str, status: ToolStatus) -> None:
        record = ToolRecord(phase=asked.phase, round=asked.round, side=asked.side, tool=name, arguments=arguments, status=status)
        trace.tool(number, record)
        tell("tool_called", round=asked.round, side=asked.side, tool=name, status=status)

    return Steps(bounds.tool_calls, own, tuple(DESCRIPTIONS), told)


def _tell_call(tell: Events, call: CallRecord) -> None:
    """What one call took; a call without a usage or a price says so with null."""
    usage = call.usage
    cost = {"prompt_tokens": usage.prompt if usage else None, "completion_tokens": usage.completion if usage else None, "cost_usd": call.cost_usd}
    fault = call.fault.kind if call.fault else None
    tell("call_completed", phase=call.phase, round=call.round, side=call.side, attempt=call.attempt, latency_ms=call.latency_ms, fault=fault, **cost)


def _debated(pack: EvidencePack, setup: Setup, started_at: datetime, held: Held, trace: Trace) -> Debated:
    calls = trace.calls()
    transcript = Transcript(
        status="failed" if held.fault else "completed",
        started_at=started_at,
        pack_sha256=pack.sha256,
        setup=setup,
        turns=held.turns,
        debate=held.debate,
        tools=trace.tools(),
        calls=calls,
        fault=held.fault,
        usage=usage_of(calls),
    )
    return Debated(_result(pack, setup, held), transcript)


def usage_of(calls: tuple[CallRecord, ...]) -> Usage:
    """What all calls cost together, those of failed turns included; the price of a call without a known one is left out of the sum."""
    paid = [call.usage for call in calls if call.usage]
    cost = sum((Decimal(call.cost_usd) for call in calls if call.cost_usd), Decimal(0))
    return Usage(calls=len(calls), prompt_tokens=sum(u.prompt for u in paid), completion_tokens=sum(u.completion for u in paid), cost_usd=decimal_text(cost))


def _result(pack: EvidencePack, setup: Setup, held: Held) -> EngineResult | None:
    if held.verdict is None:
        return None
    base = next(iter(pack.find("get_price_history", "base_rate")), None)
    return EngineResult(
        engine="crew",
        proposal_text=held.verdict,
        bull_case=_case("bull", setup, held.debate),
        bear_case=_case("bear", setup, held.debate),
        base_rate=None if base is None else base.payload.get("p0"),
        debate=_summary(setup, held.debate),
    )


def _summary(setup: Setup, debate: DebateRecord) -> DebateSummary:
    metrics = debate.metrics
    points = metrics.trajectory if metrics else ()
    return DebateSummary(
        plan=setup.plan,
        rounds=tuple(
            DebateRound(
                round=point.round, bull=decimal_text(point.bull), bear=decimal_text(point.bear), gap=decimal_text(point.gap), mid=decimal_text(point.mid)
            )
            for point in points
        ),
        outcome=metrics.outcome if metrics else None,
        debate_class=metrics.debate_class if metrics and setup.plan != "quick" else None,
        flags=tuple(dict.fromkeys(f"{flag.name}:{flag.side}" if flag.side else flag.name for flag in metrics.flags)) if metrics else (),
        skipped=debate.skipped.reason if debate.skipped else None,
    )


def _case(side: Debater, setup: Setup, debate: DebateRecord) -> Case:
    opening, model = _opening(side, debate), setup.models()[side]
    claims = [claim for claim in debate.metrics.ledger.claims if claim.side == side] if debate.metrics else []
    return Case(
        side=side,
        label=f"{setup.side(side).role}, {', '.join(model)} at {setup.provider}",
        summary=opening.no_case or (claims[0].claim.text if claims else NOTHING_STOOD),
        no_case=opening.no_case,
        lines=tuple(_line(claim, debate) for claim in claims),
        holes=(),
        evidence_ids=tuple(dict.fromkeys(id for claim in claims for id in claim.claim.evidence_ids)),
        p_up=decimal_text(next(turn.p_up for turn in reversed(debate.turns) if turn.side == side)),
        stance=opening.stance,
        counter=opening.strongest_counter,
    )


def _opening(side: Debater, debate: DebateRecord) -> Opening:
    return next(turn.answer for turn in debate.turns if turn.side == side and isinstance(turn.answer, Opening))


def _line(state: ClaimState, debate: DebateRecord) -> CaseLine:
    claim = state.claim
    return CaseLine(
        text=claim.text,
        factor=claim.kind,
        weight="0.0",
        evidence_ids=claim.evidence_ids,
        claim_id=state.id,
        severity=claim.severity,
        direction=claim.direction,
        status=state.status,
        faults=_found(state, debate),
    )


def _found(state: ClaimState, debate: DebateRecord) -> tuple[str, ...]:
    """What code has to say about a claim."""
    contradicted = debate.checked.get(state.id) == "contradicted"
    return ("the evidence that it cites says another number",) if contradicted else ()
