"""The real sweep under the real schedule: three sessions of two portfolios in one process, with files and books that somebody changes in between."""

import gc
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest

from alphaagent.bootstrap import Workplace
from alphaagent.evidence.live.wire import Wire
from alphaagent.operations import alarm
from alphaagent.operations.alarm import DateAlarm
from alphaagent.operations.duties import Home as Hands
from alphaagent.operations.prospects import Wish
from alphaagent.operations.sweep_report import SweepReport
from alphaagent.operations.timetable import Timetable, last_events
from tests.home import Home
from tests.live_home import NIGHT, TestClock, live_home
from tests.sweep_home import portfolio
from tests.vendors.edgar import Edgar
from tests.vendors.feeds import FeedPlayer
from tests.vendors.server import VendorServer, serving
from tests.vendors.yahoo import YahooPlayer

OPEN, NEXT_NIGHT, NEXT_OPEN = NIGHT + timedelta(hours=17), NIGHT + timedelta(days=1), NIGHT + timedelta(days=1, hours=17)


@pytest.fixture
def server() -> Iterator[VendorServer]:
    yahoo = YahooPlayer(NIGHT)
    with serving(yahoo, Edgar(upto=NIGHT.date()), FeedPlayer(NIGHT)) as running:
        running.yahoo = yahoo  # type: ignore[attr-defined]
        yield running


@pytest.fixture
def live(home: Home, server: VendorServer, monkeypatch: pytest.MonkeyPatch) -> Home:
    made = live_home(home, server, monkeypatch)
    made.own_config("schedule.yaml", lambda text: text.replace("health_port: 8799", "health_port: 0"))
    portfolio(made.folder, "alpha", ["AAPL"])
    portfolio(made.folder, "beta", ["NVDA"], cash=20_000)
    return made


def nights(home: Home, server: VendorServer, monkeypatch: pytest.MonkeyPatch, *steps: Callable[[], object]) -> list[str]:
    """What a schedule says that is up over these steps, one per pause; it is asked for the end after the last."""
    left = iter(steps)

    class Stepping(DateAlarm):
        def wait(self, upcoming: object, seconds: float) -> None:
            step = next(left, None)
            if step is None:
                self._stop.asked = True
            else:
                step()

    monkeypatch.setattr(alarm, "DateAlarm", Stepping)
    return [line.split(" ", 1)[1] for line in home.ok("schedule").err.splitlines()]


def test_three_sessions_of_two_portfolios_with_files_and_books_that_are_changed(live: Home, server: VendorServer, monkeypatch: pytest.MonkeyPatch) -> None:
    def at(moment: object, *more: Callable[[], object]) -> Callable[[], None]:
        def step() -> None:
            TestClock.at = server.yahoo.now = moment  # type: ignore[attr-defined]
            for change in more:
                change()

        return step

    def spoil() -> None:
        live.sql("DROP TRIGGER posting_no_update")
        live.sql("UPDATE posting SET amount = amount + 1")

    widened = lambda: portfolio(live.folder, "alpha", ["AAPL", "GOOG"])  # noqa: E731
    told = nights(live, server, monkeypatch, at(OPEN), at(NEXT_NIGHT, widened), at(NEXT_OPEN, spoil), at(NEXT_OPEN + timedelta(minutes=1)))
    said = [line for line in told if " done: " in line or " failed: " in line or line.startswith("halted")]
    assert said[1].startswith("sweep of XNYS 2020-03-16 done: 2 decided")
    assert said[2].startswith("settle of XNYS 2020-03-17 done: ")
    assert said[3].startswith("sweep of XNYS 2020-03-17 done: 3 decided"), "the watchlist was changed while the schedule was up"
    assert said[4].startswith("settle of XNYS 2020-03-18 failed: the books are unsound"), "so were the books"
    assert said[5].startswith("halted: ")
    rows = live.ok("show", "--list", "--json").documents
    assert sorted((row["portfolio"], row["ticker"], row["as_of"][:10]) for row in rows) == [
        ("alpha", "AAPL", "2020-03-16"),
        ("alpha", "AAPL", "2020-03-17"),
        ("alpha", "GOOG", "2020-03-17"),
        ("beta", "NVDA", "2020-03-16"),
        ("beta", "NVDA", "2020-03-17"),
    ]


def test_a_workplace_that_is_closed_leaves_no_connection_and_no_thread(live: Home, server: VendorServer) -> None:
    others, running = wires(), set(threading.enumerate())  # of other tests in this process
    place = Workplace.open()
    place.when.common(None, ["AAPL"])
    before = [wire for wire in wires() if wire._made and wire not in others]
    threads = {thread for thread in threading.enumerate() if "Leaker" in thread.name} - running
    assert before
    assert threads
    place.close()
    assert [wire for wire in before if wire._made] == []
    for thread in threads:
        thread.join(5)
    assert [thread for thread in threads if thread.is_alive()] == []
    place.when.common(None, ["AAPL"])
    place.close()


def wires() -> list[Wire]:
    return [one for one in gc.get_objects() if isinstance(one, Wire)]


def test_a_pass_leaves_the_passes_after_it_on_the_same_day_their_part_of_the_money(live: Home) -> None:
    """London's close comes first; New York's lists are still ahead on the same UTC day, and none is left once they are swept."""
    portfolio(live.folder, "beta", ["NVDA", "GOOG", "AMZN"])
    portfolio(live.folder, "gamma", ["IBM"], engine="heuristic")
    wishes: list[int] = []

    def noted(_workplace: Workplace, _names: tuple[str, ...], /, *, wish: Wish) -> SweepReport:
        wishes.append(wish.debates_after)
        return SweepReport(())

    times = Timetable.model_validate({"exchanges": {"XLON": ["alpha"], "XNYS": ["beta", "gamma"]}})
    TestClock.at = NIGHT - timedelta(hours=4)
    resident = Workplace.open()
    hands = Hands(resident, times, Workplace.open, noted, lambda text: None)
    for exchange, moment in (("XLON", NIGHT - timedelta(hours=4)), ("XLON", NIGHT), ("XNYS", NIGHT)):
        TestClock.at = moment
        (event,) = [one for one in last_events(exchange, hands.calendar(exchange, moment), moment, times) if one.kind == "sweep"]
        hands.sweep(event)
    resident.close()
    assert wishes == [3, 3, 0]
