"""What carries a request: the network, or the record of an earlier run."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from alphaagent.domain.evidence import Side
from alphaagent.domain.transcript import CallRecord, Fault, PhaseKind, TokenUsage
from alphaagent.errors import ReplayDiffers

Key = tuple[PhaseKind, int, Side, int, int]
"""Phase, round, side, number of the request in its turn, attempt."""
CONTEXT = 60


@dataclass(frozen=True, slots=True)
class Parcel:
    """One request, ready to go. `url` and `headers` never reach a record."""

    key: Key
    url: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    seconds: float
    """How long the whole exchange may take."""
    most: TokenUsage | None = None
    most_usd: str | None = None
    """What it is booked at where it was sent and nothing comes back that says what it cost."""


@dataclass(frozen=True, slots=True)
class Carried:
    """What came of it: a status and a body, or a fault; and when, in milliseconds since the debate began."""

    seq: int
    started_ms: int
    latency_ms: int
    status: int | None = None
    content_type: str | None = None
    body: bytes | None = None
    fault: Fault | None = None
    retry_after_seconds: float | None = None
    may_be_paid: bool = False
    """Whether the model may have been at work although no answer came whole."""


class Carrier(Protocol):
    """Carries parcels, several at once."""

    def carry(self, parcel: Parcel) -> Carried: ...
    def rest(self, seconds: float, upcoming: Key) -> bool:
        """Waits before another attempt; False where there is no time for one."""
        ...


class RecordedCarrier:
    """Answers from a record and touches no socket: the request must be the recorded one, byte for byte."""

    def __init__(self, calls: tuple[CallRecord, ...], ended_by: Fault | None) -> None:
        self._calls: dict[Key, CallRecord] = {(call.phase, call.round, call.side, call.number, call.attempt): call for call in calls}
        self._ended_by = ended_by
        self.difference: str | None = None
        """What differed first; the debate cannot go on after it."""

    def carry(self, parcel: Parcel) -> Carried:
        """Raises ReplayDiffers on a request that is not in the record, or that differs from it."""
        call = self._calls.pop(parcel.key, None)
        if call is None:
            if self._ended_by is not None and self._ended_by.kind == "deadline":
                return Carried(0, 0, 0, fault=self._ended_by)
            raise self._differs(f"request {_named(parcel.key)} is not in the record")
        if call.request.encode() != parcel.body or call.path != parcel.path:
            raise self._differs(f"request {_named(parcel.key)} differs: {_difference(call.path + call.request, parcel.path + parcel.body.decode())}")
        fault = call.fault if call.response is None else None
        return Carried(call.seq, call.started_ms, call.latency_ms, call.status, call.content_type, body_of(call), fault, may_be_paid=call.estimated)

    def rest(self, seconds: float, upcoming: Key) -> bool:  # noqa: ARG002 - the record knows, no time passes
        """Whether the record holds another attempt."""
        return upcoming in self._calls

    def unused(self) -> str | None:
        """What the record holds and nobody asked for."""
        return f"request {_named(next(iter(self._calls)))} of the record was not made" if self._calls else None

    def _differs(self, message: str) -> ReplayDiffers:
        self.difference = self.difference or message
        return ReplayDiffers(message, fix="replay it with the program and the packages that made it")


def body_of(call: CallRecord) -> bytes | None:
    """The body of a recorded reply."""
    if call.response is None:
        return None
    return base64.b64decode(call.response) if call.response_is_base64 else call.response.encode()


def _named(key: Key) -> str:
    phase, round_, side, number, attempt = key
    return f"{phase} {round_} of the {side}, number {number}" + (f", attempt {attempt}" if attempt > 1 else "")


def _difference(before: str, now: str) -> str:
    place = next((i for i, (a, b) in enumerate(zip(before, now, strict=False)) if a != b), min(len(before), len(now)))
    start = max(0, place - CONTEXT // 2)
    return f"at character {place}: recorded …{before[start : place + CONTEXT]}… now …{now[start : place + CONTEXT]}…"
