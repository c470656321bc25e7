"""Own prices take the recorded ones' place as a whole, are checked like them, and name the file and line that is wrong."""

from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from alphaagent.domain.market import Instrument
from alphaagent.errors import ConfigFault, SourceFault
from alphaagent.evidence.sources import own_files
from alphaagent.evidence.sources.instruments import INSTRUMENT_COLUMNS
from alphaagent.evidence.sources.own_prices import OwnPrices
from alphaagent.evidence.sources.snapshot_market import SnapshotMarket
from tests.snapshot_folder import ACME, BAR_HEADER, RECORDED, recorded_calendars, recorded_instrument

CALENDARS = recorded_calendars()
CALENDAR = CALENDARS.of("XNYS")
AAPL = recorded_instrument("AAPL")
ON = date(2020, 1, 3)
ROWS = "2020-01-02,10,12,9,11,1000\n2020-01-03,11,13,10,12.5,2000\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "own"
    made.mkdir()
    return made


def own(folder: Path) -> OwnPrices:
    return OwnPrices(folder, RECORDED)


def market(folder: Path) -> SnapshotMarket:
    return SnapshotMarket(RECORDED, lambda one: CALENDARS.of(one.mic), own(folder))


def write(folder: Path, name: str, text: str = BAR_HEADER + ROWS) -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def write_parquet(folder: Path, name: str = "ACME.parquet", **columns: object) -> Path:
    frame = {"date": [date(2020, 1, 2), date(2020, 1, 3)], "open": [10.0, 11.0], "high": [12.0, 13.0], "low": [9.0, 10.0], "close": [11.0, 12.5]}
    pd.DataFrame({**frame, "volume": [1000, 2000], **columns}).to_parquet(folder / name)
    return folder


def faults(folder: Path, instrument: Instrument = ACME) -> list[str]:
    source = own(folder)
    raw = source.fetch(instrument)
    assert raw is not None
    return [f"{fault.where}: {fault.message}" for fault in source.parse(raw, instrument, CALENDAR).faults]


@pytest.mark.parametrize("put", [lambda folder: write(folder, "ACME.csv"), write_parquet], ids=["csv", "parquet"])
def test_both_formats_give_the_same_bars(folder: Path, put: Callable[[Path], Path]) -> None:
    source = own(put(folder))
    raw = source.fetch(ACME)
    assert raw is not None
    records = source.parse(raw, ACME, CALENDAR)
    assert [(bar.session, bar.close, bar.volume) for bar in records.bars] == [(date(2020, 1, 2), Decimal(11), 1000), (ON, Decimal("12.5"), 2000)]
    assert records.faults == ()


@pytest.mark.parametrize(
    "dates",
    [
        ["2020-01-02", "2020-01-03"],
        pd.to_datetime(["2020-01-02", "2020-01-03"]),
        pd.to_datetime(["2020-01-02", "2020-01-03"]).tz_localize("America/New_York"),
    ],
    ids=["text", "instants", "midnights in New York"],
)
def test_a_date_in_parquet_may_be_text_or_midnight(folder: Path, dates: object) -> None:
    assert faults(write_parquet(folder, date=dates)) == []


def test_a_date_may_be_the_index_of_a_parquet_file(folder: Path) -> None:
    frame = pd.read_csv(write(folder, "x.csv") / "x.csv").set_index("date")
    (folder / "x.csv").unlink()
    frame.to_parquet(folder / "ACME.parquet")
    assert faults(folder) == []


def test_a_short_binary_number_is_written_in_its_short_decimal_form(folder: Path) -> None:
    source = own(write_parquet(folder, close=np.array([11.1, 12.55], dtype=np.float32)))
    assert [bar.close for bar in source.bars(ACME, CALENDAR).bars] == [Decimal("11.1"), Decimal("12.55")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("date,open,high,low,volume\n2020-01-02,10,12,9,1000\n", "own/ACME.csv lacks the column close"),
        ("date,close\n2020-01-02,10\n", "own/ACME.csv lacks the columns open, high, low, volume"),
        ("open,date,high,low,close,volume\n10,2020-01-02,12,9,11,1000\n", "own/ACME.csv has its columns in another order"),
        (BAR_HEADER.replace("\n", ",vwap\n") + "2020-01-02,10,12,9,11,1000,11\n", "own/ACME.csv has columns that are not known: 'vwap'"),
        ("", "own/ACME.csv is empty"),
    ],
)
def test_a_wrong_header_is_refused_and_says_what_is_wrong(folder: Path, text: str, message: str) -> None:
    source = own(write(folder, "ACME.csv", text))
    with pytest.raises(SourceFault, match=message) as fault:
        source.parse(source.fetch(ACME) or b"", ACME, CALENDAR)
    assert fault.value.fix


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("2020-01-06,10,12,9,NaN,1000", "line 4: close 'NaN' is not a plain decimal number"),
        ("2020-01-06,10,12,9,,1000", "line 4: close '' is not a plain decimal number"),
        ("2020-01-06,10,12,9,1e2,1000", "line 4: close '1e2' is not a plain decimal number"),
        ("2020-01-06,10,12,9,-1,1000", "line 4: close '-1' is not above zero"),
        ("2020-01-06,10,8,9,9,1000", "line 4: high 8 is below low 9"),
        ("2020-01-06,10,12,9,13,1000", "line 4: close 13 lies outside low 9 to high 12"),
        ("2020-01-04,10,12,9,11,1000", "line 4: date 2020-01-04 is no session of the exchange"),
        ("06/01/2020,10,12,9,11,1000", "line 4: date '06/01/2020' is not a date"),
        ("2020-01-06,10,12,9,11", "line 4: the row has 5 columns instead of 6"),
    ],
)
def test_a_bad_row_is_a_fault_with_its_file_and_line(folder: Path, row: str, message: str) -> None:
    assert faults(write(folder, "ACME.csv", BAR_HEADER + ROWS + row + "\n")) == [f"own/ACME.csv {message}"]


