"""What must be true of a completed debate, whatever was said in it. Where something is not, the debate is no ground for a decision.

Most of it holds by construction; it is checked all the same, on what will be stored, because a record is only worth what can be shown of it.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from alphaagent.debate.hit_ledger import ledger
from alphaagent.debate.plan import ISOLATED
from alphaagent.debate.record import DebateRecord, Setup
from alphaagent.debate.revelation import Gate
from alphaagent.debate.rows import Ledger
from alphaagent.debate.seams import Seam, seam
from alphaagent.debate.sight import cited_ids, visible_evidence
from alphaagent.debate.turns import DEBATERS, require_grid, steps
from alphaagent.domain.argument import Rebuttal, Turn
from alphaagent.domain.base import fingerprint
from alphaagent.domain.evidence import EvidencePack
from alphaagent.errors import DebateFault


def require_sound(record: DebateRecord, setup: Setup, pack: EvidencePack) -> None:
    """Raises DebateFault: a side without a turn, turns that are not those that were committed to, evidence that was not there."""
    require_grid(record.turns)
    if [setup.phases[place].kind for place in record.executed] != _kinds(record.turns):
        raise DebateFault("PHASE_FAILED", "the turns are not those of the phases that were taken")
    _require_committed(record)
    _require_both_to_open(record.turns)
    _require_known_evidence(record.turns, pack)
    book = _book(record)
    if book != ledger(record.turns):
        raise DebateFault("LEDGER_MISMATCH", "the ledger is not that of the turns")
    if any((row.closed_by is None) == (row.status in ("conceded", "rebutted")) for row in book.rows):
        raise DebateFault("LEDGER_MISMATCH", "an objection is closed without a cause")


def _require_committed(record: DebateRecord) -> None:
    """The isolated turns on record are those that both sides committed to before either was shown anything."""
    gate = Gate(events=record.gate)
    for side in DEBATERS:
        own = [turn for turn in record.turns if turn.side == side and turn.kind in ISOLATED]
        if gate.commitment(side) != fingerprint(own):
            raise DebateFault("ISOLATION_VIOLATION", f"the opening of {side} on record is not what it committed to")
        if [event.state for event in record.gate if event.side == side][:2] != ["committed", "revealed"]:
            raise DebateFault("ISOLATION_VIOLATION", f"{side} was not revealed once, after its commitment")


def _require_both_to_open(turns: Sequence[Turn]) -> None:
    """The sides take turns in opening the alternating phases."""
    opened = [turn.side for turn in turns if turn.order == 0]
    if any(one == other for one, other in pairwise(opened)):
        raise DebateFault("PHASE_FAILED", "one side opened two alternating phases in a row")


def seams(record: DebateRecord, setup: Setup) -> tuple[Seam, ...]:
    """The account of every step by key: nothing is lost on the way without being named. Raises SeamLoss."""
    book = _book(record)
    places = [str(place) for place in range(len(setup.phases))]
    left_out = {str(place): record.skipped.reason for place in record.skipped.phases} if record.skipped else {}
    grid = [f"{place}:{side}" for place in record.executed for side in ("bull", "bear")]
    objections = [
        f"{turn.round}:{turn.side}:{index}" for turn in record.turns if isinstance(turn.answer, Rebuttal) for index in range(len(turn.answer.objections))
    ]
    refused = {
        f"{turn.round}:{turn.side}:{fault.index}": fault.code
        for turn in record.turns
        if isinstance(turn.answer, Rebuttal)
        for fault in turn.faults
        if fault.part == "objections" and fault.index is not None
    }
    raised = [key for key in objections if key not in refused]
    placed = [f"{one.round}:{one.side}" for one in book.objections]
    return (
        seam("phases", places, [str(place) for place in record.executed], left_out),
        seam("turns", grid, [f"{turn.phase}:{turn.side}" for turn in record.turns]),
        seam("objections", objections, raised, refused),
        seam("placed", sorted(_numbered(key.rpartition(":")[0] for key in raised)), sorted(_numbered(placed))),
        seam("ledger", [one.id for one in book.objections], [row.id for row in book.rows]),
    )


def _book(record: DebateRecord) -> Ledger:
    """The ledger as it will be stored."""
    return record.metrics.ledger if record.metrics else Ledger()


def _numbered(keys: Iterable[str]) -> list[str]:
    """Each key with how often it came before, so that equal ones are told apart."""
    seen: dict[str, int] = {}
    found = []
    for key in keys:
        seen[key] = seen.get(key, 0) + 1
        found.append(f"{key}#{seen[key]}")
    return found


def _kinds(turns: Sequence[Turn]) -> list[str]:
    kinds: dict[int, str] = {}
    for turn in turns:
        kinds.setdefault(turn.phase, turn.kind)
    return list(kinds.values())


def _require_known_evidence(turns: Sequence[Turn], pack: EvidencePack) -> None:
    known = {item.id: item for item in pack.items}
    read: tuple[Turn, ...] = ()
    for step in steps(turns):
        for turn in step:
            visible = visible_evidence(turn.side, known, read)
            for name in cited_ids(turn):
                if name not in known:
                    raise DebateFault("UNKNOWN_REFERENCE", f"{turn.side} cites {name}, which is no evidence")
                if name not in visible:
                    raise DebateFault("ISOLATION_VIOLATION", f"{turn.side} cites {name}, which it was never shown")
                if known[name].known_at >= pack.as_of:
                    raise DebateFault("AFTER_CUTOFF", f"{turn.side} cites {name}, which was not known yet")
        read = (*read, *step)
