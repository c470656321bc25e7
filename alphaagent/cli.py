"""The command line: parse, open the workplace, one call, render. Data goes to stdout, talk to stderr; no decision is made here.

Heavy modules are imported inside the commands, so that `--help` costs no more than the parser.
"""

import json
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from alphaagent import __version__, cli_mandate
from alphaagent.errors import AlphaAgentError, UsageFault

if TYPE_CHECKING:
    from alphaagent.bootstrap import Workplace
    from alphaagent.desk import Ask
    from alphaagent.pipeline import Decided

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Decide a ticker, guard the order, keep the record.",
)
portfolio_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Positions, cash, NAV.")
audit_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="The hash chain over everything that happened.")
ledger_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Postings and trades.")
data_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="The recorded data.")
app.add_typer(portfolio_app, name="portfolio")
app.add_typer(audit_app, name="audit")
app.add_typer(ledger_app, name="ledger")
app.add_typer(data_app, name="data")
app.add_typer(cli_mandate.app, name="mandate")

MAX_TICKERS = 100
ACTOR = "operator"


class Engine(StrEnum):
    auto = "auto"
    crew = "crew"
    heuristic = "heuristic"


AsOf = Annotated[str | None, typer.Option("--as-of", metavar="WHEN", help="A session's date (one second after its close) or an ISO instant with a zone.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on stdout; JSON Lines for several tickers.")]
PortfolioName = Annotated[str, typer.Option("--portfolio", metavar="NAME", help="The portfolio to decide for.")]


def main() -> None:
    """The console script. Exit codes: 0 done, 2 usage, 3 no evidence, 4 provider, 5 halted or unsound, 6 replay differs."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """One invocation; returns the exit code. This is one of the three places that catch everything."""
    try:
        result = app(arguments, standalone_mode=False)
    except AlphaAgentError as fault:
        _complain(fault)
        return fault.exit_code
    except typer.Abort:
        return 130
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 0
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
    engine: Annotated[
        Engine, typer.Option(help="auto: the crew where a model is configured, else heuristic. This version has no crew: the heuristic engine decides.")
    ] = Engine.auto,
    portfolio: PortfolioName = "default",
    slot: Annotated[str, typer.Option(metavar="NAME", help="One slot holds one decision per portfolio, instrument and session.")] = "manual",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Take the same path on the book as it stood at that instant, and write nothing.")] = False,
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
        _say(f"as of {instant_text(instants[0])}: the last session common to {', '.join(tickers)} in the recorded data")
    asks = [Ask(ticker=ticker, as_of=at, engine=engine.value, portfolio=portfolio, slot=slot) for ticker, at in zip(tickers, instants, strict=True)]
    return max(_decide_one(workplace, ask, dry_run=dry_run, as_json=as_json) for ask in asks)


def _decide_one(workplace: "Workplace", ask: "Ask", *, dry_run: bool, as_json: bool) -> int:
    """One ticker; a fault costs this ticker only."""
    from alphaagent import pipeline
    from alphaagent.domain.base import instant_text
    from alphaagent.views import failure_document, settled_line

    try:
        decided = pipeline.dry_run(workplace.desk, ask) if dry_run else pipeline.decide(workplace.desk, ask)
    except AlphaAgentError as fault:
        _complain(fault)
        if as_json:
            _print_json(failure_document(ask.ticker, instant_text(ask.as_of), type(fault).__name__, fault.message, fault.fix))
        return fault.exit_code
    for done in decided.settled:
        _say(settled_line(done.order, done.ruling, done.reason))
    _show_decided(workplace, decided, as_json=as_json)
    return 0


def _show_decided(workplace: "Workplace", decided: "Decided", *, as_json: bool) -> None:
    from alphaagent.views import decision_document

    document = decision_document(decided.record, decided.stored, repeated=decided.repeated)
    if as_json:
        return _print_json(document)
    from alphaagent import render

    out = render.console()
    out.print(render.decision_page(document, out, workplace.rule_titles()))


@app.command()
def show(decision: Annotated[str, typer.Argument(metavar="DECISION", help="A decision's id, or `last`.")], as_json: AsJson = False) -> None:
    """Show a stored decision: both cases, the verdict, the guard's trace, the evidence."""
    from alphaagent.bootstrap import Workplace
    from alphaagent.views import decision_document

    workplace = Workplace.open()
    stored = workplace.stored_decision(decision)
    document = decision_document(stored.record, stored)
    if as_json:
        return _print_json(document)
    from alphaagent import render

    out = render.console()
    out.print(render.decision_page(document, out, workplace.rule_titles()))
    out.print(render.evidence_table(document))


@app.command()
def replay(decision: Annotated[str, typer.Argument(metavar="DECISION", help="A decision's id, or `last`.")], as_json: AsJson = False) -> int:
    """Run a stored decision again from its record alone; exit 0 only if every byte agrees, else 6."""
    from alphaagent.bootstrap import Workplace
    from alphaagent.replay import replay as run_again

    stored = Workplace.open().stored_decision(decision)
    checks = run_again(stored)
    agrees = all(check.agrees for check in checks)
    if as_json:
        parts = [{"part": check.part, "agrees": check.agrees, "difference": check.difference} for check in checks]
        _print_json({"decision_id": stored.record.decision_id, "agrees": agrees, "parts": parts})
    else:
        for check in checks:
            typer.echo(f"{'same  ' if check.agrees else 'DIFFERS'} {check.part}" + (f"\n        {check.difference}" if check.difference else ""))
        typer.echo(f"{stored.record.decision_id}: {'every byte agrees' if agrees else 'the replay differs from the record'}")
    return 0 if agrees else 6