def test_rows_in_the_wrong_order_are_faults(folder: Path) -> None:
    swapped = BAR_HEADER + "".join(reversed(ROWS.splitlines(keepends=True)))
    assert faults(write(folder, "ACME.csv", swapped)) == ["own/ACME.csv line 2: date 2020-01-03 stands before an earlier date"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"close": [11.0, float("nan")]}, "row 2: close 'nan' is not a plain decimal number"),
        ({"close": [11.0, None]}, "row 2: close 'nan' is not a plain decimal number"),
        ({"close": [float("inf"), 12.5]}, "row 1: close 'inf' is not a plain decimal number"),
        ({"volume": [1000.5, 2000.0]}, "row 1: volume '1000.5' is not a whole number of at least zero"),
        ({"date": pd.to_datetime(["2020-01-02 16:00", "2020-01-03 00:00"])}, "row 1: date '2020-01-02 16:00:00' is not a date"),
        ({"close": [True, True]}, "row 1: close 'True' is not a plain decimal number"),
    ],
)
def test_a_bad_parquet_row_is_a_fault_with_its_file_and_row(folder: Path, columns: dict[str, object], message: str) -> None:
    assert faults(write_parquet(folder, **columns))[0] == f"own/ACME.parquet {message}"


def test_a_text_with_a_line_break_smuggles_no_row_in(folder: Path) -> None:
    found = faults(write_parquet(folder, volume=["1000\n2020-01-06,1,1,1,1,1", "2000"]))
    assert len(found) == 1
    assert found[0].startswith("own/ACME.parquet row 1: ")


@pytest.mark.parametrize("content", [b"", b"PAR1", b"not parquet at all", b"PAR1" + b"\0" * 64 + b"PAR1"])
def test_what_is_no_parquet_file_is_refused(folder: Path, content: bytes) -> None:
    (folder / "ACME.parquet").write_bytes(content)
    with pytest.raises(SourceFault, match=r"own/ACME\.parquet"):
        own(folder).fetch(ACME)


def test_a_parquet_file_without_a_column_names_it(folder: Path) -> None:
    pd.DataFrame({"date": ["2020-01-02"], "close": [1.0]}).to_parquet(folder / "ACME.parquet")
    with pytest.raises(SourceFault, match=r"own/ACME\.parquet lacks open, high, low, volume"):
        own(folder).fetch(ACME)


def test_size_and_rows_are_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_files.csv_of_parquet.cache_clear()
    monkeypatch.setattr(own_files, "MAX_ROWS", 1)
    with pytest.raises(SourceFault, match="has 2 rows, more than 1"):
        own(write_parquet(folder)).fetch(ACME)
    monkeypatch.setattr(own_files, "MAX_DOCUMENT_BYTES", 10)
    with pytest.raises(SourceFault, match="bytes, more than 10"):
        own(folder).fetch(ACME)
    monkeypatch.setattr(own_files, "MAX_FILES", 0)
    with pytest.raises(ConfigFault, match="1 files, more than 0"):
        own(folder).fetch(ACME)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("ACME.csv", "acme.csv"), "ACME has two files"),
        (("BRK.B.csv", "BRK-B.csv"), r"BRK\.B has two files"),
        (("a b.csv",), "not named for a ticker"),
        (("ACME.actions.csv",), "stands without prices of ACME"),
    ],
)
def test_files_that_cannot_be_told_apart_or_placed_are_a_configuration_fault(folder: Path, names: tuple[str, ...], message: str) -> None:
    for name in names:
        write(folder, name)
    with pytest.raises(ConfigFault, match=message):
        own(folder).fetch(ACME)


def test_two_formats_of_one_ticker_are_refused_by_name(folder: Path) -> None:
    write(write_parquet(folder), "ACME.csv")
    with pytest.raises(ConfigFault, match=r"ACME has two files of own prices: own/ACME\.csv and own/ACME\.parquet"):
        market(folder).resolve("ACME", ON)


def test_a_symbol_and_its_alias_are_one_ticker(folder: Path) -> None:
    write(write(folder, "FB.csv"), "META.csv")
    meta = Instrument(id="XNAS:META", symbol="META", aliases=("FB",), name="Meta", mic="XNAS", currency="USD", kind="common")
    with pytest.raises(ConfigFault, match=r"META has two files of own prices: own/FB\.csv and own/META\.csv"):
        own(folder).has(meta)


