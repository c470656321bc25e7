"""A debate on a terminal. What a model wrote is shown and never obeyed: no markup, no control characters."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from alphaagent.domain.text import inert

STYLE = {"bull": "green", "bear": "red", "cio": "cyan"}
NAMES = {"bull": "The bull", "bear": "The short seller", "cio": "The CIO"}


def debate_page(document: Mapping[str, Any]) -> RenderableType:
    """Turn by turn; the calls after it where the document has them."""
    return Group(Text("\nThe debate", "bold"), *_heading(document), *(_turn(turn) for turn in document["turns"]), *_tools(document), *_calls(document))


def _heading(document: Mapping[str, Any]) -> Iterator[Text]:
    models = ", ".join(f"{side} {inert(', '.join(models))}" for side, models in document["models"].items())
    usage = document["usage"]
    yield Text(f"  plan {document['plan']} at {document['provider']}: {models}", "dim")
    if document["same_model"]:
        yield Text("  Both sides were the same model: where they agree, it may be for no better reason than that.", "yellow")
    yield Text(f"  {usage['calls']} calls, {usage['prompt_tokens']} + {usage['completion_tokens']} tokens, USD {usage['cost_usd']}", "dim")
    if document["fault"]:
        yield Text(f"  ended by {document['fault']['kind']}: {inert(document['fault']['message'])}", "bold red")


def _turn(turn: Mapping[str, Any]) -> RenderableType:
    lines = [Text(f"sent back: {', '.join(repair['codes'])}. {inert(repair['message'])}", "yellow") for repair in turn["repairs"]]
    lines += [Text(f"left as it was: {', '.join(turn['faults'])}", "yellow")] if turn["faults"] else []
    lines += [Text(f"left out of the prompt for its size: {', '.join(turn['cut'])}", "yellow")] if turn["cut"] else []
    lines.append(Text(_laid_out(turn["answer"])) if turn["answer"] is not None else Text("no usable answer", "bold red"))
    title = Text(f"{NAMES[turn['side']]}, {turn['phase']} ({turn['calls']} calls, {turn['seconds']} s)", STYLE[turn["side"]])
    return Panel(Group(*lines), title=title, title_align="left", box=box.ROUNDED, border_style=STYLE[turn["side"]], padding=(0, 1))


def _laid_out(answer: str) -> str:
    """An answer's JSON one key a line; other text as it is."""
    try:
        laid = json.dumps(json.loads(answer), ensure_ascii=False, indent=2)
    except ValueError:
        laid = answer
    return "\n".join(inert(line) for line in laid.splitlines())


def _tools(document: Mapping[str, Any]) -> Iterator[Text]:
    for tool in document["tools"]:
        yield Text(f"  {tool['side']} called {inert(tool['tool'])}({inert(tool['arguments'])[:60]}): {tool['status']}", "dim")


def _calls(document: Mapping[str, Any]) -> Iterator[RenderableType]:
    for call in document.get("calls", ()):
        state = f"HTTP {call['status']}" if call["status"] else "no answer"
        head = f"\n{call['side']}, {call['phase']}, request {call['number']}, attempt {call['attempt']}: {inert(call['model'])}"
        yield Text(f"{head}, {state}, {call['latency_ms']} ms", "bold")
        if call["fault"]:
            yield Text(f"{call['fault']['kind']}: {inert(call['fault']['message'])}", "red")
        yield Text(f"sent\n{_laid_out(call['request'])}", "dim")
        yield Text(f"came\n{_laid_out(call['response'])}" if call["response"] is not None else "nothing came")
