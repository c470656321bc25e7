"""What every live vendor promises. A further vendor joins by one Case; the vendors are made as the registry makes them and play on this machine."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from alphaagent.domain.market import Instrument, Records
from alphaagent.errors import SourceFault, VendorFault, VendorFaultKind
from alphaagent.evidence.live.gate import Gate
from alphaagent.evidence.live.limits import VendorLimits
from alphaagent.evidence.live.site import MakeVendors, Site
from alphaagent.evidence.live.vendor import Seen, Topic, Vendor
from alphaagent.evidence.registry import VENDORS
from alphaagent.evidence.sources.instruments import read_instruments
from alphaagent.yaml_files import read_yaml
from tests.snapshot_folder import RECORDED, recorded_calendar
from tests.vendors.edgar import Edgar
from tests.vendors.feeds import FeedPlayer
from tests.vendors.server import MOODS, Asked, Page, Player, VendorServer, serving
from tests.vendors.stooq import play_stooq, table
from tests.vendors.yahoo import Listing, YahooPlayer

NOW = datetime(2020, 3, 16, 21, 0, tzinfo=UTC)
"""An hour after the close of a Monday."""
FEEDS = RECORDED.parents[1] / "config" / "feeds.yaml"
CALENDAR = recorded_calendar()
AAPL = next(instrument for instrument in read_instruments(RECORDED) if instrument.symbol == "AAPL")
NOBODY = Instrument(id="XNAS:NOSUCH", symbol="NOSUCH", name="Nosuch Incorporated", mic="XNAS", currency="USD", kind="common", cik="0009999999")
OWN: Mapping[Topic, tuple[str, ...]] = {
    "prices": ("bars", "actions", "last_prices"),
    "fundamentals": ("facts",),
    "news": ("articles",),
    "events": ("coming",),
}
"""By topic the records that a vendor may give; the first of them it must."""
LISTS = tuple(name for names in OWN.values() for name in names)
KINDS: Mapping[str, VendorFaultKind] = {
    **{"429": "rate_limited", "429 later": "rate_limited", "429 much later": "rate_limited", "401": "refused", "403": "refused"},
    **{"500": "unavailable", "503": "unavailable", "html": "malformed", "truncated": "malformed", "charset": "malformed", "empty": "malformed"},
    **{"undeclared gzip": "malformed", "slow": "timeout", "drip": "timeout", "loop": "redirected", "away": "redirected"},
    **{"bomb": "too_large", "large": "too_large", "hang up": "unreachable", "drift": "schema"},
}
"""What a mood of a vendor's server is called."""
SHORT, LONG = 0.6, 10.0
"""Seconds that a request may take: where nothing else would end it, and everywhere else, so that a busy machine is no slow vendor."""


@dataclass(frozen=True)
class Case:
    """How a vendor is made, who plays it, and what it has."""

    make: MakeVendors
    player: Player
    """Knows AAPL and not NOSUCH."""
    topics: tuple[Topic, ...]
    documents: str = ""
    """In the paths of its documents; what it asks for besides them (a cookie) may fail."""
    kinds: Mapping[str, VendorFaultKind] = field(default_factory=dict)
    """The moods that are called otherwise than in KINDS."""
    undated: tuple[str, ...] = ()
    """The records that it does not date."""
    follows_anywhere: bool = False
    """It goes wherever it is sent on to, which is not played: that would be asking the web."""


def yahoo() -> Player:
    events = {"earnings": {"earningsDate": [1588204800], "isEarningsDateEstimate": True}, "exDividendDate": 1589155200}
    figures = {"annual": {"TotalRevenue": [("2019-09-30", "12M", "USD", 260174000000.0)]}}
    return YahooPlayer(NOW, {"AAPL": Listing("Apple Inc.", events=events, statements=figures)})


def feeds() -> Player:
    player = FeedPlayer(NOW)

    def about(asked: Asked) -> Page | None:
        """Feeds answer for every name; these do not."""
        text = " ".join(asked.query.values())
        return None if any(word in text for word in ("NOSUCH", "Nosuch", str(NOBODY.cik))) else player(asked)

    return about


def stooq() -> Player:
    return play_stooq({"aapl.us": table("2020-03-12,64,67.5,62,62.0575,418474000", "2020-03-13,66.22,69.98,63.24,69.4925,370732000")})


