"""The session that yfinance is given instead of one of its own: it goes to Yahoo's hosts alone, counts, bounds and judges.

It must be one of curl_cffi, because the library accepts no other; so this module is loaded only where Yahoo is really asked. Redirects are followed
here, each one checked; an answer is unpacked by curl and handed over piece by piece, so that its size is bounded unpacked. A failure of an address
that documents come from ends the visit: whatever the library asks next, as it does by other cookies and in smaller parts, is answered with
that failure and does not go out. What only concerns the cookie fails the way the library knows how to go on from.
"""

import time
from typing import Any, ClassVar
from urllib.parse import urljoin, urlsplit

from curl_cffi import requests
from curl_cffi.requests import exceptions

from alphaagent.errors import VendorFault
from alphaagent.evidence.live.gate import Gate
from alphaagent.evidence.live.limits import LOOPBACK
from alphaagent.evidence.live.vendors.yahoo_answers import CRUMB, NOT_ALLOWED, NotThere, Visit, document_of, envelope_of, is_crumb, throttling
from alphaagent.evidence.live.vendors.yahoo_markets import VENDOR
from alphaagent.evidence.live.wire import MOST_REDIRECTS, MOVED

HOST = "yahoo.com"
MOST_REQUESTS = 24
"""In one visit; the statements of a company, the cookie and the crumb take twelve."""
MOST_FOR_A_COOKIE = 2
"""How often one address that is no document's is asked in one visit: once for each of the library's two ways to a cookie."""
METHODS = ("GET", "POST")
Answer = requests.Response


