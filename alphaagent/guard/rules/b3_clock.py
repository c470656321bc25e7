"""B3: book time is aware and never runs backwards."""

from alphaagent.domain.base import instant_text
from alphaagent.guard.rule import Block, Finding, Need, Pass, Rule, Subject, known


class Clock(Rule):
    """`now` is the decision's as_of or the fill session's open, never a wall clock."""

    id = "B3"
    stage = "B"
    title = "Clock sound"
    why = "A clock set back would judge an order on a state that is later than the order."
    codes = ("CLOCK_UNSOUND",)
    needs = (Need("book_time"),)

    def check(self, subject: Subject) -> Finding:
        book_time = known(subject.snapshot.book_time, "book_time")
        earliest = instant_text(book_time)
        if subject.now.tzinfo is None:
            return Block("CLOCK_UNSOUND", "the time of evaluation has no time zone", subject.now.isoformat(), earliest)
        now = instant_text(subject.now)
        if subject.now < book_time:
            return Block("CLOCK_UNSOUND", f"{now} lies before the book's time {earliest}", now, earliest)
        return Pass(now, earliest)
