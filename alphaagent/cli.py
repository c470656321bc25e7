"""The command line: parse, open the workplace, one call, render. Data goes to stdout, talk to stderr; no decision is made here.

Heavy modules are imported inside the commands, so that `--help` costs no more than the parser.
"""

import errno
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from alphaagent import __version__, cli_dashboard, cli_data, cli_db, cli_decisions, cli_mandate, cli_models, cli_notify, cli_schedule, cli_sweep
from alphaagent.cli_books import ledger_app, portfolio_app
from alphaagent.cli_common import ACTOR, AsJson, AsOf, Engine, Plan, PortfolioName, refuse_unreadable
from alphaagent.cli_common import complain as _complain
from alphaagent.cli_common import print_json as _print_json
from alphaagent.cli_common import say as _say
from alphaagent.errors import AlphaAgentError, UsageFault

if TYPE_CHECKING:
    from decimal import Decimal

    from alphaagent.bootstrap import Workplace
    from alphaagent.debate.events import Watch
    from alphaagent.debate.record import Setup
    from alphaagent.desk import Ask
    from alphaagent.pipeline import Decided, Result

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Decide a ticker, guard the order, keep the record.",
)
audit_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="The hash chain over everything that happened.")
app.add_typer(portfolio_app, name="portfolio")
app.add_typer(audit_app, name="audit")
app.add_typer(ledger_app, name="ledger")
app.add_typer(cli_data.app, name="data")
app.add_typer(cli_db.app, name="db")
app.add_typer(cli_mandate.app, name="mandate")
app.add_typer(cli_notify.app, name="notify")

MAX_TICKERS = 100


