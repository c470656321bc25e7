"""Looks at an installation and says what is there, what is wrong and what to do, without changing anything."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Literal

from alphaagent.bootstrap import Workplace
from alphaagent.errors import AlphaAgentError
from alphaagent.operations import doctor_live, notifications
from alphaagent.operations.timetable import parse_timetable
from alphaagent.staffing import Staff

FRESH_DAYS = 5
"""Calendar days that recorded data may be old before the doctor says so."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One check: `fault` needs mending, `note` is worth knowing."""

    check: str
    state: Literal["ok", "note", "fault"]
    detail: str
    fix: str | None = None
    exit_code: int = 0


def examine() -> tuple[Finding, ...]:
    """Every check; without readable settings only that one."""
    try:
        workplace = Workplace.open()
    except AlphaAgentError as fault:
        return (_fault("settings", fault),)
    checks = CHECKS if workplace.settings.data_mode == "snapshot" else LIVE_CHECKS
    return tuple(_checked(name, check, workplace) for name, check in checks.items())


def data_checks(workplace: Workplace) -> tuple[Finding, ...]:
    """The checks of the data on record; no vendor is asked."""
    checks = ("recorded data", "own prices", "data age") if workplace.settings.data_mode == "snapshot" else ("contact", "live data", "own prices")
    return tuple(_checked(name, (CHECKS | LIVE_CHECKS)[name], workplace) for name in checks)


def _checked(name: str, check: Callable[[Workplace], Finding], workplace: Workplace) -> Finding:
    try:
        return check(workplace)
    except AlphaAgentError as fault:
        return _fault(name, fault)


def _fault(name: str, fault: AlphaAgentError) -> Finding:
    return Finding(name, "fault", fault.message, fault.fix, fault.exit_code)


def _settings(workplace: Workplace) -> Finding:
    settings = workplace.settings
    return Finding("settings", "ok", f"home {settings.home}; configuration from {settings.config_source}")


def _mandates(workplace: Workplace) -> Finding:
    names = workplace.mandates
    workplace.desk.mandate(workplace.settings.portfolio.mandate)
    return Finding("mandates", "ok", f"{', '.join(names)}; new portfolios get {workplace.settings.portfolio.mandate}")


def _portfolios(workplace: Workplace) -> Finding:
    """What `sweep` goes over; a file that is wrong is told here before the night."""
    files = workplace.portfolio_files
    said = ", ".join(f"{name} ({len(file.watchlist)} names)" for name, file in files.items())
    return Finding("watchlists", "ok", f"{said}; from {workplace.settings.portfolios}")


def _data(workplace: Workplace) -> Finding:
    files = workplace.data_status()
    wrong = [f"{file.path} {file.state}" for file in files if file.state != "ok"]
    if wrong:
        return Finding(
            "recorded data", "fault", f"{len(wrong)} of {len(files)} files differ from the manifest: {', '.join(wrong[:3])}", "run `alphaagent data status`", 2
        )
    return Finding("recorded data", "ok", f"{len(files)} files as recorded in {workplace.settings.snapshot}")


def _own_prices(workplace: Workplace) -> Finding:
    desk = workplace.desk
    own = desk.own_prices
    if own is None:
        return Finding("own prices", "ok", "none are configured")
    found = {ticker: desk.market.resolve(ticker, workplace.clock.now().date()) for ticker in desk.market.tickers()}
    mine = {ticker: one for ticker, named in found.items() for one in named if own.has(one)}
    records = {ticker: (own.bars(one, desk.calendar_of(one)), own.actions(one, desk.calendar_of(one))) for ticker, one in mine.items()}
    faults = [fault for both in records.values() for part in both for fault in part.faults]
    if faults:
        more = f" (and {len(faults) - 1} more rows)" if len(faults) > 1 else ""
        return Finding("own prices", "fault", f"{faults[0].where}: {faults[0].message}{more}", "correct the file", 3)
    return Finding("own prices", "ok", f"{', '.join(sorted(mine)) or 'no file'} in {workplace.settings.own_prices}")


def _age(workplace: Workplace) -> Finding:
    market = workplace.desk.market
    spans = []
    for ticker in market.tickers():
        last = next((market.last_session(one) for one in market.resolve(ticker, workplace.calendar.last)), None)
        spans.append((ticker, last))
    shown = ", ".join(f"{ticker} to {last}" for ticker, last in spans)
    newest = max((last for _, last in spans if last), default=date.min)
    days = (workplace.clock.now().date() - newest).days
    return Finding(
        "data age",
        "note" if days > FRESH_DAYS else "ok",
        f"{shown}; {days} days old",
        "decide with --as-of, or on the last recorded session" if days > FRESH_DAYS else None,
    )


