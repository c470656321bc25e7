"""The wire under every mood of a server: each ends in a fault of its own kind, in time and in bounds."""

import gzip
import time
from collections.abc import Iterator

import pytest

from alphaagent.errors import VendorFault
from alphaagent.evidence.live.gate import Gate
from alphaagent.evidence.live.limits import VendorLimits
from alphaagent.evidence.live.wire import Answer, Wire
from tests.vendors.server import Asked, Page, VendorServer, serving

BODY = b'{"hello": "world"}' * 200


def page(asked: Asked) -> Page | None:
    match asked.path:
        case "/doc":
            if asked.headers.get("if-none-match") == '"v1"':
                return Page(b"", 304)
            return Page(BODY, headers={"etag": '"v1"', "last-modified": "Mon, 01 Jan 2024 00:00:00 GMT"})
        case "/packed":
            return Page(gzip.compress(BODY), headers={"content-encoding": "gzip"})
        case "/moved":
            return Page(b"", 301, headers={"location": "/doc"})
    return None


@pytest.fixture
def server() -> Iterator[VendorServer]:
    with serving(page) as running:
        yield running


WIRES: list[Wire] = []


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    while WIRES:
        WIRES.pop().close()


def wire_of(waited: list[float] | None = None, **limits: object) -> Wire:
    settings = VendorLimits.model_validate({"requests_per_second": 50, "seconds": 1, "megabytes": 1, "attempts": 1, **limits})
    return kept(Wire(Gate("acme", settings, (waited if waited is not None else []).append), "test/1.0 (someone@example.org)"))


def kept(wire: Wire) -> Wire:
    """Closed after the test."""
    WIRES.append(wire)
    return wire


def fault_of(wire: Wire, url: str) -> VendorFault:
    with pytest.raises(VendorFault) as caught:
        wire.get(url)
    return caught.value


def test_an_answer_comes_with_what_to_ask_next_time_and_a_304_says_unchanged(server: VendorServer) -> None:
    wire = wire_of()
    came = wire.get(f"{server.address}/doc")
    assert came is not None
    assert (came.body, came.validators["etag"], came.unchanged) == (BODY, '"v1"', False)
    again = wire.get(f"{server.address}/doc", came.validators)
    assert again is not None
    assert again.unchanged
    assert (wire.gate.tally.requests, wire.gate.tally.octets) == (2, len(BODY))


def test_the_user_agent_is_sent_and_packed_answers_are_unpacked_and_redirects_followed(server: VendorServer) -> None:
    wire = wire_of()
    for path in ("/packed", "/moved"):
        came = wire.get(server.address + path)
        assert isinstance(came, Answer)
        assert came.body == BODY
    assert server.asked[0].headers["user-agent"] == "test/1.0 (someone@example.org)"


def test_what_is_not_there_is_an_absence(server: VendorServer) -> None:
    assert wire_of().get(f"{server.address}/nowhere") is None


@pytest.mark.parametrize(
    ("mood", "kind"),
    [
        *(("429", "rate_limited"), ("429 much later", "rate_limited"), ("401", "refused"), ("403", "refused"), ("500", "unavailable"), ("503", "unavailable")),
        *(("slow", "timeout"), ("drip", "timeout"), ("loop", "redirected"), ("bomb", "too_large"), ("hang up", "unreachable"), ("large", "too_large")),
    ],
)
def test_every_mood_is_a_fault_of_its_own_kind_and_in_time(server: VendorServer, mood: str, kind: str) -> None:
    server.mood(mood)
    began = time.monotonic()
    assert fault_of(wire_of(), f"{server.address}/doc").kind == kind
    assert time.monotonic() - began < 3


def test_a_redirect_to_a_host_that_is_not_listed_is_not_followed(server: VendorServer) -> None:
    server.mood("away")
    gate = Gate("acme", VendorLimits(attempts=1), lambda _: None)
    fault = fault_of(kept(Wire(gate, "test", hosts=("acme.example",))), f"{server.address}/doc")
    assert fault.kind == "redirected"
    assert "198.51.100.7" in fault.message


@pytest.mark.parametrize("mood", ["429", "503", "hang up"])
def test_a_failure_that_passes_is_asked_again(server: VendorServer, mood: str) -> None:
    waited: list[float] = []
    server.mood(mood, times=2)
    came = wire_of(waited, attempts=3).get(f"{server.address}/doc")
    assert came is not None
    assert came.body == BODY
    assert server.seen["/doc"] == 3
    assert len(waited) == 2
    assert all(0 < seconds <= 20 for seconds in waited)


def test_retry_after_is_kept_to(server: VendorServer) -> None:
    waited: list[float] = []
    server.mood("429 later", times=1)
    assert wire_of(waited, attempts=2).get(f"{server.address}/doc") is not None
    assert waited == [1.0]


def test_whoever_is_told_to_wait_too_long_does_not_ask_again(server: VendorServer) -> None:
    waited: list[float] = []
    server.mood("429 much later")
    assert fault_of(wire_of(waited, attempts=3), f"{server.address}/doc").retry_after_seconds == 3600
    assert (waited, server.seen["/doc"]) == ([], 1)


@pytest.mark.parametrize("mood", ["401", "bomb"])
def test_a_failure_that_does_not_pass_is_not_asked_again(server: VendorServer, mood: str) -> None:
    server.mood(mood)
    fault_of(wire_of(attempts=3), f"{server.address}/doc")
    assert server.seen["/doc"] == 1


def test_a_vendor_that_fails_too_often_is_left_alone_and_then_tried_again(server: VendorServer) -> None:
    wire = wire_of(failures_to_rest=2, rest_seconds="0.3")
    server.mood("503", times=2)
    assert [fault_of(wire, f"{server.address}/doc").kind for _ in range(3)] == ["unavailable", "unavailable", "resting"]
    assert server.seen["/doc"] == 2
    time.sleep(0.35)
    assert wire.get(f"{server.address}/doc") is not None


def test_requests_keep_to_the_rate(server: VendorServer) -> None:
    wire = wire_of(requests_per_second=5)
    began = time.monotonic()
    for _ in range(8):
        wire.get(f"{server.address}/doc")
    assert time.monotonic() - began > 0.9


@pytest.mark.parametrize(
    "host", ["127.0.0.2", "127.1", "0.0.0.0", "localhost.", "x.localhost", "[::ffff:127.0.0.1]", "10.0.0.1", "169.254.169.254", "192.168.1.1", "[bad"]
)
def test_nobody_is_followed_into_this_machine_or_its_network(host: str) -> None:
    wire = kept(Wire(Gate("acme", VendorLimits(), lambda _: None), "test"))
    with pytest.raises(VendorFault) as caught:
        wire._allowed(f"https://{host}/x", "https://feeds.example.org/")
    assert caught.value.kind == "redirected"


def test_a_date_that_no_calendar_has_is_no_wait() -> None:
    from alphaagent.domain.waiting import retry_after

    assert retry_after({"retry-after": "Mon, 01 Jan 99999999999999999999 00:00:00 GMT", "date": "Mon, 01 Jan 2024 00:00:00 GMT"}) is None
