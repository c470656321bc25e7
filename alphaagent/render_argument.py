"""An argument on a terminal, so that a person follows it: the gap as a chart, then claim by claim, then what stays open."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from alphaagent.domain.text import inert
from alphaagent.render_crew import STYLE
from alphaagent.views_words import ENDED, MOVES, NAMES, SKIPPED, UNANCHORED

CHART_WIDTH = 31
"""Columns from 0 to 1."""
ARROW = {"up": "↑", "down": "↓"}
STATUS_STYLE = {"conceded": "bold red", "narrowed": "yellow", "upheld": "bold green", "standing": "green", "open": "yellow"}


def argument(document: Mapping[str, Any]) -> RenderableType:
    """The chart, the claims, the open points, the measures."""
    parts: list[RenderableType] = [*_chart(document["rounds"], Decimal(document["base_rate"])), Text(_measures(document["measures"]))]
    if document["skipped"]:
        parts.append(Text(SKIPPED[document["skipped"]["reason"]], "yellow"))
    for side in ("bull", "bear"):
        parts += _side(side, [claim for claim in document["claims"] if claim["by"] == side])
    parts += _open(document["open"])
    parts += [Text(f"{NAMES[one['side']]}, round {one['round']}: the number and the words part ({one['verdict']})", "yellow") for one in document["stances"]]
    return Group(*parts)


def _chart(rounds: Sequence[Mapping[str, Any]], base_rate: Decimal) -> Iterator[Text]:
    """One line a round from 0 to 1: the bear and the bull with the gap between them, over the line of the two openings and the base rate."""
    if not rounds:
        return
    opened = (_column(Decimal(rounds[0]["bear"])), _column(Decimal(rounds[0]["bull"])))
    yield Text(f"\np(up)    0{' ' * (CHART_WIDTH - 2)}1", "dim")
    for point in rounds:
        bull, bear = Decimal(point["bull"]), Decimal(point["bear"])
        line = _line(_column(bear), _column(bull), opened, _column(base_rate))
        yield Text.assemble((f"round {point['round']}  ", "dim"), line, (f"  bear {bear:.2f}  bull {bull:.2f}  gap {Decimal(point['gap']):.2f}", ""))
    yield Text("         ┆ where the two openings stood   · base rate   ━ the gap", "dim")


def _line(bear: int, bull: int, opened: tuple[int, int], base: int) -> Text:
    text, low, high = Text(), min(bear, bull), max(bear, bull)
    for column in range(CHART_WIDTH):
        if column == bull:
            text.append("▲", STYLE["bull"])
        elif column == bear:
            text.append("▼", STYLE["bear"])
        elif low < column < high:
            text.append("━", "dim")
        elif column in opened:
            text.append("┆", "dim")
        else:
            text.append("·" if column == base else " ", "dim")
    return text


def _column(value: Decimal) -> int:
    return int((value * (CHART_WIDTH - 1)).to_integral_value())


def _measures(measures: Mapping[str, Any]) -> str:
    settled, contested = measures["settled"], measures["contested"]
    outcome = measures["outcome"] or "one round only"
    closed = f" by {measures['closed_by']}" if measures["closed_by"] else ""
    flags = ", ".join(dict.fromkeys(f"{flag['name']}{' of the ' + flag['side'] if flag['side'] else ''}" for flag in measures["flags"]))
    final = f"p(up) {Decimal(measures['p_final']):.2f} with a gap of {Decimal(measures['gap']):.2f}, {'anchored' if measures['anchored'] else UNANCHORED}"
    return (
        f"{final}\ngap {outcome}{closed}; {contested['part']} of {contested['of']} claims contested, {settled['part']} of {settled['of']} settled; "
        f"class {measures['class']}" + (f"; flags: {flags}" if flags else "")
    )


def _side(side: str, claims: Sequence[Mapping[str, Any]]) -> Iterator[RenderableType]:
    yield Text(f"\n{NAMES[side]}", f"bold {STYLE[side]}")
    if not claims:
        yield Text("  no claim stands on this side")
    for claim in claims:
        yield Padding(_claim(claim), (0, 0, 0, 2))
        for hit in claim["hits"]:
            yield Padding(_hit(hit), (0, 0, 0, 6))


def _claim(claim: Mapping[str, Any]) -> Text:
    text = Text.assemble((f"{claim['id']} ", "bold"), (claim["status"], STATUS_STYLE[claim["status"]]), f"  {ARROW[claim['direction']]} ")
    text.append(inert(claim["text"]))
    text.append(f"  [{claim['kind']}, {claim['severity']}]  {' '.join(claim['evidence_ids'])}", "dim")
    if claim["number"] in ("supported", "contradicted"):
        text.append(f"\nits number is {claim['number']} by the evidence", "green" if claim["number"] == "supported" else "bold red")
    if claim["as_first_said"]:
        text.append(f"\nfirst said: {inert(claim['as_first_said'])}", "dim")
    return text


def _hit(hit: Mapping[str, Any]) -> Text:
    ground = inert(hit["fallacy"] or " ".join(hit["evidence_ids"]))
    text = Text.assemble((f"{hit['id']} ", STYLE[hit["by"]]), inert(hit["argument"]), (f"  [{hit['severity']}]  {ground}", "dim"))
    for answer in hit["answers"]:
        text.append(f"\n  round {answer['round']}, {NAMES[answer['side']].lower()} {MOVES[answer['what']]}", STYLE[answer["side"]])
        text.append(f": {inert(answer['reason'])}" if answer["reason"] else "")
        text.append(f"  {' '.join(answer['evidence_ids'])}" if answer["evidence_ids"] else "", "dim")
        text.append(f"  does not count: {', '.join(answer['codes'])}" if answer["codes"] else "", "yellow")
    text.append(f"\n  {ENDED[hit['closed_by'] or hit['status']]}", "dim")
    return text


def _open(points: Sequence[Mapping[str, Any]]) -> Iterator[Text]:
    if points:
        yield Text("\nStill open", "bold")
    for point in points:
        yield Text.assemble((f"  {point['objection_id']} on {point['claim_id']}", "bold"), f" ({point['severity']})")
        yield Text.assemble(("    the bull: ", STYLE["bull"]), inert(point["bull_position"]))
        yield Text.assemble(("    the bear: ", STYLE["bear"]), inert(point["bear_position"]))
        for one in point["conditions"]:
            said = f"{inert(one['observable'])} {one['operator']} {one['threshold']} by {one['by_date']}, which would say {one['says']}"
            yield Text(f"    would be settled by {said}", "cyan")
        if not point["conditions"]:
            yield Text("    nobody said what would settle it", "yellow")
