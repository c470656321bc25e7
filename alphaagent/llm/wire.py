"""The transport under the provider's own client: everything that one turn sends or hears passes here, is bounded here and is recorded here.

It stands at the transport and not in CrewAI's interceptor, because an interceptor can neither answer from a record nor end an exchange, and
CrewAI's Gemini client takes none. The provider's libraries are told not to repeat anything: the one rule for repeating a request is here, so
that every attempt is counted, booked and recorded.
"""

import base64
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, replace

import httpx

from alphaagent.domain.base import decimal_text, sha256_hex
from alphaagent.domain.evidence import Side
from alphaagent.domain.transcript import CallRecord, Fault, PhaseKind, Reply, TokenUsage
from alphaagent.llm.carrier import Carried, Carrier, Key, Parcel
from alphaagent.llm.dialect import DefectiveReply, Dialect
from alphaagent.llm.prices import Price
from alphaagent.llm.purse import BYTES_PER_TOKEN, Purse
from alphaagent.llm.steps import Steps
from alphaagent.llm.trace import Trace

FIRST_REST_SECONDS = 0.5
TRANSIENT = (408, 425, 500, 502, 503, 504, 529)
SAID_WITH = (400, 404, 422, 500)
WITHOUT_TOOLS = (
    "not support tools",
    "n't support tools",
    "tools are not supported",
    "tool calling is not supported",
    "tool calls are not supported",
    "not support function calling",
    "function calling is not supported",
    "function calling is not enabled",
    "support tool use",
    "--enable-auto-tool-choice",
    "tools param requires --jinja",
)
"""How servers say that a model, or the way it is served, cannot call tools: Ollama, Gemini, OpenRouter, vLLM and llama.cpp have words of their own."""
TOLD_WITHOUT_TOOLS = b'{"error": {"message": "the model does not support tools", "code": 400}}'
"""The same in the one wording and the one status that CrewAI knows."""
KEY_HEADERS = ("authorization", "x-api-key", "x-goog-api-key")
SHORTEST_KEY = 8
NO_KEY = "[key]"
KEPT_HEADERS = ("authorization", "x-api-key", "x-goog-api-key", "anthropic-version", "content-type", "accept", "user-agent")


class WireEnded(Exception):
    """Raised through the provider's client once a turn cannot go on; the reason is the wire's `fault`."""


@dataclass(frozen=True, slots=True)
class Seat:
    """Whose turn it is and what its requests may be."""

    phase: PhaseKind
    round: int
    side: Side
    model: str
    cap: int
    seconds: float
    attempts: int
    cap_field: str
    headers: Mapping[str, str]
    """What this provider wants to see on every request, besides its key."""
    foreign_markers: tuple[str, ...]
    """The other side's private words: a request or a reply with one of them breaks the isolation."""
    price: Price | None


@dataclass(frozen=True, slots=True)
class _Heard:
    """What an exchange amounted to; with neither reply nor fault the model has no tools, and is to be asked again without them."""

    reply: Reply | None = None
    usage: TokenUsage | None = None
    fault: Fault | None = None
    transient: bool = False


