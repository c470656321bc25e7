"""What is wrong with a readable answer, whatever its kind: the one door to the rules of the phases."""

from alphaagent.debate.adjudications import adjudication_faults, condition_faults
from alphaagent.debate.citations import opening_faults
from alphaagent.debate.floor import Floor
from alphaagent.debate.moves import move_faults
from alphaagent.debate.objections import objection_faults, steelman_faults
from alphaagent.domain.argument import Answer, Conclusion, Opening, PointFault, Rebuttal, Retort


def answer_faults(answer: Answer, floor: Floor) -> tuple[PointFault, ...]:
    """Every fault of an answer's points. DebateFault with ISOLATION_VIOLATION where it cites what its side was never shown.

    An opening is the exception: there the citation of an unseen item is a fault among others, and its author is told.
    """
    match answer:
        case Opening():
            return opening_faults(answer, floor.sight.visible, floor.sight.known, floor.sight.as_of, floor.thresholds)
        case Rebuttal():
            return (*steelman_faults(answer, floor), *objection_faults(answer, floor), *adjudication_faults(answer.adjudications, floor))
        case Retort():
            return (*move_faults(answer, floor), *adjudication_faults(answer.adjudications, floor))
        case Conclusion():
            return (*adjudication_faults(answer.adjudications, floor), *condition_faults(answer, floor))
