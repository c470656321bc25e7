"""A debate on a terminal. What a model wrote is shown and never obeyed: no markup, no control characters."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text

from alphaagent.domain.text import inert
from alphaagent.render_argument import argument
from alphaagent.render_calls import laid_out, reply, request
from alphaagent.render_crew import STYLE
from alphaagent.views_debate import models_line
from alphaagent.views_words import NAMES, SAME_MODEL, cost_line


def debate_page(document: Mapping[str, Any]) -> RenderableType:
    """The argument, then turn by turn what was answered; the calls after it where the document has them."""
    said = [argument(document["argument"]), Text("\nTurn by turn", "bold")] if document["argument"] else []
    turns = (_turn(turn) for turn in document["turns"])
    return Group(Text("\nThe debate", "bold"), *_heading(document), *said, *turns, *_tools(document), *_calls(document))


def _heading(document: Mapping[str, Any]) -> Iterator[Text]:
    yield Text(f"plan {document['plan']}: {models_line(document['models'], document['provider'])}", "dim")
    if document["same_model"]:
        yield Text(SAME_MODEL, "yellow")
    yield Text(cost_line(document["usage"], priced=document["priced"]), "dim")
    if document["fault"]:
        yield Text(f"ended by {document['fault']['kind']}: {inert(document['fault']['message'])}", "bold red")


def _turn(turn: Mapping[str, Any]) -> RenderableType:
    lines: list[RenderableType] = [Text(f"sent back: {', '.join(repair['codes'])}. {inert(repair['message'])}", "yellow") for repair in turn["repairs"]]
    lines += [Text(f"left as it was: {', '.join(turn['faults'])}", "yellow")] if turn["faults"] else []
    lines += [Text(f"left out of the prompt for its size: {', '.join(turn['cut'])}", "yellow")] if turn["cut"] else []
    lines += laid_out(turn["answer"]) if turn["answer"] is not None else [Text("no usable answer", "bold red")]
    count = f"{turn['calls']} call{'' if turn['calls'] == 1 else 's'}"
    title = Text(f"{NAMES[turn['side']]}, {turn['phase']} ({count}, {turn['seconds']} s)", STYLE[turn["side"]])
    return Panel(Group(*lines), title=title, title_align="left", box=box.ROUNDED, border_style=STYLE[turn["side"]], padding=(0, 1))


def _tools(document: Mapping[str, Any]) -> Iterator[Text]:
    for tool in document["tools"]:
        yield Text(f"{NAMES[tool['side']]} called {inert(tool['tool'])}({inert(tool['arguments'])[:60]}): {tool['status']}", "dim")


def _calls(document: Mapping[str, Any]) -> Iterator[RenderableType]:
    for call in document.get("calls", ()):
        state = f"HTTP {call['status']}" if call["status"] else "no answer"
        again = f", attempt {call['attempt']}" if call["attempt"] > 1 else ""
        head = f"\n{NAMES[call['side']]}, {call['phase']}, request {call['number']}{again}: {inert(call['model'])}"
        yield Text(f"{head}, {state}, {call['latency_ms']} ms", f"bold {STYLE[call['side']]}")
        yield Text("sent", "underline")
        yield from _set_in(request(call["request"]))
        yield Text("came", "underline")
        if call["fault"]:
            yield Padding(Text(f"{call['fault']['kind']}: {inert(call['fault']['message'])}", "red"), (0, 0, 0, 2))
        yield from _set_in(_response(call))


def _response(call: Mapping[str, Any]) -> Iterator[RenderableType]:
    if call["reply"]:
        return reply(call["reply"])
    if call["response"] is None:
        return iter((Text("nothing"),))
    return laid_out(call["response"])


def _set_in(parts: Iterator[RenderableType]) -> Iterator[RenderableType]:
    return (Padding(part, (0, 0, 0, 2)) for part in parts)
