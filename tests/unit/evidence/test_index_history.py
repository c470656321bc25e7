"""The index as context: what it says, where it does not reach, and that it never sees a later session."""

from datetime import date
from decimal import Decimal as D
from pathlib import Path

import pytest

from alphaagent.clock import US_MARKETS
from alphaagent.domain.evidence import EvidenceItem, EvidencePack, Status
from alphaagent.errors import SourceFault
from alphaagent.evidence.gathered import Gathered
from alphaagent.evidence.index_history import IndexHistory
from alphaagent.evidence.price_tool import price_items
from alphaagent.evidence.standing import standing
from tests.snapshot_folder import RECORDED, recorded_calendar, write_folder
from tests.unit.evidence.measure_builders import CALENDAR, FIRST, bars_of, closes_at, gathered

Rows = list[tuple[date | str, object]]
SESSIONS = CALENDAR.sessions[CALENDAR.sessions.index(FIRST) :][:400]
LAST = SESSIONS[299]


def history(folder: Path, rows: Rows | None = None) -> IndexHistory:
    """An index that closes at 1001, 1002 ... from the first session, past the last bar of the name."""
    kept = [(day, 1001 + place) for place, day in enumerate(SESSIONS)] if rows is None else rows
    text = "date,close\n" + "".join(f"{day},{close}\n" for day, close in kept)
    return IndexHistory(write_folder(folder, {"index/SPX.csv": text}), US_MARKETS)


def name(length: int = 300) -> Gathered:
    """Closes 1, 2, 3 ..."""
    return gathered(bars_of([float(n) for n in range(1, length + 1)]))


def item(g: Gathered, index: IndexHistory) -> EvidenceItem:
    (found,) = [one for one in price_items(g, index) if one.kind == "index"]
    return found


def pack(g: Gathered, index: IndexHistory) -> EvidencePack:
    return EvidencePack(ticker="ACME", instrument_id="XNAS:ACME", as_of=g.as_of, session=str(g.session), items=price_items(g, index)).sealed()


def test_it_says_how_the_market_moved_and_the_name_against_it(tmp_path: Path) -> None:
    found = item(name(), history(tmp_path))

    assert found.status is Status.OK
    assert found.payload == {
        "index": "SPX",
        "session": str(LAST),
        "close": "1300.0",
        "change_1": "0.00077",
        "change_5": "0.003861",
        "change_21": "0.016419",
        "change_63": "0.05093",
        "change_252": "0.240458",
        "relative_63": "0.214893",
    }
    assert (found.as_of, found.known_at) == (closes_at(LAST), closes_at(LAST))
    assert found.summary.startswith(f"SPX 1,300.00 at the close of {LAST}; +0.1% over 1, ")
    assert found.summary.endswith("the name +21.5% against it over 63")


def test_later_closes_and_later_faults_change_nothing(tmp_path: Path) -> None:
    rows: Rows = [(day, 1001 + place) for place, day in enumerate(SESSIONS[:300])]
    broken: Rows = [*rows, (SESSIONS[300], "x"), (SESSIONS[302], 5)]

    assert item(name(), history(tmp_path / "a")) == item(name(), history(tmp_path / "b", rows)) == item(name(), history(tmp_path / "c", broken))


def test_where_it_does_not_reach_it_does_not_apply(tmp_path: Path) -> None:
    short = history(tmp_path / "short", [(day, 1000) for day in SESSIONS[:299]])
    none = IndexHistory(write_folder(tmp_path / "none", {"bars/ACME.csv": "x"}), US_MARKETS)
    elsewhere = IndexHistory(tmp_path / "nowhere", frozenset({"XLON"}))

    for index, reason in ((short, f"no close of SPX is recorded for {LAST}"), (none, "no close of SPX"), (elsewhere, "SPX is no index of XNAS")):
        found = item(name(), index)
        assert (found.status, found.summary.startswith(f"index not applicable: {reason}")) == (Status.NOT_APPLICABLE, True)
        assert index.change("XNAS", LAST, CALENDAR) is None


@pytest.mark.parametrize(
    "rows",
    [
        [(day, 1000) for day in SESSIONS[:300] if day != SESSIONS[50]],
        [(SESSIONS[0], 1000), *((day, 1000) for day in SESSIONS[:300])],
        [(day, 0 if day == SESSIONS[9] else 1000) for day in SESSIONS[:300]],
        [("soon" if day == SESSIONS[9] else day, 1000) for day in SESSIONS[:300]],
    ],
    ids=["gap", "twice", "zero", "undated"],
)
def test_a_gap_or_a_broken_row_loses_it(tmp_path: Path, rows: Rows) -> None:
    index = history(tmp_path, rows)

    assert item(name(), index).status is Status.FAILED
    assert index.change("XNAS", LAST, CALENDAR) is None
    with pytest.raises(SourceFault):
        index.closes("XNAS", LAST, CALENDAR)


def test_a_short_or_a_stale_name_has_no_relative_change(tmp_path: Path) -> None:
    assert item(name(63), history(tmp_path)).payload["relative_63"] is None

    found = item(gathered(bars_of([float(n) for n in range(1, 300)]), session=LAST), history(tmp_path))
    assert (found.status, found.payload["relative_63"], found.payload["change_63"]) == (Status.OK, None, "0.05093")


@pytest.mark.parametrize("status", [Status.STALE, Status.CONFLICT])
def test_a_name_whose_prices_are_doubtful_is_not_set_against_it(tmp_path: Path, status: Status) -> None:
    found = item(gathered(bars_of([float(n) for n in range(1, 301)]), prices=status), history(tmp_path))

    assert (found.status, found.payload["relative_63"], found.payload["change_63"]) == (Status.OK, None, "0.05093")


def test_it_neither_counts_as_evidence_on_the_name_nor_makes_it_younger(tmp_path: Path) -> None:
    stale = gathered(bars_of([float(n) for n in range(1, 300)]), session=LAST)

    for g in (name(), stale):
        with_index, without = pack(g, history(tmp_path)), pack(g, IndexHistory(tmp_path, frozenset()))
        assert standing(with_index, (), CALENDAR) == standing(without, (), CALENDAR)


def test_the_recorded_index_is_that_of_every_session_of_six_years() -> None:
    calendar, index = recorded_calendar(), IndexHistory(RECORDED, US_MARKETS)
    sessions = [day for day in calendar.sessions if day <= date(2018, 12, 31)]

    closes = index.closes("XNAS", sessions[-1], calendar)
    assert (len(closes), closes[0], closes[-1]) == (len(sessions), D("1462.42"), D("2506.85"))
    assert index.change("XNYS", date(2018, 2, 5), calendar) == D("-0.040979")
    assert index.closes("XNAS", calendar.next_session(sessions[-1]), calendar) == ()
    assert index.closes("XLON", sessions[-1], calendar) == ()
    assert index.change("XNAS", sessions[0], calendar) is None
