"""A home with live data whose vendors are played by a server on this machine, at an instant of the test's choosing."""

from datetime import UTC, datetime, timedelta

import pytest

from alphaagent import bootstrap
from tests.home import Home
from tests.vendors.server import VendorServer

NIGHT = datetime(2020, 3, 16, 21, 0, tzinfo=UTC)
"""An hour after the close of a Monday; daylight saving has begun in New York."""
VENDORS = ("yahoo", "edgar", "feeds", "stooq")
CONTACT = "Desk of Tests desk@example.org"


class TestClock:
    """Stands where the wall clock stands; the test moves it, and it ticks by a millisecond whenever it is read."""

    __test__ = False
    at = NIGHT

    def now(self) -> datetime:
        TestClock.at += timedelta(milliseconds=1)
        return TestClock.at


def live_home(home: Home, server: VendorServer, monkeypatch: pytest.MonkeyPatch, at: datetime = NIGHT, **limits: object) -> Home:
    """The home, told to ask the server instead of the vendors, in no hurry to give up and in no mood to wait."""
    TestClock.at = at
    monkeypatch.setattr(bootstrap, "WallClock", TestClock)
    monkeypatch.setenv("ALPHAAGENT_DATA", "live")
    held = {"address": server.address, "requests_per_second": 50, "at_once": 4, "seconds": 3, "attempts": 2, "longest_wait_seconds": 0, **limits}
    lines = [f"{name}:\n" + "".join(f"  {key}: {value}\n" for key, value in held.items()) for name in VENDORS if name in known_vendors()]
    (home.folder / "config").mkdir(exist_ok=True)
    (home.folder / "config" / "vendors.yaml").write_text("".join(lines), encoding="utf-8")
    home.own_config("alphaagent.yaml", lambda text: text.replace("contact: null", f"contact: {CONTACT}"))
    return home


def known_vendors() -> tuple[str, ...]:
    from alphaagent.evidence.registry import VENDORS as MADE

    return tuple(MADE)
