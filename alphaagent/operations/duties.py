"""What the schedule does in a home, in a workplace that is opened anew for every event: a watchlist or a limit that was changed since counts from then
on, and one that cannot be read fails that event and not the schedule.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from typing import Protocol

from alphaagent.bootstrap import Workplace
from alphaagent.clock import exchange_of, exchange_sessions
from alphaagent.desk import refuse_if_halted
from alphaagent.domain.notice import Notice
from alphaagent.errors import AlphaAgentError, ConfigFault, Halted
from alphaagent.execution.settlement import Settled, Unsettled
from alphaagent.operations import digest, notifications
from alphaagent.operations.prospects import Wish
from alphaagent.operations.schedule import Hands, Outcome
from alphaagent.operations.sweep_report import SweepReport
from alphaagent.operations.timetable import Event, Timetable, due_order, last_events, next_events
from alphaagent.ports import Calendar
from alphaagent.render_digest import digest_lines, digest_title
from alphaagent.settling import Happened, exit_code, settle
from alphaagent.views_digest import digest_document

BEFORE, AFTER = timedelta(days=60), timedelta(days=90)
"""How far the sessions reach around an instant: an outage may be long, and a market may close for weeks."""
Opened = Callable[[], Workplace]


class Sweep(Protocol):
    """One pass over the portfolios of these names, or over all of them where there is none."""

    def __call__(self, workplace: Workplace, names: tuple[str, ...], /, *, wish: Wish) -> SweepReport: ...


class Home:
    """The schedule's hands in one home; `resident` stays open as long as the schedule is up."""

    def __init__(self, resident: Workplace, times: Timetable, opened: Opened, sweep: Sweep, say: Callable[[str], None]) -> None:
        self._resident = resident
        self._times = times
        self._opened = opened
        self._sweep = sweep
        self._say = say
        self._complaint = ""
        self._tables: dict[tuple[str, int, int], Calendar] = {}

    def hands(self) -> Hands:
        return Hands(
            work={"settle": self.settle, "sweep": self.sweep, "digest": self.digest},
            halted=self.halted,
            exchanges=self.exchanges,
            deliver=self.deliver,
            announce=self._resident.store().outbox.announce,
            say=self._say,
        )

    def calendar(self, exchange: str, at: datetime) -> Calendar:
        """The sessions around an instant, read anew every month."""
        key = (exchange, at.year, at.month)
        if key not in self._tables:
            self._tables[key] = exchange_sessions(exchange_of(exchange), at.date() - BEFORE, at.date() + AFTER)
        return self._tables[key]

    def settle(self, _event: Event) -> Outcome:
        """What is due in every portfolio."""
        with self._workplace() as workplace:
            done = settle(workplace.desk, workplace.clock.now())
        return settled(done)

    def sweep(self, event: Event) -> Outcome:
        """One pass over the portfolios of the event's exchange, which leaves their part of the day's money to the passes that are still to come."""
        names = self._times.exchanges[event.exchange]
        with self._workplace() as workplace:
            wish = Wish(debates_after=self._debates_after(event, workplace))
            report = self._sweep(workplace, () if names == "all" else names, wish=wish)
        return swept(report)

    def _debates_after(self, event: Event, workplace: Workplace) -> int:
        """The names of the sweeps after this one on the same UTC day that a model may be asked about."""
        now, files = workplace.clock.now(), workplace.portfolio_files
        around = (one for of in (last_events, next_events) for exchange in self._times.exchanges for one in self._around(of, exchange, now))
        later = {one for one in around if one.kind == "sweep" and one.at.date() == now.date() and due_order(one) > due_order(event)}
        chosen = [self._times.exchanges[one.exchange] for one in later]
        swept_then = [files[name] for names in chosen for name in (files if names == "all" else names) if name in files]
        return sum(len(file.watchlist) for file in swept_then if file.engine != "heuristic")

    def _around(self, of: Callable[[str, Calendar, datetime, Timetable], tuple[Event, ...]], exchange: str, now: datetime) -> tuple[Event, ...]:
        return of(exchange, self.calendar(exchange, now), now, self._times)

    def digest(self, event: Event) -> Outcome:
        """The digest into the outbox, for whoever hears of it."""
        with self._workplace() as workplace:
            if not workplace.notify.routes.get("digest"):
                return Outcome("nobody hears of it: no target of notify.yaml has the topic digest")
            document = digest_document(digest.gather(workplace, None, None))
            facts = {"title": digest_title(document), "lines": [line for line in digest_lines(document) if line]}
            new = workplace.store().outbox.announce(Notice("digest", f"digest:{event.exchange}:{event.session}", facts))
        return Outcome(f"announced to {new} targets")

    def halted(self) -> str | None:
        try:
            refuse_if_halted(self._resident.desk, self._resident.store())
        except Halted as fault:
            return fault.message
        return None

    def exchanges(self) -> Iterable[str]:
        """Where something is held or ordered, as far as the calendar library knows it."""
        with self._resident.store().read() as books:
            accounts = [(one, books.account(one)) for one in books.portfolios()]
            held = {instrument.mic for one, _ in accounts for instrument in books.held_instruments(one)}
            ordered = {instrument.mic for _, account in accounts for instrument in books.instruments([order.instrument_id for order in account.pending])}
        return tuple(sorted(exchange for exchange in map(exchange_of, held | ordered) if self._is_known(exchange)))

    def _is_known(self, exchange: str) -> bool:
        with suppress(ConfigFault):
            self.calendar(exchange, self._resident.clock.now())
            return True
        return False

    def deliver(self) -> None:
        """Empties the outbox; what is wrong with that is said when it changes, and never stops anything."""
        try:
            done = notifications.send(self._resident)
            complaint = "; ".join((*done.failed, *(f"{variable} is not set" for variable in notifications.unset(self._resident))))
        except AlphaAgentError as fault:
            complaint = fault.message
        if complaint != self._complaint:
            self._say(f"notifications: {complaint}" if complaint else "notifications arrive again")
        self._complaint = complaint

    @contextmanager
    def _workplace(self) -> Iterator[Workplace]:
        workplace = self._opened()
        try:
            yield workplace
        finally:
            workplace.close()


