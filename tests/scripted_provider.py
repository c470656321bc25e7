"""A provider of models that does what a test says: an HTTP server on loopback in the wire forms of OpenAI, Anthropic and Gemini.

    with ScriptedProvider([Status(429, headers={"Retry-After": "1"}), "an answer"]) as provider:
        ... provider.base_url ... provider.requests

A script is a function of the request, a list that is worked off in order of arrival, or a mapping from words in the system prompt to one of
these. It stops at once, also while it hangs, and says nothing; what a script raises is raised again when the provider is left.
"""

import contextlib
import json
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from tests.scripted_wire import (
    Answer,
    Behaviour,
    CallTools,
    Disconnect,
    Drip,
    Empty,
    HalfBody,
    Hang,
    NoChoices,
    NoUsage,
    Raw,
    Request,
    Status,
    Text,
    error_body,
    role_of,
    wire,
)

__all__ = [
    "Answer",
    "Behaviour",
    "CallTools",
    "Disconnect",
    "Drip",
    "Empty",
    "HalfBody",
    "Hang",
    "NoChoices",
    "NoUsage",
    "Raw",
    "Request",
    "ScriptedProvider",
    "Status",
    "Text",
    "role_of",
    "wire",
]

LONGEST_STOP = 2.0


Step = Behaviour | str
Script = Callable[[Request], Step] | Sequence[Step] | Mapping[str, "Callable[[Request], Step] | Sequence[Step] | Step"]


class ScriptedProvider:
    """The server; a context manager."""

    def __init__(self, script: Script) -> None:
        self._play = _player(script)
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._lock = threading.Lock()
        self._requests: list[Request] = []
        self._in_flight = 0
        self.in_flight_most = 0
        """How many requests were served at once, at most."""
        self.stopping = threading.Event()
        self.faults: list[BaseException] = []

    @property
    def host_url(self) -> str:
        """The endpoint as the clients of Anthropic and Gemini want it."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def base_url(self) -> str:
        """The endpoint as clients of chat completions want it."""
        return f"{self.host_url}/v1"

    @property
    def requests(self) -> tuple[Request, ...]:
        """What came so far, in order of arrival."""
        with self._lock:
            return tuple(self._requests)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()
        if kind is None and self.faults:
            raise self.faults[0]

    def stop(self) -> None:
        """End all connections and threads."""
        self.stopping.set()
        self._server.shutdown()
        self._thread.join(LONGEST_STOP)
        self._server.end_connections()
        self._server.server_close()

    def begin(self, path: str, headers: Mapping[str, str], raw: bytes, body: Any) -> tuple[Request, Step]:
        """Record a request and ask the script for what to do."""
        with self._lock:
            request = Request(len(self._requests) + 1, path, headers, raw, body, time.monotonic())
            self._requests.append(request)
            self._in_flight += 1
            self.in_flight_most = max(self.in_flight_most, self._in_flight)
        try:
            return request, Status(404, message="no such path") if request.form is None else self._play(request)
        except BaseException:
            self.end(request)
            raise

    def end(self, request: Request) -> None:
        """Note once that a request is served."""
        with self._lock:
            if request.completed is None:
                request.completed = time.monotonic()
                self._in_flight -= 1


def _player(script: Any) -> Callable[[Request], Step]:
    if callable(script):
        return script  # type: ignore[no-any-return]
    if isinstance(script, Mapping):
        players = {mark: _player(part) for mark, part in script.items()}
        return lambda request: players[role_of(request, {mark: mark for mark in players})](request)
    if not isinstance(script, str) and isinstance(script, Sequence):
        return _in_order(script)
    return lambda request: script


def _in_order(steps: Sequence[Step]) -> Callable[[Request], Step]:
    lock, left = threading.Lock(), list(steps)

    def play(request: Request) -> Step:
        with lock:
            if not left:
                raise LookupError(f"the script has {len(steps)} steps and request {request.number} is one too many")
            return left.pop(0)

    return play


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, provider: ScriptedProvider) -> None:
        super().__init__(("127.0.0.1", 0), _Connection)
        self.provider = provider
        self.connections: set[socket.socket] = set()
        self.threads: set[threading.Thread] = set()

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        self.connections.add(connection)
        return connection, address

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        self.threads.add(threading.current_thread())
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.connections.discard(request)
            self.threads.discard(threading.current_thread())

    def end_connections(self) -> None:
        for connection in list(self.connections):
            # It may be closed already.
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in list(self.threads):
            thread.join(LONGEST_STOP)

    def handle_error(self, request: Any, client_address: Any) -> None:
        fault = sys.exc_info()[1]
        # A client that has gone away is what many tests are about.
        if fault is not None and not isinstance(fault, OSError):
            self.provider.faults.append(fault)


class _Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def _serve(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        request, step = self.server.provider.begin(self.path, headers, raw, _parsed(raw))
        try:
            self._do(request, Text(step) if isinstance(step, str) else step)
        finally:
            self.server.provider.end(request)

    def _do(self, request: Request, behaviour: Behaviour) -> None:
        form = request.form or "openai"
        match behaviour:
            case Status():
                body = error_body(form, behaviour.code, behaviour.message) if behaviour.body is None else behaviour.body
                self._send(request, body, behaviour.code, behaviour.headers)
            case Raw():
                self._send(request, behaviour.body, headers={"Content-Type": behaviour.content_type})
            case Hang():
                self._wait(behaviour.seconds)
                self.close_connection = True
            case Drip():
                self._drip(behaviour)
            case HalfBody():
                body = wire(form, Text("half of this is missing"))
                self._head(len(body))
                self.wfile.write(body[: len(body) // 2])
                self.close_connection = True
            case Disconnect():
                self.close_connection = True
            case _:
                self._wait(getattr(behaviour, "latency", 0.0))
                self._send(request, wire(form, behaviour))

    def _send(self, request: Request, body: bytes, code: int = 200, headers: Mapping[str, str] | None = None) -> None:
        # A client must not see its reply before it is noted as served.
        self.server.provider.end(request)
        self._head(len(body), code, headers)
        self.wfile.write(body)

    def _head(self, length: int, code: int = 200, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(code)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(length), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()

    def _drip(self, drip: Drip) -> None:
        self._head(len(drip.body))
        for position in range(len(drip.body)):
            self._wait(drip.every_seconds)
            self.wfile.write(drip.body[position : position + 1])

    def _wait(self, seconds: float) -> None:
        """Wait as long as nobody stops the server; then end the connection."""
        if seconds and self.server.provider.stopping.wait(seconds):
            raise ConnectionAbortedError("the scripted provider was stopped")


def _parsed(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        return None
