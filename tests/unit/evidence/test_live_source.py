"""Which observation speaks for an instant, what of it may be seen, and what a vendor's failure leaves behind."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from alphaagent.domain.evidence import Status
from alphaagent.domain.market import Bar, ComingEvent, Instrument, LastPrice, Records
from alphaagent.errors import ConfigFault, SourceFault, VendorFault
from alphaagent.evidence.live.archive import Archive, Series
from alphaagent.evidence.live.holding import holds_until
from alphaagent.evidence.live.source import LiveSource
from alphaagent.evidence.live.vendor import Fetched, Seen, Topic
from alphaagent.ports import Calendar
from tests.snapshot_folder import ACME, recorded_calendar

CALENDAR = recorded_calendar()
MONDAY, TUESDAY, WEDNESDAY = date(2020, 1, 6), date(2020, 1, 7), date(2020, 1, 8)
NIGHT = datetime(2020, 1, 6, 23, 0, tzinfo=UTC)
"""After Monday's close and its last corrections."""
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@dataclass
class Now:
    at: datetime = NIGHT

    def now(self) -> datetime:
        return self.at


@dataclass
class FakeVendor:
    """Tells closes by session; `fault` makes it fail, `same` makes it answer that nothing has changed."""

    closes: dict[str, str] = field(default_factory=dict)
    topic: Topic = "prices"
    name: str = "acme data"
    fault: VendorFault | None = None
    reason: str | None = None
    knows: bool = True
    same: bool = False
    notes: tuple[str, ...] = ()
    asked: int = 0
    seen: list[Seen | None] = field(default_factory=list)

    def not_asked(self, instrument: Instrument) -> str | None:
        return self.reason

    def fetch(self, instrument: Instrument, before: Seen | None) -> Fetched | None:
        self.asked += 1
        self.seen.append(before)
        if self.fault:
            raise self.fault
        if not self.knows:
            return None
        return Fetched(None if self.same else json.dumps(self.closes).encode(), {"etag": str(self.asked)}, self.notes)

    def parse(self, raw: bytes, instrument: Instrument, calendar: Calendar, fetched_at: datetime) -> Records:
        bars = tuple(_bar(date.fromisoformat(day), Decimal(close)) for day, close in sorted(json.loads(raw).items()))
        coming = (ComingEvent("earnings", date(2020, 2, 1), date(2020, 2, 1), fetched_at),)
        return Records(bars=bars, coming=coming, last_prices=(LastPrice(Decimal(7), fetched_at - HOUR, fetched_at),))


def _bar(session: date, close: Decimal) -> Bar:
    return Bar(session, close, close, close, close, 100, CALENDAR.closes(session))


def sessions(first: date, count: int) -> list[date]:
    found = [first]
    while len(found) < count:
        found.append(CALENDAR.next_session(found[-1]))
    return found


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path / "live" / "archive.db")


def source_of(vendor: FakeVendor, archive: Archive, now: Now | None = None) -> LiveSource:
    return LiveSource(vendor.topic, (vendor,), archive, now or Now())


def closes(source: LiveSource, vendor: FakeVendor, as_of: datetime) -> list[Decimal]:
    return [bar.close for bar in source.told(vendor, ACME, as_of, CALENDAR).records.bars]


def test_a_document_is_fetched_once_and_then_speaks_for_as_long_as_it_holds(archive: Archive) -> None:
    vendor = FakeVendor({"2020-01-06": "10"})
    source = source_of(vendor, archive)
    assert closes(source, vendor, NIGHT) == [Decimal(10)]
    assert closes(source_of(vendor, archive), vendor, NIGHT + 8 * HOUR) == [Decimal(10)]
    assert vendor.asked == 1


def test_after_the_next_open_it_is_asked_again(archive: Archive) -> None:
    vendor, now = FakeVendor({"2020-01-06": "10"}), Now()
    source = source_of(vendor, archive, now)
    closes(source, vendor, NIGHT)
    now.at = CALENDAR.opens(TUESDAY) + HOUR
    closes(source, vendor, now.at)
    assert vendor.asked == 2


