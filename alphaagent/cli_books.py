"""The commands about portfolios and the ledger: what is held, how it came and went, and what was gained."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from alphaagent.cli_common import ACTOR, AsJson, AsOf, PortfolioName, complain, print_json, say

portfolio_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Positions, cash, NAV.")
ledger_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Postings and trades.")


class Format(StrEnum):
    table = "table"
    csv = "csv"


class ExportFormat(StrEnum):
    csv = "csv"
    parquet = "parquet"
    beancount = "beancount"


@portfolio_app.command("show")
def portfolio_show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The portfolio.")] = "default",
    as_of: AsOf = None,
    lots: Annotated[bool, typer.Option("--lots", help="Also every lot: acquired, quantity, cost, days held, unrealised.")] = False,
    as_json: AsJson = False,
) -> None:
    """Positions at their marks, cash, NAV, pending orders."""
    from alphaagent.bootstrap import Workplace
    from alphaagent.operations import portfolios
    from alphaagent.views import portfolio_document
    from alphaagent.views_books import lot_document

    workplace = Workplace.open()
    at = workplace.moment(as_of) if as_of else None
    book = portfolios.state(workplace.desk, workplace.required_store(), name, at)
    document = portfolio_document(book.at, book.account, book.marks, book.equity, book.fault, book.frozen)
    if lots:
        document["lots"] = [lot_document(lot, book.marks[lot.instrument_id], book.at) for lot in book.lots]
    if as_json:
        return print_json(document)
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
    audit = portfolios.deposit(workplace.desk, workplace.store(), name, portfolios.amount("AMOUNT", amount), at)
    typer.echo(f"deposited {amount} USD to {name}; audit row {audit.seq}")


@portfolio_app.command("withdraw")
def portfolio_withdraw(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The portfolio.")],
    amount: Annotated[str, typer.Argument(metavar="AMOUNT", help="In the portfolio's currency, such as 2500.00.")],
    as_of: AsOf = None,
) -> None:
    """Take cash out of a portfolio: what has settled and no pending order has reserved."""
    from alphaagent.bootstrap import Workplace
    from alphaagent.operations import portfolios

    workplace = Workplace.open()
    at = workplace.moment(as_of) if as_of else None
    audit = portfolios.withdraw(workplace.desk, workplace.store(), name, portfolios.amount("AMOUNT", amount), at)
    typer.echo(f"withdrew {amount} USD from {name}; audit row {audit.seq}")


@portfolio_app.command("import")
def portfolio_import(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV with the columns ticker,quantity,cost,date,cash.")],
    portfolio: Annotated[str, typer.Option("--portfolio", metavar="NAME", help="Made where there is none; else one without a history.")] = "default",
    as_of: AsOf = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be booked, and write nothing.")] = False,
    as_json: AsJson = False,
) -> int:
    """Open a portfolio with existing holdings: one transaction, all rows or none.

    A row is a lot (ticker, quantity as held at --as-of, cost in all in USD, date of purchase) or cash (the amount in the column cash alone).
    """
    from alphaagent.bootstrap import Workplace
    from alphaagent.domain.base import instant_text
    from alphaagent.operations.holdings_file import ImportRefused
    from alphaagent.operations.importing import book_import, plan_import
    from alphaagent.views_books import import_document, refused_document

    workplace = Workplace.open()
    at = workplace.moment(as_of)
    if as_of is None:
        say(f"as of {instant_text(at)}: the last session of the recorded data")
    try:
        plan = plan_import(workplace.desk, file, portfolio, at)
    except ImportRefused as refused:
        complain(refused)
        if as_json:
            print_json(refused_document(refused.message, refused.faults))
        return refused.exit_code
    document = import_document(plan, None if dry_run else book_import(workplace.desk, plan))
    if as_json:
        print_json(document)
    else:
        from alphaagent import render

        for line in render.import_lines(document):
            typer.echo(line)
    return 0


@portfolio_app.command("unfreeze")
def portfolio_unfreeze(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The portfolio.")],
    ticker: Annotated[str, typer.Argument(metavar="TICKER", help="The frozen name.")],
    reason: Annotated[str, typer.Option("--reason", metavar="WHY", help="What was found; goes to the audit trail.")],
) -> None:
    """Allow orders again for a name to which something happened that the program cannot book."""
    from alphaagent.bootstrap import Workplace
    from alphaagent.domain.text import inert
    from alphaagent.operations import portfolios

    workplace = Workplace.open()
    lifted = portfolios.unfreeze(workplace.desk, workplace.store(), name, ticker, reason, ACTOR)
    typer.echo(f"{lifted.symbol} is no longer frozen in {name}: {inert(reason)}")


@ledger_app.command("show")
def ledger_show(
    portfolio: PortfolioName = "default", limit: Annotated[int, typer.Option(min=1, max=100_000, help="Newest transactions.")] = 50, as_json: AsJson = False
) -> None:
    """The newest transactions with their postings; each adds up to zero per commodity."""
    from alphaagent.bootstrap import Workplace

    documents = Workplace.open().required_store().transactions(portfolio, limit)
    if as_json:
        for document in documents:
            print_json(document)
        return
    from alphaagent import render

    render.console().print(render.journal_table(documents))


@ledger_app.command("gains")
def ledger_gains(
    portfolio: Annotated[str, typer.Option("--portfolio", metavar="NAME", help="The portfolio.")] = "default",
    format_: Annotated[Format, typer.Option("--format", help="A table, or CSV for a spreadsheet.")] = Format.table,
    as_json: AsJson = False,
) -> None:
    """What was realised, lot by lot: proceeds and cost with their fees, days held, short or long term (over one year)."""
    from alphaagent.bootstrap import Workplace
    from alphaagent.operations import portfolios
    from alphaagent.views_books import GAIN_COLUMNS, csv_text, gain_document

    documents = [gain_document(portfolio, gain) for gain in portfolios.gains(Workplace.open().required_store(), portfolio)]
    if as_json:
        for document in documents:
            print_json(document)
    elif format_ is Format.csv:
        typer.echo(csv_text(GAIN_COLUMNS, documents), nl=False)
    else:
        from alphaagent import render

        for line in render.lined_up(GAIN_COLUMNS, documents):
            typer.echo(line)


@ledger_app.command("export")
def ledger_export(
    portfolio: Annotated[str, typer.Option("--portfolio", metavar="NAME", help="The portfolio.")] = "default",
    format_: Annotated[ExportFormat, typer.Option("--format", help="Rows for a spreadsheet or a data frame, or a file for beancount.")] = ExportFormat.csv,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write here, whole or not at all. Left out: stdout.")] = None,
) -> None:
    """Every posting of a portfolio, oldest first, for a program of your own."""
    from alphaagent.bootstrap import Workplace
    from alphaagent.operations.exporting import export

    for piece in export(Workplace.open().required_store(), portfolio, format_.value, out):
        typer.echo(piece, nl=False)
    if out is not None:
        say(f"{out} holds every posting of {portfolio}")
