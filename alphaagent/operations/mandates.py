"""What the mandates allow: every limit beside its default and hard bounds, and every rule in words."""

from collections.abc import Mapping
from typing import Any

from alphaagent.domain.text import inert
from alphaagent.errors import ConfigFault, UsageFault
from alphaagent.guard.intake import CODES
from alphaagent.guard.limits import LimitLine, limit_lines
from alphaagent.guard.mandate import Mandate
from alphaagent.guard.registry import RULES

Document = dict[str, Any]


def named(mandates: Mapping[str, Mandate], name: str) -> Mandate:
    """A mandate by name. Raises ConfigFault that lists the names there are."""
    if name not in mandates:
        raise ConfigFault(f"there is no mandate {inert(name[:60])!r}", fix=f"use one of: {', '.join(sorted(mandates))}")
    return mandates[name]


def show(mandate: Mandate) -> Document:
    """The public JSON of a mandate: `looser` marks a limit that lets more through than its default."""
    return {
        "mandate": mandate.name,
        "risk_profile": mandate.risk_profile,
        "lot": f"{mandate.lot:f}",
        "limits_hash": mandate.limits_hash,
        "limits": [_limit(line) for line in limit_lines(mandate)],
    }


def explain(mandate: Mandate, rule: str) -> Document:
    """One rule in words, with its limits in force. Raises UsageFault on an id that is none."""
    id = rule.upper()
    if id not in RULES:
        hint = "stage A is the parser and has no limits" if id in CODES else f"the rules are {', '.join(RULES)}"
        raise UsageFault(f"there is no rule {inert(rule[:20])!r} to explain", fix=hint)
    kind = RULES[id]
    return {
        "rule": id,
        "title": kind.title,
        "stops": " ".join((kind.__doc__ or "").split()),
        "opening_only": kind.opening_only,
        "stages": list(kind.stages),
        "codes": list(kind.codes),
        "why": kind.why,
        "source": f"alphaagent/guard/rules/{kind.__module__.rpartition('.')[2]}.py",
        "mandate": mandate.name,
        "limits": [_limit(line) for line in limit_lines(mandate) if line.rule == id],
    }


def _limit(line: LimitLine) -> Document:
    return {
        "rule": line.rule,
        "title": line.title,
        "limit": line.limit,
        "value": line.value,
        "default": line.default,
        "bounds": line.bounds,
        "looser": line.looser,
    }
