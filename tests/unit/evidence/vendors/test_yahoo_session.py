"""yfinance contained: every mood of a server ends in a fault of its own kind, absence is told apart from failure, and nothing leaks out."""

import logging
import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import pytest

from alphaagent.errors import VendorFault
from alphaagent.evidence.live.vendor import Fetched
from tests.contract.test_vendor_contract import KINDS
from tests.snapshot_folder import recorded_instrument
from tests.vendors.server import Page
from tests.vendors.yahoo import COOKIE, LISTINGS, Listing
from tests.vendors.yahoo_desk import ACME, YahooDesk, yahoo_desk

AAPL, NVDA = recorded_instrument("AAPL"), recorded_instrument("NVDA")
FIGURES = {"annual": {"TotalRevenue": [("2022-09-30", "12M", "USD", 394328000000)]}}
ASKED: dict[str, Callable[[YahooDesk], Fetched | None]] = {
    "prices": lambda desk: desk.prices.fetch(AAPL, None),
    "events": lambda desk: desk.events.fetch(AAPL, None),
    "statements": lambda desk: desk.statements.fetch(AAPL, None),
    "directory": lambda desk: desk.directory.fetch("AAPL", None),
}
DOCUMENTS = "/finance/"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[YahooDesk]:
    with yahoo_desk(tmp_path) as made:
        made.player.since = date(2023, 1, 1)
        made.player.listings["AAPL"] = Listing("Apple Inc.", statements=FIGURES)
        yield made


def fault_of(desk: YahooDesk, what: str = "prices") -> VendorFault:
    with pytest.raises(VendorFault) as caught:
        ASKED[what](desk)
    return caught.value


@pytest.mark.parametrize("mood", list(KINDS))
def test_every_mood_is_a_fault_of_its_own_kind_for_the_directory_as_well(desk: YahooDesk, mood: str) -> None:
    """Of the vendors the contract asks the same."""
    desk.server.mood(mood, on=DOCUMENTS)
    assert fault_of(desk, "directory").kind == KINDS[mood]


@pytest.mark.parametrize("mood", ["slow", "drip"])
def test_a_slow_answer_is_given_up_in_time(desk: YahooDesk, mood: str) -> None:
    desk.server.mood(mood, on=DOCUMENTS)
    fault_of(desk)
    began = time.monotonic()
    fault_of(desk)
    assert 0.9 < time.monotonic() - began < 4


@pytest.mark.parametrize("mood", [mood for mood in KINDS if mood not in ("slow", "drip")])
def test_a_mood_on_everything_is_no_other_fault(desk: YahooDesk, mood: str) -> None:
    desk.server.mood(mood)
    assert fault_of(desk, "events").kind == KINDS[mood]


@pytest.mark.parametrize("what", list(ASKED))
def test_a_server_that_is_in_no_mood_is_no_failure(desk: YahooDesk, what: str) -> None:
    came = ASKED[what](desk)
    assert came is not None
    assert came.raw


def test_no_connection_is_unreachable(tmp_path: Path) -> None:
    with yahoo_desk(tmp_path, address="http://127.0.0.1:1") as desk:
        assert fault_of(desk).kind == "unreachable"


def test_retry_after_is_kept_and_obeyed(desk: YahooDesk) -> None:
    desk.server.mood("429 much later", on=DOCUMENTS)
    assert fault_of(desk).retry_after_seconds == 3600


def test_a_passing_failure_is_asked_again_by_the_gate_alone(tmp_path: Path) -> None:
    with yahoo_desk(tmp_path, attempts=3) as desk:
        desk.server.mood("503", on=DOCUMENTS, times=2)
        assert desk.prices.fetch(AAPL, None) is not None
        assert desk.server.seen["/v8/finance/chart/AAPL"] == 3
        assert len(desk.waited) == 2


