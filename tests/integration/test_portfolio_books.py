"""Holdings come in, companies act, cash goes out: what the books say after each, and what is refused."""

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from alphaagent import cli
from tests.synthetic import sessions, write_home

BUY_DAY, BEFORE, DAY, AFTER, LATER = (sessions()[n] for n in (100, 380, 390, 400, 410))
HEADER = "ticker,quantity,cost,date,cash\n"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    actions = {"AAA": f"split,{DAY},4\ndividend,{DAY},0.5", "BBB": f"merger,{DAY},50", "CCC": f"spin_off,{DAY},"}
    monkeypatch.setenv("ALPHAAGENT_HOME", str(tmp_path))
    return write_home(tmp_path, ("AAA", "BBB", "CCC", "DDD"), actions)


@pytest.fixture
def run(home: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: str) -> tuple[int, str, str]:
        code = cli.run(list(arguments))
        return code, *capsys.readouterr()

    return call


def write(home: Path, text: str, name: str = "held.csv") -> str:
    (home / name).write_bytes(text.encode())
    return str(home / name)


def document(run: Run, *arguments: str) -> Any:
    code, out, err = run(*arguments, "--json")
    assert code == 0, err
    return json.loads(out)


def opened(run: Run, home: Path, rows: str, as_of: str = BEFORE) -> Any:
    return document(run, "portfolio", "import", write(home, HEADER + rows), "--as-of", as_of)


def positions(run: Run, *arguments: str) -> dict[str, str]:
    return {one["ticker"]: one["quantity"] for one in document(run, "portfolio", "show", *arguments)["positions"]}


def test_an_import_is_one_transaction_and_a_dry_run_writes_nothing(run: Run, home: Path) -> None:
    file = write(home, "\ufeffTicker;Quantity;Cost;Date;Cash\nAAA;10;1000.5;2015-03-01;\nAAA;5;700;2019-01-06;\n;;;;250\n\n")
    dry = document(run, "portfolio", "import", file, "--as-of", BEFORE, "--dry-run")
    assert not list(home.glob("data/*.db"))
    done = document(run, "portfolio", "import", file, "--as-of", BEFORE)
    assert dry["audit"] is None
    assert {**dry, "audit": 0} == {**done, "audit": 0}
    shown = document(run, "portfolio", "show", "--lots")
    assert shown["equity"] == done["equity"]
    assert [(lot["acquired"], lot["quantity"], lot["cost"]) for lot in shown["lots"]] == [("2015-03-01", "10.0", "1000.5"), ("2019-01-06", "5.0", "700.0")]
    assert len([line for line in run("ledger", "show", "--json")[1].splitlines() if '"kind":"import"' in line]) == 1
    assert run("audit", "verify")[0] == 0


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("AAB,1,1,2019-01-02,", "line 2, ticker 'AAB': it is unknown here"),
        ("AAA,-1,1,2019-01-02,", "quantity '-1': it is negative"),
        ("AAA,0,1,2019-01-02,", "quantity '0': it is out of range"),
        ("AAA,NaN,1,2019-01-02,", "quantity 'NaN': it is no number"),
        ("AAA,1e3,1,2019-01-02,", "quantity '1e3': it is no number"),
        ('AAA,"1,000",1,2019-01-02,', "quantity '1,000': it has a thousands separator"),
        ("AAA,1,000,1,2019-01-02,", "it has 6 cells where the header has 5"),
        ('AAA,"1,5",1,2019-01-02,', "quantity '1,5': it has a decimal comma"),
        ("AAA,1.0000001,1,2019-01-02,", "more than six decimals"),
        ("AAA,1,,2019-01-02,", "line 2, cost: it is empty"),
        ("AAA,1,1,2023-01-03,", "it lies after"),
        ("AAA,1,1,02/01/2019,", "date '02/01/2019': it is no date"),
        ("AAA,1,1,2019-02-30,", "it is no date"),
        (",1,1,2019-01-02,", "line 2, ticker: it is empty"),
        ("AAA,,,,5", "a cash row has nothing but cash"),
        (",,,,-5", "cash '-5': it is negative"),
    ],
)
def test_a_row_that_cannot_be_placed_is_named_and_nothing_is_booked(run: Run, home: Path, rows: str, told: str) -> None:
    code, _, err = run("portfolio", "import", write(home, f"{HEADER}{rows}\nDDD,1,1,2019-01-02,\n"), "--as-of", BEFORE)
    assert code == 2
    assert told in err
    assert not list(home.glob("data/*.db"))


