"""Portfolios as files: strict, with tickers that stay text."""

from decimal import Decimal
from pathlib import Path

import pytest

from alphaagent.errors import ConfigFault
from alphaagent.evidence.sources.instruments import normal_ticker
from alphaagent.portfolio_files import PortfolioFile, parse_portfolio, read_portfolios, refuse_unknown_names
from alphaagent.settings import load_settings
from alphaagent.yaml_files import read_yaml
from tests.home import CHECKOUT

SHIPPED = CHECKOUT / "config" / "portfolios"


def read(folder: Path, text: str, name: str = "growth.yaml") -> PortfolioFile:
    (folder / name).write_text(text, encoding="utf-8")
    (found,) = read_portfolios(folder, normal_ticker).values()
    return found


def test_the_shipped_file_is_read_and_shows_every_key() -> None:
    (name,) = read_portfolios(SHIPPED, normal_ticker)
    text = (SHIPPED / "default.yaml").read_text(encoding="utf-8")
    assert name == "default"
    assert [key for key in PortfolioFile.model_fields if f"{key}: " not in text] == []


def test_the_shipped_examples_are_values_that_pass(tmp_path: Path) -> None:
    text = (SHIPPED / "default.yaml").read_text(encoding="utf-8")
    keys = tuple(f"# {key}: " for key in PortfolioFile.model_fields)
    found = read(tmp_path, "\n".join(line.removeprefix("# ") if line.startswith(keys) else line for line in text.splitlines()))
    assert [key for key in PortfolioFile.model_fields if getattr(found, key) is None] == []
    assert (found.cash, found.mandate, found.plan, found.daily_spend_usd) == (50_000, "conservative", "quick", Decimal(2))


def test_names_that_differ_in_capital_letters_only_are_refused(tmp_path: Path) -> None:
    (tmp_path / "Growth.yaml").write_text("watchlist: [AAPL]", encoding="utf-8")
    with pytest.raises(ConfigFault, match="portfolios Growth and growth differ in capital letters only"):
        read(tmp_path, "watchlist: [AAPL]")


def test_tickers_stay_text(tmp_path: Path) -> None:
    found = read(tmp_path, 'watchlist: [TRUE, NAN, 1E5, ON, NO, "NULL", "600519", 0700.HK, BRK.B, 2020-01-02]')
    assert found.watchlist == ("TRUE", "NAN", "1E5", "ON", "NO", "NULL", "600519", "0700.HK", "BRK.B", "2020-01-02")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("watchlist: [AAPL]\nwatchlst: [A]", "unknown key watchlst; did you mean watchlist?"),
        ("watchlst: [AAPL]", "unknown key watchlst; did you mean watchlist?"),
        ("watchlist: [AAPL]\nrisk: low", "unknown key risk; valid: cash, daily_spend_usd, engine, mandate, plan, watchlist"),
        ("mandate: default", "watchlist is missing"),
        ("watchlist: []", "watchlist is"),
        ("watchlist: AAPL", "watchlist is 'AAPL'"),
        ("watchlist: [AAPL, NULL]", "watchlist.1 is read as nothing and not as a ticker"),
        ("watchlist: [600519]", "watchlist.0 is read as 600519 and not as a ticker"),
        ("watchlist: [true]", "watchlist.0 is read as True and not as a ticker"),
        ("watchlist: [1.5]", "watchlist.0 is read as 1.5 and not as a ticker"),
        ("watchlist: [AAPL, AAPL]", "watchlist: AAPL and AAPL are the same ticker"),
        ("watchlist: [BRK.B, brk-b]", "watchlist: BRK.B and brk-b are the same ticker"),
        ("watchlist: ['../etc']", "cannot be a ticker"),
        ("watchlist: [AAPL]\ncash: -1", "cash is '-1'"),
        ("watchlist: [AAPL]\ncash: 0.001", "cash is '0.001'"),
        ("watchlist: [AAPL]\ncash: .nan", "cash is '.nan'"),
        ("watchlist: [AAPL]\nengine: oracle", "engine is 'oracle'"),
        ("watchlist: [AAPL]\nplan: endless", "plan is 'endless'"),
        ("watchlist: [AAPL]\ndaily_spend_usd: off", "daily_spend_usd is 'off'"),
        ("watchlist: [AAPL]\nengine: auto\nengine: crew", "the key engine stands twice"),
    ],
)
def test_what_cannot_be_meant_names_file_and_key(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ConfigFault) as refused:
        read(tmp_path, text)
    assert "growth.yaml" in refused.value.message
    assert words in refused.value.message
    assert refused.value.fix


def test_a_list_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigFault, match="at most 100"):
        read(tmp_path, f"watchlist: [{', '.join(f'T{n}' for n in range(101))}]")


@pytest.mark.parametrize(("name", "words"), [("growth.yml", "is not read: a portfolio's file ends in .yaml"), ("my growth.yaml", "which is no name")])
def test_a_file_whose_name_is_no_portfolio_is_refused(tmp_path: Path, name: str, words: str) -> None:
    with pytest.raises(ConfigFault, match=words):
        read(tmp_path, "watchlist: [AAPL]", name)


def test_a_file_that_names_what_is_not_there_is_refused(tmp_path: Path) -> None:
    known = {"mandates": ["default", "bold"], "plans": ["quick", "standard"]}
    files = {"growth": PortfolioFile(watchlist=("AAPL",), mandate="bald")}
    with pytest.raises(ConfigFault, match=r"growth.yaml: mandate is 'bald', and there is no such mandate; did you mean bold\?"):
        refuse_unknown_names(files, tmp_path, **known)
    files = {"growth": PortfolioFile(watchlist=("AAPL",), plan="deep")}
    with pytest.raises(ConfigFault, match=r"growth.yaml: plan is 'deep', and there is no such plan") as refused:
        refuse_unknown_names(files, tmp_path, **known)
    assert refused.value.fix == "use one of: quick, standard"


def test_own_portfolios_take_the_place_of_the_shipped_one(tmp_path: Path) -> None:
    own = tmp_path / "config" / "portfolios"
    own.mkdir(parents=True)
    assert load_settings({}, tmp_path).portfolios == SHIPPED
    (own / "notes.txt").write_text("nothing", encoding="utf-8")
    assert load_settings({}, tmp_path).portfolios == SHIPPED
    (own / "growth.yaml").write_text("watchlist: [AAPL]", encoding="utf-8")
    assert load_settings({}, tmp_path).portfolios == own


def test_a_whole_document_is_read(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text("watchlist: [AAPL]\ncash: 10.50\nengine: crew\nplan: deep\ndaily_spend_usd: 0.5", encoding="utf-8")
    found = parse_portfolio(read_yaml(tmp_path / "one.yaml"), "one.yaml", normal_ticker)
    assert found == PortfolioFile(watchlist=("AAPL",), cash=Decimal("10.50"), engine="crew", plan="deep", daily_spend_usd=Decimal("0.5"))
