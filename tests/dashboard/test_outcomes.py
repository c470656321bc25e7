"""The page of outcomes: every decision is counted, each figure has its count, and what is missing is said."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

Page = Any


def test_every_decision_is_counted_and_the_small_groups_say_so(page: Page, recorded: Path) -> None:
    app = page("outcomes", recorded)
    assert not app.exception
    counts, groups, each = (one.value for one in app.dataframe)
    assert counts["decisions"].sum() == len(each)
    assert set(groups["who decided"]) == {"crew", "fallback", "heuristic"}
    assert "too few" in groups["decisions"].iloc[0]


def test_groups_can_be_chosen_by_the_address(page: Page, recorded: Path) -> None:
    groups = page("outcomes", recorded, by="action").dataframe[1].value
    assert set(groups["action"]) <= {"BUY", "HOLD", "SELL"}


def test_a_purchase_that_fell_is_on_the_wrong_side(page: Page, recorded: Path) -> None:
    each = page("outcomes", recorded).dataframe[2].value
    bought = each[each["action"] == "BUY"]
    assert set(bought[bought["return"].str.startswith("−")]["right"]) == {"no"}
    assert set(each[each["action"] == "HOLD"]["right"]) == {"–"}


def test_what_is_measured_is_said(page: Page, recorded: Path) -> None:
    words = " ".join(one.value for one in page("outcomes", recorded).markdown)
    assert "first open after the decision" in words
    assert "Windows of one name overlap" in words


def test_decisions_without_prices_are_counted_and_not_dropped(page: Page, own_home: Path) -> None:
    with closing(sqlite3.connect(own_home / "data" / "alphaagent.db")) as connection, connection:
        connection.execute("DROP TRIGGER decision_no_update")
        connection.execute("UPDATE decision SET instrument_id = 'XNAS:GONE'")
    app = page("outcomes", own_home)
    assert not app.exception
    (row,) = app.dataframe[0].value.to_dict("records")
    assert row["which"] == "have no prices on record for their horizon"
    assert any("No decision has an outcome yet" in one.value for one in app.info)


def test_the_page_in_a_browser(site: str, visit: Any) -> None:
    seen = visit(site)
    browser_page = seen.go("outcomes", "Outcomes")
    figure = browser_page.get_by_test_id("stVegaLiteChart")
    figure.locator("canvas, svg").first.wait_for()
    seen.picture("outcomes-light")
    assert "Returns by what was proposed. BUY:" in browser_page.content()
    assert seen.faults == []


def test_the_page_on_a_phone_in_the_dark(site: str, visit: Any) -> None:
    seen = visit(site, dark=True, narrow=True)
    browser_page = seen.go("outcomes", "Outcomes")
    browser_page.get_by_test_id("stVegaLiteChart").locator("canvas, svg").first.wait_for()
    seen.picture("outcomes-dark-narrow")
    assert browser_page.evaluate("document.documentElement.scrollWidth") <= 390
    assert seen.faults == []
