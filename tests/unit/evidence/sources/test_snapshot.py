"""The recorded snapshot tells absence from failure, and what it holds is what was traded, paid and filed."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from alphaagent.clock import exchange_sessions
from alphaagent.domain.market import Bar, Records
from alphaagent.errors import ConfigFault, SourceFault
from alphaagent.evidence.sources.snapshot import SnapshotFundamentals, SnapshotNews, SnapshotPrices
from alphaagent.ports import EvidenceSource
from tests.snapshot_folder import ACME, ACTION_HEADER, BAR_HEADER, FACT_HEADER, RECORDED, recorded_calendar, recorded_instrument, rss, write_folder

CALENDAR = recorded_calendar()
BARS = BAR_HEADER + "2020-01-02,10,12,9,11,1000\n"
FILES = {
    "bars/ACME.csv": BARS,
    "actions/ACME.csv": ACTION_HEADER + "dividend,2020-01-03,0.5\n",
    "fundamentals/ACME.csv": FACT_HEADER,
    "news/ACME.xml": rss(),
}
BY_PATH: dict[str, Callable[[Path], EvidenceSource]] = {
    "bars/ACME.csv": SnapshotPrices,
    "actions/ACME.csv": SnapshotPrices,
    "fundamentals/ACME.csv": SnapshotFundamentals,
    "news/ACME.xml": SnapshotNews,
}
PUBLIC_DOMAIN_AAPL = {
    "2013-01-02": ("553.82", "555.0", "541.63", "549.03", 20018500),
    "2013-01-03": ("547.88", "549.67", "541.0", "542.0959", 12605900),
    "2013-01-04": ("536.965", "538.6299", "525.8286", "527.0", 21226200),
    "2013-03-01": ("438.0", "438.1799", "429.98", "430.47", 19730300),
}
"""Apple as traded, out of the Quandl WIKI prices, which are in the public domain."""


def parsed(source: EvidenceSource, ticker: str) -> Records:
    instrument = recorded_instrument(ticker)
    raw = source.fetch(instrument)
    assert raw is not None
    return source.parse(raw, instrument, CALENDAR)


def recorded_bars(ticker: str) -> dict[str, Bar]:
    return {bar.session.isoformat(): bar for bar in parsed(SnapshotPrices(RECORDED), ticker).bars}


def test_prices_are_one_document_of_bars_and_actions(tmp_path: Path) -> None:
    source = SnapshotPrices(write_folder(tmp_path, FILES))
    raw = source.fetch(ACME)
    assert raw is not None
    records = source.parse(raw, ACME, CALENDAR)
    assert [bar.close for bar in records.bars] == [Decimal(11)]
    assert [action.value for action in records.actions] == [Decimal("0.5")]


def test_prices_without_actions_are_prices(tmp_path: Path) -> None:
    source = SnapshotPrices(write_folder(tmp_path, {"bars/ACME.csv": BARS}))
    assert source.fetch(ACME) == BARS.encode()
    assert source.parse(BARS.encode(), ACME, CALENDAR).actions == ()


def test_a_fault_among_the_actions_is_a_fault_of_the_prices(tmp_path: Path) -> None:
    source = SnapshotPrices(write_folder(tmp_path, {**FILES, "actions/ACME.csv": ACTION_HEADER + "split,2020-01-03,x\n"}))
    raw = source.fetch(ACME)
    assert raw is not None
    assert [fault.where for fault in source.parse(raw, ACME, CALENDAR).faults] == ["actions/ACME.csv line 2"]


@pytest.mark.parametrize("path", FILES)
def test_a_listed_file_that_is_missing_is_a_failure(tmp_path: Path, path: str) -> None:
    folder = write_folder(tmp_path, FILES)
    (folder / path).unlink()
    with pytest.raises(SourceFault, match=f"{path} is listed in the snapshot's manifest and missing"):
        BY_PATH[path](folder).fetch(ACME)


@pytest.mark.parametrize("path", FILES)
def test_a_file_that_cannot_be_read_is_a_failure(tmp_path: Path, path: str) -> None:
    folder = write_folder(tmp_path, FILES)
    (folder / path).unlink()
    (folder / path).mkdir()
    with pytest.raises(SourceFault, match=f"{path} cannot be read"):
        BY_PATH[path](folder).fetch(ACME)


@pytest.mark.parametrize("path", FILES)
def test_an_empty_file_is_a_failure_and_says_so(tmp_path: Path, path: str) -> None:
    source = BY_PATH[path](write_folder(tmp_path, {**FILES, path: ""}))
    raw = source.fetch(ACME)
    assert raw is not None
    with pytest.raises(SourceFault, match=f"{path} is empty"):
        source.parse(raw, ACME, CALENDAR)


def test_a_file_that_is_neither_there_nor_listed_is_nothing(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, {})
    assert [source(folder).fetch(ACME) for source in BY_PATH.values()] == [None] * 4


def test_an_absence_under_a_broken_manifest_is_a_configuration_fault(tmp_path: Path) -> None:
    with pytest.raises(ConfigFault, match="manifest"):
        SnapshotNews(tmp_path).fetch(ACME)


def test_a_file_of_headers_alone_has_no_records_and_no_fault(tmp_path: Path) -> None:
    source = SnapshotFundamentals(write_folder(tmp_path, FILES))
    assert source.parse(FACT_HEADER.encode(), ACME, CALENDAR) == Records()


def test_a_third_part_in_a_price_document_is_a_failure() -> None:
    with pytest.raises(SourceFault, match="file separator"):
        SnapshotPrices(RECORDED).parse(b"\x1c".join([BARS.encode()] * 3), ACME, CALENDAR)


def test_the_recorded_sessions_are_those_of_the_exchange_calendar() -> None:
    table = exchange_sessions("XNYS", CALENDAR.first, CALENDAR.last)
    assert CALENDAR.sessions == table.sessions
    assert [CALENDAR.opens(session) for session in CALENDAR.sessions] == [table.opens(session) for session in table.sessions]
    assert [CALENDAR.closes(session) for session in CALENDAR.sessions] == [table.closes(session) for session in table.sessions]


@pytest.mark.parametrize("ticker", ["AAPL", "NVDA"])
def test_there_is_a_bar_for_every_session_of_the_range_and_twenty_sessions_after_it(ticker: str) -> None:
    sessions = [session.isoformat() for session in CALENDAR.sessions]
    assert list(recorded_bars(ticker)) == sessions[:-20]
    assert sessions[-21] == "2023-09-21"


@pytest.mark.parametrize("session", PUBLIC_DOMAIN_AAPL)
def test_apples_bars_are_as_traded(session: str) -> None:
    *prices, volume = PUBLIC_DOMAIN_AAPL[session]
    bar = recorded_bars("AAPL")[session]
    for ours, theirs in zip((bar.open, bar.high, bar.low, bar.close), prices, strict=True):
        assert abs(ours - Decimal(str(theirs))) <= Decimal("0.005")
    assert bar.volume == volume


@pytest.mark.parametrize(
    ("ticker", "session", "close", "volume"),
    [
        ("AAPL", "2013-01-02", "549.03", 20018500),
        ("AAPL", "2014-06-06", "645.57", 12497800),
        ("AAPL", "2014-06-09", "93.7", 75415000),
        ("AAPL", "2020-08-28", "499.23", 46907500),
        ("AAPL", "2020-08-31", "129.04", 225702700),
        ("NVDA", "2021-07-19", "751.19", 18726500),
        ("NVDA", "2021-07-20", "186.12", 43468700),
    ],
)
def test_prices_around_a_split_are_those_of_the_day(ticker: str, session: str, close: str, volume: int) -> None:
    bar = recorded_bars(ticker)[session]
    assert (bar.close, bar.volume) == (Decimal(close), volume)


@pytest.mark.parametrize(
    ("ticker", "kind", "ex_date", "value"),
    [
        ("AAPL", "dividend", date(2013, 2, 7), "2.65"),
        ("AAPL", "dividend", date(2014, 5, 8), "3.29"),
        ("AAPL", "split", date(2014, 6, 9), "7"),
        ("AAPL", "dividend", date(2014, 8, 7), "0.47"),
        ("AAPL", "dividend", date(2020, 5, 8), "0.82"),
        ("AAPL", "split", date(2020, 8, 31), "4"),
        ("AAPL", "dividend", date(2020, 11, 6), "0.205"),
        ("NVDA", "dividend", date(2015, 5, 19), "0.0975"),
        ("NVDA", "dividend", date(2021, 6, 9), "0.16"),
        ("NVDA", "split", date(2021, 7, 20), "4"),
        ("NVDA", "dividend", date(2021, 8, 31), "0.04"),
    ],
)
def test_splits_and_dividends_are_those_of_their_ex_date(ticker: str, kind: str, ex_date: date, value: str) -> None:
    actions = parsed(SnapshotPrices(RECORDED), ticker).actions
    assert (kind, Decimal(value)) in {(action.kind, action.value) for action in actions if action.ex_date == ex_date}


@pytest.mark.parametrize("ticker", ["AAPL", "NVDA"])
def test_there_are_four_dividends_a_year_and_none_besides(ticker: str) -> None:
    paid = [action.ex_date.year for action in parsed(SnapshotPrices(RECORDED), ticker).actions if action.kind == "dividend"]
    assert {year: paid.count(year) for year in range(2013, 2024)} == {**dict.fromkeys(range(2013, 2023), 4), 2023: 3}


@pytest.mark.parametrize(
    ("ticker", "before", "on", "adjusted_before", "adjusted_on"),
    [
        ("AAPL", "2013-02-06", "2013-02-07", "13.9873", "14.4032"),
        ("AAPL", "2020-08-28", "2020-08-31", "122.5916", "126.749"),
        ("NVDA", "2021-07-19", "2021-07-20", "187.4993", "185.8245"),
        ("NVDA", "2023-09-05", "2023-09-06", "485.4400", "470.6100"),
    ],
)
def test_the_return_over_an_action_is_that_of_the_original_adjusted_closes(ticker: str, before: str, on: str, adjusted_before: str, adjusted_on: str) -> None:
    bars, ex_date = recorded_bars(ticker), date.fromisoformat(on)
    actions = [action for action in parsed(SnapshotPrices(RECORDED), ticker).actions if action.ex_date == ex_date]
    base = bars[before].close
    for action in actions:
        base = base / action.value if action.kind == "split" else base - action.value
    assert actions
    assert float(bars[on].close / base) == pytest.approx(float(Decimal(adjusted_on) / Decimal(adjusted_before)), rel=2e-5)


def test_a_filing_and_the_note_on_it_become_known_together() -> None:
    facts = parsed(SnapshotFundamentals(RECORDED), "AAPL").facts
    (note,) = [article for article in parsed(SnapshotNews(RECORDED), "AAPL").articles if article.accession == "0000320193-19-000076"]
    assert {fact.known_at for fact in facts if fact.accession == note.accession} == {note.known_at}
    assert note.known_at == datetime(2019, 8, 1, 13, 30, tzinfo=UTC)


@pytest.mark.parametrize("ticker", ["AAPL", "NVDA"])
def test_every_note_says_that_it_is_made_from_a_filing(ticker: str) -> None:
    notes = parsed(SnapshotNews(RECORDED), ticker).articles
    assert len(notes) == 43
    assert {(note.origin, note.guid == note.accession, "no press article" in note.summary) for note in notes} == {("filing", True, True)}
