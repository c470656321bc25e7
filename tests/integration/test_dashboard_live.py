"""With live data the pages look at the archive: however old it is, no vendor is asked, and nothing is written."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from alphaagent.bootstrap import Workplace
from alphaagent.operations.benchmark import benchmark
from alphaagent.operations.equity import course
from alphaagent.operations.today import gather
from tests.home import Home
from tests.live_home import NIGHT, TestClock, live_home
from tests.vendors.edgar import Edgar
from tests.vendors.feeds import FeedPlayer
from tests.vendors.server import VendorServer, serving
from tests.vendors.yahoo import YahooPlayer

LATER = datetime(2020, 3, 19, 21, 0, tzinfo=UTC)
"""Three sessions after the last look of anybody."""


@pytest.fixture
def server() -> Iterator[VendorServer]:
    with serving(YahooPlayer(NIGHT), Edgar(upto=NIGHT.date()), FeedPlayer(NIGHT)) as running:
        yield running


@pytest.fixture
def live(home: Home, server: VendorServer, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home whose watchlist was swept live, and looked at three days later."""
    folder = home.folder / "config" / "portfolios"
    folder.mkdir(parents=True)
    (folder / "default.yaml").write_text("watchlist: [AAPL, NVDA]\n", encoding="utf-8")
    swept = live_home(home, server, monkeypatch)
    swept.ok("sweep", "--engine", "heuristic")
    TestClock.at = LATER
    return swept


def test_three_days_later_the_pages_ask_nobody_and_say_how_old_their_prices_are(live: Home, server: VendorServer) -> None:
    asked, counts, archive = sum(server.seen.values()), live.counts(), (live.folder / "data" / "live" / "archive.db").read_bytes()
    place = Workplace.open(only_looks=True)
    today, done = gather(place), course(place, "default")
    assert sum(server.seen.values()) == asked
    assert (live.counts(), (live.folder / "data" / "live" / "archive.db").read_bytes()) == (counts, archive)
    (one,) = today.portfolios
    assert (today.digest.session.isoformat(), one.nav) == ("2020-03-19", Decimal(100_000))
    assert today.run.fault is None
    assert [(exchange, at) for exchange, at in today.run.due] == [("XNYS", LATER.replace(day=20, hour=20, minute=30))]
    assert [name.ticker for name in today.run.rounds[0].names] == ["AAPL", "NVDA"]
    assert done.points[-1].session.isoformat() == "2020-03-19"
    assert benchmark(place, done) is not None
    assert sum(server.seen.values()) == asked


def test_who_never_fetched_anything_is_told_what_is_missing_and_still_nobody_is_asked(live: Home, server: VendorServer) -> None:
    (live.folder / "data" / "live" / "archive.db").unlink()
    (live.folder / "config" / "portfolios" / "default.yaml").write_text("watchlist: [ZZZZ, AAPL]\n", encoding="utf-8")
    asked = sum(server.seen.values())
    today = gather(Workplace.open(only_looks=True))
    assert sum(server.seen.values()) == asked
    assert not (live.folder / "data" / "live" / "archive.db").exists()
    assert [name.ticker for name in today.run.rounds[0].names] == ["ZZZZ", "AAPL"]


def test_the_clock_of_the_pages_is_the_wall(live: Home) -> None:
    today = gather(Workplace.open(only_looks=True))
    assert timedelta(0) <= today.digest.at - LATER < timedelta(minutes=1)
