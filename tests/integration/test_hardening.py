"""What people who tried to break it found: each held here so that it stays mended."""

from decimal import Decimal
from pathlib import Path

import pytest

from alphaagent.bootstrap import Workplace
from alphaagent.errors import ConfigFault
from alphaagent.evidence.sources.instruments import read_instruments
from tests.home import Home
from tests.snapshot_folder import RECORDED

TRIGGERS = "SELECT name FROM sqlite_master WHERE type='trigger'"


def untied(home: Home) -> Home:
    for (name,) in home.sql(TRIGGERS):
        home.sql(f'DROP TRIGGER "{name}"')
    return home


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE posting SET amount = amount * 2 WHERE txn_id = 1",
        "UPDATE posting SET amount = amount + 1000000 WHERE txn_id = 1 AND n = 1",
        "UPDATE portfolio SET mandate = 'aggressive'",
        "DELETE FROM audit_log WHERE seq = 2",
    ],
)
def test_nothing_is_decided_on_books_that_somebody_edited(opened: Home, edit: str) -> None:
    untied(opened).sql(edit)
    ran = opened.run("decide", "AAPL", "--as-of", "2020-08-05")
    assert (ran.code, "unsound" in ran.err) == (5, True)
    assert "UNSOUND" in opened.ok("portfolio", "show").out


@pytest.mark.parametrize("spelling", ["2022-09-19T21:00:00Z", "2022-09-20T07:00:00+10:00", "2022-09-19T14:00:00-07:00"])
def test_an_instant_is_the_same_in_every_zone(home: Home, spelling: str) -> None:
    at = Workplace.open().moment(spelling)
    assert (at.isoformat(), at.date().isoformat()) == ("2022-09-19T21:00:00+00:00", "2022-09-19")


def test_settle_goes_no_further_than_the_orders_that_are_pending(pending: Home) -> None:
    """A book does not go back: years of dividends must not be booked because nobody said how far."""
    (done,) = pending.ok("settle", "--json").documents
    assert (done["order"]["status"], done["order"]["fill_session"]) == ("filled", "2020-08-03")
    assert pending.portfolio()["book_time"] == "2020-08-03T13:30:00Z"
    assert pending.run("settle").err == "nothing was due\n"


@pytest.mark.parametrize("ticker", ["nvda", "NVDA", "Nvda"])
def test_decisions_are_found_by_a_ticker_in_any_case(pending: Home, ticker: str) -> None:
    assert "NVDA" in pending.ok("show", "--list", "--ticker", ticker).out


def test_a_portfolio_is_not_shown_before_it_was_opened(pending: Home) -> None:
    ran = pending.run("portfolio", "show", "--as-of", "2019-08-01")
    assert (ran.code, "was opened at 2020-07-31" in ran.err) == (2, True)


def test_two_instruments_with_one_id_are_refused(tmp_path: Path) -> None:
    text = (RECORDED / "instruments.csv").read_text(encoding="utf-8")
    twin = next(line for line in text.splitlines() if line.startswith("XNAS:NVDA")).replace(",NVDA,", ",QQQQ,", 1)
    (tmp_path / "instruments.csv").write_text(text + twin + "\n", encoding="utf-8")
    with pytest.raises(ConfigFault, match="have one id, XNAS:NVDA"):
        read_instruments(tmp_path)


@pytest.mark.parametrize("arguments", [("show", "\udcff"), ("halt", "a\udcffb"), ("portfolio", "show", "\ud800"), ("audit", "verify", "--anchor", "a\0b")])
def test_bytes_that_are_no_text_are_refused_by_name(home: Home, arguments: tuple[str, ...]) -> None:
    ran = home.run(*arguments)
    assert (ran.code, "not UTF-8" in ran.err, ran.out) == (2, True, "")


@pytest.mark.parametrize("command", ["halt", "reduce"])
def test_a_reason_is_shown_without_what_steers_a_terminal(home: Home, command: str) -> None:
    assert "\u202e" not in home.ok(command, "NVDA\u202e").out


def test_no_case_on_what_was_never_seen_is_said_so(home: Home) -> None:
    bear = home.decide("AMZN", "2021-06-01", "--dry-run")["bear_case"]
    assert bear["no_case"] == "no bearish case on price; fundamentals and news could not be seen"


def test_a_sale_of_a_part_says_that_it_is_size_and_not_view(home: Home) -> None:
    path = home.folder / "held.csv"
    path.write_text("ticker,quantity,cost,date,cash\nAAPL,100,9000,2020-01-02,\n,,,,30000\n", encoding="utf-8")
    home.ok("portfolio", "import", str(path), "--as-of", "2020-08-03")
    proposal = home.decide("AAPL", "2020-08-03")["proposal"]
    assert (proposal["action"], "a matter of size and not of the view" in proposal["reasoning"]) == ("SELL", True)
    assert Decimal(str(proposal["amount"])) < 43_575


@pytest.mark.parametrize("more", [[], ["--dry-run"]])
def test_an_import_beyond_what_the_books_can_count_is_refused(home: Home, more: list[str]) -> None:
    path = home.folder / "many.csv"
    path.write_text("ticker,quantity,cost,date,cash\n" + "NVDA,1000000000,1000000000,2022-01-03,\n" * 1001, encoding="utf-8")
    ran = home.run("portfolio", "import", str(path), "--as-of", "2022-09-16", *more)
    assert (ran.code, "a portfolio holds at most 1,000,000,000,000" in ran.err) == (2, True)


def test_a_mandate_file_that_is_not_there_is_said_to_be_missing(home: Home) -> None:
    ran = home.run("mandate", "check", "nofile.yaml")
    assert (ran.code, "does not exist" in ran.err) == (2, True)


@pytest.mark.parametrize(("close", "code", "words"), [("NaN", 3, "own/TSLA.csv line 2: close"), ("2", 0, "TSLA in ")])
def test_the_doctor_reads_the_users_own_prices(home: Home, close: str, code: int, words: str) -> None:
    (home.folder / "data" / "own").mkdir(parents=True)
    (home.folder / "data" / "own" / "TSLA.csv").write_text(f"date,open,high,low,close,volume\n2020-01-02,1,2,1,{close},100\n", encoding="utf-8")
    (home.folder / "config").mkdir()
    (home.folder / "config" / "alphaagent.yaml").write_text("data:\n  own_prices: data/own\n", encoding="utf-8")
    ran = home.run("doctor", "--json")
    (found,) = [document for document in ran.documents if document["check"] == "own prices"]
    assert (ran.code, words in found["detail"]) == (code, True)
