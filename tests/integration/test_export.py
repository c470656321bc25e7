"""`ledger export`: the books in other programs' hands, read by those programs."""

import csv
import io
from collections import defaultdict
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from beancount.core.data import Balance, Transaction
from beancount.loader import load_string
from pyarrow.parquet import read_table

from alphaagent.ledger.export import ExportedPosting
from alphaagent.operations.exporting import csv_lines
from alphaagent.views_ledger import beancount_lines
from tests.home import Home

D = Decimal


@pytest.fixture
def traded(opened: Home) -> Home:
    """NVDA was bought; then comes its split of 2021 and a dividend."""
    opened.ok("settle", "--as-of", "2021-07-21")
    return opened


def test_csv_holds_every_posting_and_each_commodity_of_a_transaction_sums_to_zero(traded: Home) -> None:
    rows = list(csv.DictReader(io.StringIO(traded.ok("ledger", "export").out)))
    sums: defaultdict[tuple[str, str], Decimal] = defaultdict(Decimal)
    for row in rows:
        sums[row["txn"], row["commodity"]] += D(row["amount"])
    assert set(sums.values()) == {D(0)}
    assert len(rows) == traded.sql("SELECT count(*) FROM posting")[0][0]
    assert {"deposit", "trade", "split", "dividend"} <= {row["kind"] for row in rows}


def test_parquet_holds_the_same_with_exact_amounts(traded: Home, tmp_path: Path) -> None:
    out = tmp_path / "books.parquet"
    traded.ok("ledger", "export", "--format", "parquet", "--out", str(out))
    table = read_table(out)
    rows = list(csv.DictReader(io.StringIO(traded.ok("ledger", "export").out)))
    assert [str(amount.normalize()) for amount in table["amount"].to_pylist()] == [str(D(row["amount"]).normalize()) for row in rows]
    assert str(table.schema.field("amount").type) == "decimal128(19, 6)"
    assert table["trade_at"].to_pylist()[0].tzinfo is not None


def test_beancount_accepts_the_books_and_its_balances_are_ours(traded: Home) -> None:
    entries, errors, _ = load_string(traded.ok("ledger", "export", "--format", "beancount").out)
    assert errors == []
    shown = traded.portfolio("2021-07-21")
    stated = {(one.account, one.amount.currency): one.amount.number for one in entries if isinstance(one, Balance)}
    assert stated["Assets:Default:Cash", "USD"] == D(shown["cash"])
    assert stated["Assets:Default:Positions", "NVDA"] == D(shown["positions"][0]["quantity"])
    assert sum(isinstance(one, Transaction) for one in entries) == traded.sql("SELECT count(*) FROM txn")[0][0]


def test_beancount_finds_a_posting_that_was_lost(traded: Home) -> None:
    lines = traded.ok("ledger", "export", "--format", "beancount").out.splitlines()
    fee = next(n for n, line in enumerate(lines) if line.startswith("  Expenses:Default:Fees"))
    _, errors, _ = load_string("\n".join(lines[:fee] + lines[fee + 1 :]))
    assert len(errors) == 1


def test_a_file_is_written_whole_or_not_at_all(traded: Home, tmp_path: Path) -> None:
    out = tmp_path / "books.csv"
    out.write_text("before", encoding="utf-8")
    assert traded.run("ledger", "export", "--portfolio", "nobody", "--out", str(out)).code == 2
    assert out.read_text(encoding="utf-8") == "before"
    missing = traded.run("ledger", "export", "--out", str(tmp_path / "nowhere" / "books.csv"))
    assert (missing.code, "cannot be written" in missing.err, "--out" in missing.err) == (2, True, True)
    traded.ok("ledger", "export", "--out", str(out))
    assert out.read_text(encoding="utf-8").startswith("txn,n,kind")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_parquet_needs_a_file(traded: Home) -> None:
    refused = traded.run("ledger", "export", "--format", "parquet")
    assert (refused.code, "--out" in refused.err, refused.out) == (2, True, "")


def posting(**fields: Any) -> ExportedPosting:
    plain: dict[str, Any] = {
        "txn": 1,
        "n": 1,
        "kind": "trade",
        "reverses": None,
        "decision_id": "dec_1",
        "trade_at": datetime(2024, 1, 2, 15, tzinfo=UTC),
        "settle_on": date(2024, 1, 3),
        "account": "position",
        "commodity": "XHKG:0700",
        "symbol": "0700.HK",
        "name": "Tencent",
        "amount": D("1.5"),
    }
    return ExportedPosting(**{**plain, **fields})


def pair(**fields: Any) -> list[ExportedPosting]:
    return [posting(**fields), posting(**{"n": 2, "account": "trading", "amount": D("-1.5"), **fields, **{"n": 2, "account": "trading", "amount": D("-1.5")}})]


@pytest.mark.parametrize("symbol", ["0700.HK", "F", "BRK.B", "GC=F", "^GSPC", "A" * 40, "é", "-", "TRUE", "FALSE", "NULL"])
def test_any_symbol_becomes_a_name_that_beancount_takes(symbol: str) -> None:
    _, errors, _ = load_string("\n".join(beancount_lines("p_1.x", pair(symbol=symbol))))
    assert errors == []


def test_two_instruments_never_share_a_name() -> None:
    both = [*pair(), *(one for one in pair(txn=2, commodity="OTHER:0700", symbol="0700/HK"))]
    entries, errors, _ = load_string("\n".join(beancount_lines("p", both)))
    assert errors == []
    assert len({one.amount.currency for one in entries if isinstance(one, Balance)}) == 2


def test_no_text_of_a_name_ends_its_line_or_its_quotes() -> None:
    hostile = 'Evil" Corp\\\n2024-01-01 open Assets:Mine ; \u202e'
    entries, errors, _ = load_string("\n".join(beancount_lines("p", pair(name=hostile, decision_id=hostile))))
    assert errors == []
    assert not any(getattr(one, "account", "") == "Assets:Mine" for one in entries)


@pytest.mark.parametrize("start", ["=1+1", "+1", "-1", "@SUM(1)", "\t=1", "\r=1"])
def test_no_cell_is_a_formula(start: str) -> None:
    (row,) = csv.DictReader(io.StringIO("".join(csv_lines([posting(symbol=start, commodity=start)]))))
    assert row["symbol"].startswith("'")
    assert row["commodity"].startswith("'")
    assert row["amount"] == "1.5"