def main() -> None:
    """The console script. Exit codes: 0 done, 2 usage, 3 no evidence, 4 provider, 5 halted or unsound, 6 replay differs."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """One invocation; returns the exit code. This is one of the three places that catch everything."""
    try:
        refuse_unreadable(arguments)
        result = app(arguments, standalone_mode=False)
    except AlphaAgentError as fault:
        _complain(fault)
        return fault.exit_code
    except (typer.Abort, KeyboardInterrupt):
        _say("interrupted: what was not finished was not decided")
        return 130
    except BrokenPipeError:
        return 0
    except SystemExit as stop:  # the parser's library ends the process itself where a reader has closed the pipe
        return 0 if isinstance(stop.__context__, OSError) and stop.__context__.errno == errno.EPIPE else int(stop.code or 0)
    except Exception as fault:  # noqa: BLE001 - the edge of the program: whatever escapes is named, never shown as a raw trace
        if _is_usage(fault):
            fault.show()  # type: ignore[attr-defined]
            return 2
        _say(f"internal error: {type(fault).__name__}: {fault}\nThis is a bug; nothing was written by the step that failed.")
        return 1
    return result if isinstance(result, int) else 0


def _is_usage(fault: Exception) -> bool:
    return hasattr(fault, "show") and hasattr(fault, "exit_code")


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False) -> None:
    if version:
        typer.echo(f"alphaagent {__version__}")
        raise typer.Exit


@app.command()
def decide(
    tickers: Annotated[list[str], typer.Argument(metavar="TICKER", help="One ticker or several.")],
    as_of: AsOf = None,
    engine: Annotated[Engine, typer.Option(help="auto: the crew where a model is configured, else the heuristic engine, which says so.")] = Engine.auto,
    plan: Annotated[Plan | None, typer.Option(help="How the crew debates: quick takes 2 model latencies, standard 5. Left out: as configured.")] = None,
    portfolio: PortfolioName = "default",
    slot: Annotated[str, typer.Option(metavar="NAME", help="One slot holds one decision per portfolio, instrument and session.")] = "manual",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Take the same path on the book as it stood at that instant, and write nothing.")] = False,
    estimate: Annotated[bool, typer.Option("--estimate", help="Print what the debates would cost in calls, tokens and USD, and decide nothing.")] = False,
    events: Annotated[str | None, typer.Option("--events", metavar="FILE", help="Append the debates' events, one JSON object a line; - is stdout.")] = None,
    as_json: AsJson = False,
) -> int:
    """Decide: gather evidence, hear both cases, propose, guard, order, record."""
    from alphaagent.bootstrap import Workplace
    from alphaagent.desk import Ask
    from alphaagent.domain.base import instant_text
    from alphaagent.domain.text import safe_name

    if len(tickers) > MAX_TICKERS:
        raise UsageFault(f"{len(tickers)} tickers were given; one run takes at most {MAX_TICKERS}", fix="split the run")
    safe_name("--slot", slot)
    safe_name("--portfolio", portfolio)
    workplace = Workplace.open()
    instants = workplace.moments(as_of, tickers)
    if as_of is None:
        what = "now" if workplace.settings.data_mode == "live" else f"the last session common to {', '.join(tickers)} in the recorded data"
        _say(f"as of {instant_text(instants[0])}: {what}")
    asks = [
        Ask(ticker=ticker, as_of=at, engine=engine.value, plan=plan.value if plan else None, portfolio=portfolio, slot=slot)
        for ticker, at in zip(tickers, instants, strict=True)
    ]
    if plan and (engine is Engine.heuristic or workplace.staff is None):
        _say(f"--plan {plan.value} has no effect: no model takes part")
    if estimate:
        return cli_models.print_estimate(workplace, asks, as_json=as_json)
    with cli_models.event_stream(events) as watch:
        results = _decide_all(workplace, asks, watch, dry_run=dry_run)
    for ask, result in zip(asks, results, strict=True):
        _show_result(workplace, ask, result, as_json=as_json)
    if len(asks) > 1:
        _summarise(asks, results, as_json=as_json)
    return max(result.exit_code if isinstance(result, AlphaAgentError) else 0 for result in results)


def _decide_all(workplace: "Workplace", asks: "list[Ask]", watch: "Watch", *, dry_run: bool) -> "list[Result]":
    """One result per ticker: a fault costs its ticker only. With several tickers each is told on stderr as soon as it is done."""
    from alphaagent import pipeline

    done, desk = 0, replace(workplace.desk, tell_asking=_tell_asking) if len(asks) == 1 else workplace.desk

    def tell(ticker: str, stage: str) -> None:
        nonlocal done
        done += 1
        if len(asks) > 1:
            _say(f"{done}/{len(asks)} {ticker}: {stage}")

    if not dry_run:
        return list(pipeline.decide_many(desk, asks, tell, watch))
    results: list[Result] = []
    for ask in asks:
        try:
            results.append(pipeline.dry_run(desk, ask, watch))
            tell(ask.ticker, "decided, dry")
        except AlphaAgentError as fault:
            results.append(fault)
            tell(ask.ticker, f"failed: {fault.message}")
    return results


def _tell_asking(setup: "Setup", most: "Decimal | None") -> None:
    from alphaagent.views_debate import asking_line

    _say(asking_line(setup, most))


def _show_result(workplace: "Workplace", ask: "Ask", result: "Result", *, as_json: bool) -> None:
    from alphaagent.domain.base import instant_text
    from alphaagent.views import failure_document
    from alphaagent.views_books import happened_line

    if isinstance(result, AlphaAgentError):
        _complain(result)
        if as_json:
            _print_json(failure_document(ask.ticker, instant_text(ask.as_of), type(result).__name__, result.message, result.fix))
        return
    for done in result.settled:
        _say(happened_line(done))
    _show_decided(workplace, result, as_json=as_json)


def _summarise(asks: "list[Ask]", results: "list[Result]", *, as_json: bool) -> None:
    """The table that ends a run over several tickers: on stdout, or on stderr where stdout carries JSON."""
    from alphaagent import render
    from alphaagent.views_books import SUMMARY_COLUMNS, failed_row, summary_row

    cells = [
        failed_row(ask.ticker, result.message) if isinstance(result, AlphaAgentError) else summary_row(result.record, result.stored)
        for ask, result in zip(asks, results, strict=True)
    ]
    render.console(stderr=as_json).print(render.rows("Summary", SUMMARY_COLUMNS, cells, numeric=("amount",)))


def _show_decided(workplace: "Workplace", decided: "Decided", *, as_json: bool) -> None:
    from alphaagent.views import decision_document

    transcript = decided.transcript or (workplace.transcript(decided.stored) if decided.stored else None)
    document = decision_document(decided.record, decided.stored, repeated=decided.repeated, transcript=transcript)
    if as_json:
        return _print_json(document)
    from alphaagent import render

    out = render.console()
    out.print(render.decision_page(document, out, workplace.rule_titles(), full=False))


app.command()(cli_decisions.show)
app.command()(cli_decisions.replay)
app.command()(cli_sweep.sweep)


@app.command()
def settle(
    as_of: AsOf = None,
    portfolio: Annotated[str | None, typer.Option("--portfolio", metavar="NAME", help="One portfolio; all of them where it is left out.")] = None,
    as_json: AsJson = False,
) -> int:
    """Fill, re-check or expire pending orders, each at its own session's open; book splits, dividends and mergers of what is held.

    Without --as-of it goes as far as the last fill session of the orders that are pending, and no further. A name whose source fails waits for the next
    settlement (exit 3) and holds up nothing else.
    """
    from alphaagent import pipeline
    from alphaagent.bootstrap import Workplace
    from alphaagent.settling import exit_code
    from alphaagent.views_books import happened_document, happened_line

    workplace = Workplace.open()
    if workplace.has_books:
        workplace.store()  # books of an older release are brought up to date before anything reads them
    at = workplace.moment(as_of) if as_of else workplace.when.settling_moment(portfolio)
    done = pipeline.settle(workplace.desk, at, portfolio) if at else ()
    for one in done:
        if as_json:
            _print_json(happened_document(one))
        else:
            typer.echo(happened_line(one))
    if not done:
        _say("nothing was due")
    return exit_code(done)


@app.command()
def halt(reason: Annotated[str, typer.Argument(metavar="REASON", help="Why; goes to the audit trail.")] = "by the operator") -> None:
    """Stop everything: nothing is evaluated, no model is called, exit 5 until `resume`."""
    _set_control("HALTED", reason)


@app.command()
def reduce(reason: Annotated[str, typer.Argument(metavar="REASON", help="Why; goes to the audit trail.")] = "by the operator") -> None:
    """Allow only what makes positions smaller."""
    _set_control("REDUCING", reason)


@app.command()
def resume(reason: Annotated[str, typer.Option("--reason", metavar="WHY", help="Why it is safe to go on; goes to the audit trail.")]) -> None:
    """Lift a halt or a reduce; the reason is audited."""
    _set_control("ACTIVE", reason)


def _set_control(state: Any, reason: str) -> None:
    from alphaagent.bootstrap import Workplace
    from alphaagent.domain.text import inert

    workplace = Workplace.open()
    if not reason.strip():
        raise UsageFault("the reason is empty", fix="say why in a few words")
    with workplace.store().write() as books:
        changed = books.set_control(state, reason, ACTOR, workplace.clock.now())
    typer.echo(f"{state}: {inert(reason)}" if changed else f"already {state}; nothing was written")


@audit_app.command("verify")
def audit_verify(
    anchor: Annotated[list[str] | None, typer.Option("--anchor", metavar="FILE", help="Anchors kept elsewhere; repeatable.")] = None,
    replay_rulings: Annotated[bool, typer.Option("--replay", help="Evaluate every stored ruling again.")] = False,
    since: Annotated[int, typer.Option(min=1, metavar="N", help="Start at this audit row.")] = 1,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 10 where rows are not anchored.")] = False,
    as_json: AsJson = False,
) -> int:
    """Check every link of the chain and the ledger against it. Exit codes 0, 10, 20 to 24, 30."""
    from alphaagent.bootstrap import Workplace
    from alphaagent.operations.audit import examine
    from alphaagent.views import verify_document, verify_lines

    report = examine(Workplace.open().settings.database_url, anchor or [], since, strict=strict, replay=replay_rulings)
    if as_json:
        _print_json(verify_document(report))
    else:
        for line in verify_lines(report):
            typer.echo(line)
    return report.exit_code


@audit_app.command("anchor")
def audit_anchor() -> None:
    """Print a line that fixes the chain as it is now; keep it on another machine and give it to `audit verify --anchor`."""
    from alphaagent.bootstrap import Workplace
    from alphaagent.ledger.verify import anchor_line

    workplace = Workplace.open()
    workplace.required_store()
    typer.echo(anchor_line(workplace.settings.database_url))


@app.command()
def doctor(as_json: AsJson = False) -> int:
    """Check configuration, data, calendar, books and provider, and say what to do."""
    from alphaagent.operations.doctor import examine

    findings = examine()
    if as_json:
        for finding in findings:
            _print_json({"check": finding.check, "state": finding.state, "detail": finding.detail, "fix": finding.fix})
    else:
        from alphaagent import render

        render.console().print(render.findings_table(findings))
    return max((finding.exit_code for finding in findings), default=0)


app.command()(cli_models.spend)
app.command()(cli_schedule.schedule)
app.command()(cli_schedule.digest)
app.command()(cli_dashboard.dashboard)
if __name__ == "__main__":
    main()