def _calendar(workplace: Workplace) -> Finding:
    spans = (f"{exchange}, {calendar.first} to {calendar.last}" for exchange, calendar in workplace.exchanges().items())
    return Finding("calendar", "ok", "; ".join(spans))


def _books(workplace: Workplace) -> Finding:
    store = workplace.existing_store()
    if store is None:
        return Finding("books", "note", f"none yet at {workplace.settings.database_url}", "the first `alphaagent decide TICKER` makes them")
    with store.read() as books:
        fault = books.soundness_fault()
        names = ", ".join(one.name for one in books.portfolios()) or "no portfolio yet"
    if fault:
        return Finding("books", "fault", f"unsound: {fault}", "run `alphaagent audit verify`", 5)
    return Finding("books", "ok", f"{workplace.settings.database_url}: {names}")


def _switch(workplace: Workplace) -> Finding:
    store = workplace.existing_store()
    if store is None:
        state, sources = workplace.desk.control_without_books()
    else:
        with store.read() as books:
            state, sources = workplace.desk.control(books.control())
    if state == "ACTIVE":
        return Finding("kill switch", "ok", "ACTIVE")
    return Finding(
        "kill switch",
        "note",
        f"{state} by {' and '.join(sources)}",
        "run `alphaagent resume --reason WHY`" if "database" in sources else "lift it where it was set",
    )


def _provider(workplace: Workplace) -> Finding:
    settings, staff = workplace.settings, workplace.staff
    if staff is not None:
        return _staffed(staff, settings.models.daily_spend)
    if settings.models.provider is None and not settings.allow_fallback:
        fix = "use --engine heuristic, or set ALLOW_HEURISTIC_FALLBACK to true"
        return Finding("model provider", "note", "none, and ALLOW_HEURISTIC_FALLBACK is false: `decide` ends with exit 4", fix)
    return Finding("model provider", "ok", "none: the heuristic engine decides, and says so")


def _staffed(staff: Staff, ceiling: Decimal | None) -> Finding:
    """Whether the crew could speak; nobody is asked anything, for that would cost money."""
    models = ", ".join(staff.models_of(staff.file.plan))
    most = staff.most_cost(staff.file.plan)
    if most is None and ceiling is not None:
        fix = f"add {staff.provider.name}/{models} to config/prices.yaml, or set ALPHAAGENT_DAILY_SPEND_USD to off"
        return Finding("model provider", "fault", f"{models} at {staff.provider.name} has no price, and a model without one is refused under a ceiling", fix)
    cost = "price unknown" if most is None else f"at most USD {most:.2f} a decision"
    return Finding("model provider", "ok", f"{models} at {staff.provider.name}, {cost}; nobody was asked")


def _notifications(workplace: Workplace) -> Finding:
    targets, missing = workplace.notify.file.targets, notifications.unset(workplace)
    if missing:
        fix = "set it where `alphaagent notify send` or `alphaagent schedule` runs; elsewhere it is not needed"
        return Finding("notifications", "note", f"{', '.join(missing)} is not set here: what is meant for its target waits", fix)
    return Finding("notifications", "ok", f"to {', '.join(targets)}; `alphaagent notify test` tries them" if targets else "none: notify.yaml has no target")


def _schedule(workplace: Workplace) -> Finding:
    times = parse_timetable(workplace.settings.schedule.document, str(workplace.settings.schedule.path))
    return Finding("schedule", "ok", f"for {', '.join(times.exchanges)}, from {workplace.settings.schedule.path}")


CHECKS: dict[str, Callable[[Workplace], Finding]] = {
    "settings": _settings,
    "mandates": _mandates,
    "watchlists": _portfolios,
    "recorded data": _data,
    "own prices": _own_prices,
    "data age": _age,
    "calendar": _calendar,
    "books": _books,
    "kill switch": _switch,
    "model provider": _provider,
    "notifications": _notifications,
    "schedule": _schedule,
}


def _told(name: str, look: Callable[[Workplace], doctor_live.Told]) -> Callable[[Workplace], Finding]:
    def check(workplace: Workplace) -> Finding:
        state, detail, fix, exit_code = look(workplace)
        return Finding(name, state, detail, fix, exit_code)

    return check


LIVE_CHECKS: dict[str, Callable[[Workplace], Finding]] = {
    "settings": _settings,
    "mandates": _mandates,
    "contact": _told("contact", doctor_live.contact),
    "vendors": _told("vendors", doctor_live.reached),
    "live data": _told("live data", doctor_live.age),
    "own prices": _own_prices,
    "books": _books,
    "kill switch": _switch,
    "model provider": _provider,
    "notifications": _notifications,
    "schedule": _schedule,
}
"""Where the data are live: what is recorded matters less than who answers."""
