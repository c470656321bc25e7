"""Notifications as an operator and the end of a scheduled run see them: empty the outbox, try a target, look at what is there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from alphaagent.bootstrap import Workplace
from alphaagent.domain.text import inert
from alphaagent.errors import ConfigFault, NotSent, UsageFault
from alphaagent.notify import post
from alphaagent.notify.message import Message
from alphaagent.notify.sender import Carrier, Drained, drain

TEST = Message("AlphaAgent: a test", "If you can read this, the target works. Nothing has happened.", "info")


@dataclass(frozen=True, slots=True)
class TargetState:
    """One target of notify.yaml, or one that only the outbox still knows."""

    name: str
    variable: str | None
    """None where notify.yaml has no such target any more."""
    is_set: bool
    topics: tuple[str, ...]
    waiting: int = 0
    sent: int = 0
    dead: int = 0


def send(workplace: Workplace) -> Drained:
    """Empties the outbox once. Where there are no books, there is nothing to do."""
    if not workplace.has_books:
        return Drained()
    sending = _carriers(workplace, _addressed(workplace))
    return drain(workplace.store().outbox, sending, workplace.notify.topics_at(workplace.clock.now()), workplace.notify.file.targets)


def unset(workplace: Workplace) -> tuple[str, ...]:
    """The variables that notify.yaml names and that are not set here."""
    urls = workplace.settings.notify_urls
    return tuple(target.url_variable for target in workplace.notify.file.targets.values() if target.url_variable not in urls)


def _addressed(workplace: Workplace) -> dict[str, str]:
    """The targets that can be reached from here, with the variables that hold their addresses."""
    urls = workplace.settings.notify_urls
    return {name: target.url_variable for name, target in workplace.notify.file.targets.items() if target.url_variable in urls}


def _carriers(workplace: Workplace, variables: Mapping[str, str]) -> dict[str, Carrier]:
    """What takes messages to these targets."""
    return post.carriers({name: workplace.settings.notify_urls[variable] for name, variable in variables.items()}, variables)


def try_target(workplace: Workplace, name: str | None) -> tuple[str, ...]:
    """Sends a test to one target or to all of them, past the outbox; the names of those that took it. Raises UsageFault and NotSent."""
    targets = workplace.notify.file.targets
    if not targets:
        raise UsageFault(f"{workplace.settings.notify.path} has no target", fix="add one: its comments show how")
    if name is not None and name not in targets:
        raise UsageFault(f"there is no target {inert(name[:60])!r}", fix=f"there is: {', '.join(targets)}")
    chosen = {one: target.url_variable for one, target in targets.items() if name in (None, one)}
    missing = sorted(set(chosen.values()) - set(workplace.settings.notify_urls))
    if missing:
        raise ConfigFault(f"{missing[0]} is not set, so that nobody knows where to send", fix=f"set {missing[0]} to an address of Apprise")
    sending = _carriers(workplace, chosen)
    faults = {one: why for one, carry in sending.items() if (why := carry(TEST)) is not None}
    if faults:
        told = "; ".join(f"{one}: {why}" for one, why in faults.items())
        raise NotSent(f"the test did not arrive: {told}", fix="check the address, and that this machine may reach it")
    return tuple(chosen)


def overview(workplace: Workplace, limit: int) -> tuple[tuple[TargetState, ...], Sequence[dict[str, Any]]]:
    """Every target with what it was sent, and the newest notices that have not arrived."""
    store = workplace.existing_store()
    counts = store.outbox.counts() if store else {}
    known = {
        name: TargetState(name, target.url_variable, target.url_variable in workplace.settings.notify_urls, target.topics, **counts.get(name, {}))
        for name, target in workplace.notify.file.targets.items()
    }
    gone = [TargetState(name, None, False, (), **found) for name, found in sorted(counts.items()) if name not in known]
    return (*known.values(), *gone), store.outbox.unsent(limit) if store else ()