@app.command()
def settle(
    as_of: AsOf = None,
    portfolio: Annotated[str | None, typer.Option("--portfolio", metavar="NAME", help="One portfolio; all of them where it is left out.")] = None,
    as_json: AsJson = False,
) -> None:
    """Fill, re-check or expire pending orders, each at its own session's open."""
    from alphaagent import pipeline
    from alphaagent.bootstrap import Workplace
    from alphaagent.views import settled_document, settled_line

    workplace = Workplace.open()
    done = pipeline.settle(workplace.desk, workplace.moment(as_of), portfolio)
    for one in done:
        if as_json:
            _print_json(settled_document(one.order, one.ruling, one.reason, one.audit))
        else:
            typer.echo(settled_line(one.order, one.ruling, one.reason))
    if not done:
        _say("nothing was due")


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

    workplace = Workplace.open()
    if not reason.strip():
        raise UsageFault("the reason is empty", fix="say why in a few words")
    with workplace.store().write() as books:
        changed = books.set_control(state, reason, ACTOR, workplace.clock.now())
    typer.echo(f"{state}: {reason}" if changed else f"already {state}; nothing was written")


@portfolio_app.command("show")
def portfolio_show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The portfolio.")] = "default", as_of: AsOf = None, as_json: AsJson = False
) -> None:
    """Positions at their marks, cash, NAV, pending orders."""
    from alphaagent.bootstrap import Workplace
    from alphaagent.operations import portfolios
    from alphaagent.views import portfolio_document

    workplace = Workplace.open()
    at = workplace.moment(as_of) if as_of else None
    book = portfolios.state(workplace.desk, workplace.required_store(), name, at)
    document = portfolio_document(book.at, book.account, book.marks, book.equity, book.fault)
    if as_json:
        return _print_json(document)
    from alphaagent import render

    render.console().print(render.portfolio_page(document))


@portfolio_app.command("create")
def portfolio_create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="1 to 40 letters, digits, dots, dashes or underscores.")],
    cash: Annotated[str, typer.Option(metavar="AMOUNT", help="Opening cash in USD.")] = "100000",
    mandate: Annotated[str | None, typer.Option(metavar="NAME", help="A mandate of mandate.yaml.")] = None,
    as_of: AsOf = None,
) -> None:
    """Make a portfolio with an opening deposit."""
    from alphaagent.bootstrap import Workplace
    from alphaagent.domain.base import instant_text
    from alphaagent.operations import portfolios

    workplace = Workplace.open()
    at = workplace.moment(as_of)
    made = portfolios.make(workplace.desk, name, portfolios.amount("--cash", cash), mandate, at)
    typer.echo(f"portfolio {made.name}: {cash} {made.currency}, mandate {made.mandate}, opened {instant_text(made.opened_at)}")


@portfolio_app.command("deposit")
def portfolio_deposit(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The portfolio.")],
    amount: Annotated[str, typer.Argument(metavar="AMOUNT", help="In the portfolio's currency, such as 2500.00.")],
    as_of: AsOf = None,
) -> None:
    """Add cash to a portfolio."""
    from alphaagent.bootstrap import Workplace
    from alphaagent.operations import portfolios

    workplace = Workplace.open()
    at = workplace.moment(as_of) if as_of else None
    audit = portfolios.deposit(workplace.store(), name, portfolios.amount("AMOUNT", amount), at)
    typer.echo(f"deposited {amount} USD to {name}; audit row {audit.seq}")


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


@ledger_app.command("show")
def ledger_show(
    portfolio: PortfolioName = "default", limit: Annotated[int, typer.Option(min=1, max=100_000, help="Newest transactions.")] = 50, as_json: AsJson = False
) -> None:
    """The newest transactions with their postings; each adds up to zero per commodity."""
    from alphaagent.bootstrap import Workplace

    documents = Workplace.open().required_store().transactions(portfolio, limit)
    if as_json:
        for document in documents:
            _print_json(document)
        return
    from alphaagent import render

    render.console().print(render.journal_table(documents))


@data_app.command("status")
def data_status(as_json: AsJson = False) -> int:
    """Check the recorded data against its manifest: origin, licence, hash, range. Exit 2 where a file is not as recorded."""
    from alphaagent.bootstrap import Workplace
    from alphaagent.views import file_document

    files = Workplace.open().data_status()
    sound = all(file.state == "ok" for file in files)
    if as_json:
        for file in files:
            _print_json(file_document(file))
    else:
        from alphaagent import render

        render.console().print(render.files_table([file_document(file) for file in files]))
        typer.echo(f"{len(files)} files, {'all as recorded' if sound else 'not all as recorded'}")
    return 0 if sound else 2


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


def _print_json(document: dict[str, Any]) -> None:
    typer.echo(json.dumps(document, ensure_ascii=False, separators=(",", ":")))


def _complain(fault: AlphaAgentError) -> None:
    _say(f"error: {fault.message}" + (f"\n  fix: {fault.fix}" if fault.fix else ""))


def _say(text: str) -> None:
    from alphaagent.domain.text import inert

    typer.echo("\n".join(inert(line) for line in text.split("\n")), err=True)


if __name__ == "__main__":
    main()