def test_own_bars_take_the_place_of_the_recorded_ones_as_a_whole(folder: Path) -> None:
    found = market(write(folder, "AAPL.csv"))
    after = CALENDAR.closes(ON) + timedelta(seconds=1)
    quote = found.quote(AAPL, after)
    assert quote is not None
    assert (quote.price, quote.source) == (Decimal("12.5"), "own")
    assert found.bar(AAPL, date(2020, 1, 6)) is None
    assert found.last_session(AAPL) == ON
    nvidia = found.quote(recorded_instrument("NVDA"), after)
    assert nvidia is not None
    assert nvidia.source == "snapshot"


def test_recorded_actions_stay_in_force_until_there_are_own_ones(folder: Path) -> None:
    span = date(2020, 8, 1), date(2020, 9, 30)
    kept = market(write(folder, "AAPL.csv")).actions(AAPL, *span)
    assert [(action.kind, action.value) for action in kept if action.kind == "split"] == [("split", Decimal(4))]
    write(folder, "AAPL.actions.csv", "kind,ex_date,value\nsplit,2020-09-01,2\n")
    assert [(action.kind, action.value) for action in market(folder).actions(AAPL, *span)] == [("split", Decimal(2))]
    raw = own(folder).fetch(AAPL)
    assert raw is not None
    assert len(own(folder).parse(raw, AAPL, CALENDAR).actions) == 1


def test_a_bad_own_action_names_its_file(folder: Path) -> None:
    write(write(folder, "AAPL.csv"), "AAPL.actions.csv", "kind,ex_date,value\nsplit,2020-09-01,0\n")
    assert faults(folder, AAPL) == ["own/AAPL.actions.csv line 2: value '0' is not above zero"]


@pytest.mark.parametrize("ticker", ["ACME", "TRUE", "NAN", "ON", "1E5", "BRK-B", "0700.HK", "GC=F"])
def test_a_new_ticker_is_a_common_share_in_dollars_under_any_name_that_is_a_ticker(folder: Path, ticker: str) -> None:
    (found,) = market(write(folder, f"{ticker}.csv")).resolve(ticker.lower(), ON)
    assert (found.symbol, found.currency, found.mic, found.kind) == (ticker.replace("-", "."), "USD", "XNYS", "common")
    bar = market(folder).bar(found, ON)
    assert bar is not None
    assert found.symbol in market(folder).tickers()


def test_a_currency_column_says_what_a_new_ticker_is_priced_in(folder: Path) -> None:
    text = BAR_HEADER.replace("\n", ",currency\n") + ROWS.replace("\n", ",GBp\n")
    (found,) = market(write(folder, "ACME.csv", text)).resolve("ACME", ON)
    assert found.currency == "GBp"
    assert faults(folder, found) == []


@pytest.mark.parametrize("stated", ["GBX", "GBP", "usd", "", "EUR"])
def test_a_row_in_another_currency_than_the_instruments_is_a_fault(folder: Path, stated: str) -> None:
    first, second = ROWS.splitlines()
    text = BAR_HEADER.replace("\n", ",currency\n") + f"{first},USD\n{second},{stated}\n"
    assert faults(write(folder, "ACME.csv", text)) == [f"own/ACME.csv line 3: currency '{stated}' is not USD, which the instrument is priced in"]


def test_a_folder_may_describe_its_instruments(folder: Path) -> None:
    rows = ("XLON:VOD,VOD.L,VOD,Vodafone,XLON,GBp,common,Telecoms,,,", "OTC:AAPL,AAPL,,An Apple of our own,XNAS,USD,other,,,,")
    write(folder, "instruments.csv", ",".join(INSTRUMENT_COLUMNS) + "\n" + "\n".join(rows) + "\n")
    found = market(write(folder, "VOD.csv"))
    (vodafone,), (apple,) = found.resolve("VOD.L", ON), found.resolve("AAPL", ON)
    assert (vodafone.mic, vodafone.currency, apple.id) == ("XLON", "GBp", "OTC:AAPL")
    bar = found.bar(vodafone, ON)
    assert bar is not None
    assert bar.known_at == CALENDARS.of("XLON").closes(ON)


def test_the_span_is_that_of_all_readable_files(folder: Path) -> None:
    assert own(folder).span() is None
    write(write_parquet(folder, "B.parquet", date=["2024-01-02", "2024-01-03"]), "A.csv")
    (folder / "C.parquet").write_bytes(b"broken")
    assert own(folder).span() == (date(2020, 1, 2), date(2024, 1, 3))


@pytest.mark.parametrize("mark", ["\ufeff", ""])
def test_files_from_a_spreadsheet_with_a_mark_and_other_line_ends_are_read(folder: Path, mark: str) -> None:
    (folder / "ACME.csv").write_bytes((mark + BAR_HEADER + ROWS).replace("\n", "\r\n").encode())
    assert faults(folder) == []
