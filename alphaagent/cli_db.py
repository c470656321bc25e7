"""The commands about the ledger's file. Like cli.py: parse, one call, print."""

from pathlib import Path
from typing import Annotated, Any

import typer

from alphaagent.cli_common import ACTOR, AsJson, print_json, say

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="The ledger's file: check, upgrade, back up, restore.")


@app.command("check")
def check(as_json: AsJson = False) -> int:
    """Read the whole file: SQLite's own check, the schema, every link of the audit trail. Exit codes as of `audit verify`."""
    from alphaagent.bootstrap import Workplace
    from alphaagent.operations import keeping
    from alphaagent.views import verify_document, verify_lines

    found = keeping.check(Workplace.open().settings.database_url)
    if as_json:
        document: dict[str, Any] = {"path": str(found.path), "bytes": found.bytes, "schema": found.schema, "current_schema": found.current_schema}
        print_json(document | {"file_fault": found.file_fault, "audit": verify_document(found.report), "exit_code": found.exit_code})
        return found.exit_code
    up_to_date = "up to date" if found.schema == found.current_schema else f"this program's is {found.current_schema}: run `alphaagent db upgrade`"
    typer.echo(f"{found.path}  {found.bytes:,} bytes, schema {found.schema}, {up_to_date}")
    typer.echo(f"file: {found.file_fault or 'sound'}")
    for line in verify_lines(found.report):
        typer.echo(line)
    return found.exit_code


@app.command("upgrade")
def upgrade() -> None:
    """Bring the schema up to this program's; any command that writes does so too. Back up first: an older program refuses newer books."""
    from alphaagent.bootstrap import Workplace
    from alphaagent.operations import keeping

    workplace = Workplace.open()
    before, after = keeping.upgrade(workplace.settings.database_url, workplace.clock)
    typer.echo(f"schema {after}: it was up to date" if before == after else f"schema {before} became {after}")


@app.command("backup")
def backup(file: Annotated[Path, typer.Argument(metavar="FILE", help="A new file; an existing one is never overwritten.")]) -> None:
    """Copy the ledger as it stands, beside whoever writes to it, and verify the copy. stdout is the copy's anchor: keep it elsewhere."""
    from alphaagent.bootstrap import Workplace
    from alphaagent.operations import keeping

    made, anchor = keeping.backup(Workplace.open().settings.database_url, file)
    say(f"{made.path}: {made.bytes:,} bytes, {made.report.rows} audit rows, verified")
    typer.echo(anchor)


@app.command("restore")
def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that `db backup` made.")],
    replace: Annotated[bool, typer.Option("--replace", help="Where there are books: move them aside, and keep them.")] = False,
) -> None:
    """Put a backup in the ledger's place, HALTED until `resume`: it does not know which orders and messages left after it was made.

    Stop the schedule and every other command first.
    """
    from alphaagent.bootstrap import Workplace
    from alphaagent.operations import keeping
    from alphaagent.operations.lock import only_one

    workplace = Workplace.open()
    with only_one(workplace.settings.home / "data" / "schedule.lock", say):
        done = keeping.restore(workplace.settings.database_url, file, workplace.clock, replace=replace, actor=ACTOR)
    typer.echo(f"{done.path} is the backup {file}, with {done.rows} audit rows, and HALTED")
    if done.set_aside is not None:
        typer.echo(f"what was there before is {done.set_aside}")
    say("next: `alphaagent audit verify --anchor FILE` with anchors kept elsewhere tells what is missing; compare the pending orders of")
    say("`alphaagent portfolio show` with the messages sent since; then `alphaagent resume --reason WHY`")
