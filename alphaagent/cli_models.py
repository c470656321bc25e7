"""The commands about paid models. Like cli.py they parse, make one call and print."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from alphaagent.cli_common import AsJson, complain, print_json, say
from alphaagent.errors import AlphaAgentError, UsageFault

if TYPE_CHECKING:
    from alphaagent.bootstrap import Workplace
    from alphaagent.debate.events import Watch
    from alphaagent.desk import Ask


def spend(
    day: Annotated[str | None, typer.Option("--day", metavar="DATE", help="A day in UTC, such as 2026-01-31; today where it is left out.")] = None,
    as_json: AsJson = False,
) -> None:
    """What model calls cost on a day, by portfolio, provider and model, against the ceiling and the portfolios' own budgets."""
    from alphaagent.bootstrap import Workplace
    from alphaagent.views_books import SPEND_COLUMNS, budget_lines, spend_document, spend_line

    workplace = Workplace.open()
    chosen = _day(day) if day is not None else workplace.clock.now().date()
    store = workplace.required_store()
    budgets = {name: file.daily_spend_usd for name, file in workplace.portfolio_files.items() if file.daily_spend_usd is not None}
    document = spend_document(chosen, workplace.settings.models.daily_spend, store.spent_on(chosen), store.spend_lines(chosen), budgets)
    if as_json:
        return print_json(document)
    from alphaagent import render

    for line in render.lined_up(SPEND_COLUMNS, document["lines"]) if document["lines"] else ():
        typer.echo(line)
    for line in (*budget_lines(document), spend_line(document)):
        typer.echo(line)


def print_estimate(workplace: "Workplace", asks: "list[Ask]", *, as_json: bool) -> int:
    """What these debates would cost; nothing is decided and nobody is asked. The worst exit code of the tickers."""
    from alphaagent.operations.estimates import estimated
    from alphaagent.views_books import ESTIMATE_COLUMNS, estimate_document, estimate_total

    documents, code = [], 0
    for ask in asks:
        try:
            documents.append(estimate_document(ask.ticker, estimated(workplace, ask)))
        except AlphaAgentError as fault:
            complain(fault)
            code = max(code, fault.exit_code)
    if as_json:
        for document in documents:
            print_json(document)
        return code
    from alphaagent import render

    for line in render.lined_up(ESTIMATE_COLUMNS, documents) if documents else ():
        typer.echo(line)
    typer.echo(estimate_total(documents, workplace.settings.models.daily_spend))
    return code


@contextmanager
def event_stream(name: str | None) -> "Iterator[Watch]":
    """Where the debates' events go: a file that is appended to, stdout for `-`, or nowhere."""
    from alphaagent.debate.events import Events, unwatched

    if name is None:
        yield unwatched
        return
    try:
        sink = sys.stdout if name == "-" else Path(name).open("a", encoding="utf-8")  # noqa: SIM115 - closed below, unless it is stdout
    except OSError as fault:
        raise UsageFault(f"--events {name!r} cannot be written: {fault.strerror}", fix="name a file in a folder that exists") from None

    def listen(line: str) -> None:
        sink.write(line + "\n")
        sink.flush()

    try:
        yield lambda run_id: Events(run_id, listen, say)
    finally:
        if sink is not sys.stdout:
            sink.close()


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageFault(f"--day {text!r} is no date", fix="write 2026-01-31") from None