@pytest.mark.parametrize(("mood", "documents"), [("429", 1), ("500", 1), ("html", 1), ("drift", 1), ("401", 2)])
@pytest.mark.parametrize("what", ["prices", "events", "statements"])
def test_the_library_repeats_nothing_but_a_refused_crumb(desk: YahooDesk, what: str, mood: str, documents: int) -> None:
    desk.server.mood(mood, on=DOCUMENTS)
    fault_of(desk, what)
    assert sum(count for path, count in desk.server.seen.items() if DOCUMENTS in path) == documents
    assert sum(desk.server.seen.values()) <= documents + 5


def test_a_good_answer_takes_one_request_once_there_is_a_crumb(desk: YahooDesk) -> None:
    for instrument in (AAPL, NVDA):
        assert desk.prices.fetch(instrument, None) is not None
    assert desk.server.seen == {"/": 1, "/v1/test/getcrumb": 1, "/v8/finance/chart/AAPL": 1, "/v8/finance/chart/NVDA": 1}


def test_a_crumb_that_has_grown_old_is_replaced(desk: YahooDesk) -> None:
    assert desk.events.fetch(AAPL, None) is not None
    desk.player.crumb = "another"
    assert desk.events.fetch(AAPL, None) is not None
    assert [asked.query["crumb"] for asked in desk.server.asked if "quoteSummary" in asked.path] == ["Pl4y.Crumb/1", "Pl4y.Crumb/1", "another"]


def test_what_is_no_crumb_is_never_sent_as_one(desk: YahooDesk) -> None:
    desk.server.mood("html", on="getcrumb", times=1)
    desk.server.mood("429", on="getcrumb", times=1)
    for _ in range(2):
        assert desk.prices.fetch(AAPL, None) is not None
    assert [asked.query.get("crumb") for asked in desk.server.asked if "chart" in asked.path] == [None, None]


def test_a_refusal_for_want_of_a_crumb_that_was_throttled_is_throttling(desk: YahooDesk) -> None:
    desk.server.mood("429 much later", on="getcrumb")
    fault = fault_of(desk, "events")
    assert (fault.kind, fault.retry_after_seconds) == ("rate_limited", 3600)


def test_a_second_look_sees_what_is_there_then(desk: YahooDesk) -> None:
    first, again = desk.statements.fetch(AAPL, None), None
    desk.player.listings["AAPL"] = Listing("Apple Inc.", statements={"annual": {"TotalRevenue": [("2022-09-30", "12M", "USD", 1)]}})
    again = desk.statements.fetch(AAPL, None)
    assert first is not None
    assert again is not None
    assert first.raw != again.raw


@pytest.mark.parametrize("what", ["prices", "events", "statements"])
def test_a_symbol_that_yahoo_says_it_does_not_know_is_an_absence(desk: YahooDesk, what: str) -> None:
    del desk.player.listings["AAPL"]
    assert ASKED[what](desk) is None


@pytest.mark.parametrize("what", ["prices", "events", "statements", "directory"])
def test_a_symbol_that_is_unknown_is_no_absence_while_yahoo_throttles(desk: YahooDesk, what: str) -> None:
    del desk.player.listings["AAPL"]
    desk.server.mood("429", on=DOCUMENTS)
    assert fault_of(desk, what).kind == "rate_limited"


def test_a_listing_without_a_bar_is_an_absence(desk: YahooDesk) -> None:
    desk.player.listings["ACME"] = Listing("Acme Corporation")
    assert desk.prices.fetch(ACME, None) is None


def answering(desk: YahooDesk, page: Page) -> None:
    desk.server.players = (lambda asked: page if "/v8/" in asked.path else None, *desk.server.players)


