"""When an item was published: what is said plainly counts, what a lenient reader would guess does not."""

from datetime import UTC, datetime

import pytest

from alphaagent.clock import SessionTable
from alphaagent.evidence.sources.feed import parse_feed
from tests.snapshot_folder import RECORDED, item, rss

CALENDAR = SessionTable.parse((RECORDED / "sessions.csv").read_text(encoding="utf-8"))
NEXT_OPEN = datetime(2023, 9, 22, 13, 30, tzinfo=UTC)


def known(published: str) -> list[datetime]:
    return [article.known_at for article in parse_feed(rss(item(published=published)).encode(), "news/X.xml", CALENDAR).articles]


@pytest.mark.parametrize(
    ("published", "hour"),
    [
        ("Thu, 21 Sep 2023 17:00:00 +0000", 17),
        ("Thu, 21 Sep 2023 17:00 GMT", 17),
        ("21 Sep 2023 17:00:00 UTC", 17),
        ("Thu, 21 Sep 2023 17:00:00 EDT", 21),
        ("Thu, 21 Sep 2023 17:00:00 EST", 22),
        ("Thu, 21 Sep 2023 17:00:00 -0400", 21),
        ("2023-09-21T17:00:00Z", 17),
        ("2023-09-21T17:00:00-04:00", 21),
    ],
)
def test_an_instant_with_a_known_zone_counts(published: str, hour: int) -> None:
    assert known(published) == [datetime(2023, 9, 21, hour, tzinfo=UTC)]


@pytest.mark.parametrize("published", ["Thu, 21 Sep 2023", "21 Sep 2023", "2023-09-21"])
def test_a_date_alone_is_known_at_the_next_open(published: str) -> None:
    assert known(published) == [NEXT_OPEN]


@pytest.mark.parametrize(
    "published",
    [
        *("2023-264", "2023-09", "2023-09-21T19:00:00", "Thu, 21 Sep 2023 17:00:00", "Thu, 21 Sep 2023 17:00:00 America/New_York"),
        *("Thu, 21 Sep 2023 17:00:00 HST", "Thu, 21 Sep 2023 17:00:00 AKST", "yesterday", "Thu, 99 Sep 2023 17:00:00 GMT", "2023-13-45"),
    ],
)
def test_what_does_not_say_its_instant_plainly_is_undated(published: str) -> None:
    records = parse_feed(rss(item(published=published)).encode(), "news/X.xml", CALENDAR)
    assert (records.articles, records.undated) == ((), 1)
