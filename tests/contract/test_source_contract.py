"""What every evidence source promises. A further vendor joins by one line in SOURCES."""

import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, timedelta
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

from alphaagent.domain.market import Instrument, Records
from alphaagent.errors import SourceFault
from alphaagent.evidence.admission import admit
from alphaagent.evidence.sources.own_prices import OwnPrices
from alphaagent.evidence.sources.snapshot import SnapshotFundamentals, SnapshotNews, SnapshotPrices
from alphaagent.ports import EvidenceSource
from tests.snapshot_folder import ACME, RECORDED, recorded_calendar, recorded_instrument, write_folder


@dataclass(frozen=True)
class Case:
    """How to make a source that knows AAPL, and one in an empty place."""

    full: Callable[[], EvidenceSource]
    bare: Callable[[Path], EvidenceSource]


SOURCES = {
    "snapshot prices": Case(lambda: SnapshotPrices(RECORDED), lambda empty: SnapshotPrices(write_folder(empty, {}))),
    "snapshot fundamentals": Case(lambda: SnapshotFundamentals(RECORDED), lambda empty: SnapshotFundamentals(write_folder(empty, {}))),
    "snapshot news": Case(lambda: SnapshotNews(RECORDED), lambda empty: SnapshotNews(write_folder(empty, {}))),
}
CALENDAR = recorded_calendar()


KEPT: list[tempfile.TemporaryDirectory[str]] = []
"""Folders that go when the tests are over."""


def own_prices(suffix: str) -> Case:
    """A folder with Apple's recorded bars as the user's own, in one of the two formats."""

    def full() -> OwnPrices:
        kept = tempfile.TemporaryDirectory()
        KEPT.append(kept)
        folder = Path(kept.name)
        if suffix == ".csv":
            shutil.copy(RECORDED / "bars" / "AAPL.csv", folder / "AAPL.csv")
        else:
            pd.read_csv(RECORDED / "bars" / "AAPL.csv").to_parquet(folder / "AAPL.parquet")
        return OwnPrices(folder, RECORDED)

    return Case(cache(full), lambda empty: OwnPrices(empty, RECORDED))


SOURCES |= {"own prices as CSV": own_prices(".csv"), "own prices as Parquet": own_prices(".parquet")}
AAPL: Instrument = recorded_instrument("AAPL")


@pytest.fixture(params=list(SOURCES.values()), ids=list(SOURCES))
def case(request: pytest.FixtureRequest) -> Case:
    assert isinstance(request.param, Case)
    return request.param


@pytest.fixture
def raw(case: Case) -> bytes:
    document = case.full().fetch(AAPL)
    assert document is not None
    return document


@pytest.fixture
def records(case: Case, raw: bytes) -> Records:
    return case.full().parse(raw, AAPL, CALENDAR)


def test_it_says_what_it_is_and_what_it_supplies(case: Case) -> None:
    source = case.full()
    assert source.name
    assert source.supplies in ("prices", "fundamentals", "news")


def test_it_has_records_of_a_known_instrument_and_no_fault_in_them(records: Records) -> None:
    assert records.bars or records.facts or records.articles
    assert records.faults == ()


def test_it_supplies_only_its_own_kind_of_record(case: Case, records: Records) -> None:
    present = {name for name in ("bars", "facts", "articles") if getattr(records, name)}
    assert present == {{"prices": "bars", "fundamentals": "facts", "news": "articles"}[case.full().supplies]}


def test_every_list_is_ordered_by_known_at_in_utc(records: Records) -> None:
    for rows in (records.bars, records.actions, records.facts, records.articles):
        instants = [row.known_at for row in rows]
        assert instants == sorted(instants)
        assert all(instant.tzinfo is UTC for instant in instants)


def test_the_same_bytes_give_equal_records(case: Case, raw: bytes, records: Records) -> None:
    assert case.full().parse(bytes(bytearray(raw)), AAPL, CALENDAR) == records
    assert case.full().parse(raw, AAPL, recorded_calendar()) == records


def test_an_instrument_that_it_does_not_know_is_an_absence_and_no_failure(case: Case, tmp_path: Path) -> None:
    assert case.bare(tmp_path).fetch(ACME) is None


@pytest.mark.parametrize("document", [b"", b" \n", b"\xff\xfe\x00garbage", b"Error retrieving data", b"<html><body>404</body></html>", b"{}"])
def test_an_unreadable_document_is_a_failure_and_never_an_absence(case: Case, document: bytes) -> None:
    with pytest.raises(SourceFault) as fault:
        case.full().parse(document, AAPL, CALENDAR)
    assert fault.value.message
    assert fault.value.fix


def test_a_truncated_document_is_a_failure_or_other_records_and_never_another_error(case: Case, raw: bytes, records: Records) -> None:
    for length in range(1, len(raw), len(raw) // 23):
        try:
            cut = case.full().parse(raw[:length], AAPL, CALENDAR)
        except SourceFault:
            continue
        assert cut != records


def test_what_it_knew_at_an_instant_is_what_was_recorded_before_it(records: Records) -> None:
    session = CALENDAR.sessions[1000]
    as_of = CALENDAR.closes(session) + timedelta(seconds=1)
    known = admit(records, as_of, session)
    for name in ("bars", "actions", "facts", "articles"):
        rows = getattr(records, name)
        assert getattr(known, name) == tuple(row for row in rows if row.known_at < as_of)


def test_a_second_parse_of_the_same_document_costs_next_to_nothing(case: Case, raw: bytes, records: Records) -> None:
    started = time.thread_time()
    for _ in range(100):
        case.full().parse(raw, AAPL, CALENDAR)
    assert time.thread_time() - started < 0.5