@pytest.mark.parametrize(
    ("page", "kind"),
    [
        (Page(b'{"chart":{"result":null,"error":{"code":"Internal Server Error","description":"x"}}}'), "unavailable"),
        (Page(b'{"chart":{"result":null,"error":{"code":"Bad Request","description":"x"}}}', 400), "refused"),
        (Page(b'{"finance":{"result":null,"error":{"code":"Unauthorized","description":"Invalid Crumb"}}}'), "refused"),
        (Page(b'{"finance":{"result":null,"error":{"code":"Too Many Requests","description":"x"}}}'), "rate_limited"),
        (Page(b"<html>Will be right back...</html>", 200, "text/html"), "unavailable"),
        (Page(b"Too Many Requests", 200, "text/html"), "rate_limited"),
        (Page(b"Edge: denied", 999, "text/html"), "rate_limited"),
        (Page(b"<html>Not Found</html>", 404, "text/html"), "malformed"),
        (Page(b'{"message":"gone"}', 404), "refused"),
        (Page(b'{"chart":{"result":null,"error":null}}'), "schema"),
        (Page(b'{"chart":{"result":[{"meta":{}}],"error":null}}'), "schema"),
        (Page(b'{"chart":[]}'), "schema"),
        (Page(b'{"chart":{"result":[NaN],"error":null}}'), "malformed"),
        (Page(b"[" * 100_000), "malformed"),
    ],
)
def test_an_answer_is_what_its_document_says(desk: YahooDesk, page: Page, kind: str) -> None:
    answering(desk, page)
    assert fault_of(desk).kind == kind


def test_only_not_found_is_an_absence(desk: YahooDesk) -> None:
    answering(desk, Page(b'{"chart":{"result":null,"error":{"code":"Not Found","description":"No data found, symbol may be delisted"}}}', 404))
    assert desk.prices.fetch(AAPL, None) is None


@pytest.mark.parametrize(
    "place", ["http://query1.finance.yahoo.com/x", "https://yahoo.com.example.org/x", "https://user@yahoo.com/", "https://[", "file:///etc"]
)
def test_a_redirect_leads_to_yahoo_alone(desk: YahooDesk, place: str) -> None:
    answering(desk, Page(b"", 302, headers={"location": place}))
    assert fault_of(desk).kind == "redirected"


def test_a_page_that_asks_for_consent_is_no_document(desk: YahooDesk) -> None:
    answering(desk, Page(b"", 302, headers={"location": "https://guce.yahoo.com/consent"}))
    fault = fault_of(desk)
    assert (fault.kind, "guce.yahoo.com/consent" in fault.message) == ("redirected", True)


def test_what_breaks_the_library_on_its_way_to_a_new_crumb_is_still_a_refusal(desk: YahooDesk) -> None:
    form = Page(b"<input name='csrfToken' value='x'>", 200, "text/html")  # without the session's number, which the library reads all the same
    desk.server.players = (lambda asked: form if asked.path == "/consent" else None, *desk.server.players)
    desk.server.mood("401", on=DOCUMENTS)
    assert fault_of(desk).kind == "refused"


def test_the_way_to_a_cookie_is_bounded(desk: YahooDesk) -> None:
    desk.server.mood("loop", on="/consent")
    desk.server.mood("401")
    fault_of(desk)
    assert sum(desk.server.seen.values()) <= 16


def test_a_redirect_within_yahoo_is_followed(desk: YahooDesk) -> None:
    moved = Page(b"", 302, headers={"location": "https://query1.finance.yahoo.com/v8/finance/chart/AAPL?moved=1"})
    desk.server.players = (lambda asked: moved if asked.path.endswith("chart/AAPL") and "moved" not in asked.query else None, *desk.server.players)
    came = desk.prices.fetch(AAPL, None)
    assert came is not None
    assert b"Apple" in (came.raw or b"")


def test_an_answer_about_somebody_else_is_refused(desk: YahooDesk) -> None:
    moved = Page(b"", 302, headers={"location": "https://query1.finance.yahoo.com/v8/finance/chart/NVDA"})
    desk.server.players = (lambda asked: moved if asked.path.endswith("chart/AAPL") else None, *desk.server.players)
    with pytest.raises(VendorFault) as caught:
        desk.prices.fetch(AAPL, None)
    assert caught.value.kind == "schema"


