"""Whether a move answers its objection, and what it lacks.

Chosen on purpose: a move is judged by its fields; words in its reason decide nothing. None of the three is free: a concession says why and
how far, a rebuttal brings evidence that was not on the table, and a carried objection says why it stays open and what would settle it. A
move at fault is no move: it never becomes another one.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import Decimal

from alphaagent.debate.floor import Floor
from alphaagent.debate.likeness import tokens
from alphaagent.debate.rows import LedgerRow
from alphaagent.debate.sight import point_fault
from alphaagent.domain.argument import Move, PointFault, Resolution, Retort
from alphaagent.domain.strict_json import shown


def move_faults(retort: Retort, floor: Floor) -> tuple[PointFault, ...]:
    """Everything that is wrong with the moves of a retort, and every outstanding objection that got none."""
    faults = [fault for index, move in enumerate(retort.moves) for fault in _faults(index, move, retort, floor)]
    answered = {move.objection_id for move in retort.moves}
    missing = [row.id for row in floor.ledger.outstanding(floor.side) if row.id not in answered]
    return (*faults, *(point_fault("moves", None, "MISSING_MOVE", f"answer {id}", subject=id) for id in missing))


def _faults(index: int, move: Move, retort: Retort, floor: Floor) -> Iterator[PointFault]:
    row = floor.ledger.row(move.objection_id)
    if row is None:
        yield _fault(index, move, "UNKNOWN_OBJECTION", f"{shown(move.objection_id)} is no objection id that you were given")
        return
    if row.against != floor.side:
        yield _fault(index, move, "NOT_ADDRESSED_TO_YOU", f"{row.id} is your own objection; your opponent answers it")
        return
    if not row.outstanding:
        yield _fault(index, move, "ALREADY_CLOSED", f"{row.id} {'waits for your opponent' if row.pending else 'is closed'}; leave it out")
        return
    if Counter(other.objection_id for other in retort.moves)[row.id] > 1:
        yield _fault(index, move, "DUPLICATE_MOVE", f"give exactly one move for {row.id}")
    match move.type:
        case "CONCEDED":
            yield from _concession_faults(index, move, row, retort, floor)
        case "REBUTTED":
            yield from _rebuttal_faults(index, move, row, floor)
        case "CARRIED":
            yield from _carry_faults(index, move, row, retort, floor)


def _concession_faults(index: int, move: Move, row: LedgerRow, retort: Retort, floor: Floor) -> Iterator[PointFault]:
    yield from floor.citation_faults("moves", index, move.evidence_ids)
    yield from _reason_faults(index, move, [floor.objection(row).argument], floor)
    if move.scope is None:
        yield _fault(index, move, "NO_SCOPE", 'a concession needs "scope": "full" or "partial"')
    elif move.scope == "partial":
        yield from _narrowing_faults(index, move, row, floor)
        if row.id in floor.must_concede():
            yield _fault(index, move, "MUST_CONCEDE", f"the evidence of {row.id} shows your claim's number to be wrong; concede it in full")
    if floor.target(row).severity == "high" and _favours(retort, floor) >= floor.thresholds.p_up_step:
        yield _fault(index, move, "P_UP_CONTRADICTS_MOVE", 'you concede a claim of "high" severity and move "p_up" your own way; mend one of the two')


def _narrowing_faults(index: int, move: Move, row: LedgerRow, floor: Floor) -> Iterator[PointFault]:
    """A narrowing is neither the claim again nor another claim: else giving way would be a door for what was never attacked."""
    narrowed, old = tokens(move.narrowed_text or ""), floor.target(row).text
    if not narrowed or floor.same(move.narrowed_text or "", old):
        yield _fault(index, move, "NO_NARROWED_TEXT", 'a partial concession needs in "narrowed_text" the claim as you still hold it')
    elif 2 * sum(word in set(tokens(old)) for word in narrowed) < len(narrowed):
        yield _fault(index, move, "NO_NARROWED_TEXT", "narrow the claim you made; a new one cannot come in here")


def _rebuttal_faults(index: int, move: Move, row: LedgerRow, floor: Floor) -> Iterator[PointFault]:
    if floor.too_short(move.reason):
        yield _fault(index, move, "NO_REASON", f'"reason" must have at least {floor.thresholds.min_reason_characters} characters')
    yield from floor.novelty_faults("moves", index, row, move.evidence_ids)


def _carry_faults(index: int, move: Move, row: LedgerRow, retort: Retort, floor: Floor) -> Iterator[PointFault]:
    yield from floor.citation_faults("moves", index, move.evidence_ids)
    if floor.thresholds.carries == "strict":
        earlier = [event.reason for event in row.moves("CARRIED")]
        yield from _reason_faults(index, move, [floor.target(row).text, floor.objection(row).argument, *earlier], floor)
        yield from _condition_faults(index, move, retort, floor)
    if len(row.moves("CARRIED")) >= floor.thresholds.max_carries:
        yield _fault(index, move, "REPEATED_CARRY", f"{row.id} was carried {floor.thresholds.max_carries} times; concede it or rebut it")
    if row.id in floor.must_concede():
        yield _fault(index, move, "MUST_CONCEDE", f"the evidence of {row.id} shows your claim's number to be wrong; concede it, or rebut it with new evidence")


def _reason_faults(index: int, move: Move, known: Iterable[str], floor: Floor) -> Iterator[PointFault]:
    if floor.too_short(move.reason):
        yield _fault(index, move, "NO_REASON", f'"reason" must have at least {floor.thresholds.min_reason_characters} characters')
    elif any(floor.same(move.reason, text) for text in known):
        yield _fault(index, move, "BOILERPLATE_REASON", '"reason" repeats the claim, the objection or an earlier reason; give one of its own')


def _condition_faults(index: int, move: Move, retort: Retort, floor: Floor) -> Iterator[PointFault]:
    wish = floor.condition_fault(move.would_resolve_if)
    if wish is None and move.would_resolve_if in _conditions_elsewhere(index, move, retort, floor):
        wish = '"would_resolve_if" is the same as that of another objection; give this one its own'
    if wish is not None:
        yield _fault(index, move, "NO_RESOLUTION_CONDITION", wish)


def _conditions_elsewhere(index: int, move: Move, retort: Retort, floor: Floor) -> Iterator[Resolution | None]:
    yield from (other.would_resolve_if for other in retort.moves[:index] if other.type == "CARRIED" and other.objection_id != move.objection_id)
    for row in floor.ledger.rows:
        if row.against == floor.side and row.id != move.objection_id:
            yield from (event.condition for event in row.moves("CARRIED"))


def _favours(retort: Retort, floor: Floor) -> Decimal:
    """How far the probability moved the side's own way since its last turn."""
    moved = Decimal(0) if floor.p_before is None else retort.p_up - floor.p_before
    return moved if floor.side == "bull" else -moved


def _fault(index: int, move: Move, code: str, wish: str) -> PointFault:
    return point_fault("moves", index, code, wish, subject=move.objection_id)