def test_every_bad_row_is_named_at_once(run: Run, home: Path) -> None:
    code, out, _ = run("portfolio", "import", write(home, HEADER + "X,1,1,2019-01-02,\nAAA,-1,x,2019-01-02,\n"), "--as-of", BEFORE, "--json")
    assert code == 2
    assert [(row["line"], row["column"]) for row in json.loads(out)["rows"]] == [(2, "ticker"), (3, "quantity"), (3, "cost")]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "the file is empty"),
        (HEADER, "a header and no rows"),
        ("ticker,quantty,cost,date,cash\n", "did you mean quantity?"),
        ("ticker,cost,date\nA,1,2\n", "the column quantity is missing"),
        ("ticker,ticker,quantity,cost,date\n", "stands twice"),
        (HEADER + "\n".join(",,,,1" for _ in range(100_001)), "more than 100000 rows"),
        (HEADER + 'AAA,"1,1,2019-01-02,\n', "is no CSV"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(run: Run, home: Path, text: str, told: str) -> None:
    code, _, err = run("portfolio", "import", write(home, text), "--as-of", BEFORE)
    assert code == 2
    assert told in err


def test_other_currencies_other_encodings_and_missing_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = write_home(tmp_path, ("EEE",), currency="EUR")
    monkeypatch.setenv("ALPHAAGENT_HOME", str(home))
    assert cli.run(["portfolio", "import", write(home, HEADER + "EEE,1,1,2019-01-02,\n"), "--as-of", BEFORE]) == 2
    (home / "latin.csv").write_bytes(HEADER.encode() + b"\xe9")
    assert cli.run(["portfolio", "import", str(home / "latin.csv"), "--as-of", BEFORE]) == 2
    assert cli.run(["portfolio", "import", str(home / "none.csv"), "--as-of", BEFORE]) == 2


def test_an_import_opens_a_portfolio_and_never_comes_later(run: Run, home: Path) -> None:
    file = write(home, HEADER + "DDD,1,1,2019-01-02,\n")
    assert run("portfolio", "create", "funded", "--cash", "100", "--as-of", BEFORE)[0] == 0
    assert document(run, "portfolio", "import", file, "--portfolio", "funded", "--as-of", BEFORE)["cash_before"] == "100.0"
    code, _, err = run("portfolio", "import", file, "--portfolio", "funded", "--as-of", BEFORE)
    assert (code, "can only open a portfolio" in err) == (2, True)
    assert run("decide", "DDD", "--as-of", BEFORE)[0] == 0
    assert run("portfolio", "import", file, "--as-of", BEFORE)[0] == 2


def test_settle_books_what_companies_did_even_when_no_order_is_due(run: Run, home: Path) -> None:
    opened(run, home, "AAA,10,900,2019-01-02,\nBBB,4,100,2019-01-02,\n,,,,1000\n")
    before = document(run, "portfolio", "show", "--as-of", AFTER)
    code, out, _ = run("settle", "--as-of", AFTER, "--json")
    events = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [(one["event"], one["ticker"], one["shares"], one["cash"]) for one in events] == [
        ("split", "AAA", "30.0", "0.0"),
        ("dividend", "AAA", "0.0", "20.0"),
        ("merger", "BBB", "-4.0", "200.0"),
    ]
    after = document(run, "portfolio", "show", "--as-of", AFTER)
    assert positions(run) == {"AAA": "40.0"}
    assert (before["equity"], before["cash"]) == (after["equity"], after["cash"])
    assert run("settle", "--as-of", LATER)[2].strip() == "nothing was due"
    (gain,) = [json.loads(line) for line in run("ledger", "gains", "--json")[1].splitlines()]
    assert (gain["ticker"], gain["proceeds"], gain["gain"], gain["term"]) == ("BBB", "200.0", "100.0", "long")
    assert run("audit", "verify")[0] == 0


def test_what_cannot_be_booked_freezes_the_name_until_somebody_has_looked(run: Run, home: Path) -> None:
    opened(run, home, "CCC,10,900,2019-01-02,\n,,,,1000\n")
    assert "frozen  CCC" in run("settle", "--as-of", AFTER)[1]
    assert "nothing was due" in run("settle", "--as-of", AFTER)[2]
    (frozen,) = document(run, "portfolio", "show")["frozen"]
    assert frozen["reason"] == f"unknown action (spin_off) of {DAY}"
    for extra in ((), ("--dry-run",)):
        code, _, err = run("decide", "CCC", "--as-of", AFTER, *extra)
        assert (code, "frozen" in err, "unfreeze" in err) == (2, True, True)
    assert run("decide", "DDD", "--as-of", AFTER)[0] == 0
    assert run("portfolio", "unfreeze", "default", "CCC", "--reason", " ")[0] == 2
    assert run("portfolio", "unfreeze", "default", "DDD", "--reason", "looked")[0] == 2
    assert run("portfolio", "unfreeze", "default", "CCC", "--reason", "the new shares were sold elsewhere")[0] == 0
    assert run("decide", "CCC", "--as-of", AFTER)[0] == 0
    assert run("settle", "--as-of", LATER)[0] == 0
    assert document(run, "portfolio", "show")["frozen"] == []
    assert run("audit", "verify")[0] == 0


def test_a_deposit_does_not_pass_over_a_split_unseen(run: Run, home: Path) -> None:
    opened(run, home, "AAA,10,900,2019-01-02,\n,,,,1000\n")
    assert run("portfolio", "deposit", "default", "5", "--as-of", AFTER)[0] == 0
    assert positions(run) == {"AAA": "40.0"}


def test_only_settled_unreserved_cash_can_be_withdrawn(run: Run, home: Path) -> None:
    opened(run, home, "DDD,10,900,2019-01-02,\n,,,,1000\n")
    code, _, err = run("portfolio", "withdraw", "default", "1000.01")
    assert code == 2
    assert "1000.0 is available" in err
    assert run("portfolio", "withdraw", "default", "400", "--as-of", DAY)[0] == 0
    assert document(run, "portfolio", "show")["cash"] == "600.0"
    kinds = [json.loads(line)["kind"] for line in run("ledger", "show", "--json")[1].splitlines()]
    assert kinds == ["import", "withdrawal"]


def test_text_that_a_spreadsheet_would_run_is_disarmed_and_numbers_stay_numbers() -> None:
    from alphaagent.views_books import csv_text

    text = csv_text(("ticker", "gain"), [{"ticker": "=HYPERLINK(1)", "gain": "-5.0"}, {"ticker": "@X", "gain": "5.0"}])
    assert text.splitlines() == ["ticker,gain", "'=HYPERLINK(1),-5.0", "'@X,5.0"]


def ordered(run: Run, home: Path, ticker: str, as_of: str) -> str:
    """A book that is nearly all one name, for which the engine orders a sale; the day on which that fills."""
    opened(run, home, f"{ticker},600,30000,2019-01-02,\n{ticker},400,50000,2019-12-02,\n,,,,100\n", as_of)
    decided = document(run, "decide", ticker, "--as-of", as_of, "--engine", "heuristic")
    assert decided["order"]["side"] == "SELL"
    return str(decided["order"]["fill_session"])


def test_a_pending_order_of_a_frozen_name_waits_and_then_expires(run: Run, home: Path) -> None:
    assert ordered(run, home, "CCC", sessions()[389]) == DAY
    assert "frozen  CCC" in run("settle", "--as-of", DAY)[1]
    assert [order["status"] for order in document(run, "portfolio", "show")["pending"]] == ["pending"]
    assert "expired" in run("settle", "--as-of", sessions()[391])[1]
    assert positions(run) == {"CCC": "1000.0"}
    assert run("audit", "verify")[0] == 0


def test_a_pending_order_fills_at_its_own_session_when_the_name_is_unfrozen_in_time(run: Run, home: Path) -> None:
    ordered(run, home, "CCC", sessions()[389])
    run("settle", "--as-of", DAY)
    assert run("portfolio", "unfreeze", "default", "CCC", "--reason", "nothing to do with us")[0] == 0
    assert f"on {DAY}" in run("settle", "--as-of", DAY)[1]


def test_the_lot_method_is_recorded_with_the_trade(run: Run, home: Path) -> None:
    (home / "config").mkdir()
    (home / "config" / "alphaagent.yaml").write_text("portfolio:\n  lot_method: lifo\n")
    ordered(run, home, "DDD", DAY)
    assert run("settle", "--as-of", AFTER)[0] == 0
    gains = run("ledger", "gains", "--format", "csv")[1]
    assert gains.splitlines()[1].startswith("default,DDD,2019-12-02,")
    (home / "config" / "alphaagent.yaml").write_text("portfolio:\n  lot_method: fifo\n")
    assert run("ledger", "gains", "--format", "csv")[1] == gains
    assert run("audit", "verify", "--replay")[0] == 0
    (home / "config" / "alphaagent.yaml").write_text("portfolio:\n  lot_method: best\n")
    assert run("ledger", "gains")[0] == 2


def test_realised_and_unrealised_gains_are_the_whole_profit(run: Run, home: Path) -> None:
    begun = Decimal(opened(run, home, "DDD,600,30000,2019-01-02,\nAAA,400,50000,2019-12-02,\n,,,,100\n", sessions()[385])["equity"])
    run("decide", "DDD", "AAA", "--as-of", sessions()[385], "--engine", "heuristic")
    run("settle", "--as-of", LATER)
    shown = document(run, "portfolio", "show", "--lots", "--as-of", LATER)
    gains = [json.loads(line) for line in run("ledger", "gains", "--json")[1].splitlines()]
    dividends = sum(Decimal(leg["amount"]) for leg in legs(run, "dividend") if leg["account"] == "cash")
    gained = sum(Decimal(one["gain"]) for one in gains) + sum(Decimal(lot["unrealised"]) for lot in shown["lots"]) + dividends
    brought = begun - Decimal(80_000) - Decimal(100)
    assert gains
    assert abs(Decimal(shown["equity"]) - begun - (gained - brought)) < Decimal("0.0001")


def legs(run: Run, kind: str) -> list[Any]:
    documents = [json.loads(line) for line in run("ledger", "show", "--json")[1].splitlines()]
    return [leg for one in documents if one["kind"] == kind for leg in one["postings"]]
