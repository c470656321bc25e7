"""yfinance, contained: one question at a time, through one gate, with nothing written and nothing printed.

The library was written for a person at a prompt. What it keeps for the whole process is dealt with here, once:

- It has one store of cookie and crumb, a singleton. It is replaced by a store of ours for as long as a question lasts, and put back, under a lock
  that all questions of the process share: the library is not safe in two threads.
- That store keeps answers by their address for ever, so that a second look would see the first. Ours keeps none.
- It writes cookies (pickled) and time zones to SQLite files in the user's home. Ours keeps the cookie in memory, a history by period
  needs no time zone, and whatever else might be written goes to the folder given.
- It asks again by another way to a cookie whenever an answer is 4xx or 5xx, which makes seven requests of one, and fourteen of a statement's. The
  session lets it do so once where the crumb was refused, and not at all otherwise; what may be asked again is the gate's to say.

Changed for the process and left so: the library hides no exceptions, makes no second attempts of its own, its logger is silent, its caches' folder,
and warnings that its modules cause are not shown. No environment variable is read or set.
"""

import logging
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

from alphaagent.errors import VendorFault
from alphaagent.evidence.live.gate import Gate
from alphaagent.evidence.live.vendors.yahoo_answers import NotThere, Visit
from alphaagent.evidence.live.vendors.yahoo_markets import VENDOR, checked_symbol
from alphaagent.evidence.live.wire import refusal

T = TypeVar("T")
_LIBRARY = threading.Lock()
SILENT = logging.CRITICAL + 1
DRIFT = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)
"""What comes out of the library where a readable answer is not of the shape that it expects."""


@dataclass(frozen=True, slots=True)
class Answered(Generic[T]):
    """What the library made of the answers, and the answers themselves, each with its envelope's key."""

    value: T
    documents: tuple[tuple[str, Any], ...]

    def first(self, envelope: str) -> Any:
        """The first result of the last document of a kind; None where there is none."""
        results = [document[key]["result"] for key, document in self.documents if key == envelope]
        return results[-1][0] if results and results[-1] else None


class YahooSession:
    """What all of Yahoo's topics share. `folder`: where the library may keep files if it ever does; it is not made before."""

    def __init__(self, gate: Gate, folder: Path) -> None:
        self.gate = gate
        self._folder = folder

    def ask(self, symbol: str, question: Callable[[Any], T]) -> Answered[T] | None:
        """What `question` makes of the library's ticker; None where Yahoo says that it knows nothing under the symbol. Raises VendorFault."""
        checked_symbol(symbol)
        return self.gate.run(lambda: self._visit(symbol, question))

    def close(self) -> None:
        """Ends the connections, if any were made."""
        if "_store" in self.__dict__:
            with _LIBRARY:
                self._store.session.close()
                del self.__dict__["_store"]

    def _visit(self, symbol: str, question: Callable[[Any], T]) -> Answered[T] | None:
        with _LIBRARY, self._library() as ticker_of:
            from curl_cffi.requests.exceptions import RequestException
            from yfinance.exceptions import YFException, YFRateLimitError, YFTickerMissingError

            visit = self._store.session.visit = Visit()
            try:
                value = question(ticker_of(symbol))
            except (NotThere, YFTickerMissingError):
                _raise_failure(visit)
                return None
            except (YFException, RequestException, *DRIFT) as fault:
                _raise_failure(visit)
                if isinstance(fault, YFRateLimitError):
                    raise refusal(VENDOR, 429) from None
                if isinstance(fault, RequestException):
                    raise VendorFault("unreachable", f"{VENDOR} cannot be reached ({type(fault).__name__})", fix="check the network") from None
                raise VendorFault("schema", f"{VENDOR}'s answer is not of the agreed shape ({type(fault).__name__})", fix="update yfinance") from None
            finally:
                self._store.session.visit = None
            _raise_failure(visit)
            return Answered(value, tuple(visit.documents))

    @cached_property
    def _store(self) -> Any:
        from alphaagent.evidence.live.vendors.yahoo_contained import ContainedSession
        from alphaagent.evidence.live.vendors.yahoo_library import Store

        return Store.new(ContainedSession(self.gate))

    @contextmanager
    def _library(self) -> Iterator[Callable[[str], Any]]:
        """The library set up for us, with our store in the place of its own."""
        import yfinance
        from yfinance.data import SingletonMeta, YfData

        from alphaagent.evidence.live.vendors.yahoo_library import Ticker

        warnings.filterwarnings("ignore", module=r"yfinance(\.|\Z)")
        logging.getLogger("yfinance").setLevel(SILENT)
        yfinance.config.debug.hide_exceptions = False
        yfinance.config.debug.logging = False
        yfinance.config.network.retries = 0
        yfinance.set_tz_cache_location(str(self._folder))
        before = SingletonMeta._instances.get(YfData)
        SingletonMeta._instances[YfData] = self._store
        try:
            yield lambda symbol: Ticker(symbol, session=self._store.session)
        finally:
            SingletonMeta._instances.pop(YfData, None)
            if before is not None:
                SingletonMeta._instances[YfData] = before


def _raise_failure(visit: Visit) -> None:
    """What really ended a visit, whatever the library made of it: nothing is missing, and nothing whole, where something failed."""
    if isinstance(visit.ended, VendorFault):
        raise visit.ended
    if visit.refused and not visit.documents and visit.ended is None:
        raise visit.throttled or refusal(VENDOR, 401)