def test_a_later_run_at_an_earlier_instant_sees_what_was_known_then(archive: Archive) -> None:
    vendor, now = FakeVendor({"2020-01-06": "10"}), Now()
    closes(source_of(vendor, archive, now), vendor, NIGHT)
    vendor.closes, now.at = {"2020-01-06": "11", "2020-01-07": "12"}, NIGHT + DAY
    later = source_of(vendor, archive, now)
    assert closes(later, vendor, now.at) == [Decimal(11), Decimal(12)]
    assert closes(later, vendor, NIGHT + HOUR) == [Decimal(10)]


def test_an_instant_before_the_first_look_is_answered_by_that_look_cut_at_the_instant(archive: Archive) -> None:
    vendor, now = FakeVendor({"2020-01-06": "10", "2020-01-07": "12"}), Now(NIGHT + DAY)
    source = source_of(vendor, archive, now)
    closes(source, vendor, now.at)
    assert closes(source, vendor, NIGHT) == [Decimal(10)]
    assert vendor.asked == 1


def test_a_bar_that_was_not_complete_when_it_was_fetched_is_no_bar(archive: Archive) -> None:
    during = CALENDAR.opens(TUESDAY) + HOUR
    vendor, now = FakeVendor({"2020-01-06": "10", "2020-01-07": "12"}), Now(during)
    source = source_of(vendor, archive, now)
    assert closes(source, vendor, during) == [Decimal(10)]
    assert closes(source, vendor, CALENDAR.closes(TUESDAY) - timedelta(seconds=1)) == [Decimal(10)]


def test_what_has_no_date_of_its_own_is_known_from_the_fetch_on(archive: Archive) -> None:
    vendor = FakeVendor({"2020-01-06": "10"})
    source = source_of(vendor, archive)
    assert source.told(vendor, ACME, NIGHT, CALENDAR).records.coming == ()
    after = source.told(vendor, ACME, NIGHT + HOUR, CALENDAR).records
    assert [event.kind for event in after.coming] == ["earnings"]
    assert [last.price for last in after.last_prices] == [Decimal(7)]


def test_the_vendor_is_shown_what_it_said_before_and_may_answer_that_nothing_has_changed(archive: Archive) -> None:
    vendor, now = FakeVendor({"2020-01-06": "10"}), Now()
    source = source_of(vendor, archive, now)
    closes(source, vendor, NIGHT)
    vendor.same, now.at = True, NIGHT + DAY
    assert closes(source, vendor, now.at) == [Decimal(10)]
    assert vendor.seen[0] is None
    assert vendor.seen[1] == Seen(b'{"2020-01-06": "10"}', NIGHT, {"etag": "1"})
    assert [one.ended for one in archive.observations(Series("acme data", "prices", ACME.id))] == ["ok", "unchanged"]
    assert archive.size()[0] == 1


def test_a_failure_with_nothing_older_fails_and_is_kept_as_an_observation(archive: Archive) -> None:
    vendor = FakeVendor(fault=VendorFault("rate_limited", "asked to slow down"))
    source = source_of(vendor, archive)
    found = source.supply(CALENDAR, ACME, NIGHT, MONDAY)
    assert (found.status, found.note) == (Status.FAILED, "asked to slow down")
    last = archive.last(Series("acme data", "prices", ACME.id))
    assert last is not None
    assert (last.ended, last.sha256) == ("rate_limited", None)


def test_many_who_ask_at_once_ask_the_vendor_once(archive: Archive) -> None:
    from concurrent.futures import ThreadPoolExecutor

    vendor = FakeVendor({"2020-01-06": "10"})
    source = source_of(vendor, archive)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda seconds: closes(source, vendor, NIGHT + timedelta(seconds=seconds)), range(1, 9)))
    assert (vendor.asked, found) == (1, [[Decimal(10)]] * 8)


def test_a_vendor_that_has_just_failed_is_not_asked_again_at_once(archive: Archive) -> None:
    vendor = FakeVendor(fault=VendorFault("timeout", "too slow"))
    source = source_of(vendor, archive)
    for _ in range(3):
        source.supply(CALENDAR, ACME, NIGHT, MONDAY)
    assert vendor.asked == 1


def test_a_failure_with_something_older_is_stale_and_says_from_when(archive: Archive) -> None:
    vendor, now = FakeVendor({"2020-01-06": "10"}), Now()
    closes(source_of(vendor, archive, now), vendor, NIGHT)
    vendor.fault, now.at = VendorFault("unreachable", "no network"), NIGHT + DAY
    found = source_of(vendor, archive, now).supply(CALENDAR, ACME, now.at, TUESDAY)
    assert found.status is Status.STALE
    assert found.note == "no network; this is what acme data said at 2020-01-06T23:00:00Z"
    assert [bar.close for bar in found.records.bars] == [Decimal(10)]


