"""`alphaagent mandate`: the guard's limits, to read and to check. Nothing is changed here; limits live in mandate.yaml."""

import json
import re
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="The guard's limits, their reasons and hard bounds.")

AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")]
_COLUMNS = ("rule", "title", "limit", "value", "default", "hard bounds", "")
_LEAST_WIDTH = 130
"""A limit's name is never cut short."""


@app.command("show")
def show(name: Annotated[str, typer.Argument(metavar="NAME", help="A mandate of mandate.yaml.")] = "default", as_json: AsJson = False) -> None:
    """Every limit in force beside its default and hard bounds; what lets more through than the default is marked."""
    from alphaagent.bootstrap import Workplace
    from alphaagent.operations import mandates

    document = mandates.show(mandates.named(Workplace.open().mandates, name))
    if as_json:
        return _print_json(document)
    typer.echo(f"{document['mandate']}: risk profile {document['risk_profile']}, lot {document['lot']}, hash {document['limits_hash'][:12]}…")
    _print_limits(document["limits"])


@app.command("check")
def check(file: Annotated[Path | None, typer.Argument(metavar="FILE", help="A file of mandates; the one in use where it is left out.")] = None) -> None:
    """Read a file of mandates without trading; exit 2 with the file, the key and the bound where one is wrong."""
    from alphaagent.bootstrap import Workplace

    path, mandates = Workplace.open().mandates_of(file)
    for mandate in mandates.values():
        typer.echo(f"{mandate.name}: sound, hash {mandate.limits_hash[:12]}…")
    typer.echo(f"{path}: {len(mandates)} mandates, all sound")


@app.command("explain")
def explain(
    rule: Annotated[str, typer.Argument(metavar="RULE", help="A rule's id, such as H4.")],
    mandate: Annotated[str, typer.Option("--mandate", metavar="NAME", help="Whose limits to print.")] = "default",
    as_json: AsJson = False,
) -> None:
    """One rule in words: what it stops, its codes, why, where it stands, and its limits in force."""
    from alphaagent.bootstrap import Workplace
    from alphaagent.operations import mandates

    document = mandates.explain(mandates.named(Workplace.open().mandates, mandate), rule)
    if as_json:
        return _print_json(document)
    binds = "orders that open" if document["opening_only"] else "every order"
    typer.echo(f"{document['rule']} {document['title']}: {document['stops']}")
    typer.echo(f"  binds   {binds}, at stage {', '.join(document['stages'])}")
    typer.echo(f"  codes   {', '.join(document['codes'])}")
    typer.echo(f"  why     {document['why']}")
    typer.echo(f"  source  {document['source']}")
    typer.echo(f"  limits  of {document['mandate']}{'' if document['limits'] else ': none'}")
    if document["limits"]:
        _print_limits(document["limits"])


def _print_limits(limits: list[dict[str, Any]]) -> None:
    from alphaagent import render

    cells = [(one["rule"], one["title"], one["limit"], _text(one["value"]), _text(one["default"]), _short(one["bounds"]), _mark(one)) for one in limits]
    out = render.console()
    out.width = max(out.width, _LEAST_WIDTH)
    out.print(render.rows("", _COLUMNS, cells))


def _short(bounds: str) -> str:
    return re.sub(r"at least (\S+) and at most (\S+)", r"\1 to \2", bounds).replace(" and at most ", ", at most ")


def _text(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value).lower()


def _mark(limit: dict[str, Any]) -> str:
    return "looser" if limit["looser"] else ""


def _print_json(document: dict[str, Any]) -> None:
    typer.echo(json.dumps(document, ensure_ascii=False, separators=(",", ":")))
