"""A notice in words. Pure.

What a model, a vendor or a person wrote stands in quotation marks, in one line, cut short and made harmless: a message is read on a telephone, by
programs that turn text into links, pictures and alarms. The last lines are the program's own: the anchor of the act, to be kept, and the key.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from alphaagent.domain.notice import Notice, Topic
from alphaagent.domain.text import defused, inert

Mood = Literal["info", "success", "warning", "failure"]
MOODS: Mapping[Topic, Mood] = {"block": "warning", "control": "warning", "breaker": "failure", "failure": "failure", "frozen": "warning"}
LONGEST_TITLE, LONGEST_QUOTE, LONGEST_LINE, MOST_LINES = 100, 240, 300, 40


@dataclass(frozen=True, slots=True)
class Message:
    """What is sent: plain text."""

    title: str
    body: str
    mood: Mood


def message(notice: Notice) -> Message:
    """The words for a notice. Facts that are missing are left out: a notice is told as well as it can be."""
    facts = notice.facts
    title, lines = _WORDS[notice.topic](facts)
    told = [inert(line)[:LONGEST_LINE] for line in lines if line][:MOST_LINES]
    anchor = [f"anchor {inert(str(facts['anchor'])[:LONGEST_LINE])}"] if facts.get("anchor") else []
    return Message(inert(title)[:LONGEST_TITLE], "\n".join([*told, *anchor, f"ref {inert(notice.key[:LONGEST_LINE])}"]), _mood(notice))


def _mood(notice: Notice) -> Mood:
    if notice.topic == "order":
        return {"filled": "success", "rejected": "warning", "expired": "warning"}.get(str(notice.facts.get("order")), "info")  # type: ignore[return-value]
    return MOODS.get(notice.topic, "info")


def _order(facts: Mapping[str, Any]) -> tuple[str, list[str]]:
    status = _text(facts, "order")
    at = f" at {_text(facts, 'price')}" if status == "filled" else ""
    title = f"{_text(facts, 'side')} {_text(facts, 'quantity')} {_text(facts, 'ticker')} {status}{at}{_in(facts)}"
    if status != "placed":
        return title, [_quoted("why", facts, "reason"), _when(facts)]
    return title, [
        f"decided on {_text(facts, 'price')}; it fills at the open of {_text(facts, 'fill_session')} or not at all",
        _cut(facts),
        _when(facts),
        _quoted(_text(facts, "provenance"), facts, "said"),
    ]


def _block(facts: Mapping[str, Any]) -> tuple[str, list[str]]:
    codes = _several(facts, "codes")
    title = f"{_text(facts, 'ticker')} blocked by the guard: {', '.join(codes[:1])}{_in(facts)}"
    return title, [_asked(facts), f"codes: {', '.join(codes)}", _when(facts), _quoted(_text(facts, "provenance"), facts, "said")]


def _decision(facts: Mapping[str, Any]) -> tuple[str, list[str]]:
    verdict = _text(facts, "action") or "no readable proposal"
    return f"{_text(facts, 'ticker')}: {verdict}{_in(facts)}", [_asked(facts), _cut(facts), _when(facts), _quoted(_text(facts, "provenance"), facts, "said")]


def _control(facts: Mapping[str, Any]) -> tuple[str, list[str]]:
    before = f", before {_text(facts, 'before')}" if facts.get("before") else ""
    return f"{_text(facts, 'state')} by {_text(facts, 'actor')}{before}", [_quoted("why", facts, "reason"), _when(facts)]


def _failure(facts: Mapping[str, Any]) -> tuple[str, list[str]]:
    codes = ", ".join(_several(facts, "codes"))
    what = _text(facts, "title") or f"{_text(facts, 'ticker')}: nothing was decided, {codes}"
    return what + _in(facts), [_quoted("why", facts, "said"), _when(facts)]


def _frozen(facts: Mapping[str, Any]) -> tuple[str, list[str]]:
    what = f"{_text(facts, 'action')}, ex {_text(facts, 'ex_date')}, cannot be booked: no order is taken until somebody has looked"
    return f"{_text(facts, 'ticker')} is frozen{_in(facts)}", [what, "then run: alphaagent portfolio unfreeze"]


def _sweep(facts: Mapping[str, Any]) -> tuple[str, list[str]]:
    undone = f", {_text(facts, 'undone')} not" if facts.get("undone") else ""
    return f"swept: {_text(facts, 'decided')} decided{undone}{_in(facts)}", [_quoted("not decided", facts, "who"), _when(facts)]


def _digest(facts: Mapping[str, Any]) -> tuple[str, list[str]]:
    return _text(facts, "title"), _several(facts, "lines")


_WORDS = {
    **{"order": _order, "block": _block, "decision": _decision, "control": _control, "breaker": _control},
    **{"failure": _failure, "frozen": _frozen, "sweep": _sweep, "digest": _digest},
}


def _text(facts: Mapping[str, Any], name: str) -> str:
    """A short fact of the program's own: a name, a number, a date."""
    value = facts.get(name)
    return "" if value is None else defused(str(value), 60)


def _several(facts: Mapping[str, Any], name: str) -> list[str]:
    """Several texts of the program's own; none where somebody made something else of them."""
    found = facts.get(name)
    return [str(one) for one in found] if isinstance(found, list | tuple) else []


def _quoted(who: str, facts: Mapping[str, Any], name: str) -> str:
    """What somebody wrote, as such; nothing where nobody did."""
    text = defused(str(facts.get(name) or ""), LONGEST_QUOTE)
    return f'{who or "said"}: "{text}"' if text else ""


def _in(facts: Mapping[str, Any]) -> str:
    return f", portfolio {_text(facts, 'portfolio')}" if facts.get("portfolio") else ""


def _when(facts: Mapping[str, Any]) -> str:
    return f"as of {_text(facts, 'at')}" if facts.get("at") else ""


def _asked(facts: Mapping[str, Any]) -> str:
    action, amount = _text(facts, "action"), _text(facts, "amount")
    return f"proposed: {action} {amount}" if action and action != "HOLD" else ""


def _cut(facts: Mapping[str, Any]) -> str:
    codes = ", ".join(_several(facts, "codes"))
    return f"guard: {_text(facts, 'outcome')} {codes}" if facts.get("outcome") else ""
