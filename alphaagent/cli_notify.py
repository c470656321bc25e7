"""The commands about notifications. Like cli.py they parse, make one call and print."""

from typing import TYPE_CHECKING, Annotated

import typer

from alphaagent.cli_common import AsJson, print_json, say
from alphaagent.errors import AlphaAgentError

if TYPE_CHECKING:
    from alphaagent.bootstrap import Workplace
    from alphaagent.notify.sender import Drained

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Who is told of what happens, and whether it arrived.")


@app.command("send")
def notify_send(as_json: AsJson = False) -> int:
    """Send what waits in the outbox, once; for a timer. Exit 4 where a target did not take it: it is tried again by a later run."""
    from alphaagent.bootstrap import Workplace
    from alphaagent.operations import notifications

    workplace = Workplace.open()
    done = notifications.send(workplace)
    if as_json:
        print_json({"sent": done.sent, "failed": list(done.failed), "given_up": done.buried})
    else:
        typer.echo(f"{done.sent} sent" + (f", {done.buried} given up" if done.buried else ""))
    complain_of_sending(workplace, done)
    return 4 if done.failed else 0


def send_what_waits(workplace: "Workplace") -> None:
    """Empties the outbox at the end of another command; what is wrong with that is said, and changes nothing of what the command came to."""
    from alphaagent.operations import notifications

    try:
        complain_of_sending(workplace, notifications.send(workplace))
    except AlphaAgentError as fault:
        say(f"not sent: {fault.message}; it is tried again")


def complain_of_sending(workplace: "Workplace", done: "Drained") -> None:
    """What an operator should know of a pass over the outbox."""
    from alphaagent.operations import notifications

    for line in done.failed:
        say(f"not sent: {line}; it is tried again")
    for variable in notifications.unset(workplace):
        say(f"{variable} is not set here: what is meant for its target waits")


@app.command("test")
def notify_test(
    target: Annotated[str | None, typer.Argument(metavar="TARGET", help="One target of notify.yaml; all of them where it is left out.")] = None,
) -> None:
    """Send a test message, past the outbox. Exit 4 where it does not arrive."""
    from alphaagent.bootstrap import Workplace
    from alphaagent.operations import notifications

    for name in notifications.try_target(Workplace.open(), target):
        typer.echo(f"{name}: taken")


@app.command("list")
def notify_list(
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Of what has not arrived, the newest so many.")] = 20, as_json: AsJson = False
) -> None:
    """The targets, what each was sent, and what has not arrived."""
    from alphaagent.bootstrap import Workplace
    from alphaagent.operations import notifications
    from alphaagent.views_notify import TARGET_COLUMNS, UNSENT_COLUMNS, notify_document

    targets, unsent = notifications.overview(Workplace.open(), limit)
    document = notify_document(targets, unsent)
    if as_json:
        return print_json(document)
    from alphaagent import render

    for columns, rows in ((TARGET_COLUMNS, document["targets"]), (UNSENT_COLUMNS, document["unsent"])):
        for line in render.lined_up(columns, rows) if rows else ():
            typer.echo(line)
    if not document["targets"]:
        say("nobody is told of anything: config/notify.yaml has no target")