def test_a_failed_fetch_never_speaks_for_an_instant(archive: Archive) -> None:
    vendor, now = FakeVendor(fault=VendorFault("timeout", "too slow")), Now()
    source_of(vendor, archive, now).supply(CALENDAR, ACME, NIGHT, MONDAY)
    vendor.fault, vendor.closes, now.at = None, {"2020-01-06": "10"}, NIGHT + HOUR
    assert closes(source_of(vendor, archive, now), vendor, NIGHT + HOUR) == [Decimal(10)]


def test_nothing_known_is_empty_and_no_failure(archive: Archive) -> None:
    vendor = FakeVendor(knows=False)
    found = source_of(vendor, archive).supply(CALENDAR, ACME, NIGHT, MONDAY)
    assert (found.status, found.note) == (Status.EMPTY, "acme data has no prices of ACME before this instant")


def test_an_instrument_that_nobody_is_asked_about_is_not_applicable(archive: Archive) -> None:
    vendor = FakeVendor(reason="a fund files no statements")
    found = source_of(vendor, archive).supply(CALENDAR, ACME, NIGHT, MONDAY)
    assert (found.status, found.note, vendor.asked) == (Status.NOT_APPLICABLE, "a fund files no statements", 0)


def test_what_did_not_come_beside_the_rest_is_said(archive: Archive) -> None:
    vendor = FakeVendor({"2020-01-06": "10"}, notes=("one feed of two: timeout",))
    assert source_of(vendor, archive).supply(CALENDAR, ACME, NIGHT, MONDAY).note == "one feed of two: timeout"


def year(change: Callable[[int, date], str]) -> dict[str, str]:
    return {day.isoformat(): change(place, day) for place, day in enumerate(sessions(date(2019, 6, 3), 150))}


def test_a_history_that_is_adjusted_overnight_is_a_conflict_until_it_agrees_again(archive: Archive) -> None:
    vendor, now = FakeVendor(year(lambda place, _: str(100 + place))), Now()
    closes(source_of(vendor, archive, now), vendor, NIGHT)
    vendor.closes, now.at = year(lambda place, _: str((100 + place) / 4)), NIGHT + DAY
    found = source_of(vendor, archive, now).supply(CALENDAR, ACME, now.at, TUESDAY)
    assert found.status is Status.CONFLICT
    assert "acme data now gives other closes than at 2020-01-06T23:00:00Z for 150 sessions" in (found.note or "")
    assert "a factor of 0.2500" in (found.note or "")
    now.at += DAY
    assert source_of(vendor, archive, now).supply(CALENDAR, ACME, now.at, WEDNESDAY).status is Status.CONFLICT
    vendor.closes, now.at = year(lambda place, _: str(100 + place)), now.at + DAY
    assert source_of(vendor, archive, now).supply(CALENDAR, ACME, now.at, CALENDAR.next_session(WEDNESDAY)).status is Status.OK


def test_a_correction_of_a_close_or_two_is_let_through(archive: Archive) -> None:
    vendor, now = FakeVendor(year(lambda place, _: str(100 + place))), Now()
    closes(source_of(vendor, archive, now), vendor, NIGHT)
    vendor.closes, now.at = year(lambda place, _: str(100 + place + (5 if place in (3, 149) else 0))), NIGHT + DAY
    assert source_of(vendor, archive, now).supply(CALENDAR, ACME, now.at, TUESDAY).status is Status.OK


