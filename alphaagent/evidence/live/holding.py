"""Until when it is true that a document is what its vendor says: by the kind of data and by the exchange's own sessions, never by a guess.

What an exchange makes changes when it opens (a split takes effect), when it closes (a bar is complete), and once more when the closing auction's
last corrections are in. A filing counts from the next open on. News comes at any time, so a feed holds as long as feeds ask to be left alone.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from alphaagent.evidence.live.vendor import Topic
from alphaagent.ports import Calendar

SETTLED_AFTER_CLOSE = timedelta(minutes=30)
"""When a vendor's bar of the session is final."""
FEED_HOLDS = timedelta(minutes=15)
"""What RSS readers are commonly asked to keep to between two looks."""


def holds_until(topic: Topic, calendar: Calendar, fetched_at: datetime) -> datetime:
    """The instant after which the document has to be fetched again. UsageFault where the calendar does not reach so far."""
    if topic == "news":
        return fetched_at + FEED_HOLDS
    if topic == "fundamentals":
        return calendar.opens(calendar.first_opening_after(fetched_at + timedelta(microseconds=1)))
    return next(at for at in _turns(calendar, fetched_at) if at > fetched_at)


def _turns(calendar: Calendar, at: datetime) -> Iterator[datetime]:
    """The instants at which prices change their nature, around and after an instant, in order."""
    session = calendar.last_completed(at)
    while True:
        yield calendar.opens(session)
        yield calendar.closes(session)
        yield calendar.closes(session) + SETTLED_AFTER_CLOSE
        session = calendar.next_session(session)