def settled(done: Sequence[Happened]) -> Outcome:
    """What a settlement came to. It failed where a name could not be read: another try may find it."""
    waiting = [one for one in done if isinstance(one, Unsettled)]
    ends = Counter(one.order.status.value if isinstance(one, Settled) else one.action.kind for one in done if not isinstance(one, Unsettled))
    told = [f"{count} {end}" for end, count in sorted(ends.items())] + [f"{one.symbol} in {one.portfolio} waits: {one.fault.message}" for one in waiting]
    return Outcome(", ".join(told) or "nothing was due", exit_code(done), failed=bool(waiting))


def swept(report: SweepReport) -> Outcome:
    """What a pass came to. It failed where something was to be decided and nothing was, or where names were not begun that another try can take up; a
    slot that another request has decided is decided. Raises Halted where that stopped it."""
    rows = [row for one in report.portfolios for row in one.rows]
    if any(row.fault == "Halted" for row in rows):
        raise Halted("the system was halted during the sweep", fix="run `alphaagent resume --reason WHY`")
    states = Counter(row.state for row in rows)
    detail = ", ".join(f"{states[state]} {state}" for state in ("decided", "repeated", "skipped", "failed") if states[state]) or "nothing is on the watchlists"
    reasons = [
        f"{row.ticker}: {row.reason}" for row in sorted(rows, key=lambda row: row.state != "failed") if row.state in ("failed", "skipped") and row.reason
    ]
    taken = sum(row.fault == "SlotTaken" for row in rows)
    came_to_nothing = bool(rows) and not states["decided"] and not states["repeated"] and not taken
    failed = came_to_nothing or states["skipped"] > taken
    return Outcome(f"{detail}; {reasons[0]}" if reasons else detail, report.exit_code, failed=failed and report.exit_code != 0)