@pytest.mark.parametrize(
    ("topic", "fetched", "until"),
    [
        ("prices", "2020-01-06T12:00", "2020-01-06T14:30"),  # before the open
        ("prices", "2020-01-06T15:00", "2020-01-06T21:00"),  # in the session
        ("prices", "2020-01-06T21:00:01", "2020-01-06T21:30"),  # right after the close
        ("prices", "2020-01-06T22:00", "2020-01-07T14:30"),  # in the evening
        ("prices", "2020-01-10T22:00", "2020-01-13T14:30"),  # over the weekend
        ("prices", "2019-11-29T18:10", "2019-11-29T18:30"),  # a half day closes at 13:00 in New York
        ("events", "2020-01-06T22:00", "2020-01-07T14:30"),
        ("fundamentals", "2020-01-06T15:00", "2020-01-07T14:30"),
        ("fundamentals", "2020-01-17T22:00", "2020-01-21T14:30"),  # a weekend and a holiday
        ("news", "2020-01-06T15:00", "2020-01-06T15:15"),
    ],
)
def test_data_hold_by_their_kind_and_by_the_sessions_of_the_exchange(topic: Topic, fetched: str, until: str) -> None:
    at, then = (datetime.fromisoformat(text).replace(tzinfo=UTC) for text in (fetched, until))
    assert holds_until(topic, CALENDAR, at) == then


def test_the_archive_refuses_to_change_or_lose_anything(archive: Archive) -> None:
    import sqlite3
    from contextlib import closing

    archive.keep(Series("v", "prices", "X"), NIGHT, NIGHT + DAY, "ok", b"abc")
    with closing(sqlite3.connect(archive.path)) as connection:
        for statement in (
            "UPDATE observations SET note = 'x'",
            "DELETE FROM observations",
            "UPDATE documents SET octets = 1",
            "DELETE FROM documents",
        ):
            with pytest.raises(sqlite3.DatabaseError, match="append-only"):
                connection.execute(statement)


def test_a_damaged_document_is_a_failure_and_a_foreign_file_is_refused(archive: Archive) -> None:
    import sqlite3
    from contextlib import closing

    kept = archive.keep(Series("v", "prices", "X"), NIGHT, NIGHT + DAY, "ok", b"abc")
    with closing(sqlite3.connect(archive.path)) as connection, connection:
        connection.execute("DROP TRIGGER documents_stay")
        connection.execute("UPDATE documents SET packed = x'00'")
    with pytest.raises(SourceFault, match="missing or damaged"):
        archive.document(kept.sha256 or "")
    archive.path.write_bytes(b"this is no database, it is a letter to the editor" * 100)
    with pytest.raises(ConfigFault, match="cannot be used"):
        archive.last(kept.series)


def test_an_archive_that_is_not_there_is_empty_and_reading_makes_nothing(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "live" / "archive.db")
    assert (archive.last(Series("v", "prices", "X")), archive.series(), archive.size()) == (None, (), (0, 0))
    assert list(tmp_path.iterdir()) == []


def test_several_processes_can_keep_at_once(archive: Archive) -> None:
    from concurrent.futures import ThreadPoolExecutor

    def keep(number: int) -> None:
        Archive(archive.path).keep(Series("v", "prices", f"X{number % 3}"), NIGHT + timedelta(seconds=number), NIGHT + DAY, "ok", b"%d" % number)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(keep, range(40)))
    assert sum(len(archive.observations(series)) for series in archive.series()) == 40
    assert archive.size()[0] == 40


def test_small_steps_add_up_to_a_conflict(archive: Archive) -> None:
    vendor, now, scale = FakeVendor(year(lambda place, _: str(100 + place))), Now(), Decimal(1)
    source_of(vendor, archive, now).refresh(ACME, CALENDAR, force=True)
    found = Status.OK
    for _ in range(4):
        scale *= Decimal("0.997")
        vendor.closes, now.at = year(lambda place, _, by=scale: f"{(100 + place) * by:.4f}"), now.at + HOUR  # type: ignore[misc]
        source_of(vendor, archive, now).refresh(ACME, CALENDAR, force=True)
        found = source_of(vendor, archive, now).supply(CALENDAR, ACME, now.at + HOUR, MONDAY).status
    assert found is Status.CONFLICT


def test_a_history_that_was_lost_in_between_is_no_base_for_another(archive: Archive) -> None:
    vendor, now = FakeVendor(year(lambda place, _: str(100 + place))), Now()
    closes(source_of(vendor, archive, now), vendor, NIGHT)
    for closes_now in ({"2020-01-06": "10"}, year(lambda place, _: str((100 + place) / 2))):
        vendor.closes, now.at = closes_now, now.at + DAY
        assert source_of(vendor, archive, now).supply(CALENDAR, ACME, now.at, TUESDAY).status is Status.CONFLICT


