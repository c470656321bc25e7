"""How the schedule is doing, as JSON on this machine's loopback: for a container's health check, a monitor, a curious person.

Nothing here is secret, and nobody beyond this machine is answered: the socket is bound to 127.0.0.1, and a request that was led here under another name
is refused. The answer is 200 as long as the schedule looks at its clock, or is at work, and 503 afterwards.
"""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from alphaagent import __version__
from alphaagent.domain.base import instant_text
from alphaagent.errors import ConfigFault
from alphaagent.operations.schedule import PULSE_SECONDS, Entry, Status
from alphaagent.operations.timetable import Event

LOOPBACK = "127.0.0.1"
SILENT = timedelta(seconds=5 * PULSE_SECONDS)
LONGEST_WORK = timedelta(hours=6)
MOST_AT_ONCE, LONGEST_VISIT_SECONDS = 16, 10.0
Document = dict[str, Any]


def health_document(status: Status, now: datetime) -> Document:
    """The public JSON."""
    return {
        "status": "halted" if status.halted else "running" if status.running else "waiting",
        "alive": is_alive(status, now),
        "version": __version__,
        "up_since": instant_text(status.since),
        "beat_age_seconds": int((now - status.beat).total_seconds()),
        "halted": status.halted,
        "fault": status.fault,
        "running": _event(status.running) if status.running else None,
        "next": [_event(event) for event in status.upcoming],
        "last": {name: _entry(entry, now) for name, entry in sorted(status.last.items())},
    }


def is_alive(status: Status, now: datetime) -> bool:
    """Whether the schedule has looked at the clock lately, or has not been at one piece of work for longer than any takes."""
    return now - status.beat < (LONGEST_WORK if status.running else SILENT)


def _event(event: Event) -> Document:
    return {"kind": event.kind, "exchange": event.exchange, "session": event.session.isoformat(), "at": instant_text(event.at)}


def _entry(entry: Entry, now: datetime) -> Document:
    return {
        "session": entry.session.isoformat(),
        "state": entry.state,
        "tries": entry.tries,
        "at": instant_text(entry.at),
        "age_seconds": int((now - entry.at).total_seconds()),
        "exit_code": entry.exit_code,
        "detail": entry.detail,
    }


class BoundedServer(ThreadingHTTPServer):
    """Answers so many at once and hangs up on the rest: whoever opens connections by the hundred takes none of the files that the work needs."""

    daemon_threads = True

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._free = threading.BoundedSemaphore(MOST_AT_ONCE)

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._free.acquire(blocking=False):
            return self.shutdown_request(request)
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        hang_up = threading.Timer(LONGEST_VISIT_SECONDS, self._cut, (request,))  # a time-out per read never ends who sends byte after byte
        hang_up.daemon = True
        hang_up.start()
        try:
            super().process_request_thread(request, client_address)
        finally:
            hang_up.cancel()
            self._free.release()

    @staticmethod
    def _cut(request: Any) -> None:
        with suppress(OSError):
            request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Who hangs up before the answer is of no interest."""


@contextmanager
def health_page(port: int, status: Callable[[], Status], now: Callable[[], datetime]) -> Iterator[int]:
    """The page for the block, and its port; none where the port is 0. ConfigFault where the port is taken."""
    if port == 0:
        yield 0
        return
    try:
        server = BoundedServer((LOOPBACK, port), _page(status, now))
    except OSError as fault:
        raise ConfigFault(
            f"the health page cannot have port {port}: {fault.strerror}", fix="choose another health_port in schedule.yaml, or 0 for none"
        ) from None
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


def _page(status: Callable[[], Status], now: Callable[[], datetime]) -> type[BaseHTTPRequestHandler]:
    class Page(BaseHTTPRequestHandler):
        timeout = LONGEST_VISIT_SECONDS

        def do_GET(self) -> None:
            host = self.headers.get("Host", "").rpartition(":")[0] or self.headers.get("Host", "")
            if host not in (LOOPBACK, "localhost"):
                self._answer(403, {"error": "this page answers to 127.0.0.1 only"})
            elif self.path != "/health":
                self._answer(404, {"error": "there is /health and nothing else"})
            else:
                document = health_document(status(), now())
                self._answer(200 if document["alive"] else 503, document)

        def _answer(self, code: int, document: Document) -> None:
            body = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
            self.send_response(code)
            for name, value in (("Content-Type", "application/json"), ("Content-Length", str(len(body))), ("Cache-Control", "no-store")):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Who asked is of no interest."""

    return Page
