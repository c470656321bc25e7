"""What the command line's modules share: the options that recur, how a document is printed, how a fault is told."""

import json
from enum import StrEnum
from typing import Annotated, Any

import typer

from alphaagent.errors import AlphaAgentError, UsageFault

ACTOR = "operator"
AsOf = Annotated[str | None, typer.Option("--as-of", metavar="WHEN", help="A session's date (one second after its close) or an ISO instant with a zone.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on stdout; JSON Lines for several tickers.")]
PortfolioName = Annotated[str, typer.Option("--portfolio", metavar="NAME", help="The portfolio to decide for.")]


class Plan(StrEnum):
    quick = "quick"
    standard = "standard"
    deep = "deep"


class Engine(StrEnum):
    auto = "auto"
    crew = "crew"
    heuristic = "heuristic"


def print_json(document: dict[str, Any]) -> None:
    typer.echo(json.dumps(document, ensure_ascii=False, separators=(",", ":")))


def complain(fault: AlphaAgentError) -> None:
    say(f"error: {fault.message}" + (f"\n  fix: {fault.fix}" if fault.fix else ""))


def say(text: str) -> None:
    """A line to stderr."""
    from alphaagent.domain.text import inert

    typer.echo("\n".join(inert(line) for line in text.split("\n")), err=True)


def refuse_unreadable(arguments: list[str]) -> None:
    """Bytes that are no UTF-8 arrive as lone surrogates, which neither books nor files can hold. Raises UsageFault."""
    for argument in arguments:
        if any("\ud800" <= character <= "\udfff" or character == "\0" for character in argument):
            raise UsageFault(f"an argument is not UTF-8 text: {ascii(argument)[:60]}", fix="write it in UTF-8")
