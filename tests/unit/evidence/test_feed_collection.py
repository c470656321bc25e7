"""What was seen once is kept for a while, in its first wording, and no feed crowds out another."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import pytest

from alphaagent.errors import SourceFault
from alphaagent.evidence.live.feed_collection import KEPT, MOST_ENTRIES, Collection, FeedState, collected
from alphaagent.evidence.live.feed_reading import Entry

NOW = datetime(2020, 6, 15, 15, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)


def entry(guid: str, *, at: datetime | None = NOW, feed: str = "acme", title: str = "Acme wins", first_seen: datetime | None = None) -> Entry:
    return Entry(feed=feed, guid=guid, title=title, summary="", link="", publisher="", dated="", at=at, first_seen=first_seen)


def guids(entries: Iterable[Entry]) -> list[str]:
    return [one.guid for one in entries]


def test_what_came_first_stands_with_its_wording_and_the_instant_of_its_fetch() -> None:
    (kept,) = collected([entry("a")], NOW, [entry("a", title="Acme loses")], ["acme"])
    assert (kept.title, kept.first_seen) == ("Acme wins", NOW)


def test_what_was_stamped_once_keeps_its_stamp_and_what_is_new_has_none() -> None:
    old, new = collected([entry("a", at=NOW - KEPT / 2, first_seen=NOW - KEPT / 2)], NOW, [entry("b")], ["acme"])[::-1]
    assert (old.first_seen, new.first_seen) == (NOW - KEPT / 2, None)


def test_one_guid_in_two_feeds_is_two_entries() -> None:
    assert len(collected([], None, [entry("1", feed="acme"), entry("1", feed="beta")], ["acme", "beta"])) == 2


def test_what_is_older_than_a_hundred_and_twenty_days_at_the_fetch_before_goes_and_does_not_come_back() -> None:
    dated = [entry("just", at=NOW - KEPT), entry("past", at=NOW - KEPT - timedelta(seconds=1))]
    assert guids(collected(dated, NOW, dated, ["acme"])) == ["just"]
    undated = [entry("just", at=None, first_seen=NOW - KEPT), entry("past", at=None, first_seen=NOW - KEPT - timedelta(seconds=1))]
    assert guids(collected(undated, NOW, [], ["acme"])) == ["just"]


def test_the_first_fetch_keeps_all_for_it_knows_no_time() -> None:
    assert guids(collected([], None, [entry("a", at=datetime(1999, 1, 1, tzinfo=UTC))], ["acme"])) == ["a"]


def test_the_newest_are_kept_wherever_they_stand_in_the_feed() -> None:
    old = [entry(f"o{n:04}", at=NOW - timedelta(hours=1, seconds=n)) for n in range(MOST_ENTRIES + 100)]
    for came in ([*old, entry("newest")], [entry("newest"), *old]):
        kept = guids(collected([], None, came, ["acme"]))
        assert (len(kept), kept[:2], f"o{MOST_ENTRIES:04}" in kept) == (MOST_ENTRIES, ["newest", "o0000"], False)


def test_dates_in_the_future_crowd_out_no_other_feed_and_undated_items_no_dated_one() -> None:
    flood = [entry(f"f{n}", at=NOW + timedelta(days=3650, seconds=n), feed="flood") for n in range(2 * MOST_ENTRIES)]
    undated = [entry(f"u{n}", at=None, feed="acme") for n in range(2 * MOST_ENTRIES)]
    kept = collected([], None, [*flood, *undated, entry("real", feed="acme"), entry("other", feed="beta")], ["flood", "acme", "beta"])
    assert {"real", "other"} < set(guids(kept))
    assert len(kept) == MOST_ENTRIES


def test_a_feed_that_is_no_longer_configured_leaves_nothing_behind() -> None:
    assert guids(collected([entry("a", feed="gone"), entry("b")], NOW, [], ["acme"])) == ["b"]


def test_the_order_in_which_entries_come_does_not_matter() -> None:
    came = [entry("a"), entry("b"), entry("c", at=None), entry("d", at=LATER), entry("e", feed="beta")]
    assert collected([], None, came, ["acme", "beta"]) == collected([], None, came[::-1], ["acme", "beta"])


def state(name: str = "acme") -> FeedState:
    return FeedState(name=name, asked="0" * 64, kind="press", own=False, ended="ok", validators={"etag": '"1"'})


def test_a_document_reads_as_it_was_written() -> None:
    made = Collection(feeds=(state(),), entries=(entry("a", first_seen=NOW), entry("b", at=None, title="Müller \U0001f600")))
    assert Collection.read(made.written()) == made
    assert made.written() == Collection.read(made.written()).written()


@pytest.mark.parametrize(
    "raw", [b"", b"{}", b"[]", b"\xff", b'{"version":2,"feeds":[],"entries":[]}', b'{"version":1,"feeds":[],"entries":[{"feed":"a"}]}', b"<rss/>"]
)
def test_what_is_no_such_document_is_a_fault(raw: bytes) -> None:
    with pytest.raises(SourceFault, match="the collected news"):
        Collection.read(raw)
