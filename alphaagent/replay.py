"""Runs a stored decision again from its record alone and compares every byte: no source, no network, no clock."""

from dataclasses import dataclass

from alphaagent.domain.base import canonical
from alphaagent.domain.record import DecisionRecord
from alphaagent.domain.ruling import GuardSnapshot, Ruling
from alphaagent.engines.registry import ENGINES
from alphaagent.errors import UsageFault
from alphaagent.guard.evaluate import GUARD_VERSION, evaluate
from alphaagent.guard.intake import read_proposal
from alphaagent.guard.mandate import Mandate
from alphaagent.ports import StoredDecision

CONTEXT = 60


@dataclass(frozen=True, slots=True)
class Check:
    """One part of the record, made again."""

    part: str
    agrees: bool
    difference: str | None = None


def replay(stored: StoredDecision) -> tuple[Check, ...]:
    """Evidence hash, engine result, proposal and every ruling, made again and compared byte for byte."""
    record = stored.record
    result = ENGINES[record.result.engine]().decide(record.pack)
    checks = [
        _compare("evidence pack hash", record.pack.sha256, record.pack.digest()),
        _compare("cases, score and proposal text", record.result, result),
        _compare("proposal as the guardrail reads it", record.proposal, read_proposal(result.proposal_text, record.request.ticker)),
    ]
    for snapshot, ruling in stored.rulings:
        checks.append(_compare(f"ruling at {ruling.stage}", ruling, rule_again(record, snapshot, ruling)))
    return tuple(checks)


def rule_again(record: DecisionRecord, snapshot: GuardSnapshot, ruling: Ruling) -> Ruling:
    """The guard's ruling on a stored snapshot under the recorded mandate. UsageFault where another guard made the stored one."""
    if ruling.guard_version != GUARD_VERSION:
        raise UsageFault(
            f"decision {record.decision_id} was ruled on by version {ruling.guard_version} of the guard; this is version {GUARD_VERSION}, with other rules",
            fix=f"replay it with the program that made it, version {record.program_version}",
        )
    return evaluate(record.result.proposal_text, snapshot, Mandate.from_record(record.mandate, record.decision_id), ruling.evaluated_at)


def _compare(part: str, before: object, after: object) -> Check:
    old, new = canonical(before), canonical(after)
    if old == new:
        return Check(part, agrees=True)
    place = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    start = max(0, place - CONTEXT // 2)
    was, now = (text[start : place + CONTEXT // 2].decode(errors="replace") for text in (old, new))
    return Check(part, agrees=False, difference=f"at byte {place}: recorded …{was}… now …{now}…")
