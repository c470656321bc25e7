"""What the command line's modules share: the options that recur, how a document is printed, how a fault is told."""

import json
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any

import typer

from alphaagent.errors import AlphaAgentError, UsageFault

ACTOR = "operator"
AsOf = Annotated[str | None, typer.Option("--as-of", metavar="WHEN", help="A session's date (one second after its close) or an ISO instant with a zone.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on stdout; JSON Lines for several tickers.")]
PortfolioName = Annotated[str, typer.Option("--portfolio", metavar="NAME", help="The portfolio to decide for.")]


def money(what: str, text: str) -> Decimal:
    """An amount as it was typed. Raises UsageFault."""
    try:
        amount = Decimal(text)
    except InvalidOperation:
        raise UsageFault(f"{what} is {text!r}, which is no amount", fix="write digits with a decimal point, such as 2500.00") from None
    if not amount.is_finite() or not 0 < amount <= Decimal(10) ** 9 or amount != amount.quantize(Decimal("0.01")):
        raise UsageFault(f"{what} is {text!r}; an amount is above 0, at most 1000000000, with at most two decimals", fix="correct the amount")
    return amount


def print_json(document: dict[str, Any]) -> None:
    typer.echo(json.dumps(document, ensure_ascii=False, separators=(",", ":")))


def complain(fault: AlphaAgentError) -> None:
    say(f"error: {fault.message}" + (f"\n  fix: {fault.fix}" if fault.fix else ""))


def say(text: str) -> None:
    """A line to stderr."""
    from alphaagent.domain.text import inert

    typer.echo("\n".join(inert(line) for line in text.split("\n")), err=True)
