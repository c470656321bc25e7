"""Documents from the web by httpx: the only place of the evidence that opens a socket (yfinance has its own, see vendors/yahoo.py).

Bounded on every side: the whole exchange by a deadline, the answer by its unpacked size, redirects by number and to where they may lead. Packed
answers are unpacked here, piece by piece under the same bound, so that a small bomb stays small.
"""

import ssl
import threading
import time
import weakref
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from urllib.parse import urljoin, urlsplit

import httpx

from alphaagent.domain.waiting import retry_after
from alphaagent.errors import VendorFault
from alphaagent.evidence.live.gate import Gate
from alphaagent.evidence.live.limits import LOOPBACK

MOST_REDIRECTS = 4
CONNECT_SECONDS = 8.0
GRACE_SECONDS = 0.05
PIECE = 64 * 1024
MOVED = (301, 302, 303, 307, 308)
WINDOWS = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete answer. `unchanged` is a 304: there is no body then."""

    url: str
    """Where it came from in the end."""
    content_type: str
    body: bytes
    validators: Mapping[str, str]
    unchanged: bool = False


class Wire:
    """Asks one vendor's hosts, through its gate. One client for the process; safe to use from several threads."""

    def __init__(self, gate: Gate, user_agent: str, hosts: tuple[str, ...] = ()) -> None:
        """`hosts`: where redirects may lead besides the host that was asked; any where it is empty."""
        self.gate = gate
        self._hosts = hosts
        self._user_agent = user_agent
        self._lock = threading.Lock()
        self._made: dict[bool, httpx.Client] = {}

    def get(self, url: str, validators: Mapping[str, str] | None = None, accept: str = "*/*") -> Answer | None:
        """The answer; None for a 404 or 410. Raises VendorFault."""
        headers = {"user-agent": self._user_agent, "accept": accept, "accept-encoding": "gzip, deflate"}
        for header, key in (("if-none-match", "etag"), ("if-modified-since", "last_modified")):
            if validators and validators.get(key):
                headers[header] = validators[key]
        return self.gate.run(lambda: self._followed(url, headers))

    def close(self) -> None:
        """Ends the connections; another request makes new ones."""
        with self._lock:
            for client in self._made.values():
                client.close()
            self._made.clear()

    def _followed(self, url: str, headers: Mapping[str, str]) -> Answer | None:
        asked, ends = url, 0.0
        for _ in range(MOST_REDIRECTS + 1):
            self.gate.admit()
            ends = ends or time.monotonic() + float(self.gate.limits.seconds)
            came = self._bounded(url, headers, ends)
            if not isinstance(came, str):
                return came
            url = self._allowed(urljoin(url, came), asked)
        raise VendorFault("redirected", f"{self.gate.name} sent us on more than {MOST_REDIRECTS} times")

    def _allowed(self, url: str, asked: str) -> str:
        """A redirect's target, unless it leads where we do not go. Raises VendorFault."""
        there, before = urlsplit(url), urlsplit(asked)
        elsewhere = self._hosts and there.hostname != before.hostname and there.hostname not in self._hosts
        if there.scheme not in ("http", "https") or (before.scheme == "https" and there.scheme != "https") or elsewhere:
            raise VendorFault("redirected", f"{self.gate.name} sent us to {there.scheme}://{(there.hostname or '')[:60]!a}, where we do not go")
        if there.hostname in LOOPBACK and before.hostname not in LOOPBACK:
            raise VendorFault("redirected", f"{self.gate.name} sent us to this machine")
        return url

    def _bounded(self, url: str, headers: Mapping[str, str], ends: float) -> Answer | str | None:
        """One exchange in a thread of its own, given up at the deadline: a timeout per read never ends a peer that sends byte after byte, and
        none at all bounds the look-up of a name."""
        came: list[Answer | str | VendorFault | None] = []
        done = threading.Event()

        def attempt() -> None:
            try:
                came.append(self._once(url, headers, ends))
            except VendorFault as fault:
                came.append(fault)
            done.set()

        threading.Thread(target=attempt, daemon=True).start()
        done.wait(max(ends - time.monotonic(), 0.0) + GRACE_SECONDS)
        result = came[0] if came else self._late()
        if isinstance(result, VendorFault):
            raise result
        return result

    def _once(self, url: str, headers: Mapping[str, str], ends: float) -> Answer | str | None:
        """One exchange: an answer, where to go instead, or None for what is not there."""
        left = ends - time.monotonic()
        if left <= 0:
            raise self._late()
        self.gate.count(requests=1)
        timeout = httpx.Timeout(left, connect=min(CONNECT_SECONDS, left))
        try:
            with self._client(url).stream("GET", url, headers=headers, timeout=timeout) as response:
                return self._read(response, ends)
        except httpx.TimeoutException:
            raise self._late() from None
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError, UnicodeError) as fault:
            raise VendorFault("unreachable", f"{self.gate.name} cannot be reached ({type(fault).__name__})", fix="check the network") from None

    def _read(self, response: httpx.Response, ends: float) -> Answer | str | None:
        if response.status_code in MOVED:
            return str(response.headers.get("location", ""))
        if response.status_code in (404, 410):
            return None
        validators = {key: response.headers[header] for header, key in (("etag", "etag"), ("last-modified", "last_modified")) if header in response.headers}
        if response.status_code == 304:
            return Answer(str(response.url), "", b"", validators, unchanged=True)
        if response.status_code != 200:
            raise refusal(self.gate.name, response.status_code, retry_after(response.headers))
        return Answer(str(response.url), response.headers.get("content-type", ""), self._body(response, ends), validators)

    def _body(self, response: httpx.Response, ends: float) -> bytes:
        most = int(self.gate.limits.megabytes * 1_000_000)
        pieces, size = [], 0
        for piece in self._unpacked(response, ends, most):
            size += len(piece)
            if size > most:
                raise VendorFault(
                    "too_large", f"{self.gate.name} answers with more than {most} bytes", fix="raise `megabytes` in vendors.yaml if that is right"
                )
            pieces.append(piece)
        return b"".join(pieces)

    def _unpacked(self, response: httpx.Response, ends: float, most: int) -> Iterator[bytes]:
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        if encoding in ("", "identity"):
            yield from self._pieces(response, ends, most)
            return
        if encoding not in WINDOWS:
            raise VendorFault("malformed", f"{self.gate.name} answers packed as {encoding[:20]!a}, which was not asked for")
        unpacker = zlib.decompressobj(WINDOWS[encoding])
        try:
            for piece in self._pieces(response, ends, most):
                yield unpacker.decompress(piece, PIECE)
                while unpacker.unconsumed_tail:
                    yield unpacker.decompress(unpacker.unconsumed_tail, PIECE)
        except zlib.error as fault:
            raise VendorFault("malformed", f"{self.gate.name} answers with packed bytes that cannot be unpacked ({fault})") from None
        if not unpacker.eof:
            raise VendorFault("malformed", f"{self.gate.name}'s answer ends in the middle")

    def _pieces(self, response: httpx.Response, ends: float, most: int) -> Iterator[bytes]:
        came = 0
        for piece in response.iter_raw():
            came += len(piece)
            self.gate.count(octets=len(piece))
            if time.monotonic() > ends:
                raise self._late()
            if came > most:
                raise VendorFault("too_large", f"{self.gate.name} answers with more than {most} bytes")
            yield piece

    def _late(self) -> VendorFault:
        return VendorFault("timeout", f"{self.gate.name} gave no complete answer within {self.gate.limits.seconds:f} seconds")

    def _client(self, url: str) -> httpx.Client:
        """The environment's proxies are not asked about this machine itself."""
        here = urlsplit(url).hostname in LOOPBACK
        with self._lock:
            if here not in self._made:
                limits = httpx.Limits(max_connections=self.gate.limits.at_once, max_keepalive_connections=self.gate.limits.at_once)
                client = httpx.Client(verify=_certificates(), follow_redirects=False, trust_env=not here, limits=limits)
                weakref.finalize(self, client.close)
                self._made[here] = client
            return self._made[here]


def refusal(vendor: str, status: int, after: float | None = None) -> VendorFault:
    """What a status that is no success means."""
    if status == 429:
        return VendorFault("rate_limited", f"{vendor} asks us to slow down (HTTP 429)", fix="try again later", retry_after_seconds=after)
    if status >= 500:
        return VendorFault("unavailable", f"{vendor} is out of order (HTTP {status})", fix="try again later", retry_after_seconds=after)
    return VendorFault("refused", f"{vendor} refuses (HTTP {status})", fix="see the wiki's Live-Data page")


@cache
def _certificates() -> ssl.SSLContext:
    """Whom to trust; read once, because it takes a while."""
    return httpx.create_ssl_context()
