"""The crew engine: a setup and a pack go in, an opinion or a fault comes out, and the whole of it as a transcript.

The same code runs live and from a record; only the carrier differs.
"""

import importlib
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from alphaagent.debate.orchestrate import Asked, Heard, Opened, ReadProposal, hold
from alphaagent.debate.thresholds import Thresholds
from alphaagent.domain.base import decimal_text
from alphaagent.domain.debate import Case, CaseLine, EngineResult
from alphaagent.domain.evidence import EvidencePack, Side
from alphaagent.domain.record import Usage
from alphaagent.domain.transcript import CallRecord, Fault, Setup, SideSetup, ToolRecord, Transcript
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

    def debate(self, pack: EvidencePack, setup: Setup, started_at: datetime) -> Debated:
        """A debate over the network. What goes wrong in it is a fault of the transcript and raises nothing; loading CrewAI is no part of its time."""
        _room(self.contain)
        client = network_client(self.base_url or "")
        carrier, trace = NetworkCarrier(client, float(setup.decision_seconds)), Trace()
        heard = self._held(pack, setup, carrier, trace, carrier.left, self.key())
        trace.close(unanswered(parcel, carried, _who(setup, parcel.key[2]).model) for parcel, carried in carrier.close())
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
        room = _room(self.contain)

        def seated(asked: Asked) -> "Place":
            who = _who(setup, asked.side)
            steps = _steps(who, asked, trace)
            place: Place = room.Place(
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
                wire=Wire(self._seat(setup, who, asked), DIALECTS[self.provider.route], carrier, Purse(who.calls, who.tokens), steps, trace),
            )
            return place

        return hold(pack, setup, Thresholds(max_claims=setup.max_claims), room.CrewRoom(seated, left), self.read)

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


def _room(contain: Callable[[], AbstractContextManager[None]]) -> Any:
    """The module that imports CrewAI, loaded once: several debates may begin at the same time."""
    with _LOADING:
        if ROOM in sys.modules:
            return sys.modules[ROOM]
        with contain():
            return importlib.import_module(ROOM)


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
    return Usage(calls=len(calls), prompt_tokens=sum(u.prompt for u in paid), completion_tokens=sum(u.completion for u in paid), cost_usd=decimal_text(cost))


def _result(pack: EvidencePack, setup: Setup, heard: Heard) -> EngineResult | None:
    if heard.verdict is None or heard.bull is None or heard.bear is None:
        return None
    base = next(iter(pack.find("get_price_history", "base_rate")), None)
    return EngineResult(
        engine="crew",
        proposal_text=heard.verdict,
        bull_case=_case(setup, heard.bull),
        bear_case=_case(setup, heard.bear),
        base_rate=None if base is None else base.payload.get("p0"),
    )


def _case(setup: Setup, opened: Opened) -> Case:
    who, opening = _who(setup, opened.side), opened.opening
    lines = tuple(
        CaseLine(
            text=claim.text,
            factor=claim.kind,
            weight="0.0",
            evidence_ids=claim.evidence_ids,
            claim_id=name,
            severity=claim.severity,
            direction=claim.direction,
            faults=notes,
        )
        for name, claim, notes in opened.claims()
    )
    return Case(
        side="bull" if opened.side == "bull" else "bear",
        label=f"{who.role}, {who.model} at {setup.provider}",
        summary=opening.no_case or (opening.claims[0].text if opening.claims else NOTHING_STOOD),
        no_case=opening.no_case,
        lines=lines,
        holes=(),
        evidence_ids=tuple(dict.fromkeys(id for claim in opening.claims for id in claim.evidence_ids)),
        p_up=decimal_text(opening.p_up),
        stance=opening.stance,
        counter=opening.strongest_counter,
    )
