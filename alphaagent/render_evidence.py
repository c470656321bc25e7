"""The evidence of a decision on a terminal: a table where there is room for one, else a list by tool."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from alphaagent.domain.text import inert

TABLE_FROM = 180
"""Columns from which a table of six columns can be read."""
NAMES = {"bull": "bull", "bear": "short seller", "cio": "CIO"}
"""Whose tool it is. The CIO is handed all of it with the verdict's task."""


def evidence(document: Mapping[str, Any], out: Console) -> RenderableType:
    """Every item of the pack: whose it is, when it became known, what it says."""
    items = document["evidence"]["items"]
    return evidence_table(items) if out.width >= TABLE_FROM else evidence_list(items)


def evidence_table(items: list[Mapping[str, Any]]) -> Table:
    """An item a row."""
    table = Table(title="Evidence", title_justify="left", box=box.SIMPLE, header_style="dim")
    for column in ("id", "tool", "sides", "known at", "status", "what it says"):
        table.add_column(column, no_wrap=column in ("id", "status"))
    for item in items:
        cells = (item["id"], item["tool"], " ".join(item["side"]), item["known_at"], item["status"], item["summary"])
        table.add_row(*(Text(inert(cell)) for cell in cells))
    return table


def evidence_list(items: list[Mapping[str, Any]]) -> Group:
    """The items under the tool that brought them, each with its summary below it."""
    parts: list[RenderableType] = [Text("\nEvidence", "bold")]
    for (tool, sides), group in groupby(items, key=lambda item: (item["tool"], tuple(item["side"]))):
        parts.append(Text.assemble((f"\n{tool}", "bold"), (f"  for {', '.join(NAMES[side] for side in sides)}", "dim")))
        parts += [line for item in group for line in _item(item)]
    return Group(*parts)


def _item(item: Mapping[str, Any]) -> Iterator[RenderableType]:
    head = Text.assemble((item["id"], "dim"), f"  {inert(item['kind'])}  ", (f"known {item['known_at'][:10]}", "dim"))
    if item["status"] != "ok":
        head.append(f"  {item['status']}", "yellow")
    yield Padding(head, (0, 0, 0, 2))
    yield Padding(Text(inert(item["summary"])), (0, 0, 0, 6))
