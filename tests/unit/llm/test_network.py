"""The only socket: bounded as a whole, with nothing followed and nothing waited for that is not worth it."""

import gzip
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import httpx
import pytest

from alphaagent.domain.waiting import retry_after
from alphaagent.llm import network
from alphaagent.llm.carrier import Key, Parcel
from alphaagent.llm.network import NetworkCarrier, network_client

KEY: Key = ("opening", 1, "bull", 1, 1)
BOUND = 0.4
MUCH = 20.0
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
Peer = Callable[[socket.socket, threading.Event], None]


def saying(data: bytes, every: float = 0.0) -> Peer:
    """Bytes, all at once or one by one, and then silence."""

    def talk(connection: socket.socket, stop: threading.Event) -> None:
        for piece in [data] if not every else [data[n : n + 1] for n in range(len(data))]:
            connection.sendall(piece)
            if stop.wait(every):
                return
        stop.wait(MUCH)

    return talk


@contextmanager
def peer(talk: Peer) -> Iterator[str]:
    """A server for one connection that does what it is told."""
    stop = threading.Event()
    with closing(socket.create_server(("127.0.0.1", 0))) as server:

        def serve() -> None:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                try:
                    connection.recv(65536)
                    talk(connection, stop)
                except OSError:
                    return

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        finally:
            stop.set()
            server.close()
            thread.join(2)


@contextmanager
def carrier(url: str, seconds: float = MUCH) -> Iterator[NetworkCarrier]:
    made = NetworkCarrier(network_client(url), seconds)
    try:
        yield made
    finally:
        made.close()


def parcel(url: str, seconds: float = MUCH) -> Parcel:
    return Parcel(KEY, f"{url}/x", "/v1/x", {}, b"{}", seconds)


SLOW: dict[str, Peer] = {
    "silence": saying(b""),
    "silence after the headers": saying(OK[:-2]),
    "headers one byte at a time": saying(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 2000, 0.05),
    "a body one byte at a time": saying(OK.replace(b"Length: 2", b"Length: 900") + b" " * 900, 0.02),
    "a byte just in time and then silence": saying(OK[:-1], 0.001),
}


@pytest.mark.parametrize("talk", SLOW.values(), ids=SLOW)
@pytest.mark.parametrize("whose", ["the call's", "the decision's"])
def test_an_exchange_ends_at_its_deadline_whatever_the_peer_does(talk: Peer, whose: str) -> None:
    seconds, left = (BOUND, MUCH) if whose == "the call's" else (MUCH, BOUND)
    with peer(talk) as url, carrier(url, left) as carries:
        began = time.monotonic()
        carried = carries.carry(parcel(url, seconds))
        assert BOUND * 0.9 <= time.monotonic() - began < MUCH / 2
    assert carried.fault
    assert carried.fault.kind == ("timeout" if whose == "the call's" else "deadline")
    assert (carried.status, carried.body) == (None, None)


def test_a_name_that_is_looked_up_for_ever_is_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = threading.Event()

    def look_up(*_: object, **__: object) -> None:
        asked.wait(MUCH)
        raise OSError

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    with carrier("http://models.example") as carries:
        carried = carries.carry(parcel("http://models.example", BOUND))
        asked.set()
    assert carried.fault
    assert carried.fault.message == "no complete answer within 0.4 s"


