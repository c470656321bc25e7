"""The tools of a side: each gives the items of the frozen pack that this side may see, and nothing else exists for it.

There is nothing to look up and so no argument to get wrong: what can be known at `as_of` was gathered before the first word.
"""

from collections.abc import Callable
from dataclasses import dataclass

from alphaagent.debate.prompts import evidence_line
from alphaagent.domain.evidence import BESIDE, SIDES, EvidenceItem, EvidencePack, Side, Status, ToolName
from alphaagent.llm.steps import Steps, ToolStatus

DESCRIPTIONS: dict[ToolName, str] = {
    "get_price_history": "Measures of the price history: returns, trend, drawdown, volatility, technical indicators, base rate. Takes no arguments.",
    "get_news_sentiment": "Headlines with their scores, and the measure over them. Takes no arguments.",
    "get_financial_health": "Accounts as filed: tests of health, valuation, the filings. Takes no arguments.",
    "get_market_price": "The last close and its age. Takes no arguments.",
}
"""What may be called. The portfolio is given and cannot be called."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool of one turn, ready to be called."""

    name: str
    description: str
    run: Callable[[], str]


def names_of(side: Side) -> tuple[ToolName, ...]:
    """The tools that a side may call."""
    return tuple(tool for tool, sides in SIDES.items() if side in sides and tool in DESCRIPTIONS)


def tools_of(side: Side, pack: EvidencePack, steps: Steps) -> tuple[Tool, ...]:
    """A side's tools over the pack, on the turn's step budget."""
    return tuple(Tool(name, DESCRIPTIONS[name], _runner(name, _visible(pack, side, name), steps)) for name in names_of(side))


def _visible(pack: EvidencePack, side: Side, name: ToolName) -> tuple[EvidenceItem, ...]:
    return tuple(item for item in pack.visible_to(side) if item.tool == name and item.known_at < pack.as_of)


def _runner(name: ToolName, items: tuple[EvidenceItem, ...], steps: Steps) -> Callable[[], str]:
    return lambda: steps.run(name, "{}", lambda: found(items))


def found(items: tuple[EvidenceItem, ...]) -> tuple[ToolStatus, str]:
    """What a tool answers. A source that failed and one that has nothing read differently, in words and in the log.

    What stands beside the tool's own measures says how it fared itself, in its line.
    """
    lines, own = "\n".join(evidence_line(item) for item in items), [item for item in items if item.kind not in BESIDE]
    if any(item.status is Status.FAILED for item in own):
        return "error", f"The source failed; this is no sign that there is nothing:\n{lines}"
    if all(item.status is Status.EMPTY for item in own):
        return "empty", f"The source answered and has nothing.\n{lines}".strip()
    return "success", lines