class ContainedSession(requests.Session[Answer]):
    """One for the process. `visit` is set by whoever holds the library's lock; without one nothing goes out."""

    BROWSER: ClassVar[Any] = "chrome"
    """Whom the library's own session appears to be."""

    def __init__(self, gate: Gate) -> None:
        here = gate.limits.address is not None and urlsplit(gate.limits.address).hostname in LOOPBACK
        super().__init__(impersonate=self.BROWSER, use_thread_local_curl=False, trust_env=not here)
        self._gate = gate
        self.visit: Visit | None = None

    def request(self, method: Any, url: str, **asked: Any) -> Answer:  # type: ignore[override]  # it takes whatever the library gives
        """One request of the library's. Of what it may ask for, only the parameters, the form and the headers count."""
        visit = self.visit
        if visit is None:
            raise VendorFault("refused", f"{VENDOR} is asked outside of a visit")
        if visit.ended is not None:
            raise visit.ended
        sent = {key: asked[key] for key in ("params", "data", "headers") if asked.get(key) is not None}
        envelope = envelope_of(urlsplit(url).path)
        return self._for_a_cookie(visit, method, url, sent) if envelope is None else self._document(visit, envelope, method, url, sent)

    def _document(self, visit: Visit, envelope: str, method: str, url: str, sent: dict[str, Any]) -> Answer:
        try:
            answer = self._followed(visit, method, url, sent)
            if answer.status_code in NOT_ALLOWED and not visit.refused and not throttling(answer.status_code, _headers(answer), answer.content):
                visit.refused = True  # a crumb grows old: the library asks once more with a new one
                return answer
            self._refuse_other_place(envelope, answer)
            document = document_of(envelope, answer.status_code, _headers(answer), answer.content)
        except (VendorFault, NotThere) as end:
            visit.ended = visit.throttled if isinstance(end, VendorFault) and end.kind == "refused" and visit.throttled else end
            raise visit.ended from None
        visit.documents.append((envelope, document))
        return answer

    def _for_a_cookie(self, visit: Visit, method: str, url: str, sent: dict[str, Any]) -> Answer:
        address = url.partition("?")[0]
        visit.asked[address] = visit.asked.get(address, 0) + 1
        if visit.asked[address] > MOST_FOR_A_COOKIE:
            raise exceptions.ConnectionError(f"{address} was asked often enough")
        try:
            answer = self._followed(visit, method, url, sent)
        except VendorFault as fault:
            raise exceptions.ConnectionError(fault.message) from None
        visit.throttled = throttling(answer.status_code, _headers(answer), answer.content) or visit.throttled
        if urlsplit(url).path == CRUMB and not is_crumb(answer.status_code, answer.content):
            raise exceptions.ConnectionError("what came is no crumb")
        return answer

    def _followed(self, visit: Visit, method: str, url: str, sent: dict[str, Any]) -> Answer:
        ends = 0.0
        for _ in range(MOST_REDIRECTS + 1):
            self._check(method, url)
            if visit.requests >= MOST_REQUESTS:
                raise VendorFault("refused", f"{VENDOR} takes more than {MOST_REQUESTS} requests to answer one question")
            visit.requests += 1
            self._gate.admit()
            ends = ends or time.monotonic() + float(self._gate.limits.seconds)
            answer = self._once(method, url, sent, ends)
            if answer.status_code not in MOVED:
                return answer
            url, method, sent = self._onward(url, answer.headers.get("location") or ""), "GET", {}
        raise VendorFault("redirected", f"{VENDOR} sent us on more than {MOST_REDIRECTS} times")

    def _once(self, method: str, url: str, sent: dict[str, Any], ends: float) -> Answer:
        left = ends - time.monotonic()
        if left <= 0:
            raise self._late()
        body = _Body(self._gate)
        self._gate.count(requests=1)
        try:
            answer = super().request(
                method,  # type: ignore[arg-type]
                self._address(url),
                timeout=left,
                allow_redirects=False,
                content_callback=body.take,
                **sent,
            )
        except exceptions.Timeout:
            raise self._late() from None
        except exceptions.ContentDecodingError:
            raise VendorFault("malformed", f"{VENDOR} answers with packed bytes that cannot be unpacked") from None
        except (exceptions.RequestException, OSError, ValueError) as fault:
            raise VendorFault("unreachable", f"{VENDOR} cannot be reached ({type(fault).__name__})", fix="check the network") from None
        answer.content, answer.url = body.whole, url
        return answer

    def _refuse_other_place(self, envelope: str, answer: Answer) -> None:
        """VendorFault where a document's address led to another one, such as the page that asks for consent to cookies."""
        there = urlsplit(answer.url)
        if envelope_of(there.path) != envelope:
            raise VendorFault("redirected", f"{VENDOR} sent us to {there.hostname}{there.path[:60]}, which is no document", fix="see the wiki's Live-Data page")

    def _onward(self, url: str, location: str) -> str:
        try:
            return urljoin(url, location)
        except ValueError:
            raise VendorFault("redirected", f"{VENDOR} sent us to what is no address") from None

    def _check(self, method: str, url: str) -> None:
        """VendorFault unless an address is one of Yahoo's own."""
        try:
            there = urlsplit(url)
            plain = there.scheme == "https" and there.port is None and there.username is None
        except ValueError:
            raise VendorFault("redirected", f"{VENDOR} sent us to what is no address") from None
        host = there.hostname or ""
        if method not in METHODS or not plain or not (host == HOST or host.endswith(f".{HOST}")):
            raise VendorFault("redirected", f"{VENDOR} sent us to {there.scheme}://{host[:60]!a}, where we do not go")

    def _address(self, url: str) -> str:
        """Where a request really goes: to the stand-in where there is one, with the same path and query."""
        stand_in = self._gate.limits.address
        if stand_in is None:
            return url
        there = urlsplit(url)
        return f"{stand_in}{there.path}" + (f"?{there.query}" if there.query else "")

    def _late(self) -> VendorFault:
        return VendorFault("timeout", f"{VENDOR} gave no complete answer within {self._gate.limits.seconds:f} seconds")


def _headers(answer: Answer) -> dict[str, str]:
    return {name.lower(): value for name, value in answer.headers.items() if value is not None}


class _Body:
    """An answer's bytes as they come, unpacked, counted and bounded."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._most = int(gate.limits.megabytes * 1_000_000)
        self._pieces: list[bytes] = []
        self._size = 0

    def take(self, piece: bytes) -> int:
        """Called by curl for each piece; what it raises ends the transfer and comes out of the request."""
        self._size += len(piece)
        self._gate.count(octets=len(piece))
        if self._size > self._most:
            raise VendorFault("too_large", f"{VENDOR} answers with more than {self._most} bytes", fix="raise `megabytes` in vendors.yaml if that is right")
        self._pieces.append(piece)
        return len(piece)

    @property
    def whole(self) -> bytes:
        return b"".join(self._pieces)