BROKEN: dict[str, Peer] = {
    "a closed connection": lambda *_: None,
    "no HTTP": saying(b"SSH-2.0-OpenSSH\r\n\r\n"),
    "half a body": lambda connection, _: connection.sendall(OK[:-1]),
    "a bad length": saying(b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n"),
}


@pytest.mark.parametrize("talk", BROKEN.values(), ids=BROKEN)
def test_a_broken_exchange_is_unreachable(talk: Peer) -> None:
    with peer(talk) as url, carrier(url) as carries:
        carried = carries.carry(parcel(url, 5))
    assert carried.fault
    assert carried.fault.kind == "unreachable"


@pytest.mark.parametrize(("name", "paid"), [("a closed connection", False), ("half a body", True), ("half a refusal", False)])
def test_only_an_answer_that_had_begun_may_have_cost_something(name: str, paid: bool) -> None:
    talks: dict[str, Peer] = {**BROKEN, "half a refusal": lambda connection, _: connection.sendall(OK.replace(b"200 OK", b"401 No")[:-1])}
    with peer(talks[name]) as url, carrier(url) as carries:
        assert carries.carry(parcel(url, 5)).may_be_paid is paid


@pytest.mark.parametrize("host", ["http://127.0.0.1:1", "http://[::1]:1", f"http://{'a' * 70}.localhost:1", "http://localhost:99999"])
def test_an_address_that_leads_nowhere_is_unreachable(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def look_up(*_: object, **__: object) -> None:
        raise socket.gaierror("no such host")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    with carrier(host) as carries:
        carried = carries.carry(parcel(host, 5))
    assert carried.fault
    assert carried.fault.kind == "unreachable"


@pytest.mark.parametrize(("size", "fault"), [(1000, None), (1001, "malformed")])
def test_a_body_has_a_bound(monkeypatch: pytest.MonkeyPatch, size: int, fault: str | None) -> None:
    monkeypatch.setattr(network, "LARGEST_BODY", 1000)
    with peer(saying(OK.replace(b"Length: 2", f"Length: {size}".encode())[:-2] + b"x" * size)) as url, carrier(url) as carries:
        carried = carries.carry(parcel(url, 5))
    assert (carried.fault and carried.fault.kind) == fault
    assert len(carried.body or b"") == (size if fault is None else 0)


@pytest.mark.parametrize(("coding", "fault"), [("gzip", "malformed"), ("GZIP, br", "malformed"), ("identity", None), ("", None)])
def test_an_answer_is_not_unpacked(coding: str, fault: str | None) -> None:
    asked: list[bytes] = []
    packed = gzip.compress(b" " * 10**6)
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nContent-Length: {len(packed)}\r\n\r\n".encode()

    def serve(request: httpx.Request) -> httpx.Response:
        asked.append(request.headers["accept-encoding"].encode())
        return httpx.Response(200, headers={"content-encoding": "identity"}, stream=httpx.ByteStream(b"{}"))

    with peer(saying(head + packed)) as url, carrier(url) as carries:
        carried = carries.carry(parcel(url, 5))
    assert (carried.fault and carried.fault.kind, carried.body) == (fault, packed if fault is None else None)
    NetworkCarrier(httpx.Client(transport=httpx.MockTransport(serve)), MUCH).carry(parcel("http://models.example"))
    assert asked == [b"identity"]


def test_nothing_is_sent_after_the_deadline() -> None:
    with peer(saying(OK)) as url, carrier(url, 0.0) as carries:
        carried = carries.carry(parcel(url))
    assert carried.fault
    assert carried.fault.kind == "deadline"


def test_what_is_in_flight_at_the_end_comes_back_as_ended_by_the_deadline() -> None:
    with peer(saying(b"")) as url, carrier(url) as carries:
        threading.Thread(target=carries.carry, args=(parcel(url, 2),), daemon=True).start()
        deadline = time.monotonic() + 5
        while not carries._begun and time.monotonic() < deadline:
            time.sleep(0.01)
        ((sent, carried),) = carries.close()
        assert (sent.key, carried.fault and carried.fault.kind, carried.seq) == (KEY, "deadline", 1)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": " 7 "}, 7.0),
        ({"retry-after": "Wed, 05 Feb 2020 10:00:30 GMT", "date": "Wed, 05 Feb 2020 10:00:00 GMT"}, 30.0),
        ({"retry-after": "Wed, 05 Feb 2020 09:00:00 GMT", "date": "Wed, 05 Feb 2020 10:00:00 GMT"}, 0.0),
        ({"retry-after": "Wed, 05 Feb 2020 10:00:30 GMT"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "\u00b2"}, None),
        ({"retry-after": "\u0663"}, None),
        ({"retry-after": "1.5"}, None),
    ],
)
def test_how_long_a_server_asks_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(httpx.Headers([(name.encode(), value.encode()) for name, value in headers.items()])) == seconds


@pytest.mark.parametrize(
    ("seconds", "left", "rests"), [(0.0, MUCH, True), (0.1, MUCH, True), (20.1, 100.0, False), (0.5, 0.2, False), (86400.0, 200_000.0, False)]
)
def test_a_wait_that_is_too_long_is_not_begun(seconds: float, left: float, rests: bool) -> None:
    with carrier("http://127.0.0.1:1", left) as carries:
        began = time.monotonic()
        assert carries.rest(seconds, KEY) is rests
        assert time.monotonic() - began < 5


@pytest.mark.parametrize(("url", "asks"), [("http://127.0.0.1:9/v1", False), ("http://localhost:9", False), ("https://models.example/v1", True)])
def test_the_environment_s_proxy_is_for_other_machines(monkeypatch: pytest.MonkeyPatch, url: str, asks: bool) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    with network_client(url) as client:
        assert client.trust_env is asks
        assert not client.follow_redirects


def test_who_closes_a_debate_does_not_wait_for_its_model() -> None:
    with peer(saying(b"")) as url, carrier(url) as made:
        came: list[str | None] = []

        def call() -> None:
            fault = made.carry(parcel(url)).fault
            came.append(fault.kind if fault else None)

        thread = threading.Thread(target=call)
        begun = time.monotonic()
        thread.start()
        time.sleep(0.2)
        made.close()
        thread.join(MUCH)
        assert came == ["deadline"]
        assert time.monotonic() - begun < MUCH / 4
        assert made.rest(MUCH, KEY) is False
