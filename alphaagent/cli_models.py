"""The commands about paid models. Like cli.py they parse, make one call and print."""

from datetime import date
from typing import Annotated

import typer

from alphaagent.cli_common import AsJson, print_json
from alphaagent.errors import UsageFault


def spend(
    day: Annotated[str | None, typer.Option("--day", metavar="DATE", help="A day in UTC, such as 2026-01-31; today where it is left out.")] = None,
    as_json: AsJson = False,
) -> None:
    """What model calls cost on a day, by portfolio, provider and model, against the ceiling."""
    from alphaagent.bootstrap import Workplace
    from alphaagent.views_books import SPEND_COLUMNS, spend_document, spend_line

    workplace = Workplace.open()
    chosen = _day(day) if day is not None else workplace.clock.now().date()
    store = workplace.required_store()
    document = spend_document(chosen, workplace.settings.models.daily_spend, store.spent_on(chosen), store.spend_lines(chosen))
    if as_json:
        return print_json(document)
    from alphaagent import render

    for line in render.lined_up(SPEND_COLUMNS, document["lines"]) if document["lines"] else ():
        typer.echo(line)
    typer.echo(spend_line(document))


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageFault(f"--day {text!r} is no date", fix="write 2026-01-31") from None
