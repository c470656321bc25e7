"""One turn's way to its model: what is recorded, what is handed on, and what ends it."""

import json
from collections.abc import Sequence
from typing import Any

import httpx
import pytest

from alphaagent.domain.transcript import CallRecord, Fault, FaultKind
from alphaagent.llm.carrier import Carried, Key, Parcel, RecordedCarrier
from alphaagent.llm.dialects import DIALECTS
from alphaagent.llm.prices import Price
from alphaagent.llm.purse import Purse
from alphaagent.llm.steps import Steps
from alphaagent.llm.trace import Trace
from alphaagent.llm.wire import Seat, Wire, WireEnded, unanswered

SECRET = "sk-secret-of-this-test"
DOCUMENT = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
SEAT = Seat("opening", 1, "bull", "m", 500, 5.0, 3, "max_tokens", {}, (), Price(prompt=1, completion=1))  # type: ignore[arg-type]


def said(text: str = "yes", calls: Sequence[dict[str, Any]] = ()) -> bytes:
    message = {"content": text, "tool_calls": [{"id": "c", "function": call} for call in calls]}
    return json.dumps({"choices": [{"message": message}], "usage": {"prompt_tokens": 5, "completion_tokens": 4}}).encode()


def came(body: bytes, status: int = 200, content_type: str = "application/json") -> Carried:
    return Carried(1, 0, 1, status, content_type, body)


class Carries:
    """Gives these answers, one after the other."""

    def __init__(self, *answers: Carried) -> None:
        self._answers = list(answers)
        self.sent: list[Parcel] = []

    def carry(self, parcel: Parcel) -> Carried:
        self.sent.append(parcel)
        return self._answers.pop(0)

    def rest(self, seconds: float, upcoming: Key) -> bool:
        return True


class Turn:
    """A wire over a carrier; `heard` is what the client got, `ended` what was raised instead."""

    def __init__(self, carrier: Carries | RecordedCarrier, header: str = "authorization", key: str = f"Bearer {SECRET}", calls: int = 6) -> None:
        self.trace = Trace()
        steps = Steps(2, ("news",), ("news",), lambda *_: None)
        self.wire = Wire(SEAT, DIALECTS["openai"], carrier, Purse(calls, 40_000), steps, self.trace)
        self.heard: httpx.Response | None = None
        self.ended = ""
        try:
            self.heard = self.wire.handle_request(httpx.Request("POST", "http://m.example/v1/x", headers={header: key}, json=DOCUMENT))
        except WireEnded as ended:
            self.ended = f"{ended} {self.wire.fault}"

    @property
    def calls(self) -> tuple[CallRecord, ...]:
        return self.trace.calls()

    def everything(self) -> str:
        return "".join(call.model_dump_json() for call in self.calls) + self.ended + (self.heard.text + str(self.heard.headers) if self.heard else "")


ECHOES = {
    "a refusal": came(f"the key {SECRET} is wrong".encode(), 401),
    "an error in a good status": came(json.dumps({"error": {"message": f"bad key {SECRET}"}}).encode()),
    "an answer": came(said(f"I was given {SECRET}")),
    "an answer with escapes": came(said("I was given it: #").replace(b"#", b"\\u0073" + SECRET[1:].encode())),
    "tool arguments": came(said(calls=[{"name": "news", "arguments": f'{{"key": "{SECRET}"}}'}])),
    "no text": came(b"\xff" + SECRET.encode()),
    "a content type": came(said(), 200, f"text/{SECRET}"),
}


@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES)
@pytest.mark.parametrize("header", ["authorization", "x-api-key", "x-goog-api-key"])
def test_a_key_that_a_server_repeats_is_recorded_nowhere_and_handed_on_to_nobody(echo: Carried, header: str) -> None:
    turn = Turn(Carries(echo), header, f"Bearer {SECRET}" if header == "authorization" else SECRET)
    assert SECRET not in turn.everything()
    again = Turn(RecordedCarrier(turn.calls, None), header, "from-the-record")
    assert again.everything() == turn.everything()


def test_a_placeholder_for_a_key_is_left_in_the_text() -> None:
    body = said("ollama \\ it is")
    heard = Turn(Carries(came(body)), key="Bearer ollama").heard
    assert heard is not None
    assert heard.content == body


def ended(kind: FaultKind, *, may_be_paid: bool) -> Carried:
    return Carried(1, 0, 1, fault=Fault(kind=kind, message="it ended"), may_be_paid=may_be_paid)


UNKNOWN = {
    "a deadline": ended("deadline", may_be_paid=True),
    "a timeout": ended("timeout", may_be_paid=True),
    "an answer that is too long": ended("malformed", may_be_paid=True),
    "no usage": came(said().replace(b"usage", b"used")),
    "no JSON": came(b"yes"),
}
FREE = {"an address that leads nowhere": ended("unreachable", may_be_paid=False)} | {str(status): came(b"{}", status) for status in (400, 401, 429, 500, 503)}


@pytest.mark.parametrize("answer", UNKNOWN.values(), ids=UNKNOWN)
def test_a_call_that_was_sent_and_does_not_say_what_it_cost_is_booked_at_its_most(answer: Carried) -> None:
    turn = Turn(Carries(answer))
    (call,) = turn.calls
    assert call.usage
    assert (call.estimated, call.usage.prompt, call.usage.completion) == (True, len(call.request) // 4, 500)
    assert call.cost_usd == f"{(len(call.request) // 4 + 500) / 10**6:f}"
    assert Turn(RecordedCarrier(turn.calls, None)).calls == turn.calls


@pytest.mark.parametrize("answer", FREE.values(), ids=FREE)
def test_what_was_refused_or_never_arrived_costs_nothing(answer: Carried) -> None:
    turn = Turn(Carries(*[answer] * 3))
    assert {(call.usage, call.estimated, call.cost_usd) for call in turn.calls} == {(None, False, None)}


def test_a_call_that_was_in_flight_at_the_end_is_booked_at_its_most() -> None:
    carries = Carries(came(said()))
    Turn(carries)
    sent = carries.sent
    call = unanswered(sent[0], ended("deadline", may_be_paid=True), "m")
    assert (call.estimated, call.usage, call.cost_usd) == (True, sent[0].most, sent[0].most_usd)
    assert unanswered(sent[0], ended("deadline", may_be_paid=False), "m").usage is None


@pytest.mark.parametrize(("calls", "made"), [(1, 1), (2, 2), (3, 3), (6, 3)])
def test_a_turn_repeats_no_request_beyond_its_calls(calls: int, made: int) -> None:
    turn = Turn(Carries(*[came(b"{}", 503)] * 3), calls=calls)
    assert len(turn.calls) == made
    assert turn.wire.fault
    assert turn.wire.fault.kind == "http"
    assert len(Turn(RecordedCarrier(turn.calls, None), calls=calls).calls) == made


@pytest.mark.parametrize(("came_as", "handed_on"), [("text/j\u00e9son", "application/json"), ("text/\u4e00", "application/json"), ("text/plain", "text/plain")])
def test_a_content_type_that_no_header_can_hold_is_handed_on_as_json(came_as: str, handed_on: str) -> None:
    heard = Turn(Carries(came(said(), content_type=came_as))).heard
    assert heard is not None
    assert heard.headers["content-type"] == handed_on
