"""The portfolios that are swept, one file each in config/portfolios: who may be bought, in which order, by whom, and for how much.

A file's stem is the portfolio's name. Nothing is guessed: an unknown key, a ticker that YAML took for something else, and a name that stands
twice in any spelling are errors. What a file does not say is as config/alphaagent.yaml says it.
"""

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from alphaagent.domain.base import Frozen
from alphaagent.domain.record import EngineName, PlanName
from alphaagent.domain.text import inert, safe_name
from alphaagent.errors import ConfigFault, UsageFault
from alphaagent.settings import nearest
from alphaagent.yaml_files import read_yaml

LONGEST_WATCHLIST = 100
FIX = "correct the file, or see the shipped config/portfolios/default.yaml"


class PortfolioFile(Frozen):
    """One portfolio as its file describes it."""

    watchlist: tuple[str, ...] = Field(min_length=1, max_length=LONGEST_WATCHLIST)
    """What may be bought; of those who have waited equally long for a debate, who stands first is heard first."""
    mandate: str | None = None
    """Its limits and its risk profile, for its making; None: portfolio.mandate of alphaagent.yaml."""
    cash: Decimal | None = Field(None, ge=0, le=1_000_000_000, decimal_places=2)
    """For its making; None: portfolio.starting_cash of alphaagent.yaml."""
    engine: EngineName = "auto"
    plan: PlanName | None = None
    """None: the plan of debate.yaml."""
    daily_spend_usd: Decimal | None = Field(None, ge=0, le=1_000_000)
    """What its debates may cost on a UTC day, under the ceiling over all portfolios; None: no budget of its own."""


def read_portfolios(folder: Path, normal: Callable[[str], str]) -> dict[str, PortfolioFile]:
    """Every file of a folder, by name in order. `normal` is one spelling for all that name the same ticker. Raises ConfigFault."""
    for path in sorted(folder.glob("*.yml")):
        raise ConfigFault(f"{path} is not read: a portfolio's file ends in .yaml", fix=f"rename it to {path.stem}.yaml")
    _refuse_twins(path.stem for path in folder.glob("*.yaml"))
    return {_name_of(path): parse_portfolio(read_yaml(path), str(path), normal) for path in sorted(folder.glob("*.yaml"))}


def _refuse_twins(names: Iterable[str]) -> None:
    """Growth and growth would be two portfolios on one machine and one on the next."""
    first: dict[str, str] = {}
    for name in sorted(names):
        other = first.setdefault(name.lower(), name)
        if other != name:
            raise ConfigFault(f"portfolios {inert(other)[:60]} and {inert(name)[:60]} differ in capital letters only", fix="give one of the files another name")


def _name_of(path: Path) -> str:
    try:
        return safe_name(f"{path}: the file's name", path.stem)
    except UsageFault as fault:
        raise ConfigFault(fault.message, fix=fault.fix) from None


def parse_portfolio(document: Mapping[str, Any], source: str, normal: Callable[[str], str]) -> PortfolioFile:
    """One portfolio. Raises ConfigFault that names the file and the key."""
    _refuse_what_is_no_text(document.get("watchlist"), source)
    try:
        file = PortfolioFile.model_validate(document)
    except ValidationError as fault:
        raise ConfigFault(_explained(fault, source), fix=FIX) from None
    _refuse_repeated(file.watchlist, source, normal)
    return file


def _refuse_what_is_no_text(watchlist: object, source: str) -> None:
    """YAML reads `NULL` as nothing and `600519` as a number; a ticker is text."""
    for place, ticker in enumerate(watchlist if isinstance(watchlist, list) else ()):
        if not isinstance(ticker, str):
            told = "nothing" if ticker is None else inert(str(ticker))[:40]
            raise ConfigFault(f"{source}: watchlist.{place} is read as {told} and not as a ticker", fix="write it in quotes")


def _explained(fault: ValidationError, source: str) -> str:
    # A key that nobody knows comes first: where one is missing as well, it is most likely the same one misspelt.
    first = min(fault.errors(), key=lambda error: error["type"] != "extra_forbidden")
    key = ".".join(str(part) for part in first["loc"])
    match first["type"]:
        case "extra_forbidden":
            return f"{source}: unknown key {inert(key)[:60]}{nearest(key, list(PortfolioFile.model_fields))}"
        case "missing":
            return f"{source}: {key} is missing"
        case _:
            return f"{source}: {key} is {inert(str(first['input']))[:60]!r}: {first['msg'].lower()}"


def _refuse_repeated(watchlist: Iterable[str], source: str, normal: Callable[[str], str]) -> None:
    first: dict[str, str] = {}
    for ticker in watchlist:
        try:
            spelling = normal(ticker)
        except UsageFault as fault:
            raise ConfigFault(f"{source}: watchlist: {fault.message}", fix=fault.fix) from None
        if spelling in first:
            raise ConfigFault(f"{source}: watchlist: {first[spelling]} and {ticker} are the same ticker", fix="keep one of them")
        first[spelling] = ticker


def refuse_unknown_names(files: Mapping[str, PortfolioFile], folder: Path, mandates: Iterable[str], plans: Iterable[str]) -> None:
    """Raises ConfigFault where a file names a mandate or a plan that is not there."""
    known = {"mandate": list(mandates), "plan": list(plans)}
    for name, file in files.items():
        for key, names in known.items():
            chosen = getattr(file, key)
            if chosen is not None and chosen not in names:
                where = f"{folder / name}.yaml: {key} is {inert(chosen)[:60]!r}, and there is no such {key}"
                raise ConfigFault(f"{where}{nearest(chosen, names)}", fix=f"use one of: {', '.join(sorted(names))}")
