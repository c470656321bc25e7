"""The only place that opens a socket to a model.

The whole exchange has one deadline, and runs in a thread that is given up at it: a timeout per read never ends a peer that sends one byte at
a time, be it of the headers, and none at all bounds the look-up of a name. Redirects are not followed: a key goes to the host that was
configured and to no other.
"""

import ssl
import threading
import time
from functools import cache

import httpx

from alphaagent.domain.transcript import Fault
from alphaagent.domain.waiting import retry_after
from alphaagent.llm.carrier import Carried, Key, Parcel
from alphaagent.llm.provider import is_loopback

CONNECT_SECONDS = 10.0
LARGEST_BODY = 4 * 1024 * 1024
CONNECTIONS = 64
GLANCE_SECONDS = 0.1
"""How often a waiting exchange looks whether its debate has been closed."""
UNPACKED = {"accept-encoding": "identity"}
"""A few packed bytes can be gigabytes: a bound on what comes in is one only where nothing is unpacked afterwards."""
LONGEST_REST_SECONDS = 20.0
"""Whoever is told to wait longer gives up: the deadline of a decision is worth more than the same model."""
CONNECTION_BROKE = (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError, RuntimeError, UnicodeError)
"""The last two are a client that was closed meanwhile, and a host whose name cannot be one."""
DEADLINE = Fault(kind="deadline", message="the deadline of the decision passed before the model had answered")


class NetworkCarrier:
    """Carries parcels of one debate, over a client that belongs to it alone and is closed with it."""

    def __init__(self, client: httpx.Client, seconds: float) -> None:
        self._client = client
        self._began = time.monotonic()
        self._ends = self._began + seconds
        self._lock = threading.Lock()
        self._seq = 0
        self._begun: list[tuple[Parcel, Carried]] = []
        self._over = threading.Event()

    def carry(self, parcel: Parcel) -> Carried:
        """The answer, or the fault that came instead of one; after `close` there is only the deadline."""
        begun, seconds = self._begin(parcel), min(parcel.seconds, self.left())
        return self._bounded(parcel, begun, seconds) if seconds > 0 else self._ended(begun, DEADLINE)

    def left(self) -> float:
        """Seconds to the debate's deadline."""
        return self._ends - time.monotonic()

    def rest(self, seconds: float, upcoming: Key) -> bool:  # noqa: ARG002 - only a record asks which one
        if seconds > min(LONGEST_REST_SECONDS, self.left()):
            return False
        return not self._over.wait(seconds)

    def close(self) -> tuple[tuple[Parcel, Carried], ...]:
        """Ends the debate's use of the network and its connections.

        Every parcel comes back as ended by the deadline: which of them are on record otherwise is the trace's to know, for an answer may be
        here and not there yet.
        """
        with self._lock:
            self._over.set()
            self._ends = time.monotonic()
            begun = tuple((parcel, self._ended(begun, DEADLINE, may_be_paid=True)) for parcel, begun in self._begun)
        self._client.close()
        return begun

    def _begin(self, parcel: Parcel) -> Carried:
        with self._lock:
            self._seq += 1
            begun = Carried(self._seq, self._now_ms(), 0)
            if not self._over.is_set():
                self._begun.append((parcel, begun))
            return begun

    def _bounded(self, parcel: Parcel, begun: Carried, seconds: float) -> Carried:
        """The exchange in a thread of its own, waited for until its time is up or the debate has been closed, whatever it hangs on."""
        came: list[Carried] = []
        done, ends = threading.Event(), time.monotonic() + seconds

        def attempt() -> None:
            came.append(self._attempted(parcel, begun, seconds))
            done.set()

        threading.Thread(target=attempt, daemon=True).start()
        while not done.wait(min(GLANCE_SECONDS, max(ends - time.monotonic(), 0.0))):
            if self._over.is_set() or time.monotonic() >= ends:
                break
        return came[0] if came else self._late(parcel, begun)

    def _attempted(self, parcel: Parcel, begun: Carried, seconds: float) -> Carried:
        try:
            return self._exchange(parcel, begun, seconds)
        except httpx.TimeoutException:
            return self._late(parcel, begun)
        except httpx.ConnectError:
            return self._ended(begun, Fault(kind="unreachable", message="the model's address cannot be reached"))
        except CONNECTION_BROKE as fault:
            return self._broke(begun, fault)

    def _late(self, parcel: Parcel, begun: Carried) -> Carried:
        late = DEADLINE if self.left() <= 0 else Fault(kind="timeout", message=f"no complete answer within {parcel.seconds:g} s")
        return self._ended(begun, late, may_be_paid=True)

    def _broke(self, begun: Carried, fault: Exception, *, may_be_paid: bool = False) -> Carried:
        return self._ended(begun, Fault(kind="unreachable", message=f"the connection broke ({type(fault).__name__})"), may_be_paid=may_be_paid)

    def _exchange(self, parcel: Parcel, begun: Carried, seconds: float) -> Carried:
        """What comes back; a connection that breaks in the middle of an answer breaks after the model has been at work."""
        ends = time.monotonic() + seconds
        timeout = httpx.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds))
        headers = {**parcel.headers, **UNPACKED}
        with self._client.stream("POST", parcel.url, content=parcel.body, headers=headers, timeout=timeout) as response:
            try:
                return self._answer(response, begun, ends)
            except httpx.TimeoutException:
                raise
            except CONNECTION_BROKE as fault:
                return self._broke(begun, fault, may_be_paid=response.is_success)

    def _answer(self, response: httpx.Response, begun: Carried, ends: float) -> Carried:
        if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
            return self._unread(response, begun, "the answer is compressed although that was not asked for")
        pieces, size = [], 0
        for piece in response.iter_raw():
            pieces.append(piece)
            size += len(piece)
            if time.monotonic() > ends:
                raise httpx.ReadTimeout("the exchange took too long")
            if size > LARGEST_BODY:
                return self._unread(response, begun, f"the answer is longer than {LARGEST_BODY} bytes")
        return Carried(
            begun.seq,
            begun.started_ms,
            self._now_ms() - begun.started_ms,
            response.status_code,
            response.headers.get("content-type"),
            b"".join(pieces),
            retry_after_seconds=retry_after(response.headers),
        )

    def _unread(self, response: httpx.Response, begun: Carried, why: str) -> Carried:
        return self._ended(begun, Fault(kind="malformed", message=why), may_be_paid=response.is_success)

    def _ended(self, begun: Carried, fault: Fault, *, may_be_paid: bool = False) -> Carried:
        return Carried(begun.seq, begun.started_ms, self._now_ms() - begun.started_ms, fault=fault, may_be_paid=may_be_paid)

    def _now_ms(self) -> int:
        return round((time.monotonic() - self._began) * 1000)


def network_client(base_url: str) -> httpx.Client:
    """A client for one endpoint; the environment's proxies are not asked about this machine itself."""
    return httpx.Client(
        verify=_certificates(),
        follow_redirects=False,
        trust_env=not is_loopback(base_url),
        limits=httpx.Limits(max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS),
    )


@cache
def _certificates() -> ssl.SSLContext:
    """Whom to trust; read once, because it takes longer than all the rest of a debate's own work."""
    return httpx.create_ssl_context()