def test_requests_are_admitted_and_counted(desk: YahooDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    admitted: list[str] = []
    monkeypatch.setattr(desk.session.gate, "admit", lambda: admitted.append("one"))
    desk.prices.fetch(AAPL, None)
    assert desk.session.gate.tally.requests == len(admitted) == 3
    assert desk.session.gate.tally.octets > 10_000


def test_two_threads_at_once_get_each_their_own(desk: YahooDesk) -> None:
    desk.server.latency_seconds = 0.05
    came: dict[str, Fetched | None] = {}

    def ask(symbol: str) -> None:
        came[symbol] = desk.prices.fetch(recorded_instrument(symbol), None)

    threads = [threading.Thread(target=ask, args=(symbol,)) for symbol in LISTINGS for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for symbol, listing in LISTINGS.items():
        found = came[symbol]
        assert found is not None
        assert f'"longName":"{listing.name}"'.encode() in (found.raw or b"")


def test_two_sessions_keep_their_crumbs_apart(tmp_path: Path) -> None:
    with yahoo_desk(tmp_path) as one, yahoo_desk(tmp_path) as other:
        other.player.crumb = "other"
        for _ in range(2):
            assert one.events.fetch(AAPL, None) is not None
            assert other.events.fetch(AAPL, None) is not None
        assert one.server.seen == other.server.seen == {"/": 1, "/v1/test/getcrumb": 1, "/v10/finance/quoteSummary/AAPL": 2}
        assert COOKIE in one.server.asked[-1].headers["cookie"]


def test_the_library_is_left_with_a_store_of_its_own(desk: YahooDesk) -> None:
    from yfinance.data import YfData

    desk.prices.fetch(AAPL, None)
    assert type(YfData()) is YfData


def test_a_session_asks_nothing_outside_of_a_question(desk: YahooDesk) -> None:
    desk.prices.fetch(AAPL, None)
    with pytest.raises(VendorFault, match="outside"):
        desk.session._store.session.get("https://query1.finance.yahoo.com/v8/finance/chart/AAPL")


def test_a_closed_session_begins_anew(desk: YahooDesk) -> None:
    for _ in range(2):
        assert desk.prices.fetch(AAPL, None) is not None
        desk.session.close()
    assert desk.server.seen["/v1/test/getcrumb"] == 2


def test_what_the_library_warns_of_and_logs_is_not_seen(desk: YahooDesk, caplog: pytest.LogCaptureFixture) -> None:
    desk.server.mood("500", on="getcrumb")
    desk.prices.fetch(AAPL, None)
    assert caplog.records == []
    assert logging.getLogger("yfinance").level > logging.CRITICAL
    warnings.warn_explicit("gone", DeprecationWarning, "history.py", 1, module="yfinance.scrapers.history")
    with pytest.raises(DeprecationWarning):
        warnings.warn_explicit("stays", DeprecationWarning, "frame.py", 1, module="yfinances")


SCRIPT = """
import sys
from pathlib import Path
from tests.vendors.yahoo_desk import yahoo_desk
from tests.snapshot_folder import recorded_instrument
with yahoo_desk(Path(sys.argv[1])) as desk:
    found = recorded_instrument("AAPL"), recorded_instrument("XXXX")
    assert desk.prices.fetch(found[0], None) and not desk.prices.fetch(found[1], None)
    assert desk.events.fetch(found[0], None) and not desk.statements.fetch(found[0], None)
    assert desk.directory.fetch("AAPL", None)
    desk.server.mood("500")
    for vendor in (desk.prices, desk.events, desk.statements):
        try:
            vendor.fetch(found[0], None)
        except Exception as fault:
            assert type(fault).__name__ == "VendorFault"
"""


def test_nothing_is_printed_and_no_file_is_written_outside_of_the_folder(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[4]
    home, work, folder = (tmp_path / name for name in ("home", "work", "folder"))
    for place in (home, work):
        place.mkdir()
    surroundings = {"HOME": str(home), "PATH": "/usr/bin:/bin", "PYTHONPATH": str(root), "TMPDIR": str(work), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(folder)], capture_output=True, text=True, check=False, cwd=work, env=surroundings, timeout=120)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)
    assert [path for place in (home, work) for path in place.rglob("*")] == []


def test_the_environment_is_left_alone(desk: YahooDesk) -> None:
    before = dict(os.environ)
    desk.prices.fetch(AAPL, None)
    assert dict(os.environ) == before
