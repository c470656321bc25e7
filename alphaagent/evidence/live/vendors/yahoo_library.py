"""Two classes of yfinance with their habits taken off: what is kept for ever, what is written to disk, what is asked for nothing.

Loaded only where Yahoo is really asked. What is overridden here has no public switch in the library, so its release is pinned, and the tests of the
session run against it.
"""

from typing import Any

import yfinance
from yfinance.data import YfData


class Store(YfData):  # type: ignore[misc]
    """Cookie and crumb, in memory; made by `new`, because the class of its class would hand out one for the whole process."""

    @classmethod
    def new(cls, session: Any) -> "Store":
        made: Store = type.__call__(cls, session)
        return made

    @property
    def session(self) -> Any:
        return self._session

    def cache_get(self, url: str, params: Any = None, timeout: float = 30) -> Any:
        """Asks, each time: the library's own remembers answers for as long as the process lives."""
        return self.get(url, params, timeout)

    def _get_cookie_basic(self, timeout: float = 30) -> bool:
        """Without its file the library would ask for a new cookie before every request."""
        return bool(self._session.cookies) or bool(super()._get_cookie_basic(timeout))

    def _load_cookie_curlCffi(self) -> bool:
        return False

    def _save_cookie_curlCffi(self) -> bool:
        return False


class Ticker(yfinance.Ticker):  # type: ignore[misc]
    """A ticker whose history is asked by period, for which no time zone is needed."""

    def _get_ticker_tz(self, timeout: float) -> None:  # noqa: ARG002 - the library's signature
        return None
