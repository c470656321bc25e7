"""The sweep on the command line: parse, one call, print. Like cli.py it decides nothing."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from alphaagent.cli_common import AsJson, AsOf, Engine, Plan, complain, print_json, say
from alphaagent.cli_notify import send_what_waits
from alphaagent.errors import AlphaAgentError, NoEvidence

if TYPE_CHECKING:
    from alphaagent.bootstrap import Workplace
    from alphaagent.operations.prospects import Wish
    from alphaagent.operations.sweep_report import PortfolioReport
    from alphaagent.views import Document

DEADLINE_MINUTES = 120


def sweep(
    watchlist: Annotated[
        list[str] | None, typer.Option("--watchlist", metavar="NAME", help="A portfolio of config/portfolios; repeatable. Left out: all of them.")
    ] = None,
    as_of: AsOf = None,
    engine: Annotated[Engine | None, typer.Option(help="Who decides, whatever the portfolio's file says.")] = None,
    plan: Annotated[Plan | None, typer.Option(help="How the crew debates, whatever the portfolio's file says.")] = None,
    screen: Annotated[bool, typer.Option("--screen", help="Debate only what is held or has moved; the heuristic engine decides the rest.")] = False,
    estimate: Annotated[bool, typer.Option("--estimate", help="Print what the pass would cost in calls, tokens and USD, and decide nothing.")] = False,
    deadline: Annotated[
        int, typer.Option(min=1, max=1440, metavar="MINUTES", help="What has not begun by then is skipped, and told; what runs is finished.")
    ] = DEADLINE_MINUTES,
    at_once: Annotated[int | None, typer.Option("--at-once", min=1, max=64, metavar="N", help="Names heard at once. Left out: as configured.")] = None,
    as_json: AsJson = False,
) -> int:
    """One pass over the watchlists: settle what is due, decide every name once, allocate cash, and tell what became of each.

    Safe to repeat, to overlap and to begin again: a session is decided once, whoever asks. What is held and on no list may be sold, and is not
    bought. The exit code is the worst of all names: 0 done, 2 usage, configuration or skipped, 3 no evidence, 4 provider, 5 halted or unsound.
    """
    from alphaagent.bootstrap import Workplace
    from alphaagent.operations.prospects import Wish
    from alphaagent.operations.sweep import sweep as run

    workplace = Workplace.open()
    wish = Wish(engine.value if engine else None, plan.value if plan else None, screen, at_once, deadline * 60)
    if (plan or screen) and workplace.staff is None:
        say("--plan and --screen have no effect: no model takes part")
    if estimate:
        return _print_estimate(workplace, watchlist or [], as_of, wish, as_json=as_json)
    report = run(workplace, watchlist or [], as_of, wish, say)
    for one in report.portfolios:
        _show(workplace, one, as_json=as_json)
    if as_json:
        from alphaagent.views_sweep import report_document

        print_json(report_document(report))
    send_what_waits(workplace)
    return report.exit_code


def _show(workplace: "Workplace", report: "PortfolioReport", *, as_json: bool) -> None:
    from alphaagent.views_books import happened_line
    from alphaagent.views_sweep import SWEEP_COLUMNS, notes, row_cells, row_document

    if as_json:
        for row in report.rows:
            print_json(row_document(report, row, workplace.transcript(row.stored) if row.stored else None))
        return
    from alphaagent import render

    for done in report.settled:
        typer.echo(happened_line(done))
    for line in (*render.lined_up(SWEEP_COLUMNS, [row_cells(report.portfolio, row) for row in report.rows]), *notes(report)):
        typer.echo(line)


def _print_estimate(workplace: "Workplace", names: Sequence[str], as_of: str | None, wish: "Wish", *, as_json: bool) -> int:
    """What the debates of a pass would cost; nothing is decided and nobody is asked. The worst exit code of the names."""
    from alphaagent.operations.estimates import estimated
    from alphaagent.operations.prospects import prospects, rounds
    from alphaagent.views_books import ESTIMATE_COLUMNS, estimate_document, estimate_total
    from alphaagent.views_sweep import budget_line

    documents: list[Document] = []
    budgets: list[str] = []
    code = 0
    for turn in rounds(workplace, names, as_of):
        if turn.fault or turn.as_of is None:
            fault = turn.fault or NoEvidence(f"{turn.name} has no instant")
            complain(fault)
            code = max(code, fault.exit_code)
            continue
        mine: list[Document] = []
        for one in prospects(workplace.desk, turn, turn.as_of, wish):
            try:
                found = estimated(workplace, one.ask) if one.stored is None else None
            except AlphaAgentError as fault:
                complain(fault)
                code = max(code, fault.exit_code)
                continue
            mine.append({"portfolio": turn.name} | estimate_document(one.ask.ticker, found) | {"stored": one.stored is not None, "screened": one.screened})
        documents += mine
        if turn.file.daily_spend_usd is not None:
            budgets.append(budget_line(turn.name, turn.file.daily_spend_usd, mine))
    if as_json:
        for document in documents:
            print_json(document)
    else:
        from alphaagent import render

        for line in render.lined_up(("portfolio", *ESTIMATE_COLUMNS), documents) if documents else ():
            typer.echo(line)
        for line in budgets:
            typer.echo(line)
        typer.echo(estimate_total(documents, workplace.settings.models.daily_spend))
    return code
