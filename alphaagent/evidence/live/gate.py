"""How a vendor is asked, whatever the protocol: not too often, not too many at once, again where that may help, and not at all for a while
after it has failed too often.

One gate stands before one vendor for the whole process, so that its limits hold across tickers and threads.
"""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from alphaagent.errors import VendorFault, VendorFaultKind
from alphaagent.evidence.live.limits import VendorLimits

PASSING: frozenset[VendorFaultKind] = frozenset({"rate_limited", "unreachable", "timeout", "unavailable"})
"""Failures that another attempt may not meet."""
FIRST_WAIT_SECONDS = 0.5
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Tally:
    """What went out and came in since the process began."""

    requests: int = 0
    octets: int = 0


class Gate:
    """`sleep` waits between attempts; the library's own clock paces the requests."""

    def __init__(self, name: str, limits: VendorLimits, sleep: Callable[[float], None]) -> None:
        self.name = name
        self.limits = limits
        self._sleep = sleep
        self._at_once = threading.BoundedSemaphore(limits.at_once)
        self._lock = threading.Lock()
        self._tally = Tally()
        self._last = "not known"

    @property
    def tally(self) -> Tally:
        return self._tally

    def count(self, *, requests: int = 0, octets: int = 0) -> None:
        """Adds to the tally; whoever makes the requests counts them."""
        with self._lock:
            self._tally = Tally(self._tally.requests + requests, self._tally.octets + octets)

    def admit(self) -> None:
        """Waits until another request is within the vendor's rate."""
        self._limiter.try_acquire(self.name)

    def run(self, once: Callable[[], T]) -> T:
        """The result of `once`, asked again after passing failures. Raises VendorFault: the last one, or `resting`."""
        from tenacity import Retrying, retry_if_exception, stop_after_attempt

        retrying = Retrying(
            stop=stop_after_attempt(self.limits.attempts),
            retry=retry_if_exception(lambda fault: isinstance(fault, VendorFault) and fault.kind in PASSING and not self._is_told_to_wait_longer(fault)),
            wait=self._wait,
            sleep=self._sleep,
            reraise=True,
        )
        result: T = retrying(self._guarded, once)
        return result

    def _guarded(self, once: Callable[[], T]) -> T:
        from pybreaker import CircuitBreakerError

        try:
            with self._at_once:
                result: T = self._breaker.call(once)
                return result
        except CircuitBreakerError:
            times, rest = self.limits.failures_to_rest, self.limits.rest_seconds
            message = f"{self.name} failed {times} times in a row and is left alone for {rest:f} seconds; the last time: {self._last}"
            raise VendorFault("resting", message, fix="try again later") from None
        except VendorFault as fault:
            self._last = fault.message
            raise

    def _is_told_to_wait_longer(self, fault: VendorFault) -> bool:
        return fault.retry_after_seconds is not None and fault.retry_after_seconds > self.limits.longest_wait_seconds

    def _wait(self, state: Any) -> float:
        """What the vendor asked for, else twice as long each time with as much again by chance, so that many do not come back at once."""
        from tenacity import wait_random_exponential

        fault = state.outcome.exception()
        asked = fault.retry_after_seconds if isinstance(fault, VendorFault) else None
        if asked is not None:
            return float(asked)
        longest = float(self.limits.longest_wait_seconds)
        return float(min(wait_random_exponential(multiplier=FIRST_WAIT_SECONDS, max=longest)(state) + FIRST_WAIT_SECONDS / 2, longest))

    def close(self) -> None:
        """Ends what paces the requests; another request makes a new one."""
        limiter = self.__dict__.pop("_limiter", None)
        if limiter is not None:
            limiter.close()

    @cached_property
    def _limiter(self) -> Any:
        from pyrate_limiter import Duration, Limiter, Rate

        logging.getLogger("pyrate_limiter").setLevel(logging.WARNING)
        per_second = self.limits.requests_per_second
        second = int(Duration.SECOND)
        return Limiter(Rate(1, int(second / per_second)) if per_second < 1 else Rate(int(per_second), second))

    @cached_property
    def _breaker(self) -> Any:
        from pybreaker import CircuitBreaker

        return CircuitBreaker(
            fail_max=self.limits.failures_to_rest,
            reset_timeout=float(self.limits.rest_seconds),
            exclude=[lambda fault: isinstance(fault, VendorFault) and fault.kind not in PASSING],
            throw_new_error_on_trip=False,
        )
