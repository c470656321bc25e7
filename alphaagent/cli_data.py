"""`alphaagent data`: what is known, how old it is, and what changed in it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from alphaagent.cli_common import AsJson, AsOf, complain, print_json, say

if TYPE_CHECKING:
    from alphaagent.bootstrap import Workplace

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="The data that decisions stand on.")
Tickers = Annotated[list[str], typer.Argument(metavar="TICKER...", show_default=False, help="What to ask about, e.g. AAPL MSFT AZN.L.")]
SomeTickers = Annotated[list[str] | None, typer.Argument(metavar="[TICKER...]", show_default=False, help="Only these; everything where none is named.")]
_ROW_COLUMNS = ("name", "topic", "vendor", "state", "last told (UTC)", "holds until", "note")


@app.command("fetch")
def fetch(
    tickers: Tickers,
    force: Annotated[bool, typer.Option("--force", help="Ask again also where the last answer still holds.")] = False,
    as_json: AsJson = False,
) -> int:
    """Live data: ask every vendor about these tickers where its last answer does not hold any more. Exit 3 where a name has no prices."""
    from alphaagent.bootstrap import Workplace
    from alphaagent.operations import live_data

    workplace, done = Workplace.open(), 0

    def tell(symbol: str) -> None:
        nonlocal done
        done += 1
        say(f"{done}/{len(tickers)} {symbol}")

    fetched = live_data.fetch(workplace, tickers, force=force, tell=tell)
    for ticker, fault in fetched.faults:
        say(f"{ticker}:")
        complain(fault)
    _print_rows([row.document for row in fetched.rows], as_json=as_json)
    say(f"{fetched.requests} requests, {fetched.octets} bytes came in")
    return fetched.exit_code


@app.command("status")
def status(tickers: SomeTickers = None, as_json: AsJson = False) -> int:
    """What the data are and how old: the recorded files against their manifest (exit 2 where one is not as recorded), or what live vendors told."""
    from alphaagent.bootstrap import Workplace

    workplace = Workplace.open()
    if workplace.settings.data_mode == "live":
        from alphaagent.operations import live_data

        _print_rows([row.document for row in live_data.status(workplace, tickers or [])], as_json=as_json)
        return 0
    return _recorded_status(workplace, tickers or [], as_json=as_json)


def _recorded_status(workplace: "Workplace", tickers: list[str], *, as_json: bool) -> int:
    from alphaagent.views import file_document

    files = [file for file in workplace.data_status() if not tickers or file.ticker in tickers]
    sound = all(file.state == "ok" for file in files)
    if as_json:
        for file in files:
            print_json(file_document(file))
    else:
        from alphaagent import render

        render.console().print(render.files_table([file_document(file) for file in files]))
        typer.echo(f"{len(files)} files, {'all as recorded' if sound else 'not all as recorded'}")
    return 0 if sound else 2


@app.command("diff")
def diff(
    ticker: Annotated[str, typer.Argument(metavar="TICKER", help="What was asked about.")],
    since: Annotated[str | None, typer.Option("--since", metavar="WHEN", help="The earlier instant; left out: the document before.")] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="WHEN", help="The later instant; now where it is left out.")] = None,
    as_json: AsJson = False,
) -> None:
    """Live data: what vendors say at one instant and did not at another: restated figures, corrected closes, new filings and articles."""
    from alphaagent.bootstrap import Workplace
    from alphaagent.operations import live_data
    from alphaagent.views_data import compared_document, compared_lines

    workplace = Workplace.open()
    instants = [workplace.moment(text) if text else None for text in (since, until)]
    for one in live_data.diff(workplace, ticker, *instants):
        if as_json:
            print_json(compared_document(ticker, one))
        else:
            for line in compared_lines(one):
                typer.echo(line)


@app.command("accept")
def accept(
    ticker: Annotated[str, typer.Argument(metavar="TICKER", help="What was asked about.")],
    reason: Annotated[str, typer.Option("--reason", metavar="WHY", help="Why the rewritten history is right; kept in the archive.")],
) -> None:
    """Live data: take the price history that a vendor has rewritten as it is now, which ends the conflict."""
    from alphaagent.bootstrap import Workplace
    from alphaagent.domain.text import inert
    from alphaagent.operations import live_data

    kept = live_data.accept(Workplace.open(), ticker, reason)
    typer.echo(f"{kept.series.vendor}'s history of {kept.series.instrument} is taken as it is: {inert(kept.note)}")


@app.command("record")
def record(
    tickers: Tickers,
    to: Annotated[Path, typer.Option("--to", metavar="FOLDER", help="A new or empty folder; HOME/data/snapshot is the one that recorded runs read.")],
    as_of: AsOf = None,
) -> None:
    """Live data: write what is known of these tickers as a snapshot folder with a manifest, for runs without a network."""
    from alphaagent.bootstrap import Workplace
    from alphaagent.operations import live_data

    workplace = Workplace.open()
    files = live_data.record_snapshot(workplace, tickers, to, workplace.when.live_moment(as_of, tickers))
    typer.echo(f"{len(files)} files and a manifest in {to}")


def _print_rows(documents: list[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        for document in documents:
            print_json(document)
        return
    from alphaagent import render

    render.console().print(render.rows("", _ROW_COLUMNS, [_cells(document) for document in documents]))


def _cells(document: dict[str, Any]) -> tuple[str, ...]:
    """A row for people: times to the minute."""
    times = ((document[key] or "")[:16].replace("T", " ") for key in ("fetched_at", "holds_until"))
    return document["ticker"], document["topic"], document["vendor"], document["state"], *times, document["note"] or ""