def test_a_clock_that_goes_back_does_not_hide_what_was_told(archive: Archive) -> None:
    vendor, now = FakeVendor(year(lambda place, _: str(100 + place))), Now(NIGHT + 7 * DAY)
    closes(source_of(vendor, archive, now), vendor, now.at)
    vendor.closes, now.at = year(lambda place, _: str((100 + place) / 2)), NIGHT
    source_of(vendor, archive, now).refresh(ACME, CALENDAR, force=True)
    last = archive.in_force(Series("acme data", "prices", ACME.id), NIGHT + HOUR)
    assert last is not None
    assert last.note.startswith("revised: ")


def test_a_vendor_that_forgets_what_it_has_told_has_failed(archive: Archive) -> None:
    vendor, now = FakeVendor({"2020-01-06": "10"}), Now()
    closes(source_of(vendor, archive, now), vendor, NIGHT)
    vendor.knows, now.at = False, NIGHT + DAY
    found = source_of(vendor, archive, now).supply(CALENDAR, ACME, now.at, TUESDAY)
    assert found.status is Status.STALE
    assert "knows nothing of ACME, of which it has told before" in (found.note or "")


def test_a_failure_after_nothing_is_a_failure_and_no_absence(archive: Archive) -> None:
    vendor, now = FakeVendor(knows=False), Now()
    source_of(vendor, archive, now).supply(CALENDAR, ACME, NIGHT, MONDAY)
    vendor.fault, now.at = VendorFault("unavailable", "out of order"), NIGHT + DAY
    assert source_of(vendor, archive, now).supply(CALENDAR, ACME, now.at, TUESDAY).status is Status.FAILED


@pytest.mark.parametrize("error", [ValueError("x"), OverflowError("x"), ArithmeticError("x"), OSError("x"), KeyError("x"), TypeError("x"), RecursionError("x")])
@pytest.mark.parametrize("half", ["fetch", "parse"])
def test_whatever_a_document_makes_of_a_reader_is_a_failure_of_that_vendor(
    archive: Archive, monkeypatch: pytest.MonkeyPatch, error: Exception, half: str
) -> None:
    def broken(*_: object) -> None:
        raise error

    vendor = FakeVendor({"2020-01-06": "10"})
    monkeypatch.setattr(vendor, half, broken)
    assert source_of(vendor, archive).supply(CALENDAR, ACME, NIGHT, MONDAY).status is Status.FAILED


def test_a_damaged_document_is_fetched_anew(archive: Archive) -> None:
    import sqlite3
    from contextlib import closing

    vendor, now = FakeVendor({"2020-01-06": "10"}), Now()
    closes(source_of(vendor, archive, now), vendor, NIGHT)
    with closing(sqlite3.connect(archive.path)) as connection, connection:
        connection.execute("DROP TRIGGER documents_stay")
        connection.execute("UPDATE documents SET packed = x'00'")
    vendor.closes, now.at = {"2020-01-06": "10", "2020-01-07": "11"}, NIGHT + DAY
    assert closes(source_of(vendor, archive, now), vendor, now.at) == [Decimal(10), Decimal(11)]


def test_who_only_looks_asks_nobody_and_sees_what_was_told_last(archive: Archive) -> None:
    vendor = FakeVendor({"2020-01-06": "10"})
    closes(source_of(vendor, archive), vendor, NIGHT)
    kept = archive.size(), archive.observations(Series(vendor.name, "prices", ACME.id))
    looking = LiveSource(vendor.topic, (vendor,), archive, Now(NIGHT + 9 * DAY), asks=False)
    told = looking.told(vendor, ACME, NIGHT + 9 * DAY, CALENDAR)
    assert ([bar.close for bar in told.records.bars], told.status) == ([Decimal(10)], Status.STALE)
    assert vendor.asked == 1
    assert (archive.size(), archive.observations(Series(vendor.name, "prices", ACME.id))) == kept


def test_who_only_looks_and_finds_nothing_is_told_so_and_leaves_no_trace(archive: Archive) -> None:
    vendor = FakeVendor({"2020-01-06": "10"})
    looking = LiveSource(vendor.topic, (vendor,), archive, Now(), asks=False)
    with pytest.raises(VendorFault, match="is not asked here"):
        looking.told(vendor, ACME, NIGHT, CALENDAR)
    assert looking.refresh(ACME, CALENDAR)[vendor.name][1] is True
    assert (vendor.asked, archive.path.exists()) == (0, False)
