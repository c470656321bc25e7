"""Targets and notices become documents and rows. Pure, like views.py."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from alphaagent.domain.base import instant_text

if TYPE_CHECKING:
    from alphaagent.operations.notifications import TargetState

TARGET_COLUMNS = ("target", "variable", "state", "waiting", "sent", "given_up", "topics")
UNSENT_COLUMNS = ("announced_at", "target", "topic", "key", "tries", "next_try_at", "state", "last_fault")


def notify_document(targets: "Sequence[TargetState]", unsent: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The public JSON of `notify list`."""
    return {"targets": [_target(one) for one in targets], "unsent": [_unsent(one) for one in unsent]}


def _target(one: "TargetState") -> dict[str, Any]:
    state = "not in notify.yaml" if one.variable is None else "set" if one.is_set else "not set here"
    return {
        "target": one.name,
        "variable": one.variable,
        "state": state,
        "waiting": one.waiting,
        "sent": one.sent,
        "given_up": one.dead,
        "topics": ",".join(one.topics) or None,
    }


def _unsent(one: dict[str, Any]) -> dict[str, Any]:
    return {
        **{name: one[name] for name in ("target", "topic", "key", "tries", "last_fault")},
        "announced_at": instant_text(one["announced_at"]),
        "next_try_at": instant_text(one["next_try_at"]) if one["next_try_at"] else None,
        "state": "given up" if one["dead"] else "waits",
    }
