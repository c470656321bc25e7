"""Whatever is wrong is named with a way to mend it, on stderr and in the exit code; nothing is half-written."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.home import Home, Ran, Row, read_rows, write_rows

AS_OF = "2020-08-03"
DECIDE = ("decide", "AAPL", "--as-of", AS_OF)


def refused(home: Home, code: int, *arguments: str, names: tuple[str, ...] = ()) -> Ran:
    """The command fails with this code, names these words and a fix, prints no data and writes nothing."""
    before = home.counts()
    ran = home.run(*arguments)
    assert ran.code == code, ran.err
    assert ran.out == ""
    for name in names:
        assert name in ran.err
    assert "fix:" in ran.err
    assert "Traceback" not in ran.err
    assert "internal error" not in ran.err
    assert home.counts() == before
    return ran


# Tickers and dates


@pytest.mark.parametrize("ticker", ["ZZZZ", "TRUE", "NAN", "ON", "1E5", "AAPL.B"])
def test_an_unknown_ticker_has_no_evidence(opened: Home, ticker: str) -> None:
    refused(opened, 3, "decide", ticker, "--as-of", AS_OF, names=(ticker, "AAPL, AMZN"))


@pytest.mark.parametrize(
    "ticker",
    [
        "",
        " ",
        "AA PL",
        "AAPL ",
        "AAPL\n",
        "AAPL\nNVDA",
        "../../etc/passwd",
        "/etc/passwd",
        "file:///etc/passwd",
        "https://x",
        "A" * 200,
        "AAPL;ls",
        "ÄPL",
        "\x1b[31m",
    ],
)
def test_what_cannot_be_a_ticker_is_refused(opened: Home, ticker: str) -> None:
    ran = refused(opened, 2, "decide", "--as-of", AS_OF, "--", ticker, names=("ticker",))
    assert len(ran.err) < 300
    assert "\x1b" not in ran.err


@pytest.mark.parametrize("ticker", ["aapl", "Aapl"])
def test_a_ticker_in_small_letters_is_the_same_instrument_and_slot(home: Home, ticker: str) -> None:
    first = home.decide("AAPL", AS_OF)
    again = home.decide(ticker, AS_OF)
    assert (again["stored"], again["decision_id"]) == (True, first["decision_id"])


@pytest.mark.parametrize(("day", "neighbours"), [("2020-08-29", ("2020-08-28", "2020-08-31")), ("2020-12-25", ("2020-12-24", "2020-12-28"))])
def test_a_date_that_is_no_session_names_its_neighbours(opened: Home, day: str, neighbours: tuple[str, str]) -> None:
    refused(opened, 2, "decide", "AAPL", "--as-of", day, names=(day, *neighbours))


@pytest.mark.parametrize("when", ["2012-06-01", "2001-01-01T00:00:00Z", "0001-01-01"])
def test_a_date_before_the_data_has_no_evidence(opened: Home, when: str) -> None:
    refused(opened, 3, "decide", "AAPL", "--as-of", when, names=(when, "2013-01-02"))


def test_the_first_weeks_of_the_data_are_too_few_to_decide_on(opened: Home) -> None:
    refused(opened, 3, "decide", "AAPL", "--as-of", "2013-03-01", "--dry-run", names=("60",))


@pytest.mark.parametrize("when", ["2199-01-02", "2199-01-02T00:00:00Z"])
def test_the_future_is_refused(opened: Home, when: str) -> None:
    refused(opened, 2, "decide", "AAPL", "--as-of", when, names=(when, "future"))


@pytest.mark.parametrize("when", ["2020-08-03T20:00:01", "2020-08-03 20:00"])
def test_an_instant_without_a_time_zone_is_refused(opened: Home, when: str) -> None:
    refused(opened, 2, "decide", "AAPL", "--as-of", when, names=("time zone",))


@pytest.mark.parametrize("when", ["yesterday", "", "2020-13-01", "2020-08-32", "03.08.2020", "20:00", "1596484801"])
def test_what_is_no_date_is_refused(opened: Home, when: str) -> None:
    refused(opened, 2, "decide", "AAPL", "--as-of", when, names=("--as-of",))


def test_an_instant_before_the_book_time_is_refused_and_suggests_a_dry_run(opened: Home) -> None:
    refused(opened, 2, "decide", "AAPL", "--as-of", "2020-07-30", names=("book time", "--dry-run"))
    assert opened.run("decide", "AAPL", "--as-of", "2020-07-30", "--dry-run").code == 0


@pytest.mark.parametrize("name", ["", "a b", "../x", "x" * 41, "\x1b[2J"])
@pytest.mark.parametrize("option", ["--portfolio", "--slot"])
def test_what_cannot_be_a_name_is_refused(opened: Home, option: str, name: str) -> None:
    refused(opened, 2, *DECIDE, option, name, names=(option,))


def test_an_unknown_portfolio_names_the_ones_there_are(opened: Home) -> None:
    refused(opened, 2, *DECIDE, "--portfolio", "nowhere", names=("nowhere", "default", "portfolio create nowhere"))
    refused(opened, 2, *DECIDE, "--portfolio", "nowhere", "--dry-run", names=("nowhere",))
    refused(opened, 2, "portfolio", "show", "nowhere", names=("nowhere", "default"))
    refused(opened, 2, "portfolio", "deposit", "nowhere", "10", names=("nowhere",))
    refused(opened, 2, "settle", "--as-of", AS_OF, "--portfolio", "nowhere", names=("nowhere",))
    refused(opened, 2, "ledger", "show", "--portfolio", "nowhere", names=("nowhere",))


@pytest.mark.parametrize("amount", ["0", "NaN", "Infinity", "1e400", "ten", "", "0.001", "10000000000", "1,000", "1_000", "٣"])
def test_a_bad_amount_is_refused(opened: Home, amount: str) -> None:
    refused(opened, 2, "portfolio", "deposit", "default", "--", amount, names=("AMOUNT",))
    refused(opened, 2, "portfolio", "create", "other", "--as-of", AS_OF, f"--cash={amount}", names=("--cash",))


def test_a_negative_amount_is_refused(opened: Home) -> None:
    refused(opened, 2, "portfolio", "deposit", "default", "--", "-5", names=("AMOUNT",))
    refused(opened, 2, "portfolio", "create", "other", "--as-of", AS_OF, "--cash=-5", names=("--cash",))


def test_a_portfolio_is_made_once_and_under_a_mandate_that_exists(opened: Home) -> None:
    refused(opened, 2, "portfolio", "create", "default", "--as-of", AS_OF, names=("default",))
    refused(opened, 2, "portfolio", "create", "other", "--as-of", AS_OF, "--mandate", "reckless", names=("reckless", "conservative"))


def test_a_deposit_before_the_book_time_is_refused(opened: Home) -> None:
    refused(opened, 2, "portfolio", "deposit", "default", "10", "--as-of", "2020-07-30", names=("book time",))


@pytest.mark.parametrize("arguments", [["decide"], ["decide", "AAPL", "--engine", "oracle"], ["decide", "AAPL", "--nonsense"], ["nonsense"], ["replay"]])
def test_a_command_line_that_cannot_be_parsed_is_a_usage_error(opened: Home, arguments: list[str]) -> None:
    before = opened.counts()
    ran = opened.run(*arguments)
    assert (ran.code, ran.out, opened.counts()) == (2, "", before)
    assert ran.err


@pytest.mark.parametrize("arguments", [["show", "last"], ["replay", "last"], ["portfolio", "show"], ["ledger", "show"], ["audit", "anchor"]])
def test_what_needs_books_says_that_there_are_none(home: Home, arguments: list[str]) -> None:
    refused(home, 2, *arguments)
    assert home.files() == []


def test_the_verifier_s_own_exit_code_says_that_there_are_no_books(home: Home) -> None:
    ran = home.run("audit", "verify")
    assert ran.code == 30
    assert "alphaagent.db" in ran.out
    assert home.files() == []


# Recorded data


def duplicated(rows: list[Row]) -> list[Row]:
    return [*rows[:1500], rows[1499], *rows[1500:]]


def shuffled(rows: list[Row]) -> list[Row]:
    return [*rows[:1000], rows[1001], rows[1000], *rows[1002:]]


def with_value(column: str, value: str) -> Callable[[list[Row]], list[Row]]:
    return lambda rows: [*rows[:1000], rows[1000] | {column: value}, *rows[1001:]]


def high_below_low(rows: list[Row]) -> list[Row]:
    return [*rows[:1000], rows[1000] | {"high": rows[1000]["low"], "low": rows[1000]["high"]}, *rows[1001:]]


def undated(rows: list[Row]) -> list[Row]:
    return [*rows, rows[-1] | {"date": "soon"}]


def on_a_sunday(rows: list[Row]) -> list[Row]:
    return [*rows[:1000], rows[1000] | {"date": "2016-12-25"}, *rows[1000:]]


@pytest.mark.parametrize(
    "change",
    [duplicated, shuffled, high_below_low, undated, on_a_sunday, *(with_value("close", text) for text in ("NaN", "-1", "0", "inf", "", "1e3", "1_0", "'100'"))],
)
def test_a_price_row_that_cannot_be_used_is_no_evidence(opened: Home, change: Callable[[list[Row]], list[Row]]) -> None:
    path = opened.own_snapshot() / "bars" / "AAPL.csv"
    write_rows(path, change(read_rows(path)))
    refused(opened, 3, *DECIDE, names=("bars/AAPL.csv line",))


def test_a_broken_row_of_the_fill_session_keeps_the_order_pending(pending: Home) -> None:
    path = pending.own_snapshot() / "bars" / "NVDA.csv"
    write_rows(path, [row | {"open": "NaN"} if row["date"] == "2020-08-03" else row for row in read_rows(path)])
    told = pending.run("settle", "--as-of", AS_OF)
    assert (told.code, told.out.startswith("unsettled  NVDA in default: bars/NVDA.csv line"), "open" in told.out) == (3, True, True)
    assert len(pending.portfolio()["pending"]) == 1
    (ended,) = pending.settle("2020-08-05")
    assert (ended["order"]["status"], "NVDA.csv line" in ended["reason"]) == ("expired", True)


@pytest.mark.parametrize(
    "content",
    [b"", b"   \n", b"date,open,high,low,close\n2020-01-02,1,1,1,1\n", b"\xff\xfe\x00", b"date;open;high;low;close;volume\n", b"<html>not found</html>"],
)
def test_a_price_file_that_cannot_be_read_is_no_evidence(opened: Home, content: bytes) -> None:
    (opened.own_snapshot() / "bars" / "AAPL.csv").write_bytes(content)
    refused(opened, 3, *DECIDE, names=("bars/AAPL.csv",))


def test_a_price_file_without_rows_is_no_evidence(opened: Home) -> None:
    (opened.own_snapshot() / "bars" / "AAPL.csv").write_text("date,open,high,low,close,volume\n", encoding="utf-8")
    refused(opened, 3, *DECIDE, names=("no prices of AAPL",))


@pytest.mark.parametrize("file", ["manifest.json", "sessions.csv", "instruments.csv"])
@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"[]"])
def test_a_broken_frame_of_the_snapshot_is_a_configuration_error(opened: Home, file: str, content: bytes) -> None:
    folder = opened.own_snapshot()
    (folder / "news" / "AAPL.xml").unlink()  # so that the manifest is asked
    (folder / file).write_bytes(content)
    refused(opened, 2, *DECIDE, names=(file.removesuffix(".csv").removesuffix("s").removesuffix(".json"),))


# The database and the home


@pytest.mark.parametrize("content", [b"this is no database" * 100, b"SQLite format 3\x00" + b"\xff" * 5000])
@pytest.mark.parametrize("arguments", [DECIDE, (*DECIDE, "--dry-run"), ("settle", "--as-of", AS_OF), ("show", "last"), ("halt",)])
def test_a_corrupted_database_is_unsound_and_stays_as_it_is(home: Home, content: bytes, arguments: tuple[str, ...]) -> None:
    home.database.parent.mkdir()
    home.database.write_bytes(content)
    ran = home.run(*arguments)
    assert (ran.code, ran.out) == (5, "")
    assert "alphaagent.db" in ran.err
    assert "fix:" in ran.err
    assert home.database.read_bytes() == content


def test_a_database_of_a_newer_release_is_refused(opened: Home) -> None:
    opened.sql("UPDATE alembic_version SET version_num = '9999'")
    for arguments in (DECIDE, (*DECIDE, "--dry-run"), ("settle", "--as-of", AS_OF), ("show", "last")):
        refused(opened, 2, *arguments, names=("9999", "newer release"))


def test_a_broken_chain_stops_every_decision(pending: Home) -> None:
    pending.sql("DROP TRIGGER audit_log_no_delete")
    pending.sql("DELETE FROM audit_log WHERE seq = (SELECT max(seq) FROM audit_log)")
    refused(pending, 5, *DECIDE, names=("audit verify",))
    refused(pending, 5, "settle", "--as-of", AS_OF, names=("audit verify",))


@pytest.mark.parametrize("arguments", [DECIDE, ("halt",), ("portfolio", "create", "x", "--as-of", AS_OF)])
def test_a_home_that_cannot_be_written_to_is_named(home: Home, arguments: tuple[str, ...]) -> None:
    (home.folder / "data").write_text("a file where the folder should be", encoding="utf-8")
    ran = home.run(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert str(home.folder / "data") in ran.err
    assert "fix:" in ran.err
    assert home.files() == ["data"]


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_read_only_home_is_named(home: Home) -> None:
    home.folder.chmod(0o500)
    ran = home.run(*DECIDE)
    home.folder.chmod(0o700)
    assert ran.code == 2
    assert "data" in ran.err


def test_a_dry_run_needs_no_writable_home(home: Home) -> None:
    (home.folder / "data").write_text("a file where the folder should be", encoding="utf-8")
    assert home.run(*DECIDE, "--dry-run").code == 0


# Configuration


@pytest.mark.parametrize(
    ("file", "before", "after", "names"),
    [
        ("alphaagent.yaml", "slippage_bps", "slipage_bps", ("execution.slipage_bps", "did you mean slippage_bps?")),
        ("alphaagent.yaml", "portfolio:", "portfolios:", ("portfolios", "did you mean portfolio?")),
        ("alphaagent.yaml", "slippage_bps: 5", "slippage_bps: -5", ("execution.slippage_bps",)),
        ("alphaagent.yaml", "slippage_bps: 5", "slippage_bps: five", ("execution.slippage_bps", "five")),
        ("alphaagent.yaml", "slippage_bps: 5", "slippage_bps: .nan", ("execution.slippage_bps",)),
        ("alphaagent.yaml", "slippage_bps: 5", "slippage_bps: 5\n  slippage_bps: 6", ("slippage_bps", "twice")),
        ("alphaagent.yaml", "slippage_bps: 5", "slippage_bps: 400", ("slippage_bps", "H9.slippage_fraction")),
        ("alphaagent.yaml", "execution:", "execution: [", ("alphaagent.yaml",)),
        ("mandate.yaml", "max_order_fraction: 0.05", "max_order_fractoin: 0.05", ("max_order_fractoin", "max_order_fraction")),
        ("mandate.yaml", "max_order_fraction: 0.05", "max_order_fraction: .nan", ("max_order_fraction",)),
        ("mandate.yaml", "max_order_fraction: 0.05", "max_order_fraction: 0", ("max_order_fraction",)),
        ("mandate.yaml", "max_order_fraction: 0.05", "max_order_fraction: 5", ("max_order_fraction",)),
        ("mandate.yaml", "risk_profile: medium", "risk_profile: mediun", ("risk_profile", "mediun")),
        ("mandate.yaml", "allowed: any", "allowed: []", ("allowed",)),
        ("mandate.yaml", "    H4:", "    H44:", ("H44",)),
    ],
)
def test_a_typo_in_a_file_names_file_key_and_the_nearest_key(opened: Home, file: str, before: str, after: str, names: tuple[str, ...]) -> None:
    opened.own_config(file, lambda text: text.replace(before, after, 1))
    count = opened.counts()
    ran = opened.run(*DECIDE)
    assert (ran.code, ran.out, opened.counts()) == (2, "", count), ran.err
    for name in (file, *names) if "slippage_bps: 400" not in after else names:
        assert name in ran.err
    assert "Traceback" not in ran.err


def test_a_default_mandate_that_does_not_exist_is_refused_before_anything_is_made(home: Home) -> None:
    home.own_config("alphaagent.yaml", lambda text: text.replace("mandate: default", "mandate: reckless"))
    for more in ((), ("--dry-run",)):
        ran = home.run(*DECIDE, *more)
        assert (ran.code, ran.out) == (2, "")
        assert "reckless" in ran.err
        assert "conservative" in ran.err
    assert home.counts().get("decision", 0) == home.counts().get("portfolio", 0) == 0


def test_a_lexicon_that_cannot_be_used_names_its_file(opened: Home) -> None:
    opened.own_config("lexicon.yaml", lambda text: text + "\nnonsense: 1\n")
    ran = opened.run(*DECIDE)
    assert (ran.code, ran.out) == (2, "")
    assert "lexicon.yaml" in ran.err
    assert "nonsense" in ran.err


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ALLOW_HEURISTIC_FALLBACK", "maybe"),
        ("ALLOW_HEURISTIC_FALLBACK", ""),
        ("ALPHAAGENT_HALT", "perhaps"),
        ("ALPHAAGENT_LLM_PROVIDER", "opneai"),
        ("ALPHAAGENT_LLM_PROVIDER", ""),
        ("ALPHAAGENT_DATA", "lvie"),
        ("ALPHAAGENT_DATA", ""),
        ("ALPHAAGENT_DATABASE_URL", "postgresql://u:secret@h/db"),
        ("ALPHAAGENT_DATABASE_URL", "data/alphaagent.db"),
        ("ALPHAAGENT_DATABASE_URL", ""),
        ("ALPHAAGENT_HOME", "/no/such/folder"),
        ("ALPHAAGENT_HOME", ""),
        ("ALPHAAGENT_CONFIG", "no-such-folder"),
        ("ALPHAAGENT_CONFIG", ""),
        ("ALPHAAGENT_NONSENSE", "1"),
        ("ALPHAAGENT_LLM_PROVIDR", "openai"),
        ("ALPHAAGENT_LLM_TIMEOUT_SECONDS", "soon"),
        ("ALPHAAGENT_LLM_TIMEOUT_SECONDS", "0"),
        ("ALPHAAGENT_LLM_TEMPERATURE", "hot"),
        ("ALPHAAGENT_LLM_TEMPERATURE", "-1"),
        ("ALPHAAGENT_DAILY_SPEND_USD", "lots"),
    ],
)
def test_an_unusable_variable_is_named(opened: Home, monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    before = opened.counts()
    monkeypatch.setenv(name, value)
    ran = opened.run(*DECIDE)
    assert (ran.code, ran.out, opened.counts()) == (2, "", before)
    assert name in ran.err
    assert "fix:" in ran.err
    assert "secret" not in ran.err


def test_a_misspelt_variable_names_the_nearest(opened: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALPHAAGENT_LLM_PROVIDR", "openai")
    assert "ALPHAAGENT_LLM_PROVIDER" in opened.run(*DECIDE).err


@pytest.mark.parametrize("ticker", ["ZZZZ", "A" * 200, ""])
def test_with_json_the_error_is_a_document_too(opened: Home, ticker: str) -> None:
    before = opened.counts()
    ran = opened.run("decide", "--as-of", AS_OF, "--json", "--", ticker)
    document = ran.document
    assert (document["ticker"], document["proposal"], document["guard"], document["order"]) == (ticker, None, None, None)
    assert document["error"]["message"]
    assert opened.counts() == before


def test_a_broken_setting_is_shown_by_the_doctor(opened: Home) -> None:
    path: Path = opened.own_config("alphaagent.yaml", lambda text: text.replace("slippage_bps", "slipage_bps"))
    ran = opened.run("doctor", "--json")
    assert ran.code == 2
    assert str(path) in ran.document["detail"]
