"""What changed in live data, as documents and as lines."""

from typing import TYPE_CHECKING, Any

from alphaagent.domain.base import instant_text
from alphaagent.domain.text import inert

if TYPE_CHECKING:
    from alphaagent.operations.live_data import Compared

SHOWN = 40
"""Lines of one topic on a screen; the JSON has all."""


def compared_document(ticker: str, one: "Compared") -> dict[str, Any]:
    """One topic's differences."""
    found = [{"what": each.what, "where": each.where, "before": each.before, "after": each.after} for each in one.differences]
    times = {"before": instant_text(one.before), "after": instant_text(one.after)}
    return {"ticker": ticker, "topic": one.topic, "vendor": one.vendor, **times, "differences": found}


def compared_lines(one: "Compared") -> list[str]:
    """The same in words."""
    head = f"{one.topic} by {one.vendor}, {instant_text(one.before)} and {instant_text(one.after)}: "
    count = len(one.differences)
    lines = [head + ("no difference" if not count else f"{count} difference{'s' if count > 1 else ''}")]
    lines += [
        f"  {each.what:<9} {inert(each.where)}: {inert(each.before or 'nothing')} -> {inert(each.after or 'nothing')}" for each in one.differences[:SHOWN]
    ]
    return [*lines, f"  and {count - SHOWN} more (--json shows all)"] if count > SHOWN else lines
