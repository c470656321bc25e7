"""The schedule and the morning digest. Like cli.py: parse, one call, print."""

from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from alphaagent.cli_common import AsJson, AsOf, print_json, say

if TYPE_CHECKING:
    from alphaagent.bootstrap import Workplace
    from alphaagent.operations.schedule import Schedule
    from alphaagent.operations.timetable import Timetable


def schedule(
    once: Annotated[bool, typer.Option("--once", help="Do what is due now, and end; for a timer. The exit code is the worst of what was done.")] = False,
) -> int:
    """Stay up: settle after the open, sweep after the close, send the digest before the open; live data only.

    Times come from the exchanges' calendars and config/schedule.yaml. SIGTERM and SIGINT end it when what is under way is done, or its grace is over; a
    second one ends it at once.
    """
    from alphaagent.bootstrap import Workplace
    from alphaagent.operations.lock import only_one
    from alphaagent.operations.timetable import parse_timetable

    workplace = Workplace.open()
    _refuse_recorded_data(workplace)
    times = parse_timetable(workplace.settings.schedule.document, str(workplace.settings.schedule.path))
    with ExitStack() as stack:
        stack.enter_context(only_one(workplace.settings.home / "data" / "schedule.lock", say))
        stack.callback(workplace.close)
        made = _schedule(workplace, times)
        return made.run_once() if once else _stay_up(workplace, times, made)


def _refuse_recorded_data(workplace: "Workplace") -> None:
    from alphaagent.errors import UsageFault

    if workplace.settings.data_mode != "live":
        raise UsageFault(
            "the data are recorded, and in them there is no tonight to wait for",
            fix="set ALPHAAGENT_DATA to live, or run `alphaagent sweep --as-of DATE` on the recorded data",
        )


def _schedule(workplace: "Workplace", times: "Timetable") -> "Schedule":
    from alphaagent.bootstrap import Workplace
    from alphaagent.operations.duties import Home
    from alphaagent.operations.schedule import Schedule
    from alphaagent.operations.sweep import sweep

    home = Home(workplace, times, Workplace.open, sweep, lambda text: _stamped(workplace, text))
    return Schedule(times, home.calendar, workplace.clock, workplace.store(), home.hands())


def _stamped(workplace: "Workplace", text: str) -> None:
    """A line of the service's log."""
    from alphaagent.domain.base import instant_text

    say(f"{instant_text(workplace.clock.now().replace(microsecond=0))} {text}")


def _stay_up(workplace: "Workplace", times: "Timetable", made: "Schedule") -> int:
    from alphaagent.bootstrap import hang_up
    from alphaagent.operations.alarm import DateAlarm, Stop
    from alphaagent.operations.health import health_page

    stop = Stop(times.grace_seconds)
    with health_page(times.health_port, lambda: made.status, workplace.clock.now) as port, DateAlarm(stop) as alarm:
        if port:
            _stamped(workplace, f"http://127.0.0.1:{port}/health says how it is doing")
        try:
            with stop.listening():
                made.run(alarm)
        except KeyboardInterrupt:
            hang_up()
            _stamped(workplace, "the grace is over: what was under way was ended, and is begun again at the next start")
    return 0


def digest(
    portfolio: Annotated[str | None, typer.Option("--portfolio", metavar="NAME", help="One portfolio; all of them where it is left out.")] = None,
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> None:
    """What one look in the morning should see: orders, changes, blocks, failures, cost, the age of prices, the kill switch, the anchor of the day.

    As of now; with recorded data as of the books' own time.
    """
    from alphaagent.bootstrap import Workplace
    from alphaagent.operations.digest import gather
    from alphaagent.render_digest import digest_lines, digest_title
    from alphaagent.views_digest import digest_document

    workplace = Workplace.open()
    document = digest_document(gather(workplace, portfolio, workplace.moment(as_of) if as_of else None))
    if as_json:
        return print_json(document)
    for line in (digest_title(document), *digest_lines(document)):
        typer.echo(line)
