"""The crew engine: a setup and a pack go in, an opinion or a fault comes out, and the whole of it as a transcript.

The same code runs live and from a record; only the carrier differs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from alphaagent.debate.orchestrate import Asked, Heard, ReadProposal, claim_id, hold
from alphaagent.domain.argument import Opening, Thresholds
from alphaagent.domain.base import decimal_text
from alphaagent.domain.debate import Case, CaseLine, EngineResult
from alphaagent.domain.evidence import EvidencePack, Side
from alphaagent.domain.record import Usage
from alphaagent.domain.transcript import CallRecord, Fault, Setup, SideSetup, ToolRecord, Transcript
from alphaagent.engines.crew.tools import DESCRIPTIONS, tools_of
from alphaagent.errors import ReplayDiffers
from alphaagent.llm.carrier import Carrier, RecordedCarrier
from alphaagent.llm.dialect import DIALECTS
from alphaagent.llm.network import NetworkCarrier, network_client
from alphaagent.llm.prices import Price
from alphaagent.llm.provider import Provider
from alphaagent.llm.purse import Purse
from alphaagent.llm.steps import Steps, ToolStatus
from alphaagent.llm.trace import Trace
from alphaagent.llm.wire import Seat, Wire, unanswered

if TYPE_CHECKING:
    from alphaagent.engines.crew.room import Place


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
    contain: Callable[[], None]
    """Keeps CrewAI away from the user's environment and home folder; called before it is imported."""

    def debate(self, pack: EvidencePack, setup: Setup, started_at: datetime) -> Debated:
        """A debate over the network. What goes wrong in it is a fault of the transcript and raises nothing."""
        client = network_client(self.base_url or "")
        carrier, trace = NetworkCarrier(client, float(setup.decision_seconds)), Trace()
        heard = self._held(pack, setup, carrier, trace, carrier.left, self.key())
        for parcel, carried in carrier.close():
            trace.call(unanswered(parcel, carried, _who(setup, parcel.key[2]).model))
        trace.close()
        return _debated(pack, setup, started_at, heard, trace)

    def again(self, pack: EvidencePack, transcript: Transcript) -> Debated:
        """The same debate from its record, without a socket. Raises ReplayDiffers at the first request that is not the recorded one."""
        carrier, trace = RecordedCarrier(transcript.calls, transcript.fault), Trace()
        heard = self._held(pack, transcript.setup, carrier, trace, lambda: None, "from-the-record")
        difference = carrier.difference or carrier.unused()
        if difference:
            raise ReplayDiffers(difference, fix="replay it with the program and the packages that made it")
        return _debated(pack, transcript.setup, transcript.started_at, heard, trace)

    def _held(self, pack: EvidencePack, setup: Setup, carrier: Carrier, trace: Trace, left: Callable[[], float | None], key: str) -> Heard:
        self.contain()
        from alphaagent.engines.crew.room import CrewRoom, Place

        purses = {who.side: Purse(who.calls, who.tokens) for who in setup.sides}

        def seated(asked: Asked) -> "Place":
            who = _who(setup, asked.side)
            steps = _steps(who, asked, trace)
            return Place(
                role=who.role,
                goal=who.goal,
                backstory=who.backstory,
                route=self.provider.route,
                model=who.model,
                temperature=None if who.temperature is None else float(who.temperature),
                api_key=key,
                base_url=self.base_url,
                repairs=who.repairs,
                tools=tools_of(asked.side, pack, steps),
                wire=Wire(self._seat(setup, who, asked), DIALECTS[self.provider.route], carrier, purses[asked.side], steps, trace),
            )

        return hold(pack, setup, Thresholds(max_claims=setup.max_claims), CrewRoom(seated, left), self.read)

    def _seat(self, setup: Setup, who: SideSetup, asked: Asked) -> Seat:
        price = setup.prices.get(who.model)
        return Seat(
            phase=asked.phase,
            round=asked.round,
            side=asked.side,
            model=who.model,
            cap=who.completion_tokens,
            seconds=float(who.call_seconds),
            attempts=setup.call_attempts,
            cap_field=self.provider.cap_field,
            headers=self.provider.headers,
            foreign_markers=tuple(marker for side, marker in setup.markers.items() if asked.side in setup.markers and side != asked.side),
            price=None if price is None else Price(prompt=Decimal(price["prompt"]), completion=Decimal(price["completion"])),
        )


def _steps(who: SideSetup, asked: Asked, trace: Trace) -> Steps:
    def told(number: int, name: str, arguments: str, status: ToolStatus) -> None:
        record = ToolRecord(phase=asked.phase, round=asked.round, side=asked.side, tool=name, arguments=arguments, status=status)
        trace.tool(number, record)

    return Steps(who.tool_calls, who.tools, tuple(DESCRIPTIONS), told)


def _who(setup: Setup, side: Side) -> SideSetup:
    return next(one for one in setup.sides if one.side == side)


def _debated(pack: EvidencePack, setup: Setup, started_at: datetime, heard: Heard, trace: Trace) -> Debated:
    calls = trace.calls()
    transcript = Transcript(
        status="failed" if heard.fault else "completed",
        started_at=started_at,
        pack_sha256=pack.sha256,
        setup=setup,
        turns=heard.turns,
        tools=trace.tools(),
        calls=calls,
        fault=heard.fault,
        usage=usage_of(calls),
    )
    return Debated(_result(pack, setup, heard), transcript)


def usage_of(calls: tuple[CallRecord, ...]) -> Usage:
    """What all calls cost together, those of failed turns included; the price of a call without a known one is left out of the sum."""
    paid = [call.usage for call in calls if call.usage]
    cost = sum((Decimal(call.cost_usd) for call in calls if call.cost_usd), Decimal(0))
    return Usage(
        calls=len(calls), prompt_tokens=sum(u.prompt for u in paid), completion_tokens=sum(u.completion for u in paid), cost_usd=decimal_text(cost)
    )


def _result(pack: EvidencePack, setup: Setup, heard: Heard) -> EngineResult | None:
    if heard.verdict is None or heard.bull is None or heard.bear is None:
        return None
    base = next(iter(pack.find("get_price_history", "base_rate")), None)
    return EngineResult(
        engine="crew",
        proposal_text=heard.verdict,
        bull_case=_case("bull", setup, heard.bull, heard),
        bear_case=_case("bear", setup, heard.bear, heard),
        base_rate=None if base is None else base.payload.get("p0"),
    )


def _case(side: Side, setup: Setup, opening: Opening, heard: Heard) -> Case:
    who = _who(setup, side)
    lines = tuple(
        CaseLine(
            text=claim.text,
            factor=claim.kind,
            weight="0.0",
            evidence_ids=claim.evidence_ids,
            claim_id=claim_id(side, number),
            severity=claim.severity,
            direction=claim.direction,
            faults=tuple(fault.message for fault in heard.faults[side] if fault.claim == number),
        )
        for number, claim in enumerate(opening.claims, start=1)
    )
    return Case(
        side="bull" if side == "bull" else "bear",
        label=f"{who.role}, {who.model} at {setup.provider}",
        summary=opening.no_case or opening.claims[0].text,
        no_case=opening.no_case,
        lines=lines,
        holes=(),
        evidence_ids=tuple(dict.fromkeys(name for claim in opening.claims for name in claim.evidence_ids)),
        p_up=decimal_text(opening.p_up),
        stance=opening.stance,
        counter=opening.strongest_counter,
    )