class Wire(httpx.BaseTransport):
    """One turn's way to its model. Once it has a `fault`, nothing more is sent."""

    def __init__(self, seat: Seat, dialect: Dialect, carrier: Carrier, purse: Purse, steps: Steps, trace: Trace) -> None:
        self._seat, self._dialect, self._carrier = seat, dialect, carrier
        self._purse, self._steps, self._trace = purse, steps, trace
        self._number = 0
        self.fault: Fault | None = None
        self.used_up = False
        """Whether the last reply took all the tokens that it might have, whatever its provider called that."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Raises WireEnded where the turn ends here."""
        if self.fault is not None:
            raise WireEnded
        self._number += 1
        document = json.loads(request.read())
        cap = self._purse.cap(len(request.content), self._seat.cap)
        if isinstance(cap, Fault):
            raise self._end(cap)
        body = json.dumps(self._dialect.with_cap(document, cap, self._seat.cap_field), ensure_ascii=False, separators=(",", ":")).encode()
        if any(marker.encode() in body for marker in self._seat.foreign_markers):
            raise self._end(Fault(kind="isolation", message=f"the {self._seat.side} was about to be shown the other side's private input; nothing was sent"))
        carried = self._exchange(request, body, cap)
        if carried is None:
            return httpx.Response(400, headers={"content-type": "application/json"}, content=TOLD_WITHOUT_TOOLS, request=request)
        return httpx.Response(carried.status or 0, headers={"content-type": _handed_on(carried.content_type)}, content=carried.body, request=request)

    def _exchange(self, request: httpx.Request, body: bytes, cap: int) -> Carried | None:
        """What came back; None where the model has no tools. Raises WireEnded. A repeated request is a call like any other."""
        for attempt in range(1, self._seat.attempts + 1):
            self._purse.spend_call()
            parcel = self._parcel(request, body, attempt, cap)
            carried = _without_key(self._carrier.carry(parcel), keys_in(request.headers))
            heard = self._judged(self._heard(carried, body), cap)
            self._trace.call(self._record(parcel, carried, heard))
            if heard.fault is None:
                return carried if heard.reply else None
            if not (heard.transient and attempt < self._seat.attempts and self._purse.calls > 0 and self._rests(carried, parcel)):
                raise self._end(heard.fault)
        raise AssertionError("the last attempt ends the loop")

    def _parcel(self, request: httpx.Request, body: bytes, attempt: int, cap: int) -> Parcel:
        headers = {name: value for name, value in request.headers.items() if name in KEPT_HEADERS} | dict(self._seat.headers)
        seat = self._seat
        key: Key = (seat.phase, seat.round, seat.side, self._number, attempt)
        most = TokenUsage(prompt=len(body) // BYTES_PER_TOKEN, completion=cap)
        return Parcel(key, str(request.url), request.url.path, headers, body, seat.seconds, most, self._usd(most))

    def _usd(self, usage: TokenUsage) -> str | None:
        return decimal_text(self._seat.price.cost(usage)) if self._seat.price else None

    def _rests(self, carried: Carried, parcel: Parcel) -> bool:
        phase, round_, side, number, attempt = parcel.key
        seconds = carried.retry_after_seconds if carried.retry_after_seconds is not None else FIRST_REST_SECONDS * attempt
        return self._carrier.rest(seconds, (phase, round_, side, number, attempt + 1))

    def _heard(self, carried: Carried, body: bytes) -> _Heard:
        if carried.fault is not None:
            return _Heard(fault=carried.fault, transient=carried.fault.kind == "unreachable")
        status = carried.status or 0
        if not 200 <= status < 300:
            return _refused(status, carried.body or b"", body)
        try:
            reply = self._dialect.read(carried.body or b"")
        except DefectiveReply as defect:
            return _Heard(usage=defect.usage, fault=Fault(kind=defect.kind, message=defect.message))
        return _Heard(reply, reply.usage)

    def _judged(self, heard: _Heard, cap: int) -> _Heard:
        """What a reply cost is booked whatever comes of it; then it must keep within its bounds."""
        self.used_up = heard.usage is not None and heard.usage.completion >= cap
        overrun = self._purse.settle(heard.usage, cap) if heard.usage else None
        if heard.reply is None:
            return heard
        text = heard.reply.text + "".join(call.arguments for call in heard.reply.tool_calls)
        if any(marker in text for marker in self._seat.foreign_markers):
            return replace(heard, fault=Fault(kind="isolation", message=f"the {self._seat.side} wrote what only the other side was told"))
        return replace(heard, fault=overrun or self._steps.take(self._number, heard.reply.tool_calls))

    def _record(self, parcel: Parcel, carried: Carried, heard: _Heard) -> CallRecord:
        seat = self._seat
        text, is_base64 = _as_text(carried.body)
        estimated = heard.usage is None and _may_be_paid(carried)
        usage = parcel.most if estimated else heard.usage
        return CallRecord(
            phase=seat.phase,
            round=seat.round,
            side=seat.side,
            number=self._number,
            attempt=parcel.key[4],
            seq=carried.seq,
            model=seat.model,
            path=parcel.path,
            request=parcel.body.decode(),
            request_sha256=sha256_hex(parcel.body),
            status=carried.status,
            content_type=carried.content_type,
            response=text,
            response_is_base64=is_base64,
            reply=heard.reply,
            usage=usage,
            estimated=estimated,
            fault=heard.fault,
            cost_usd=None if usage is None else self._usd(usage),
            started_ms=carried.started_ms,
            latency_ms=carried.latency_ms,
        )

    def _end(self, fault: Fault) -> WireEnded:
        self.fault = fault
        return WireEnded(fault.message)


def unanswered(parcel: Parcel, carried: Carried, model: str) -> CallRecord:
    """The record of a call that was still in flight when its debate ended."""
    phase, round_, side, number, attempt = parcel.key
    return CallRecord(
        phase=phase,
        round=round_,
        side=side,
        number=number,
        attempt=attempt,
        seq=carried.seq,
        model=model,
        path=parcel.path,
        request=parcel.body.decode(),
        request_sha256=sha256_hex(parcel.body),
        usage=parcel.most if carried.may_be_paid else None,
        estimated=carried.may_be_paid,
        fault=carried.fault,
        cost_usd=parcel.most_usd if carried.may_be_paid else None,
        started_ms=carried.started_ms,
        latency_ms=carried.latency_ms,
    )


def keys_in(headers: Mapping[str, str]) -> tuple[str, ...]:
    """The secrets of a request as sent. A shorter one than eight characters is a placeholder that might stand in any text."""
    found = (headers.get(name, "").removeprefix("Bearer ").strip() for name in KEY_HEADERS)
    return tuple(key for key in found if len(key) >= SHORTEST_KEY)


def _without_key(carried: Carried, keys: tuple[str, ...]) -> Carried:
    """What came back, as the record, the client and a replay may see it: some servers repeat the key that they refuse."""
    for key in keys:
        body, kind, fault = carried.body, carried.content_type, carried.fault
        carried = replace(
            carried,
            body=None if body is None else _body_without(body, key),
            content_type=None if kind is None else kind.replace(key, NO_KEY),
            fault=None if fault is None else Fault(kind=fault.kind, message=fault.message.replace(key, NO_KEY)),
        )
    return carried


def _body_without(body: bytes, key: str) -> bytes:
    """The body with the key blotted out, also where JSON writes it with escapes; every other body stays as it came, byte for byte."""
    body = body.replace(key.encode(), NO_KEY.encode())
    if b"\\" not in body:
        return body
    try:
        plain = json.dumps(json.loads(body), ensure_ascii=False)
        escaped = json.dumps(key, ensure_ascii=False)[1:-1]
        return plain.replace(escaped, NO_KEY).encode() if escaped in plain else body
    except (ValueError, RecursionError):
        return body


def _handed_on(content_type: str | None) -> str:
    """The client's library writes headers in ASCII and ends in an error of its own on any other; the body says what it is."""
    content_type = content_type or ""
    return content_type if content_type.isascii() else "application/json"


def _may_be_paid(carried: Carried) -> bool:
    """Whether a call whose cost is not stated can have had one; a provider that answers with an error status charges nothing."""
    return carried.may_be_paid if carried.fault else 200 <= (carried.status or 0) < 300


def _refused(status: int, answer: bytes, body: bytes) -> _Heard:
    """An HTTP error. One that says that the model has no tools ends nothing: CrewAI then asks again, in words."""
    if status in SAID_WITH and b'"tools":' in body and any(words in answer.decode("utf-8", "replace").lower() for words in WITHOUT_TOOLS):
        return _Heard()
    if status == 429:
        return _Heard(fault=Fault(kind="rate_limited", message="the provider refuses more requests for now (HTTP 429)"), transient=True)
    words = {401: "; is the key right?", 403: "; may the key use this model?", 404: "; does the model exist there?", 402: "; is the account in credit?"}
    return _Heard(fault=Fault(kind="http", message=f"the provider answered HTTP {status}{words.get(status, '')}"), transient=status in TRANSIENT)


def _as_text(body: bytes | None) -> tuple[str | None, bool]:
    if body is None:
        return None, False
    try:
        return body.decode(), False
    except UnicodeDecodeError:
        return base64.b64encode(body).decode(), True


def client_of(wire: Wire) -> httpx.Client:
    """What a provider's own library is handed instead of a client of its own."""
    return httpx.Client(transport=wire)


def idle_client(context: ssl.SSLContext) -> httpx.AsyncClient:
    """For a library that insists on a second client; nothing asks it for anything."""
    return httpx.AsyncClient(verify=context)