CASES: Mapping[str, Case] = {
    "edgar": Case(VENDORS["edgar"], Edgar(upto=NOW.date()), ("fundamentals",)),
    "yahoo": Case(VENDORS["yahoo"], yahoo(), ("prices", "events", "fundamentals"), documents="/finance/", undated=("facts",)),
    "feeds": Case(VENDORS["feeds"], feeds(), ("news",), kinds={"drift": "malformed"}, follows_anywhere=True),
    "stooq": Case(VENDORS["stooq"], stooq(), ("prices",)),
}


@dataclass(frozen=True)
class Chosen:
    """One topic of one vendor, and the server that plays it."""

    name: str
    case: Case
    topic: Topic
    server: VendorServer
    folder: Path

    def vendor(self, seconds: float = LONG, address: str | None = None) -> Vendor:
        return next(vendor for vendor in self.all(seconds, address) if vendor.topic == self.topic)

    def all(self, seconds: float = LONG, address: str | None = None) -> tuple[Vendor, ...]:
        held = {"address": address or self.server.address, "requests_per_second": 50, "attempts": 1, "failures_to_rest": 100}
        limits = VendorLimits.model_validate({**held, "seconds": str(seconds)})
        gate = Gate(self.name, limits, lambda _: None)
        return self.case.make(Site(gate, self.folder, "Desk of Tests desk@example.org", None, read_yaml(FEEDS), "feeds.yaml", lambda _: None))

    def records(self, raw: bytes, fetched_at: datetime = NOW) -> Records:
        return self.vendor().parse(raw, AAPL, CALENDAR, fetched_at)


@pytest.fixture(scope="module", params=[(name, topic) for name, case in CASES.items() for topic in case.topics], ids=" ".join)
def chosen(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chosen]:
    name, topic = request.param
    with serving(CASES[name].player) as server:
        yield Chosen(name, CASES[name], topic, server, tmp_path_factory.mktemp(name))


@pytest.fixture(scope="module")
def raw(chosen: Chosen) -> bytes:
    came = chosen.vendor().fetch(AAPL, None)
    assert came is not None
    assert came.raw, "nothing is unchanged that has not been seen"
    return came.raw


@pytest.fixture(scope="module")
def records(chosen: Chosen, raw: bytes) -> Records:
    return chosen.records(raw)


@pytest.fixture
def in_mood(chosen: Chosen) -> Iterator[Callable[[str], None]]:
    yield lambda mood: chosen.server.mood(mood, on=chosen.case.documents)
    chosen.server.well()


def fault_of(vendor: Vendor) -> VendorFault:
    with pytest.raises(VendorFault) as caught:
        vendor.fetch(AAPL, None)
    return caught.value


def test_every_vendor_has_a_case() -> None:
    assert {name: case.make for name, case in CASES.items()} == dict(VENDORS)


def test_every_mood_has_a_kind() -> None:
    assert set(KINDS) == set(MOODS)


def test_it_says_what_it_is_and_what_it_supplies(chosen: Chosen) -> None:
    assert {(vendor.name, vendor.topic) for vendor in chosen.all()} == {(chosen.name, topic) for topic in chosen.case.topics}
    assert set(chosen.case.topics) <= OWN.keys()


@pytest.mark.parametrize(
    "change",
    [{}, {"kind": "etf"}, {"kind": "index"}, {"kind": "other"}, {"cik": None}, {"mic": "XXXX"}, {"symbol": "BRK.B"}, {"symbol": "0700.HK", "mic": "XHKG"}],
)
def test_whom_it_is_not_asked_about_it_says_in_words(chosen: Chosen, change: dict[str, object]) -> None:
    before = chosen.server.seen.total()
    reason = chosen.vendor().not_asked(AAPL.model_copy(update=change))
    assert reason is None if not change else reason is None or len(reason.split()) > 3
    assert chosen.server.seen.total() == before, "nobody is asked whether to ask"


def test_it_has_records_of_a_known_instrument_of_its_own_kind_alone(chosen: Chosen, records: Records) -> None:
    present = {name for name in LISTS if getattr(records, name)}
    assert OWN[chosen.topic][0] in present
    assert present <= set(OWN[chosen.topic])
    assert records.faults == ()


