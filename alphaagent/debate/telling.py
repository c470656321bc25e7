"""The debate as it is told to whoever speaks next: one labelled document, of the same shape for both sides, never in the roles of a chat.

What is too long is told shorter, in steps that are named; what was said last and what has to be answered goes last.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from alphaagent.debate.assertions import Verdict
from alphaagent.debate.floor import Floor
from alphaagent.debate.hit_ledger import ledger
from alphaagent.debate.metrics import Metrics
from alphaagent.debate.prompts import json_line
from alphaagent.debate.record import DebateRecord
from alphaagent.debate.rows import ClaimState, Ledger, LedgerRow
from alphaagent.debate.trajectory import trajectory
from alphaagent.domain.argument import AnswerKind, Opening, Rebuttal, Turn

SHORT_TEXT = 240
SHORTER = ("as it is", "closed objections without their history", "objections without their history", "texts cut to 240 characters")


def told(turns: Sequence[Turn], room: int, record: DebateRecord | None = None) -> tuple[str, tuple[str, ...]]:
    """The debate in at most `room` characters where shortening can achieve it, and what was shortened; `record` adds what was computed."""
    for level, name in enumerate(SHORTER):
        text = json_line(_document(turns, level, record))
        if len(text) <= room or level == len(SHORTER) - 1:
            return text, (f"debate: {name}",) if level else ()
    raise AssertionError("the last level ends the loop")


def _document(turns: Sequence[Turn], level: int, record: DebateRecord | None) -> dict[str, Any]:
    book, checked = ledger(turns), record.checked if record else {}
    document: dict[str, Any] = {
        "p_up": [{"round": point.round, "bull": point.bull, "bear": point.bear} for point in trajectory(turns)],
        "claims": [_claim(claim, level, checked.get(claim.id)) for claim in book.claims],
        "openings": {turn.side: _opening(turn.answer, turn, level) for turn in turns if isinstance(turn.answer, Opening)},
        "objections": [_objection(row, book, level) for row in book.rows],
        "steelmen": {turn.side: _cut(turn.answer.steelman.text, level) for turn in turns if isinstance(turn.answer, Rebuttal)},
    }
    if level:
        document["note"] = f"told shorter, to keep this text to its size: {SHORTER[level]}"
    return document | ({"measures": _measures(record.metrics)} if record and record.metrics else {})


def _opening(opening: Opening, turn: Turn, level: int) -> dict[str, Any]:
    """What was wrong is counted by code: a message repeats what a model wrote, and there may be as many as it likes."""
    document = {"stance": opening.stance, "no_case": opening.no_case, "strongest_counter": _cut(opening.strongest_counter, level)}
    return document | ({"found_by_program": Counter(fault.code for fault in turn.faults)} if turn.faults else {})


def _claim(state: ClaimState, level: int, checked: Verdict | None) -> dict[str, Any]:
    claim = state.claim
    found = {"found_by_program": f"its number is {checked} by the evidence"} if checked in ("supported", "contradicted") else {}
    return (
        found
        | {
            "id": state.id,
            "by": state.side,
            "status": state.status,
            "text": _cut(claim.text, level),
            "kind": claim.kind,
            "direction": claim.direction,
            "severity": claim.severity,
            "evidence_ids": claim.evidence_ids,
        }
        | ({"assertion": claim.assertion.model_dump()} if claim.assertion else {})
    )


def _objection(row: LedgerRow, book: Ledger, level: int) -> dict[str, Any]:
    """One objection with its answers; an answer that does not count lends its evidence to nobody."""
    placed = book.objection(row.id)
    said = placed.objection if placed else None
    document: dict[str, Any] = {"id": row.id, "by": row.by, "against": row.claim_id, "status": row.status, "closed_by": row.closed_by}
    if said:
        document |= {"argument": _cut(said.argument, level), "severity": said.severity, "evidence_ids": said.evidence_ids, "fallacy": said.fallacy}
    if level == 0 or (level == 1 and row.closed_by is None):
        document["answers"] = [
            {"round": event.round, "by": event.side, "what": event.what, "counts": event.valid, "reason": event.reason}
            | ({"evidence_ids": event.evidence_ids} if event.valid else {})
            for event in row.history
        ]
    return document


def _cut(text: str, level: int) -> str:
    return text if level < len(SHORTER) - 1 or len(text) <= SHORT_TEXT else text[:SHORT_TEXT] + " … (cut)"


def _measures(metrics: Metrics) -> dict[str, Any]:
    last = metrics.trajectory[-1] if metrics.trajectory else None
    return {
        "class": metrics.debate_class,
        "outcome_of_the_gap": metrics.outcome,
        "gap_at_the_end": last.gap if last else None,
        "middle_at_the_end": last.mid if last else None,
        "flags": sorted({flag.name + (f" ({flag.side})" if flag.side else "") for flag in metrics.flags}),
        "still_open": [point.objection_id for point in metrics.unresolved],
    }


def duty(kind: AnswerKind, floor: Floor) -> str:
    """What a turn has to answer, by id. Ids are given here and never invented by a model."""
    lines = DUTIES[kind](floor)
    waiting = [row.id for row in floor.ledger.pending(floor.side)]
    if waiting:
        lines.append(f'Rebuttals of your objections that wait for your word in "adjudications": {", ".join(waiting)}.')
    else:
        lines.append('Nothing waits for your word; leave "adjudications" empty.')
    return "\n".join(lines)


def _to_attack(floor: Floor) -> list[str]:
    limits = floor.thresholds
    targets = [claim.id for claim in floor.ledger.claims if claim.side != floor.side and claim.status not in ("conceded", "upheld")]
    if not targets:
        return ["There is no claim of the other side left to attack; give no objections."]
    return [
        f"Claims of the other side that you may attack: {', '.join(targets)}. At most {limits.max_objections} objections, "
        f"{limits.max_objections_per_claim} to one claim over the whole debate."
    ]


def _to_answer(floor: Floor) -> list[str]:
    owed = [row.id for row in floor.ledger.outstanding(floor.side)]
    if not owed:
        return ["No objection waits for you; give no moves."]
    lines = [f"Objections that you have to answer, one move each: {', '.join(owed)}."]
    lost = floor.must_concede()
    if lost:
        lines.append(
            f"A program compared your numbers with the evidence, and they are wrong under {', '.join(lost)}: "
            "there only CONCEDED counts, or REBUTTED with new evidence."
        )
    return [*lines, _conditions(floor)]


def _to_conclude(floor: Floor) -> list[str]:
    mine = [row.id for row in floor.ledger.rows if row.by == floor.side and row.closed_by is None]
    if not mine:
        return ['No objection of yours is open; leave "would_resolve_if" empty.']
    return [f"Objections of yours that are open: {', '.join(mine)}.", _conditions(floor)]


def _nothing(_floor: Floor) -> list[str]:
    return []


DUTIES: Mapping[AnswerKind, Callable[[Floor], list[str]]] = {
    "opening": _nothing,
    "rebuttal": _to_attack,
    "retort": _to_answer,
    "conclusion": _to_conclude,
}


def _conditions(floor: Floor) -> str:
    """What a condition may be about."""
    return f'A condition\'s "observable" is one of: {", ".join(sorted(floor.observables))}. Its "by_date" is after {floor.sight.as_of.date()}.'
