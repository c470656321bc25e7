"""The page of decisions: filters in the address, pages, the way to a decision, the file."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from tests.dashboard_home import HOSTILE_DAY

Page = Any


def shown(app: Page) -> Any:
    assert not app.exception
    return app.dataframe[0].value


def test_every_decision_is_listed_newest_first(page: Page, recorded: Path) -> None:
    app = page("decisions", recorded)
    table = shown(app)
    assert list(table["as of"]) == sorted(table["as of"], reverse=True)
    assert f"**{len(table)}** decisions match" in app.markdown[0].value


@pytest.mark.parametrize(
    ("query", "column", "values"),
    [
        ({"action": "HOLD"}, "action", {"HOLD"}),
        ({"provenance": "fallback"}, "ticker", {"GOOG"}),
        ({"engine": "crew"}, "decided by", {"crew"}),
        ({"class": "earned"}, "debate", {"earned"}),
        ({"portfolio": "beta"}, "portfolio", {"beta"}),
        ({"since": "2020-02-05", "until": "2020-02-05"}, "as of", {"2020-02-05 21:00 UTC"}),
        ({"outcome": "no_order"}, "guard", {"NO_ORDER"}),
    ],
)
def test_a_filter_in_the_address_is_the_view(page: Page, recorded: Path, query: dict[str, str], column: str, values: set[str]) -> None:
    app = page("decisions", recorded, **query)
    assert set(shown(app)[column]) == values
    assert dict(app.query_params) == query


def test_a_filter_can_be_typed(page: Page, recorded: Path) -> None:
    app = page("decisions", recorded)
    app.text_input(key="ticker").set_value("nvda").run()
    assert set(shown(app)["ticker"]) == {"NVDA"}


def test_where_nothing_matches_the_way_back_is_a_button(page: Page, recorded: Path) -> None:
    app = page("decisions", recorded, ticker="NOSUCH", engine="crew")
    assert "No decision matches" in app.info[0].value
    app.button[0].click().run()
    assert len(shown(app)) > 10


@pytest.mark.parametrize("query", [{"action": "<script>"}, {"since": "soon"}, {"page": "-7"}, {"page": "9999"}, {"portfolio": "**x**"}])
def test_an_address_that_makes_no_sense_is_no_fault(page: Page, recorded: Path, query: dict[str, str]) -> None:
    assert len(shown(page("decisions", recorded, **query))) > 10


def test_long_lists_come_by_the_page(page: Page, recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.screens.decisions.ROWS", 4)
    first, second = (list(shown(page("decisions", recorded, **query))["id"]) for query in ({}, {"page": "2"}))
    assert len(first) == len(second) == 4
    assert not {*first} & {*second}


def test_a_file_that_is_cut_says_so(page: Page, recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.screens.decisions.MOST_EXPORTED", 5)
    app = page("decisions", recorded)
    assert any("the newest 5 of" in one.value for one in app.caption)


def test_the_page_in_a_browser(site: str, visit: Any) -> None:
    seen = visit(site)
    browser_page = seen.go(f"decisions?since={HOSTILE_DAY}&until={HOSTILE_DAY}", "Decisions")
    browser_page.get_by_test_id("stDataFrame").wait_for()
    seen.picture("decisions-light")
    with browser_page.expect_download() as download:
        browser_page.get_by_role("button", name="Download what matches").click()
    rows = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text(encoding="utf-8"))))
    assert [row["ticker"] for row in rows] == ["AAPL", "NVDA"]
    grid = browser_page.get_by_test_id("stDataFrame").bounding_box()
    assert grid is not None
    browser_page.mouse.click(grid["x"] + 16, grid["y"] + 52)
    browser_page.get_by_test_id("stCode").get_by_text(rows[0]["decision_id"]).wait_for()
    browser_page.get_by_role("link", name="Open this decision").click()
    browser_page.wait_for_url(f"**/decision?id={rows[0]['decision_id']}*")
    assert seen.faults == []


def test_the_page_on_a_phone_in_the_dark(site: str, visit: Any) -> None:
    seen = visit(site, dark=True, narrow=True)
    browser_page = seen.go("decisions", "Decisions")
    browser_page.get_by_test_id("stDataFrame").wait_for()
    seen.picture("decisions-dark-narrow")
    assert browser_page.evaluate("document.documentElement.scrollWidth") <= 390
    assert seen.faults == []
