"""A ticker is text: it finds its instrument however its share class is written, and nothing else passes for one."""

from datetime import date
from pathlib import Path

import pytest

from alphaagent.domain.market import Instrument
from alphaagent.errors import ConfigFault, UsageFault
from alphaagent.evidence.sources.instruments import named_by, normal_ticker, read_instruments
from tests.snapshot_folder import INSTRUMENTS, RECORDED

TODAY = date(2020, 1, 2)
ROW = "XNYS:BRK.B,BRK.B,BRKB|BERKSHIRE,Berkshire Hathaway Inc.,XNYS,USD,common,Financials,0001067983,1996-05-09,\n"


def read(folder: Path, text: str) -> tuple[Instrument, ...]:
    (folder / "instruments.csv").write_text(text, encoding="utf-8")
    return read_instruments(folder)


@pytest.mark.parametrize("ticker", ["BRK.B", "BRK-B", "BRK/B", "brk.b", "brkb", "Berkshire"])
def test_a_share_class_is_found_in_every_spelling(tmp_path: Path, ticker: str) -> None:
    assert [found.id for found in named_by(ticker, read(tmp_path, INSTRUMENTS + ROW), TODAY)] == ["XNYS:BRK.B"]


@pytest.mark.parametrize("ticker", ["TRUE", "NAN", "1E5", "NULL", "007", "^GSPC", "EURUSD=X", "AZN.L"])
def test_a_ticker_that_looks_like_something_else_stays_text(tmp_path: Path, ticker: str) -> None:
    row = f"XNAS:{ticker},{ticker},,A Company,XNAS,USD,other,,,,\n"
    assert [found.symbol for found in named_by(ticker.lower(), read(tmp_path, INSTRUMENTS + row), TODAY)] == [ticker]


@pytest.mark.parametrize("ticker", ["", " AAPL", "AAPL ", "AA PL", "A" * 16, "A\x00", "../x\\", "A;B", "ſ", "АAPL", "A\n", "$A", "A,B", "=cmd()"])
def test_what_cannot_be_a_ticker_is_a_usage_fault_that_names_it(ticker: str) -> None:
    with pytest.raises(UsageFault) as fault:
        normal_ticker(ticker)
    assert ascii(ticker) in fault.value.message
    assert fault.value.fix


def test_an_unknown_ticker_names_nothing() -> None:
    assert named_by("ACME", read_instruments(RECORDED), TODAY) == ()


@pytest.mark.parametrize(("on", "found"), [("1996-05-08", 0), ("1996-05-09", 1), ("2020-01-02", 1)])
def test_an_instrument_is_named_from_its_first_day(tmp_path: Path, on: str, found: int) -> None:
    assert len(named_by("BRK.B", read(tmp_path, INSTRUMENTS + ROW), date.fromisoformat(on))) == found


@pytest.mark.parametrize(("on", "name"), [("2015-06-30", "Old"), ("2015-07-01", "New")])
def test_a_symbol_that_changed_hands_names_the_one_of_the_day(tmp_path: Path, on: str, name: str) -> None:
    rows = "X:1,FOO,,Old,XNYS,USD,common,,,2000-01-03,2015-06-30\nX:2,FOO,,New,XNYS,USD,common,,,2015-07-01,\n"
    assert [found.name for found in named_by("foo", read(tmp_path, INSTRUMENTS + rows), date.fromisoformat(on))] == [name]


def test_two_instruments_of_one_name_are_an_ambiguity_and_both_are_given(tmp_path: Path) -> None:
    rows = "X:1,FOO,,One,XNYS,USD,common,,,,\nX:2,BAR,FOO,Two,XNYS,USD,common,,,,\n"
    assert [found.id for found in named_by("FOO", read(tmp_path, INSTRUMENTS + rows), TODAY)] == ["X:1", "X:2"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "has not the columns"),
        ("symbol,id\nA,B\n", "has not the columns"),
        (INSTRUMENTS + ROW.replace("common", "bond"), "row 1 is unusable"),
        (INSTRUMENTS + ROW + ROW.replace("1996-05-09", "soon"), "row 2 is unusable"),
        (INSTRUMENTS + ROW.replace("BRKB|", "B RK|"), "row 1 is unusable"),
        (INSTRUMENTS + "X:1,FOO\n", "row 1 is unusable"),
        (INSTRUMENTS + ROW.strip() + ",more\n", "row 1 is unusable"),
    ],
)
def test_a_broken_table_is_a_configuration_fault(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(ConfigFault, match=r"instruments\.csv") as fault:
        read(tmp_path, text)
    assert says in fault.value.message


def test_a_missing_table_is_a_configuration_fault(tmp_path: Path) -> None:
    with pytest.raises(ConfigFault, match="cannot be read"):
        read_instruments(tmp_path)
