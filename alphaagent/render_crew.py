"""A crew's decision on a terminal: who was asked, what each side claims and on which evidence. Text is never markup."""

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from alphaagent.domain.text import inert
from alphaagent.views_debate import models_line
from alphaagent.views_words import NAMES, SAME_MODEL, SEVERITY, cost_line

STYLE = {"bull": "green", "bear": "red", "cio": "cyan"}
ARROW = {"up": ("▲", "green"), "down": ("▼", "red")}
FATE = {"conceded": "red", "narrowed": "yellow", "upheld": "green"}
"""How what became of a claim is coloured; one that nobody attacked stays open."""
PLACE = re.compile(r"^[a-z_]+\[[0-9]+\]: ")
"""Where a fault stands in the answer's JSON; on the page it stands below its claim."""
OUTCOMES = {"outcome": "the gap", "class": "class"}
SKIPPED = {
    "openings_agree": "the openings lay too close together to be argued over",
    "no_case": "neither side had a case, so that nothing was argued over",
    "consensus": "the exchange ended early, in an earned consensus",
}
"""Why phases of the plan were not taken."""


def heading(document: Mapping[str, Any]) -> Iterator[Text]:
    """Who decided and what it cost. After a fallback: what failed, what that cost, and where the debate can be read."""
    if document["provenance"] == "fallback":
        yield from _fallen_back(document)
        return
    yield Text(f"crew: {_asked(document)}, plan {document['debate']['plan']}", "italic")
    yield Text(cost_line(document["usage"], priced=document["crew"] is None or document["crew"]["priced"]), "dim")
    if document["crew"] and document["crew"]["same_model"]:
        yield Text(SAME_MODEL, "yellow")


def _fallen_back(document: Mapping[str, Any]) -> Iterator[Text]:
    reason = inert(document["fallback_reason"]).rstrip(".")
    yield Text(f"fallback: {reason}; the heuristic engine decided instead, a mechanical read without a model", "italic yellow")
    if document["crew"]:
        yield Text(f"asked: {_asked(document)}; {cost_line(document['usage'], priced=document['crew']['priced'])}", "dim")
    if document["transcript_sha256"] and "audit" in document:
        yield Text(f"The debate's transcript is kept: `alphaagent show {document['decision_id']} --transcript`", "dim")


def _asked(document: Mapping[str, Any]) -> str:
    crew = document["crew"]
    return models_line(crew["models"], crew["provider"]) if crew else "models that are named in the transcript"


def case_panel(case: Mapping[str, Any], faults: Sequence[str] = ()) -> RenderableType:
    """One side: stance and probability, its claims with what they stand on, its strongest counter, and what stayed at fault in its answers."""
    style = STYLE[case["side"]]
    title = Text(NAMES[case["side"]], style)
    title.append(f"  opened {case['stance']}, ends at p(up) {Decimal(case['p_up']):.3f}")
    parts: list[RenderableType] = [_claims(case["lines"])] if case["lines"] else [_empty(case)]
    parts += [Text(f"cannot see: {inert(hole)}", "yellow") for hole in case["holes"]]
    if case.get("counter"):
        parts.append(Text.assemble(("Strongest counter: ", "bold"), (inert(case["counter"]), "italic")))
    if faults:
        parts.append(Text(f"left at fault, and counted for nothing: {', '.join(map(inert, faults))}", "yellow"))
    return Panel(Group(*parts), title=title, title_align="left", box=box.ROUNDED, border_style=style, padding=(0, 1))


def _empty(case: Mapping[str, Any]) -> Text:
    if not case["no_case"]:
        return Text(inert(case["summary"]), "yellow")
    return Text.assemble(("No case, and said so: ", "bold"), inert(case["no_case"]))


def _claims(lines: list[Mapping[str, Any]]) -> Table:
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column()
    for line in lines:
        table.add_row(Text(*ARROW[line["direction"]]), Group(*_claim(line)))
    return table


def _claim(line: Mapping[str, Any]) -> Iterator[Text]:
    yield Text(inert(line["text"]))
    ids = " ".join(line["evidence_ids"]) or "no evidence"
    fate = line.get("status") or "open"
    yield Text.assemble((f"{line['claim_id']}  {line['factor']}, {SEVERITY[line['severity']]}, ", "dim"), (fate, FATE.get(fate, "dim")), (f"  {ids}", "dim"))
    yield from (Text(f"found by the program: {inert(PLACE.sub('', fault))}", "yellow") for fault in line.get("faults", ()))


def rounds(debate: Mapping[str, Any]) -> Text:
    """The two probabilities round by round, with what lies between them; what they came to where the plan asks for it."""
    text = Text()
    for place, one in enumerate(debate["rounds"]):
        figures = {name: f"{Decimal(one[name]):.3f}" for name in ("bull", "bear", "gap", "mid")}
        text.append("\nDebate   " if place == 0 else "\n         ", "bold")
        text.append(f"round {one['round']}: p(up) bull {figures['bull']}, bear {figures['bear']}; gap {figures['gap']}, middle {figures['mid']}")
    told = [f"{word} {debate[key].replace('_', ' ')}" for key, word in OUTCOMES.items() if debate[key]]
    text.append(f"\n         {', '.join(told)}" if told else "")
    text.append(f"\n         {SKIPPED[debate['skipped']]}" if debate["skipped"] else "", "yellow")
    text.append(f"\n         flags: {', '.join(debate['flags'])}" if debate["flags"] else "", "yellow")
    return text
