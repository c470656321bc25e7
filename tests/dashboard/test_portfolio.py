"""A portfolio's page: the figures are those of the command line, and the course is drawn and told."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from alphaagent.cli import run
from tests.book_home import Books, closes, opens, write_prices


@pytest.fixture(scope="module")
def default(recorded: Path) -> Iterator[Any]:
    """The page of the shared home's default portfolio, drawn once."""
    from streamlit.testing.v1 import AppTest

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ALPHAAGENT_HOME", str(recorded))
        app = AppTest.from_string("from dashboard.shell import show\nshow('portfolio')", default_timeout=60)
        app.query_params["name"] = "default"
        yield app.run()


def metric(app: Any, label: str) -> str:
    (found,) = [one.value for one in app.metric if one.label == label]
    return str(found)


def words(app: Any) -> str:
    return "\n".join(str(one.value) for kind in ("markdown", "caption", "text", "info", "warning", "error") for one in app.get(kind))


def test_the_nav_and_the_positions_are_those_of_portfolio_show(
    default: Any, recorded: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not default.exception
    monkeypatch.setenv("ALPHAAGENT_HOME", str(recorded))
    assert run(["portfolio", "show", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert metric(default, "NAV") == f"USD {float(document['equity']):,.2f}"
    table = next(one.value for one in default.dataframe if "cap %" in one.value)
    assert dict(zip(table["ticker"], table["value"], strict=True)) == {one["ticker"]: float(one["value"]) for one in document["positions"]}
    assert set(table["cap %"]) == {10.0}


def test_the_realised_gains_are_those_of_the_ledger(default: Any, recorded: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALPHAAGENT_HOME", str(recorded))
    assert run(["ledger", "gains", "--json"]) == 0
    gained = sum(float(json.loads(line)["gain"]) for line in capsys.readouterr().out.splitlines())
    trades = next(one.value for one in default.dataframe if "realised gain" in one.value)
    assert trades["realised gain"].sum() == pytest.approx(gained)
    parts = next(one.value for one in default.dataframe if "part" in one.value)
    assert parts["amount"][0] == f"−USD {abs(gained):,.2f}"


def test_the_benchmark_is_named_and_every_figure_has_words_for_who_does_not_see_it(default: Any) -> None:
    assert "Benchmark: Equal weight, the watchlist: AAPL, MSFT, NVDA, GOOG" in words(default).replace("\\", "")
    spoken = [one.proto.alt for one in default.get("vega_lite_chart")]
    assert len(spoken) == 5
    assert all(spoken)
    assert spoken[0].startswith("NAV: 100,000.00 USD on 2020-02-03, 96,606.79 USD on 2020-04-20")
    assert "the cap is 10%" in spoken[3]


def test_an_unknown_name_in_the_address_is_said_and_shown_as_text(page: Any, recorded: Path) -> None:
    app = page("portfolio", recorded, name="[x](https://evil.example)<b>")
    assert not app.exception
    (warned,) = [one.value for one in app.warning]
    assert "There is no portfolio" in warned
    assert "](" not in warned
    assert "<b>" not in warned
    assert app.selectbox[0].value == "default"


def test_another_portfolio_can_be_chosen(page: Any, recorded: Path) -> None:
    app = page("portfolio", recorded, name="default")
    app.selectbox[0].select("beta").run()
    assert metric(app, "NAV").startswith("USD 8,9")
    assert app.query_params["name"] in ("beta", ["beta"])


def test_an_index_that_covers_all_of_it_is_the_benchmark_and_payments_are_marked(page: Any, tmp_path: Path) -> None:
    home = write_prices(tmp_path, {"ACME": [10, 11, 12, 13, 14, 15, 16, 17, 18]}, index=[2000, 2010, 2020, 2030, 2040, 2050, 2060, 2070, 2100])
    books = Books(home)
    books.trade("BUY", "ACME", 10, 10, opens(1))
    books.pay(500, closes(3))
    books.trade("SELL", "ACME", 5, 17, opens(8))
    app = page("portfolio", home)
    assert not app.exception
    assert "Benchmark: SPX, the index by its closes, without dividends." in words(app).replace("\\", "")
    assert metric(app, "Profit and loss") == "USD 70.00"
    assert "paid in" in app.get("vega_lite_chart")[0].proto.spec


def test_a_portfolio_of_one_day_says_what_makes_a_course(page: Any, tmp_path: Path) -> None:
    Books(write_prices(tmp_path, {"ACME": [10, 11]}))
    app = page("portfolio", tmp_path)
    assert not app.exception
    told = words(app)
    assert "There is no course to draw yet" in told
    assert "Nothing is held." in told


@pytest.mark.parametrize("looks", [{}, {"dark": True}, {"narrow": True}], ids=["light", "dark", "narrow"])
def test_it_is_seen_whole_in_a_browser(site: str, visit: Any, looks: dict[str, bool]) -> None:
    seen = visit(site, **looks)
    page = seen.go("portfolio?name=default", "Portfolio")
    page.get_by_text("NAV at each session's close").wait_for()
    page.wait_for_function("document.querySelectorAll('[data-testid=\"stVegaLiteChart\"] svg.marks').length >= 3")
    page.get_by_role("heading", name="Trades").scroll_into_view_if_needed()
    seen.picture(f"portfolio-{'-'.join(looks) or 'light'}")
    assert page.evaluate("document.querySelector('[data-testid=\"stMain\"]').scrollWidth <= window.innerWidth")
    assert seen.faults == []