def test_every_list_is_ordered_by_known_at_in_utc(records: Records) -> None:
    for name in LISTS:
        instants = [row.known_at for row in getattr(records, name)]
        assert instants == sorted(instants)
        assert all(instant.tzinfo is UTC for instant in instants)


def test_the_same_bytes_give_equal_records(chosen: Chosen, raw: bytes, records: Records) -> None:
    assert chosen.vendor().parse(bytes(bytearray(raw)), AAPL, recorded_calendar(), NOW) == records


def test_a_document_is_read_without_asking_anybody(chosen: Chosen, raw: bytes, records: Records) -> None:
    before = chosen.server.seen.total()
    assert chosen.records(raw) == records
    assert chosen.server.seen.total() == before


@pytest.mark.parametrize("later", [timedelta(0), timedelta(hours=3)])
def test_what_it_does_not_date_is_known_when_it_was_fetched(chosen: Chosen, raw: bytes, later: timedelta) -> None:
    records = chosen.records(raw, NOW + later)
    undated = [row for name in ("coming", "last_prices", *chosen.case.undated) for row in getattr(records, name)]
    assert {row.known_at for row in undated} <= {NOW + later}
    assert undated or not ({*chosen.case.undated, "coming"} & {*OWN[chosen.topic]})
    assert all(article.known_at <= NOW + later for article in records.articles)


def test_a_bar_counts_from_the_close_of_its_session_and_a_filing_from_the_open_after(chosen: Chosen, records: Records) -> None:
    assert all(bar.known_at == CALENDAR.closes(bar.session) for bar in records.bars)
    assert all(action.known_at == CALENDAR.opens(action.ex_date) for action in records.actions)
    if "facts" not in chosen.case.undated:
        assert all(fact.known_at == CALENDAR.opens(CALENDAR.next_session(max(fact.filed, date(2013, 1, 1)))) for fact in records.facts)


def test_an_instrument_that_it_does_not_know_is_an_absence_and_no_failure(chosen: Chosen) -> None:
    assert chosen.vendor().fetch(NOBODY, None) is None


def test_a_second_look_finds_nothing_changed_or_the_whole_document(chosen: Chosen, raw: bytes, records: Records) -> None:
    first = chosen.vendor().fetch(AAPL, None)
    assert first is not None
    again = chosen.vendor().fetch(AAPL, Seen(raw, NOW, first.validators))
    assert again is not None
    assert again.raw is None or chosen.records(again.raw) == records


@pytest.mark.parametrize("mood", MOODS)
def test_every_mood_is_a_fault_of_its_own_kind_in_time_and_in_silence(
    chosen: Chosen, raw: bytes, in_mood: Callable[[str], None], mood: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert raw, "what a vendor loads, it has loaded"
    if mood == "away" and chosen.case.follows_anywhere:
        pytest.skip("it goes wherever it is sent on to")
    seconds = SHORT if mood in ("slow", "drip") else LONG
    vendor = chosen.vendor(seconds)
    in_mood(mood)
    began = time.monotonic()
    fault = fault_of(vendor)
    assert time.monotonic() - began < seconds + 3
    assert fault.kind == chosen.case.kinds.get(mood, KINDS[mood])
    assert fault.message
    assert capfd.readouterr() == ("", "")


def test_nobody_there_is_unreachable(chosen: Chosen) -> None:
    assert fault_of(chosen.vendor(address="http://127.0.0.1:9")).kind == "unreachable"


GARBAGE = (b"", b" \n", b"\xff\xfe\x00garbage", b"Error retrieving data", b"<html><body>404</body></html>", b"{}", b"[]", b"null", b"[" * 100_000)


@pytest.mark.parametrize("document", GARBAGE, ids=lambda document: repr(document[:12]))
def test_an_unreadable_document_is_a_failure_and_never_an_absence(chosen: Chosen, document: bytes) -> None:
    with pytest.raises(SourceFault) as fault:
        chosen.records(document)
    assert fault.value.message
    assert fault.value.fix


def test_a_truncated_document_is_a_failure_or_other_records_and_never_another_error(chosen: Chosen, raw: bytes, records: Records) -> None:
    for length in range(1, len(raw), len(raw) // 11):
        try:
            cut = chosen.records(raw[:length])
        except SourceFault:
            continue
        assert cut != records
