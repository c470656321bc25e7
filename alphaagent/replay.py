"""Runs a stored decision again from its record alone and compares every byte: no source, no network, no clock."""

from collections.abc import Callable
from dataclasses import dataclass

from alphaagent.debate.record import Transcript
from alphaagent.domain.base import canonical
from alphaagent.domain.debate import EngineResult
from alphaagent.domain.evidence import EvidencePack
from alphaagent.domain.record import DecisionRecord
from alphaagent.domain.ruling import GuardSnapshot, Ruling
from alphaagent.engines.registry import ENGINES
from alphaagent.errors import ReplayDiffers, UsageFault
from alphaagent.guard.evaluate import evaluate
from alphaagent.guard.intake import read_proposal
from alphaagent.guard.mandate import Mandate
from alphaagent.guard.versions import GUARD_VERSION, REPLAYED
from alphaagent.ports import StoredDecision

CONTEXT = 60


@dataclass(frozen=True, slots=True)
class Check:
    """One part of the record, made again."""

    part: str
    agrees: bool
    difference: str | None = None


DebateAgain = Callable[[EvidencePack, Transcript], tuple[EngineResult | None, Transcript]]
"""Holds a recorded debate again, with no socket. Raises ReplayDiffers at the first request that is not the recorded one."""


def replay(stored: StoredDecision, transcript: Transcript | None = None, debate_again: DebateAgain | None = None) -> tuple[Check, ...]:
    """Evidence hash, debate (where there was one), engine result, proposal and every ruling, made again and compared byte for byte."""
    record = stored.record
    debate, spoken = _debate(record, transcript, debate_again)
    result = spoken if record.result.engine == "crew" else ENGINES["heuristic"]().decide(record.pack, reducing_only=record.result.reducing_only)
    if result is None:
        return (*debate, Check("cases, score and proposal text", agrees=False, difference="the debate came to no verdict this time"))
    checks = [
        _compare("evidence pack hash", record.pack.sha256, record.pack.digest()),
        *debate,
        _compare("cases, score and proposal text", record.result, result),
        _compare("proposal as the guardrail reads it", record.proposal, read_proposal(result.proposal_text, record.request.ticker)),
    ]
    for snapshot, ruling in stored.rulings:
        checks.append(_compare(f"ruling at {ruling.stage}", ruling, rule_again(record, snapshot, ruling)))
    return tuple(checks)


def _debate(record: DecisionRecord, transcript: Transcript | None, again: DebateAgain | None) -> tuple[tuple[Check, ...], EngineResult | None]:
    """The debate held again, of a decision that had one; also one that failed, which has to fail in the same way."""
    if transcript is None or again is None:
        return (), None
    try:
        result, same = again(record.pack, transcript)
    except ReplayDiffers as difference:
        return (Check("debate, call by call", agrees=False, difference=difference.message),), None
    return (_compare("debate, call by call", transcript, same),), result


def rule_again(record: DecisionRecord, snapshot: GuardSnapshot, ruling: Ruling) -> Ruling:
    """The guard's ruling on a stored snapshot under the recorded mandate. UsageFault where a guard made it that this one cannot be."""
    if ruling.guard_version not in REPLAYED:
        raise UsageFault(
            f"decision {record.decision_id} was ruled on by version {ruling.guard_version} of the guard; this is version {GUARD_VERSION}, with other rules",
            fix=f"replay it with the program that made it, version {record.program_version}",
        )
    mandate = Mandate.from_record(record.mandate, record.decision_id, ruling.guard_version)
    return evaluate(record.result.proposal_text, snapshot, mandate, ruling.evaluated_at)


def _compare(part: str, before: object, after: object) -> Check:
    old, new = canonical(before), canonical(after)
    if old == new:
        return Check(part, agrees=True)
    place = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    start = max(0, place - CONTEXT // 2)
    was, now = (text[start : place + CONTEXT // 2].decode(errors="replace") for text in (old, new))
    return Check(part, agrees=False, difference=f"at byte {place}: recorded …{was}… now …{now}…")
