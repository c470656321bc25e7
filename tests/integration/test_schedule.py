"""`alphaagent schedule` in a home with live data: what is due is settled, swept and told; a second one is refused; recorded data have no tonight."""

import json
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import ModuleType

import pytest

from alphaagent.bootstrap import Workplace
from alphaagent.cli import run
from alphaagent.errors import ProviderFault
from alphaagent.operations import alarm
from alphaagent.operations.alarm import DateAlarm, Stop
from alphaagent.operations.lock import only_one
from alphaagent.operations.prospects import Wish
from alphaagent.operations.sweep_report import PortfolioReport, SweepReport, SweepRow
from tests.home import Home
from tests.live_home import NIGHT, TestClock, live_home
from tests.receiver import Receiver, receiving
from tests.vendors.edgar import Edgar
from tests.vendors.feeds import FeedPlayer
from tests.vendors.server import VendorServer, serving
from tests.vendors.yahoo import YahooPlayer

MORNING = NIGHT + timedelta(hours=15, minutes=45)
"""A quarter of an hour before the open of the Tuesday after."""
AFTER_OPEN = NIGHT + timedelta(hours=17)
TARGET = "targets:\n  phone:\n    url_variable: ALPHAAGENT_NOTIFY_PHONE\n    topics: [decision, failure, digest]\n"


@dataclass
class FakeSweep:
    """A pass that decides AAPL in `default`, or does what a test tells it."""

    passes: list[tuple[datetime, tuple[str, ...]]] = field(default_factory=list)
    instead: Callable[[], SweepReport] | None = None

    def __call__(self, workplace: Workplace, names: tuple[str, ...], /, *, wish: Wish) -> SweepReport:
        self.passes.append((workplace.clock.now(), names))
        if self.instead is not None:
            return self.instead()
        assert run(["decide", "NVDA", "--engine", "heuristic", "--json"]) == 0
        return report(SweepRow("NVDA", "decided"))


def report(*rows: SweepRow) -> SweepReport:
    return SweepReport((PortfolioReport("default", None, rows),))


@pytest.fixture
def sweep(monkeypatch: pytest.MonkeyPatch) -> FakeSweep:
    fake, module = FakeSweep(), ModuleType("alphaagent.operations.sweep")
    module.sweep = fake  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "alphaagent.operations.sweep", module)
    return fake


@pytest.fixture
def server() -> Iterator[VendorServer]:
    yahoo = YahooPlayer(NIGHT)
    with serving(yahoo, Edgar(upto=NIGHT.date()), FeedPlayer(NIGHT)) as running:
        running.yahoo = yahoo  # type: ignore[attr-defined]
        yield running


@pytest.fixture
def live(home: Home, server: VendorServer, sweep: FakeSweep, monkeypatch: pytest.MonkeyPatch) -> Home:
    return live_home(home, server, monkeypatch)


