"""The scripted provider itself: wire forms, misbehaviour, bookkeeping, and that it ends at once."""

import http.client
import json
import threading
import time
import urllib.error
import urllib.request
from typing import Any

import pytest

from alphaagent.llm.dialects import DIALECTS
from tests.scripted_provider import (
    CallTools,
    Disconnect,
    Drip,
    HalfBody,
    Hang,
    Raw,
    Request,
    ScriptedProvider,
    Status,
    Text,
    role_of,
    wire,
)

MARKS = {"You are the bull": "bull", "You are the bear": "bear"}
PATHS = {"openai": "/v1/chat/completions", "anthropic": "/v1/messages", "gemini": "/v1beta/models/any:generateContent"}


def body_of(route: str, system: str) -> dict[str, Any]:
    return {
        "openai": {"messages": [{"role": "system", "content": system}, {"role": "user", "content": "?"}]},
        "anthropic": {"system": [{"type": "text", "text": system}], "messages": []},
        "gemini": {"systemInstruction": {"parts": [{"text": system}]}, "contents": []},
    }[route]


def post(provider: ScriptedProvider, route: str = "openai", system: str = "You are the bull.", timeout: float = 5) -> tuple[int, bytes]:
    data = json.dumps(body_of(route, system)).encode()
    request = urllib.request.Request(provider.host_url + PATHS[route], data, {"Content-Type": "application/json", "X-Seen": "yes"})
    with urllib.request.urlopen(request, timeout=timeout) as reply:
        return reply.status, reply.read()


def refused(provider: ScriptedProvider, route: str = "openai") -> tuple[int, dict[str, str], dict[str, Any]]:
    with pytest.raises(urllib.error.HTTPError) as caught:
        post(provider, route)
    with caught.value as fault:
        return fault.code, dict(fault.headers), json.loads(fault.read())


@pytest.mark.parametrize("route", PATHS)
def test_an_answer_and_tool_calls_come_in_the_paths_wire_form(route: Any) -> None:
    with ScriptedProvider([Text("yes", usage=(7, 3)), CallTools([("quote", '{"ticker":"ACME"}')])]) as provider:
        said, called = (DIALECTS[route].read(post(provider, route)[1]) for _ in range(2))
    assert (said.text, said.usage.prompt, said.usage.completion) == ("yes", 7, 3)
    assert [(call.name, call.arguments) for call in called.tool_calls] == [("quote", '{"ticker":"ACME"}')]


@pytest.mark.parametrize("route", PATHS)
def test_a_request_is_recorded_whole(route: str) -> None:
    with ScriptedProvider(lambda request: "yes") as provider:
        post(provider, route, "You are the bear.")
        (request,) = provider.requests
    assert (request.path, request.form, request.headers["x-seen"], request.system) == (PATHS[route], route, "yes", "You are the bear.")
    assert request.body == json.loads(request.raw) == body_of(route, "You are the bear.")
    assert request.completed is not None
    assert request.arrived <= request.completed
    assert role_of(request, MARKS) == "bear"


def test_a_role_that_is_not_clear_is_an_error() -> None:
    with ScriptedProvider(lambda request: "yes") as provider:
        post(provider, system="Nobody.")
        with pytest.raises(LookupError, match="fits"):
            role_of(provider.requests[0], MARKS)


def test_a_script_may_go_by_words_of_the_system_prompt() -> None:
    with ScriptedProvider({"the bull": ["one", "two"], "the bear": "always"}) as provider:
        said = [DIALECTS["openai"].read(post(provider, system=f"You are {who}.")[1]).text for who in ("the bull", "the bear", "the bull", "the bear")]
    assert said == ["one", "always", "two", "always"]


@pytest.mark.parametrize("code", [400, 401, 404, 429, 500, 529])
@pytest.mark.parametrize("route", PATHS)
def test_a_status_comes_with_its_headers_and_an_error_body(code: int, route: str) -> None:
    with ScriptedProvider([Status(code, headers={"Retry-After": "2"}, message="no")]) as provider:
        found, headers, body = refused(provider, route)
    assert (found, headers["Retry-After"], body["error"]["message"]) == (code, "2", "no")


def test_an_unknown_path_is_404() -> None:
    with ScriptedProvider(lambda request: "yes") as provider:
        with pytest.raises(urllib.error.HTTPError, match="404") as caught:
            urllib.request.urlopen(provider.host_url + "/elsewhere", timeout=5)
        caught.value.close()


def test_raw_bytes_and_their_type_come_as_they_are() -> None:
    with ScriptedProvider([Raw(b"<html>", "text/html")]) as provider:
        assert post(provider) == (200, b"<html>")


def test_a_body_that_drips_arrives_whole() -> None:
    body = wire("openai", Text("slow"))
    with ScriptedProvider([Drip(body, 0.0005)]) as provider:
        assert post(provider) == (200, body)


def test_half_a_body_is_noticed() -> None:
    with ScriptedProvider([HalfBody()]) as provider, pytest.raises(http.client.IncompleteRead):
        post(provider)


@pytest.mark.parametrize("step", [Disconnect(), Hang(0.01)])
def test_a_connection_that_closes_without_a_reply_is_noticed(step: Any) -> None:
    with ScriptedProvider([step]) as provider, pytest.raises(http.client.RemoteDisconnected):
        post(provider)


def test_the_most_requests_at_once_are_counted() -> None:
    both = threading.Barrier(2, timeout=5)

    def together(request: Request) -> str:
        both.wait()
        return "yes"

    with ScriptedProvider(together) as provider:
        threads = [threading.Thread(target=post, args=(provider,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert provider.in_flight_most == 2


@pytest.mark.parametrize("step", [Hang(60), Drip(b"x" * 60, 1.0), Text("late", latency=60)])
def test_it_ends_at_once_even_while_it_is_silent(step: Any, capfd: pytest.CaptureFixture[str]) -> None:
    provider = ScriptedProvider([step])
    with provider:
        with pytest.raises((TimeoutError, urllib.error.URLError)):
            post(provider, timeout=0.1)
        leaving = time.monotonic()
    assert time.monotonic() - leaving < 20
    assert not provider._server.threads
    assert capfd.readouterr() == ("", "")


def test_an_idle_connection_that_a_client_keeps_open_does_not_hold_it_up() -> None:
    with ScriptedProvider(["yes"]) as provider:
        connection = http.client.HTTPConnection("127.0.0.1", provider._server.server_port, timeout=5)
        connection.request("POST", PATHS["openai"], b"{}")
        assert connection.getresponse().read()
        leaving = time.monotonic()
    connection.close()
    assert time.monotonic() - leaving < 20


def test_what_a_script_raises_is_raised_when_the_provider_is_left() -> None:
    provider = ScriptedProvider([])
    with pytest.raises(LookupError, match="one too many"), provider, pytest.raises(http.client.RemoteDisconnected):
        post(provider)
