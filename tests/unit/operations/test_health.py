"""The page about the schedule's health: what it says, when it says that something is wrong, and to whom it does not answer."""

import json
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from http.client import HTTPConnection
from typing import Any

import pytest

from alphaagent import __version__
from alphaagent.errors import ConfigFault
from alphaagent.operations import health
from alphaagent.operations.health import health_document, health_page, is_alive
from alphaagent.operations.schedule import Entry, Status
from alphaagent.operations.timetable import Event

NOW = datetime(2026, 1, 12, 22, tzinfo=UTC)
SWEEP = Event("sweep", "XNYS", date(2026, 1, 12), NOW, NOW + timedelta(hours=16))
STATUS = Status(
    since=NOW - timedelta(days=1),
    beat=NOW - timedelta(seconds=5),
    upcoming=(SWEEP,),
    last={"settle XNYS": Entry(date(2026, 1, 12), "done", 1, NOW - timedelta(hours=1), "2 filled")},
)


class Page:
    """A page whose status a test can change."""

    def __init__(self) -> None:
        self.status = STATUS
        self.port = 0

    def get(self, path: str = "/health", host: str | None = None, method: str = "GET") -> tuple[int, Any]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.request(method, path, headers={"Host": host or f"127.0.0.1:{self.port}"})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, json.loads(body) if answer.headers["Content-Type"] == "application/json" else None


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture
def page() -> Iterator[Page]:
    one = Page()
    with health_page(free_port(), lambda: one.status, lambda: NOW) as one.port:
        yield one


def opened(page: Page, count: int) -> list[socket.socket]:
    return [socket.create_connection(("127.0.0.1", page.port), timeout=10) for _ in range(count)]


def test_whoever_opens_many_connections_gets_few_and_the_page_answers_when_they_are_gone(page: Page) -> None:
    many = opened(page, 60)
    late = many[-1]
    late.settimeout(5)
    assert late.recv(1) == b"", "it is hung up on at once"
    for one in many:
        one.close()
    for _ in range(100):
        with suppress(OSError):
            assert page.get()[0] == 200
            break
        time.sleep(0.05)
    else:
        pytest.fail("the page never answered again")


def test_a_visitor_who_sends_byte_after_byte_is_hung_up_on(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "LONGEST_VISIT_SECONDS", 0.4)
    (slow,) = opened(page, 1)
    begun = time.monotonic()
    with suppress(OSError):
        while time.monotonic() - begun < 5:
            slow.sendall(b"G")
            time.sleep(0.05)
    slow.close()
    assert time.monotonic() - begun < 4


def test_a_visitor_who_leaves_before_the_answer_and_one_who_talks_nonsense_leave_no_word(page: Page, capfd: pytest.CaptureFixture[str]) -> None:
    for text in (b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", b"\x00\xff\r\n\r\n", b"GET " + b"x" * 70000):
        (one,) = opened(page, 1)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        with suppress(OSError):
            one.sendall(text)
        one.close()
    assert page.get()[0] == 200
    time.sleep(0.1)
    assert capfd.readouterr().err == ""


def test_it_says_what_was_what_is_and_what_comes(page: Page) -> None:
    assert page.get() == (
        200,
        {
            "status": "waiting",
            "alive": True,
            "version": __version__,
            "up_since": "2026-01-11T22:00:00Z",
            "beat_age_seconds": 5,
            "halted": None,
            "fault": None,
            "running": None,
            "next": [{"kind": "sweep", "exchange": "XNYS", "session": "2026-01-12", "at": "2026-01-12T22:00:00Z"}],
            "last": {
                "settle XNYS": {
                    **{"session": "2026-01-12", "state": "done", "tries": 1, "at": "2026-01-12T21:00:00Z", "age_seconds": 3600, "exit_code": 0},
                    "detail": "2 filled",
                }
            },
        },
    )


@pytest.mark.parametrize(("change", "word"), [({"running": SWEEP}, "running"), ({"halted": "by the operator"}, "halted"), ({}, "waiting")])
def test_its_state_is_one_word(change: dict[str, Any], word: str) -> None:
    assert health_document(replace(STATUS, **change), NOW)["status"] == word


@pytest.mark.parametrize(
    ("silent", "running", "alive"),
    [(timedelta(minutes=4), None, True), (timedelta(minutes=5), None, False), (timedelta(hours=5), SWEEP, True), (timedelta(hours=6), SWEEP, False)],
)
def test_a_schedule_that_does_not_look_at_the_clock_any_more_is_not_alive(page: Page, silent: timedelta, running: Event | None, alive: bool) -> None:
    page.status = replace(STATUS, beat=NOW - silent, running=running)
    assert is_alive(page.status, NOW) is alive
    assert page.get()[0] == (200 if alive else 503)


@pytest.mark.parametrize("host", ["localhost", "localhost:1", "127.0.0.1"])
def test_it_answers_to_this_machine_under_its_names(page: Page, host: str) -> None:
    assert page.get(host=host)[0] == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "10.0.0.1", "[::1]:80"])
def test_a_request_that_was_led_here_under_another_name_is_refused(page: Page, host: str) -> None:
    assert page.get(host=host) == (403, {"error": "this page answers to 127.0.0.1 only"})


@pytest.mark.parametrize("path", ["/", "/health/", "/etc/passwd", "/health?x=1"])
def test_there_is_nothing_else(page: Page, path: str) -> None:
    assert page.get(path)[0] == 404


def test_nothing_can_be_sent_to_it(page: Page) -> None:
    assert page.get(method="POST")[0] == 501


def test_it_is_bound_to_the_loopback_and_gone_afterwards(page: Page) -> None:
    with pytest.raises(ConfigFault, match=str(page.port)), health_page(page.port, lambda: STATUS, lambda: NOW):
        pass


def test_port_zero_is_no_page() -> None:
    with health_page(0, lambda: STATUS, lambda: NOW) as port:
        assert port == 0
