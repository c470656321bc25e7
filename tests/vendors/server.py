"""A server on this machine that plays vendors: pages in a vendor's recorded shape, and every bad mood that a vendor can be in.

A page is a function of a request; a mood replaces the page's answer for the paths that it is set on. Nothing here is asked over the network
beyond the loopback.
"""

import gzip
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

GIGABYTE = 1_000_000_000


@dataclass(frozen=True)
class Asked:
    """A request as a page sees it."""

    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Page:
    """An answer."""

    body: bytes
    status: int = 200
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)


Player = Callable[[Asked], "Page | None"]
"""Plays one vendor: the page for a path of its own, None for any other."""


@dataclass
class Mood:
    """How the server misbehaves on paths that contain `on`; `times` requests long, or for good."""

    name: str
    on: str = ""
    times: int | None = None


MOODS = (
    *("429", "429 later", "429 much later", "401", "403", "500", "503", "html", "truncated", "slow", "drip", "loop", "away", "bomb", "charset", "empty"),
    *("drift", "hang up", "large", "undeclared gzip"),
)
"""429 without and with Retry-After (1 s; 3600 s); a refusal; out of order; a page for people; cut in the middle; no answer in time; byte after byte
for ever; redirects in a circle; a redirect to another host; a gzip bomb; bytes that are not the encoding they are said to be; nothing at all;
another shape than agreed; a closed connection; a body without end; packed bytes that are not said to be packed."""


class VendorServer:
    """`address` is http://127.0.0.1:PORT; `players` are asked in turn; `seen` counts requests by path."""

    def __init__(self, players: tuple[Player, ...]) -> None:
        self.players = players
        self.moods: list[Mood] = []
        self.seen: Counter[str] = Counter()
        self.asked: list[Asked] = []
        self.latency_seconds = 0.0
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]  # a client that gives up is no news here
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"

    def start(self) -> None:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def mood(self, name: str, on: str = "", times: int | None = None) -> None:
        """From now on; several moods are tried in the order in which they were set."""
        assert name in MOODS
        self.moods.append(Mood(name, on, times))

    def well(self) -> None:
        """No mood any more."""
        self.moods.clear()

    def _mood_for(self, path: str) -> str | None:
        with self._lock:
            for mood in self.moods:
                if mood.on in path and mood.times != 0:
                    if mood.times is not None:
                        mood.times -= 1
                    return mood.name
        return None

    def _page(self, asked: Asked) -> Page:
        return next((page for player in self.players if (page := player(asked)) is not None), Page(b"not here", 404, "text/plain"))

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                asked = Asked(parts.path, dict(parse_qsl(parts.query)), {key.lower(): value for key, value in self.headers.items()})
                with server._lock:
                    server.seen[parts.path] += 1
                    server.asked.append(asked)
                time.sleep(server.latency_seconds)
                mood = server._mood_for(self.path)
                try:
                    self._play(mood, server._page(asked)) if mood else self._send(server._page(asked))
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            def _send(self, page: Page, length: int | None = None) -> None:
                self.send_response(page.status)
                body = b"" if page.status == 304 else page.body
                for name, value in {"content-type": page.content_type, **page.headers}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(body) if length is None else length))
                self.end_headers()
                self.wfile.write(body)

            def _play(self, mood: str, page: Page) -> None:
                match mood:
                    case "429" | "429 later" | "429 much later":
                        after = {"429": {}, "429 later": {"retry-after": "1"}, "429 much later": {"retry-after": "3600"}}[mood]
                        self._send(Page(b"Too Many Requests", 429, "text/html", after))
                    case "401" | "403" | "500" | "503":
                        self._send(Page(b'{"error": {"code": "Unauthorized", "description": "Invalid Crumb"}}', int(mood)))
                    case "html":
                        self._send(Page(b"<!DOCTYPE html><html><body><h1>Please verify you are a human</h1></body></html>", 200, "text/html"))
                    case "truncated":
                        self._send(Page(page.body[: len(page.body) // 2], 200, page.content_type))
                    case "slow":
                        time.sleep(8)
                        self._send(page)
                    case "drip":
                        self.send_response(200)
                        self.send_header("content-length", str(len(page.body)))
                        self.end_headers()
                        for place in range(len(page.body)):
                            self.wfile.write(page.body[place : place + 1])
                            self.wfile.flush()
                            time.sleep(0.2)
                    case "loop":
                        self._send(Page(b"", 302, "text/html", {"location": self.path}))
                    case "away":
                        self._send(Page(b"", 302, "text/html", {"location": "http://198.51.100.7/elsewhere"}))
                    case "bomb":
                        packed = gzip.compress(bytes(20_000_000), 9)
                        self._send(Page(packed, 200, page.content_type, {"content-encoding": "gzip"}))
                    case "charset":
                        self._send(Page(b"\xff\xfe" + page.body[:200].decode("latin-1").encode("utf-16-le"), 200, page.content_type + "; charset=utf-8"))
                    case "empty":
                        self._send(Page(b"", 200, page.content_type))
                    case "drift":
                        self._send(Page(b'{"v2": {"rows": []}}', 200, page.content_type))
                    case "hang up":
                        self.close_connection = True
                        self.connection.close()
                    case "large":
                        self._send(Page(page.body[:1], 200, page.content_type), GIGABYTE)
                        for _ in range(2_000):
                            self.wfile.write(bytes(1_000_000))
                    case "undeclared gzip":
                        self._send(Page(gzip.compress(page.body), 200, page.content_type))

            def log_message(self, format: str, *args: object) -> None:
                """Quiet."""

        return Handler


@contextmanager
def serving(*players: Player) -> Iterator[VendorServer]:
    """A running server, stopped afterwards."""
    server = VendorServer(players)
    server.start()
    try:
        yield server
    finally:
        server.stop()
