"""The commands that read one decision back: `show` and `replay`. Like cli.py they parse, make one call and print."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from alphaagent.cli_common import AsJson, print_json, say
from alphaagent.errors import UsageFault

if TYPE_CHECKING:
    from alphaagent.bootstrap import Workplace


def show(
    decision: Annotated[str | None, typer.Argument(metavar="DECISION", help="A decision's id, or `last`.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="List decisions instead, newest first; the options below choose which.")] = False,
    ticker: Annotated[str | None, typer.Option("--ticker", metavar="T", help="With --list: one ticker, under any of its names.")] = None,
    since: Annotated[str | None, typer.Option("--since", metavar="DATE", help="With --list: as of this day (UTC) or later.")] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="DATE", help="With --list: as of this day (UTC) or earlier.")] = None,
    engine: Annotated[str | None, typer.Option("--engine", metavar="E", help="With --list: crew or heuristic.")] = None,
    provenance: Annotated[
        str | None, typer.Option("--provenance", metavar="P", help="With --list: crew, heuristic, fallback (a crew that could not speak) or repaired.")
    ] = None,
    action: Annotated[str | None, typer.Option("--action", metavar="A", help="With --list: BUY, SELL, HOLD, or NONE where nothing could be read.")] = None,
    debate_class: Annotated[
        str | None, typer.Option("--class", metavar="C", help="With --list: what the debate may be used for, such as earned or theater, or none.")
    ] = None,
    outcome: Annotated[str | None, typer.Option("--outcome", metavar="O", help="With --list: APPROVE, CLIP, BLOCK, or a code such as NO_ORDER.")] = None,
    portfolio: Annotated[str | None, typer.Option("--portfolio", metavar="NAME", help="With --list: one portfolio.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="With --list: at most so many.")] = 50,
    transcript: Annotated[bool, typer.Option("--transcript", help="The debate as well: what each side said, and what was sent back.")] = False,
    calls: Annotated[bool, typer.Option("--calls", help="Every prompt and reply as well, as it went over the wire.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show a stored decision: both cases, the verdict, the guard's trace, the evidence, what changed since the one before."""
    from alphaagent.bootstrap import Workplace
    from alphaagent.views import decision_document, difference_document
    from alphaagent.views_debate import transcript_document

    workplace = Workplace.open()
    filters = {"ticker": ticker, "since": since, "until": until, "engine": engine, "provenance": provenance, "action": action}
    filters |= {"debate_class": debate_class, "outcome": outcome, "portfolio": portfolio}
    if listed:
        return _list_decisions(workplace, decision, filters, limit, as_json=as_json)
    if decision is None or any(filters.values()):
        raise UsageFault("show takes a decision, or --list with filters", fix="run `alphaagent show last`, or `alphaagent show --list`")
    stored = workplace.stored_decision(decision)
    before = workplace.required_store().previous(stored.record.decision_id)
    debate = workplace.transcript(stored)
    document = decision_document(stored.record, stored, transcript=debate)
    document["previous"] = difference_document(before.record, stored.record) if before else None
    if debate is not None and (transcript or calls):
        document["transcript"] = transcript_document(debate, calls=calls)
    if as_json:
        return print_json(document)
    _print_decision(workplace, document, asked=transcript or calls)


def _print_decision(workplace: "Workplace", document: dict[str, Any], *, asked: bool) -> None:
    from alphaagent import render, render_debate, render_evidence

    out = render.console()
    out.print(render.decision_page(document, out, workplace.rule_titles()))
    out.print(render_evidence.evidence(document, out))
    if document["previous"]:
        out.print(render.difference(document["previous"]))
    if "transcript" in document:
        out.print(render_debate.debate_page(document["transcript"]))
    elif asked:
        say("no model took part in this decision")


def _list_decisions(workplace: "Workplace", decision: str | None, filters: dict[str, str | None], limit: int, *, as_json: bool) -> None:
    from alphaagent.views_books import DECISION_COLUMNS

    if decision is not None:
        raise UsageFault("--list takes no decision", fix="leave out either of the two")
    documents = workplace.listed_decisions(limit, **filters)
    if as_json:
        for document in documents:
            print_json(document)
        return
    from alphaagent import render

    for line in render.lined_up(DECISION_COLUMNS, documents):
        typer.echo(line)
    if not documents:
        say("no decision matches")


def replay(decision: Annotated[str, typer.Argument(metavar="DECISION", help="A decision's id, or `last`.")], as_json: AsJson = False) -> int:
    """Run a stored decision again from its record alone; exit 0 only if every byte agrees, else 6."""
    from alphaagent.bootstrap import Workplace
    from alphaagent.replay import replay as run_again

    workplace = Workplace.open()
    stored = workplace.stored_decision(decision)
    checks = run_again(stored, workplace.transcript(stored), workplace.debate_again)
    agrees = all(check.agrees for check in checks)
    if as_json:
        parts = [{"part": check.part, "agrees": check.agrees, "difference": check.difference} for check in checks]
        print_json({"decision_id": stored.record.decision_id, "agrees": agrees, "parts": parts})
    else:
        for check in checks:
            typer.echo(f"{'same  ' if check.agrees else 'DIFFERS'} {check.part}" + (f"\n        {check.difference}" if check.difference else ""))
        typer.echo(f"{stored.record.decision_id}: {'every byte agrees' if agrees else 'the replay differs from the record'}")
    return 0 if agrees else 6
