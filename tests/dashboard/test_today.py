"""The first page: what stands on it, what it says where there is nothing, and that it neither writes nor waits."""

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from alphaagent.cli import run
from tests.dashboard_home import SWEEPS
from tests.synthetic import write_home

BLOCKED = "FAT_FINGER_NOTIONAL"


@pytest.fixture(scope="module")
def today(recorded: Path) -> Iterator[Any]:
    """The page of the shared home, drawn once; it is looked at and not touched."""
    from streamlit.testing.v1 import AppTest

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ALPHAAGENT_HOME", str(recorded))
        yield AppTest.from_string("from dashboard.shell import show\nshow('today')", default_timeout=60).run()


def words(app: Any) -> str:
    """Everything that is written on a page."""
    return "\n".join(str(one.value) for kind in ("markdown", "caption", "text", "info", "warning", "error", "subheader") for one in app.get(kind))


def metrics(app: Any) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for one in app.metric:
        found.setdefault(one.label, []).append((one.value, one.delta))
    return found


def tables(app: Any) -> list[Any]:
    return [one.value for one in app.dataframe]


def shown(home: Path, name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setenv("ALPHAAGENT_HOME", str(home))
    assert run(["portfolio", "show", name, "--json"]) == 0
    return dict(json.loads(capsys.readouterr().out))


def test_every_portfolio_has_its_nav_its_day_its_cash_and_its_positions(
    today: Any, recorded: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not today.exception
    documents = [shown(recorded, name, capsys, monkeypatch) for name in ("beta", "default")]
    assert [value for value, _ in metrics(today)["NAV"]] == [f"USD {float(one['equity']):,.2f}" for one in documents]
    assert [value for value, _ in metrics(today)["Positions"]] == [str(len(one["positions"])) for one in documents]
    assert [delta for _, delta in metrics(today)["NAV"]] == ["-5.47 (-0.06%)", "-204.29 (-0.21%)"]


def test_the_day_is_the_books_own_and_says_so(today: Any) -> None:
    assert f"today is the books' own time: {SWEEPS[-1]} 20:00 UTC" in words(today)


def test_rates_stand_beside_their_counts(today: Any) -> None:
    ((value, counted),) = metrics(today)["Fallback share"]
    assert value == "4%"
    assert counted.startswith("1 of ")
    assert counted.endswith("too few")


def test_what_waits_names_its_open_and_what_ran_names_its_counts(today: Any) -> None:
    orders, sweeps, following = tables(today)
    assert set(orders["fills at the open of"]) == {"2020-04-21"}
    assert len(orders) == 6
    assert dict(zip(sweeps["portfolio"], sweeps["decided"], strict=True)) == {"default": 4, "beta": 3}
    assert set(following["ticker"]) >= {"AAPL", "MSFT", "NVDA", "GOOG", "AMZN", "NFLX"}


def test_a_refused_order_is_a_card_with_its_limit_its_overage_and_what_would_change_it(today: Any) -> None:
    told = words(today)
    assert BLOCKED in told.replace("\\", "")
    assert "over by" in told.replace("\\", "")
    assert "attempted 60,000.00, limit 3,585.28" in told
    assert "H1.max_request_fraction: 0.4" in told
    assert "Position weight (H6): the position would be 669.41% of NAV; the limit is 20%" in told
    assert "What would change it: A smaller request" in told


def test_without_a_model_the_next_run_costs_nothing_and_a_person_starts_it(today: Any) -> None:
    told = words(today).replace("\\", "")
    assert "Nothing runs by itself over recorded data: run `alphaagent sweep`." in told
    assert "nothing: no model will be asked" in told
    assert "No model is configured" in told


def test_with_a_model_the_next_run_has_its_bound(page: Any, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"PROVIDER": "openai", "MODEL": "gpt-4o-mini", "API_KEY": "k"}.items():
        monkeypatch.setenv(f"ALPHAAGENT_LLM_{name}", value)
    app = page("today", own_home)
    assert not app.exception
    told = words(app).replace("\\", "")
    assert "4 debates: about" in told
    assert "Who speaks: gpt-4o-mini at openai" in told


def test_a_reduced_system_says_who_reduced_it_and_why(page: Any, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALPHAAGENT_HOME", str(own_home))
    assert run(["reduce", "too <b>much</b> at risk"]) == 0
    told = words(page("today", own_home))
    assert "**Kill switch: REDUCING**, set by database" in told
    assert "<b>" not in told


def test_a_page_changes_no_byte_of_the_books(page: Any, own_home: Path) -> None:
    before = stored(own_home)
    for name in ("today", "portfolio"):
        assert not page(name, own_home).exception
    assert stored(own_home) == before
    assert {path.name for path in (own_home / "data").iterdir()} <= {"alphaagent.db", "alphaagent.db-shm", "alphaagent.db-wal", "runs"}


def stored(home: Path) -> list[tuple[str, list[Any]]]:
    """Every row of every table."""
    with closing(sqlite3.connect(home / "data" / "alphaagent.db")) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        return [(name, connection.execute(f"SELECT * FROM {name} ORDER BY 1").fetchall()) for name in names]


@contextmanager
def writing(home: Path) -> Iterator[None]:
    """Somebody has begun to write and has not ended."""
    with closing(sqlite3.connect(home / "data" / "alphaagent.db", isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE control_state SET version = version + 1")
        yield
        connection.execute("ROLLBACK")


def test_a_page_is_drawn_while_somebody_writes(page: Any, own_home: Path) -> None:
    with writing(own_home):
        for name in ("today", "portfolio"):
            app = page(name, own_home)
            assert not app.exception
            assert len(app.metric) > 4


def test_what_was_skipped_or_failed_is_told_with_its_reason(page: Any, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALPHAAGENT_HOME", str(own_home))
    (own_home / "config" / "portfolios" / "default.yaml").write_text("watchlist: [AAPL, NOBODY]\n", encoding="utf-8")
    assert run(["sweep", "--watchlist", "default", "--as-of", "2020-04-22"]) == 3
    told = [one for one in tables(page("today", own_home)) if "in its own words" in one]
    assert [(row["ticker"], row["what happened"]) for row in told[0].to_dict("records")] == [("NOBODY", "there is nothing to decide on")]


def test_without_a_sweep_it_says_how_to_make_one(page: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = quiet_home(tmp_path)
    monkeypatch.setenv("ALPHAAGENT_HOME", str(home))
    assert run(["portfolio", "create", "mine", "--as-of", "2019-06-03"]) == 0
    app = page("today", home)
    told = words(app)
    assert not app.exception
    assert "No sweep yet. `alphaagent sweep`" in told
    assert "None. An approved decision places one." in told
    assert "no name needs a price" in told


def test_books_without_a_portfolio_say_how_to_make_one(page: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = quiet_home(tmp_path)
    monkeypatch.setenv("ALPHAAGENT_HOME", str(home))
    assert run(["halt", "before anything"]) == 0
    for name in ("today", "portfolio"):
        app = page(name, home)
        assert not app.exception
        assert "there is no portfolio in these books yet" in words(app)


def quiet_home(folder: Path) -> Path:
    """A home with made-up prices of one name."""
    home = write_home(folder / "quiet", 1)
    (home / "config" / "portfolios").mkdir(parents=True)
    (home / "config" / "portfolios" / "mine.yaml").write_text("watchlist: [T000]\n", encoding="utf-8")
    return home


def test_prices_that_are_gone_leave_a_word_in_place_of_the_nav(page: Any, own_home: Path) -> None:
    from tests.snapshot_folder import RECORDED

    snapshot = shutil.copytree(RECORDED, own_home / "data" / "snapshot")
    rows = (snapshot / "bars" / "MSFT.csv").read_text(encoding="utf-8").splitlines()
    (snapshot / "bars" / "MSFT.csv").write_text("\n".join(row.replace("2020-03-02,", "2020-03-02,-") for row in rows) + "\n", encoding="utf-8")
    app = page("today", own_home)
    assert not app.exception
    assert [value for value, _ in metrics(app)["NAV"]][1] == "–"
    assert "**MSFT** has no price" in words(app)
    other = page("portfolio", own_home, name="default")
    assert not other.exception
    assert "No price of **MSFT**" in words(other)


@pytest.mark.parametrize("looks", [{}, {"dark": True}, {"narrow": True}], ids=["light", "dark", "narrow"])
def test_it_is_seen_whole_in_a_browser(site: str, visit: Any, looks: dict[str, bool]) -> None:
    seen = visit(site, **looks)
    page = seen.go("today", "Today")
    for heading in ("Breakers", "Orders that wait", "What the guard refused", "What ran", "Models", "The next run"):
        page.get_by_role("heading", name=heading).wait_for()
    assert page.evaluate("document.querySelector('[data-testid=\"stMain\"]').scrollWidth <= window.innerWidth")
    seen.picture(f"today-{'-'.join(looks) or 'light'}")
    assert seen.faults == []


def test_it_leads_to_the_portfolio_and_to_the_refused_decision(site: str, visit: Any) -> None:
    seen = visit(site)
    page = seen.go("today", "Today")
    page.get_by_role("link", name="Open the portfolio").first.click()
    page.get_by_role("heading", name="Portfolio", exact=True).wait_for()
    assert page.url.endswith("/portfolio?name=beta")
    page = seen.go("today", "Today")
    page.get_by_role("link", name="Open the decision").click()
    page.wait_for_url("**/decision?id=dec_*")
    assert seen.faults == []
