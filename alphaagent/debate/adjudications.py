"""Whether an objector's word on a rebuttal counts, and whether a conclusion says what would settle each point that stays open.

Chosen on purpose: to accept costs a word. To sustain costs a reason of its own and evidence: new, or the rebuttal's own, which is how a
defect in it is named. An adjudication at fault is silence, and silence lets the objection lapse.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from alphaagent.debate.floor import Floor
from alphaagent.debate.rows import LedgerRow
from alphaagent.debate.sight import point_fault
from alphaagent.domain.argument import Adjudication, Conclusion, PointFault, PointResolution
from alphaagent.domain.strict_json import shown


def adjudication_faults(adjudications: Sequence[Adjudication], floor: Floor) -> tuple[PointFault, ...]:
    """Everything that keeps adjudications from counting; none at all is legal."""
    times = Counter(said.objection_id for said in adjudications)
    return tuple(fault for index, said in enumerate(adjudications) for fault in _faults(index, said, times, floor))


def condition_faults(conclusion: Conclusion, floor: Floor) -> tuple[PointFault, ...]:
    """What is wrong with the conditions of a conclusion, and every objection of this side that it leaves open without one."""
    open_rows = _left_open(conclusion, floor)
    faults = [fault for index, given in enumerate(conclusion.would_resolve_if) for fault in _given_faults(index, given, conclusion, open_rows, floor)]
    settled = {given.objection_id for given in conclusion.would_resolve_if}
    missing = [id for id, row in open_rows.items() if row.by == floor.side and id not in settled]
    return (*faults, *(point_fault("would_resolve_if", None, "NO_RESOLUTION_CONDITION", f"say what would settle {id}", subject=id) for id in missing))


def _faults(index: int, said: Adjudication, times: Counter[str], floor: Floor) -> Iterator[PointFault]:
    row = floor.ledger.row(said.objection_id)
    if row is None:
        yield _fault(index, said, "UNKNOWN_OBJECTION", f"{shown(said.objection_id)} is no objection id that you were given")
        return
    unfit = _unfit(row, floor)
    if unfit is not None:
        yield _fault(index, said, *unfit)
        return
    if times[row.id] > 1:
        yield _fault(index, said, "DUPLICATE_MOVE", f"give exactly one verdict on {row.id}")
    if said.verdict == "ACCEPT":
        if not said.reason.strip():
            yield _fault(index, said, "NO_REASON", 'to accept, say why in "reason"')
        yield from floor.citation_faults("adjudications", index, said.evidence_ids)
    else:
        yield from _sustaining_faults(index, said, row, floor)


def _unfit(row: LedgerRow, floor: Floor) -> tuple[str, str] | None:
    """Why there is nothing to rule on, as a code and a wish."""
    if row.by != floor.side:
        return "NOT_ADDRESSED_TO_YOU", f"{row.id} is your opponent's objection; it rules on your answer"
    if row.closed_by is not None:
        return "ALREADY_CLOSED", f"{row.id} is closed; leave it out"
    return None if row.pending else ("NOT_REBUTTED", f"{row.id} has no rebuttal to rule on; leave it out")


def _sustaining_faults(index: int, said: Adjudication, row: LedgerRow, floor: Floor) -> Iterator[PointFault]:
    rebuttal = row.moves("REBUTTED")[-1]
    if floor.too_short(said.reason):
        yield _fault(index, said, "NO_REASON", f'to sustain, "reason" must have at least {floor.thresholds.min_reason_characters} characters')
    elif any(floor.same(said.reason, text) for text in (floor.objection(row).argument, rebuttal.reason)):
        yield _fault(index, said, "BOILERPLATE_REASON", '"reason" repeats the objection or the rebuttal; name the defect')
    yield from floor.novelty_faults("adjudications", index, row, said.evidence_ids, also=rebuttal.evidence_ids)


def _left_open(conclusion: Conclusion, floor: Floor) -> dict[str, LedgerRow]:
    """The rows that no adjudication of this conclusion closes; a rebuttal that it does not sustain is closed by it, one way or the other."""
    sustained = {said.objection_id for said in conclusion.adjudications if said.verdict == "SUSTAIN"}
    return {row.id: row for row in floor.ledger.rows if row.outstanding or (row.pending and (row.by != floor.side or row.id in sustained))}


def _given_faults(index: int, given: PointResolution, conclusion: Conclusion, open_rows: dict[str, LedgerRow], floor: Floor) -> Iterator[PointFault]:
    earlier = conclusion.would_resolve_if[:index]
    if given.objection_id not in open_rows:
        code = "UNKNOWN_OBJECTION" if floor.ledger.row(given.objection_id) is None else "ALREADY_CLOSED"
        yield _condition_fault(index, given, code, f"{shown(given.objection_id)} is no objection that stays open; leave it out")
        return
    if any(other.objection_id == given.objection_id for other in earlier):
        yield _condition_fault(index, given, "DUPLICATE_MOVE", f"give one condition for {given.objection_id}")
    wish = floor.condition_fault(given)
    if wish is None and any(other.condition() == given.condition() for other in earlier):
        wish = "this is the same as another one; give each point its own"
    if wish is not None:
        yield _condition_fault(index, given, "NO_RESOLUTION_CONDITION", wish)


def _condition_fault(index: int, given: PointResolution, code: str, wish: str) -> PointFault:
    return point_fault("would_resolve_if", index, code, wish, subject=given.objection_id)


def _fault(index: int, said: Adjudication, code: str, wish: str) -> PointFault:
    return point_fault("adjudications", index, code, wish, subject=said.objection_id)
