"""Writes docs/wiki/CLI.md from the command line itself: every command, argument and option with its help text.

    python docs/make_cli_page.py            writes the page
    python docs/make_cli_page.py --check    exit 1 where the committed page differs

Nothing here depends on the terminal's width: the texts come from the commands' own records, not from the printed help.
"""

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from alphaagent.cli import app

PAGE = Path(__file__).resolve().parent / "wiki" / "CLI.md"
PLAIN_TYPE = re.compile(r" <(str|list\[str\])>$")
HEAD = """# Command line

Made from the program by `make docs`; do not edit. Data goes to stdout, messages to stderr. What the exit codes and the common messages
mean stands in [Troubleshooting](Troubleshooting.md), the environment variables in [Configuration](Configuration.md).
"""


def page() -> str:
    """The whole page."""
    root = typer.main.get_command(app)
    return "\n".join([HEAD, *(described(names, command) for names, command in walk(root, ("alphaagent",)))]).rstrip("\n") + "\n"


def walk(command: Any, names: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The command and everything under it, in the order of the program's help."""
    yield names, command
    for name, child in getattr(command, "commands", {}).items():
        yield from walk(child, (*names, name))


def described(names: tuple[str, ...], command: Any) -> str:
    """One command: heading, what it does, how it is called, its parameters."""
    context = context_of(names, command)
    usage = " ".join([*names, *command.collect_usage_pieces(context)]).replace("{", "").replace("}", "")
    lines = [f"## {' '.join(names)}", "", inspect.cleandoc(command.help or ""), "", "```", usage, "```", ""]
    records = [record for parameter in command.get_params(context) if (record := parameter.get_help_record(context))]
    rows = [f"| `{cell(PLAIN_TYPE.sub('', name))}` | {cell(text)} |" for name, text in records if name != "--help"]
    table = ["| parameter | meaning |", "|---|---|", *rows, ""] if rows else []
    children = [f"* [{' '.join((*names, name))}](#{'-'.join((*names, name))})" for name in getattr(command, "commands", {})]
    return "\n".join([*lines, *table, *children, *([""] if children else [])])


def context_of(names: tuple[str, ...], command: Any) -> typer.Context:
    return typer.Context(command, info_name=" ".join(names))


def cell(text: str) -> str:
    """A help text inside a table cell."""
    return " ".join(text.split()).replace("|", "\\|")


def main(arguments: list[str]) -> int:
    made = page()
    if arguments == ["--check"]:
        current = PAGE.read_text(encoding="utf-8") if PAGE.is_file() else ""
        if current != made:
            sys.stderr.write(f"{PAGE.name} is not current; run `make docs`\n")
        return int(current != made)
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
