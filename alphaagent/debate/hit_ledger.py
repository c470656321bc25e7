"""The hit ledger: every objection, how it was answered, and what became of the claim it was aimed at.

Chosen on purpose: it is computed from the turns and from nothing else, so it cannot be edited, and it reads fields, never prose. A
rebuttal waits for the objector's word: silence closes it by lapse, which is no agreement. A dodged objection stays outstanding, because
otherwise not answering would be the cheapest answer. Points at fault have no effect; a point without fault that cannot have one means
that a turn was stored unchecked, and ends the debate.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NoReturn, TypeVar

from alphaagent.debate.rows import ClaimState, ClaimStatus, Concession, Ledger, LedgerRow, RowEvent, Transition, What
from alphaagent.debate.turns import last_p_up, placed_claims, placed_objections, steps
from alphaagent.domain.argument import Adjudication, Move, Opening, Part, PlacedClaim, PlacedObjection, Retort, Turn
from alphaagent.errors import DebateFault

_T = TypeVar("_T", Move, Adjudication)


def ledger(turns: Sequence[Turn]) -> Ledger:
    """The ledger after these turns. DebateFault with LEDGER_MISMATCH where a turn was stored unchecked."""
    book = Ledger()
    said: tuple[Turn, ...] = ()
    for step in steps(turns):
        found = book
        for turn in step:
            book = _heard(book, _Hearing(turn, found, last_p_up(said, turn.side)))
        said = (*said, *step)
    return book


@dataclass(frozen=True, slots=True)
class _Hearing:
    """A turn with the ledger as its side found it."""

    turn: Turn
    found: Ledger
    p_before: Decimal | None

    def event(self, what: What, said: Move | Adjudication | None = None, codes: tuple[str, ...] = ()) -> RowEvent:
        heard = {"reason": said.reason, "evidence_ids": said.evidence_ids} if said else {}
        condition = said.would_resolve_if if isinstance(said, Move) else None
        return RowEvent(phase=self.turn.phase, round=self.turn.round, side=self.turn.side, what=what, codes=codes, condition=condition, **heard)

    def on(self, part: Part, points: Iterable[_T], id: str) -> tuple[list[_T], list[tuple[_T, tuple[str, ...]]]]:
        """The points about one objection: those without fault, and those at fault with their codes."""
        judged = [(point, self.codes(part, index)) for index, point in enumerate(points) if point.objection_id == id]
        return [point for point, codes in judged if not codes], [(point, codes) for point, codes in judged if codes]

    def codes(self, part: Part, index: int) -> tuple[str, ...]:
        return tuple(fault.code for fault in self.turn.faults if fault.part == part and fault.index == index)


def _heard(book: Ledger, hearing: _Hearing) -> Ledger:
    turn = hearing.turn
    if isinstance(turn.answer, Opening):
        return book.model_copy(update={"claims": (*book.claims, *(_fresh(claim) for claim in placed_claims(turn)))})
    book = _adjudicated(book, hearing, turn.answer.adjudications)
    if isinstance(turn.answer, Retort):
        return _answered(book, hearing, turn.answer.moves)
    already = sum(row.by == turn.side for row in book.rows)
    for objection in placed_objections(turn, already):
        book = _raised(book, objection)
    return book


def _fresh(placed: PlacedClaim) -> ClaimState:
    start = Transition(status="open", version=1, text=placed.claim.text, round=placed.round)
    return ClaimState(id=placed.id, side=placed.side, claim=placed.claim, transitions=(start,))


def _raised(book: Ledger, placed: PlacedObjection) -> Ledger:
    target = book.claim(placed.objection.target_claim_id)
    if target is None or target.side == placed.side:
        _mismatch(placed.id, "is aimed at no claim of the opponent")
    row = LedgerRow(id=placed.id, claim_id=target.id, by=placed.side)
    return book.model_copy(update={"rows": (*book.rows, row), "objections": (*book.objections, placed)})


def _adjudicated(book: Ledger, hearing: _Hearing, adjudications: Sequence[Adjudication]) -> Ledger:
    waiting = hearing.found.pending(hearing.turn.side)
    _require_known(hearing, "adjudications", adjudications, waiting)
    for row in waiting:
        sound, faulty = hearing.on("adjudications", adjudications, row.id)
        for said, codes in faulty:
            book = _noted(book, row, hearing.event(said.verdict, said, codes))
        book = _ruled(book, hearing, row, _only(row, sound))
    return book


def _ruled(book: Ledger, hearing: _Hearing, row: LedgerRow, said: Adjudication | None) -> Ledger:
    if said is None:
        book = _noted(book, row, hearing.event("LAPSE"), status="rebutted", closed_by="lapse", pending=False)
        return _stepped(book, hearing, row, "standing")
    event = hearing.event(said.verdict, said)
    if said.verdict == "SUSTAIN":
        return _noted(book, row, event, pending=False)
    book = _noted(book, row, event, status="rebutted", closed_by="acceptance", pending=False)
    return _stepped(book, hearing, row, "upheld")


def _answered(book: Ledger, hearing: _Hearing, moves: Sequence[Move]) -> Ledger:
    owed = hearing.found.outstanding(hearing.turn.side)
    _require_known(hearing, "moves", moves, owed)
    for row in owed:
        sound, faulty = hearing.on("moves", moves, row.id)
        for said, codes in faulty:
            book = _noted(book, row, hearing.event(said.type, said, codes))
        move = _only(row, sound)
        if move is None:
            missing = () if faulty else (hearing.event("MISSING", codes=("MISSING_MOVE",)),)
            book = _noted(book, row, *missing, status="dodged")
        else:
            book = _moved(book, hearing, row, move)
    return book


def _moved(book: Ledger, hearing: _Hearing, row: LedgerRow, move: Move) -> Ledger:
    event = hearing.event(move.type, move)
    match move.type:
        case "CARRIED":
            return _noted(book, row, event, status="open")
        case "REBUTTED":
            return _noted(book, row, event, status="open", pending=True)
        case "CONCEDED":
            return _conceded(_noted(book, row, event, status="conceded", closed_by="concession"), hearing, row, move)


def _conceded(book: Ledger, hearing: _Hearing, row: LedgerRow, move: Move) -> Ledger:
    if move.scope is None or hearing.p_before is None:
        _mismatch(row.id, "is conceded without a scope or before its side spoke")
    side = hearing.turn.side
    concession = Concession(
        id=f"k_{side}_{sum(concession.by == side for concession in book.concessions) + 1}",
        objection_id=row.id,
        claim_id=row.claim_id,
        by=side,
        round=hearing.turn.round,
        scope=move.scope,
        reason=move.reason,
        evidence_ids=move.evidence_ids,
        p_before=hearing.p_before,
        p_after=hearing.turn.p_up,
    )
    book = book.model_copy(update={"concessions": (*book.concessions, concession)})
    return _stepped(book, hearing, row, "conceded" if move.scope == "full" else "narrowed", move.narrowed_text)


def _noted(book: Ledger, noted: LedgerRow, *events: RowEvent, **change: object) -> Ledger:
    rows = tuple(row.model_copy(update={"history": (*row.history, *events), **change}) if row.id == noted.id else row for row in book.rows)
    return book.model_copy(update={"rows": rows})


def _stepped(book: Ledger, hearing: _Hearing, row: LedgerRow, status: ClaimStatus, narrowed: str | None = None) -> Ledger:
    claims = tuple(_next(claim, hearing, row, status, narrowed) if claim.id == row.claim_id else claim for claim in book.claims)
    return book.model_copy(update={"claims": claims})


def _next(state: ClaimState, hearing: _Hearing, row: LedgerRow, status: ClaimStatus, narrowed: str | None) -> ClaimState:
    if state.status == "conceded":
        return state
    claim, version = state.claim, state.version
    if status == "narrowed":
        claim, version = claim.model_copy(update={"text": narrowed or claim.text, "assertion": None}), version + 1
    step = Transition(status=status, version=version, text=claim.text, round=hearing.turn.round, objection_id=row.id)
    return state.model_copy(update={"claim": claim, "transitions": (*state.transitions, step)})


def _only(row: LedgerRow, sound: Sequence[_T]) -> _T | None:
    if len(sound) > 1:
        _mismatch(row.id, "is answered more than once")
    return sound[0] if sound else None


def _require_known(hearing: _Hearing, part: Part, points: Iterable[Move | Adjudication], due: Iterable[LedgerRow]) -> None:
    ids = {row.id for row in due}
    for index, point in enumerate(points):
        if point.objection_id not in ids and not hearing.codes(part, index):
            _mismatch(point.objection_id, "is answered where no answer was due")


def _mismatch(id: str, what: str) -> NoReturn:
    raise DebateFault("LEDGER_MISMATCH", f"{id!r} {what}")
