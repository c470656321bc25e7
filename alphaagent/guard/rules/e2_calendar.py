"""E2: the sessions that matter lie within the known calendar."""

from datetime import date

from alphaagent.guard.rule import Block, Finding, Need, Pass, Rule, Subject, known


class KnownCalendar(Rule):
    """The fill session always, and at the decision the last completed session too."""

    id = "E2"
    stage = "E"
    title = "Calendar known"
    why = "Outside its range a calendar knows no holiday; exchange_calendars ends about a year ahead."
    codes = ("CALENDAR_UNKNOWN",)
    needs = (
        Need("calendar_first"),
        Need("calendar_last"),
        Need("fill_session"),
        Need("last_completed_session", stages=("decide", "approve")),
    )

    def check(self, subject: Subject) -> Finding:
        snapshot = subject.snapshot
        first, last = known(snapshot.calendar_first, "calendar_first"), known(snapshot.calendar_last, "calendar_last")
        fields = ("fill_session",) if snapshot.stage == "settle" else ("last_completed_session", "fill_session")
        days: list[date] = [known(getattr(snapshot, field), field) for field in fields]
        limit = f"{first.isoformat()}..{last.isoformat()}"
        for day in days:
            if not first <= day <= last:
                return Block("CALENDAR_UNKNOWN", f"{day.isoformat()} lies outside the known calendar {limit}", day.isoformat(), limit)
        return Pass(days[-1].isoformat(), limit)
