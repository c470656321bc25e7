"""Somebody on this machine who receives notifications, and can be in a bad mood."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Receiver:
    """`got` are the documents that arrived; `status` is what it answers, after `seconds`; a text in `refuses` makes it answer 500."""

    got: list[dict[str, Any]] = field(default_factory=list)
    status: int = 200
    seconds: float = 0.0
    refuses: str | None = None
    port: int = 0
    arrived: int = 0
    """How many requests came in, answered or not."""

    @property
    def url(self) -> str:
        """As Apprise writes it, with a password that nobody may see again."""
        return f"json://desk:hunter2@127.0.0.1:{self.port}/inbox"

    def keys(self) -> list[str]:
        """The keys of what arrived."""
        return [document["message"].rpartition("ref ")[2] for document in self.got]

    def take(self, document: dict[str, Any]) -> int:
        self.arrived += 1
        time.sleep(self.seconds)
        status = 500 if self.refuses is not None and self.refuses in document["message"] else self.status
        if status == 200:
            self.got.append(document)
        return status


@contextmanager
def receiving() -> Iterator[Receiver]:
    """A receiver that is there for the block."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            document = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(receiver.take(document))
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # a sender that gives up is no news here
    receiver.port = server.server_address[1]
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
