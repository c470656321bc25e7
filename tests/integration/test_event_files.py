"""Event files without a flag: every debate that ends in a decision leaves one, nothing else does, and no trouble with them reaches a run."""

from datetime import date, timedelta

import pytest

from alphaagent.bootstrap import Workplace
from alphaagent.operations.price_path import price_path
from alphaagent.runs import RunFiles
from tests.crew_home import AS_OF, load_crewai, models
from tests.home import Home
from tests.live_home import NIGHT, TestClock, live_home
from tests.vendors.edgar import Edgar
from tests.vendors.feeds import FeedPlayer
from tests.vendors.server import serving
from tests.vendors.yahoo import YahooPlayer


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    load_crewai()


def runs(home: Home) -> list[str]:
    folder = RunFiles.of(home.folder).folder
    return sorted(path.stem for path in folder.iterdir()) if folder.exists() else []


def test_a_debate_leaves_its_events_under_its_decisions_name(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    with models(monkeypatch):
        document = home.ok("decide", "AAPL", "--as-of", AS_OF, "--json").document
    assert runs(home) == [document["decision_id"]]
    found = RunFiles.of(home.folder).read(document["decision_id"])
    assert found is not None
    names = [event["event"] for event in found.events]
    assert (names[0], names[-2:]) == ("run", ["guard", "run_completed"])
    calls = [event for event in found.events if event["event"] == "call_completed"]
    assert len(calls) == document["usage"]["calls"]
    assert sum(int(call["prompt_tokens"]) for call in calls) == document["usage"]["prompt_tokens"]


def test_a_pass_over_a_watchlist_leaves_them_too(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    (home.folder / "config" / "portfolios").mkdir(parents=True)
    (home.folder / "config" / "portfolios" / "default.yaml").write_text("watchlist: [AAPL]\n", encoding="utf-8")
    with models(monkeypatch):
        home.ok("sweep", "--as-of", AS_OF)
    assert len(runs(home)) == 1


def test_the_flag_writes_the_same_lines_to_a_file_of_ones_own(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    own = home.folder / "events.jsonl"
    with models(monkeypatch):
        document = home.ok("decide", "AAPL", "--as-of", AS_OF, "--json", "--events", str(own)).document
    assert own.read_text(encoding="utf-8") == RunFiles.of(home.folder).path(document["decision_id"]).read_text(encoding="utf-8")


def test_where_no_model_takes_part_and_on_a_dry_run_nothing_is_written(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.ok("decide", "MSFT", "--as-of", AS_OF)
    with models(monkeypatch):
        home.ok("decide", "AAPL", "--as-of", AS_OF, "--dry-run")
    assert runs(home) == []


def test_a_folder_that_cannot_be_written_costs_nobody_a_decision(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    (home.folder / "data").mkdir()
    (home.folder / "data" / "runs").write_text("a file stands where the folder should be")
    with models(monkeypatch):
        ran = home.ok("decide", "AAPL", "--as-of", AS_OF, "--json")
    assert ran.document["provenance"] == "crew"


def test_the_page_of_a_live_decision_draws_its_prices_and_asks_no_vendor(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(YahooPlayer(NIGHT), Edgar(upto=NIGHT.date()), FeedPlayer(NIGHT)) as server:
        live = live_home(home, server, monkeypatch)
        live.ok("decide", "AAPL", "--engine", "heuristic")
        asked = sum(server.seen.values())
        TestClock.at = NIGHT + timedelta(days=90)  # by now nothing holds that was fetched
        workplace = Workplace.open()
        path = price_path(workplace, workplace.stored_decision("last").record)
        assert (path.fault, path.outcome, path.closes[-1][0]) == (None, None, NIGHT.date())
        assert path.horizon == date(2020, 4, 14)
        assert sum(server.seen.values()) == asked