@pytest.fixture
def receiver(live: Home, monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    (live.folder / "config" / "notify.yaml").write_text(TARGET, encoding="utf-8")
    with receiving() as one:
        monkeypatch.setenv("ALPHAAGENT_NOTIFY_PHONE", one.url)
        yield one


def at(server: VendorServer, moment: datetime) -> None:
    TestClock.at = server.yahoo.now = moment  # type: ignore[attr-defined]


def test_in_recorded_data_there_is_no_tonight(home: Home) -> None:
    for arguments in (["schedule"], ["schedule", "--once"]):
        ran = home.run(*arguments)
        assert (ran.code, ran.out) == (2, "")
        assert "there is no tonight to wait for" in ran.err
        assert "ALPHAAGENT_DATA" in ran.err
    assert home.files() == []


def test_a_night_and_a_morning_by_a_timer(live: Home, server: VendorServer, sweep: FakeSweep, receiver: Receiver) -> None:
    assert live.run("schedule", "--once").code == 0
    assert len(sweep.passes) == 1
    assert [document["title"] for document in receiver.got] == ["NVDA: HOLD, portfolio default"]
    at(server, MORNING)
    live.ok("schedule", "--once")
    digest = receiver.got[-1]
    assert digest["title"].startswith("Digest of 2020-03-17 12:4")
    assert "  to fill" in digest["message"]
    assert receiver.keys()[-1] == "digest:XNYS:2020-03-17"
    at(server, AFTER_OPEN)
    ran = live.ok("schedule", "--once")
    assert "settle of XNYS 2020-03-17 done" in ran.err
    assert "nothing is due" in live.ok("schedule", "--once").err
    assert len(sweep.passes) == 1


def test_the_portfolios_of_the_file_are_swept(live: Home, sweep: FakeSweep) -> None:
    sweep.instead = lambda: report(SweepRow("AAPL", "repeated"))
    live.own_config("schedule.yaml", lambda text: text.replace("XNYS: all", "XNYS: [growth, income]"))
    live.ok("schedule", "--once")
    assert [names for _, names in sweep.passes] == [("growth", "income")]


def test_a_pass_in_which_one_ticker_failed_is_done_and_its_code_is_told(live: Home, sweep: FakeSweep) -> None:
    sweep.instead = lambda: report(SweepRow("AAPL", "decided"), SweepRow("IBM", "failed", reason="it is unknown here", exit_code=3))
    ran = live.run("schedule", "--once")
    assert ran.code == 3
    assert "sweep of XNYS 2020-03-16 done: 1 decided, 1 failed; IBM: it is unknown here" in ran.err
    assert "nothing is due" in live.ok("schedule", "--once").err


def away() -> SweepReport:
    raise ProviderFault("the provider is away")


@pytest.mark.parametrize("instead", [away, lambda: report(SweepRow("AAPL", "failed", reason="the provider is away", exit_code=4))])
def test_a_pass_that_came_to_nothing_is_tried_again_and_then_told(
    live: Home, sweep: FakeSweep, receiver: Receiver, server: VendorServer, instead: Callable[[], SweepReport]
) -> None:
    sweep.instead = instead
    for n in range(3):
        at(server, NIGHT + timedelta(minutes=11 * n))
        assert live.run("schedule", "--once").code == 4
    at(server, NIGHT + timedelta(minutes=40))
    live.ok("schedule", "--once")
    assert len(sweep.passes) == 3
    assert [document["title"] for document in receiver.got] == ["the sweep of XNYS 2020-03-16 is given up"]
    assert "the provider is away" in receiver.got[0]["message"]


def test_a_halt_in_the_middle_of_a_pass_is_no_failure(live: Home, sweep: FakeSweep) -> None:
    def halted() -> SweepReport:
        assert run(["halt", "strange prices"]) == 0
        return report(SweepRow("AAPL", "skipped", fault="Halted", exit_code=5))

    sweep.instead = halted
    ran = live.ok("schedule", "--once")
    assert "halted: nothing is settled or swept" in ran.err
    assert "given up" not in ran.err
    assert "nothing is due" in live.ok("schedule", "--once").err
    assert len(sweep.passes) == 1


@pytest.mark.parametrize("how", ["database", "file"])
def test_a_halted_system_is_told_of_and_left_alone(live: Home, sweep: FakeSweep, how: str) -> None:
    if how == "database":
        live.ok("halt", "strange prices")
    else:
        (live.folder / "data").mkdir(exist_ok=True)
        (live.folder / "data" / "HALT").touch()
    ran = live.ok("schedule", "--once")
    assert ran.err.count("halted: nothing is settled or swept") == 1
    assert sweep.passes == []


def test_a_file_that_cannot_be_read_fails_the_event_and_not_the_schedule(live: Home, sweep: FakeSweep, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: Iterator[Callable[[DateAlarm], object]] = iter(
        (
            lambda _: (setattr(TestClock, "at", AFTER_OPEN), live.own_config("mandate.yaml", lambda text: text.replace("risk_profile", "risk_profil", 1))),
            lambda _: (setattr(TestClock, "at", AFTER_OPEN + timedelta(minutes=11)), live.own_config("mandate.yaml", str)),
            lambda up: setattr(up._stop, "asked", True),
        )
    )

    class Stepping(DateAlarm):
        def wait(self, upcoming: object, seconds: float) -> None:
            next(steps)(self)

    live.own_config("schedule.yaml", lambda text: text.replace("health_port: 8799", "health_port: 0"))
    monkeypatch.setattr(alarm, "DateAlarm", Stepping)
    told = [line.split(" ", 1)[1] for line in live.ok("schedule").err.splitlines()]
    told = [line for line in told if line.startswith("settle of XNYS 2020-03-17")]
    assert told[1].startswith("settle of XNYS 2020-03-17 failed: ")
    assert "unknown key 'risk_profil'" in told[1]
    assert told[1].endswith("it is tried again in 10 minutes")
    assert told[3].startswith("settle of XNYS 2020-03-17 done: ")


def test_a_second_schedule_in_one_home_is_refused(live: Home, sweep: FakeSweep) -> None:
    with only_one(live.folder / "data" / "schedule.lock", lambda text: None):
        ran = live.run("schedule", "--once")
    assert (ran.code, "a schedule runs in this home already" in ran.err) == (2, True)
    assert sweep.passes == []


@pytest.mark.parametrize(("key", "message"), [("trys: 1", "unknown key trys"), ("exchanges: {XXXX: all}", "the sessions of the market 'XXXX' are unknown")])
def test_a_wrong_file_is_refused_at_the_start(live: Home, sweep: FakeSweep, key: str, message: str) -> None:
    (live.folder / "config" / "schedule.yaml").write_text(key + "\n", encoding="utf-8")
    ran = live.run("schedule", "--once")
    assert (ran.code, message in ran.err) == (2, True)
    assert sweep.passes == []


def test_it_stays_up_tells_its_health_and_ends_when_it_is_asked(live: Home, sweep: FakeSweep, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.unit.operations.test_health import Page, free_port

    page = Page()
    page.port = free_port()
    live.own_config("schedule.yaml", lambda text: text.replace("health_port: 8799", f"health_port: {page.port}"))
    seen: list[dict[str, object]] = []

    class Short(DateAlarm):
        def wait(self, upcoming: object, seconds: float) -> None:
            super().wait(upcoming, 0.05)  # type: ignore[arg-type]
            seen.append(page.get()[1])
            self._stop.asked = len(seen) == 2

    monkeypatch.setattr(alarm, "DateAlarm", Short)
    ran = live.ok("schedule")
    assert [line.split(" ", 1)[1] for line in ran.err.splitlines()][-1] == "the schedule has ended"
    assert "/health says how it is doing" in ran.err
    last = seen[-1]["last"]
    assert isinstance(last, dict)
    assert {name: entry["state"] for name, entry in last.items()} == {"digest XNYS": "missed", "settle XNYS": "done", "sweep XNYS": "done"}
    assert "hunter2" not in json.dumps(seen)
    assert len(sweep.passes) == 1
    assert [thread.name for thread in threading.enumerate() if thread.name == "APScheduler"] == []


def test_when_the_grace_is_over_the_calls_are_hung_up(live: Home, sweep: FakeSweep, monkeypatch: pytest.MonkeyPatch) -> None:
    hung_up: list[bool] = []

    def interrupted() -> SweepReport:
        raise KeyboardInterrupt

    sweep.instead = interrupted
    live.own_config("schedule.yaml", lambda text: text.replace("health_port: 8799", "health_port: 0"))
    monkeypatch.setattr("alphaagent.bootstrap.hang_up", lambda: hung_up.append(True))
    ran = live.ok("schedule")
    assert (hung_up, "the grace is over" in ran.err) == ([True], True)
    assert not Stop(1).asked


def test_an_address_that_is_missing_is_said_once(live: Home, receiver: Receiver, sweep: FakeSweep, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ALPHAAGENT_NOTIFY_PHONE")
    sweep.instead = lambda: report()
    ran = live.ok("schedule", "--once")
    assert ran.err.count("ALPHAAGENT_NOTIFY_PHONE is not set") == 1
    assert receiver.got == []
