"""What two debaters say to each other: one model per kind of answer, and the turn that holds it.

Chosen on purpose: what a model wrote carries no id of its own. `Placed...` is the same thing with the id that the orchestrator gave, so no
text can invent, shift or reuse one. Numbers are Decimal from the literal. Only a key that may be null, or `adjudications` outside a
conclusion, may be left out.
"""

import re
from datetime import date
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, model_validator

from alphaagent.domain.base import Frozen
from alphaagent.domain.text import first_hidden_character

Debater = Literal["bull", "bear"]
AnswerKind = Literal["opening", "rebuttal", "retort", "conclusion"]
Stance = Literal["BULLISH", "BEARISH", "NEUTRAL"]
Direction = Literal["up", "down"]
Severity = Literal["high", "med", "low"]
MoveType = Literal["CONCEDED", "REBUTTED", "CARRIED"]
Operator = Literal["<", "<=", "==", ">=", ">"]
Degradation = Literal["empty", "refusal", "repetition", "truncated"]
Fallacy = Literal[
    "ad_hominem",
    "straw_man",
    "false_dilemma",
    "slippery_slope",
    "circular_reasoning",
    "hasty_generalisation",
    "post_hoc",
    "appeal_to_authority",
    "appeal_to_popularity",
    "appeal_to_ignorance",
    "equivocation",
    "red_herring",
    "false_analogy",
    "hot_hand",
    "gambler",
    "survivorship",
    "cherry_picked_window",
    "purchase_price_anchoring",
    "base_rate_neglect",
    "price_as_proof",
]
"""Thirteen classical ones and those of markets; an objection of logic names one."""

MAX_LISTED = 64
MAX_CITED = 16
_ISO_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def opponent(side: Debater) -> Debater:
    """The other side."""
    return "bear" if side == "bull" else "bull"


def _visible(value: str) -> str:
    at = first_hidden_character(value)
    if at is not None:
        raise ValueError(f"holds the invisible or control character U+{ord(value[at]):04X} at position {at}; write plain visible text")
    return value


def _not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("must be a text that is not empty")
    return value


def _iso_date(value: object) -> object:
    if not isinstance(value, str) or not _ISO_DATE.fullmatch(value):
        return value
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise ValueError(f"is {value}, which is not in the calendar") from None


_VISIBLE = AfterValidator(_visible)
_NOT_BLANK = AfterValidator(_not_blank)

Id = Annotated[str, Field(max_length=64), _VISIBLE]
"""An id as the model wrote it: whether it exists is judged where it is used."""
Cited = Annotated[tuple[Id, ...], Field(max_length=MAX_CITED)]
Probability = Annotated[Decimal, Field(ge=0, le=1)]
"""Of the one event of the debate: the close after the horizon is above the last one."""
Reason = Annotated[str, Field(max_length=1200), _VISIBLE]
"""May be empty: a move without a reason is a move with a fault, not an answer that cannot be read."""


class Said(Frozen):
    """Base of everything a model returns: nothing is coerced."""

    model_config = ConfigDict(strict=True)


class Assertion(Said):
    """A number that code can look up: the field at `path` in the item's payload, compared with `value`."""

    evidence_id: Id
    path: Annotated[str, Field(max_length=120), _VISIBLE, _NOT_BLANK]
    op: Operator
    value: Decimal
    tolerance: Annotated[Decimal, Field(ge=0)]


class Claim(Said):
    """One point of a case, with how much it weighs and what it stands on."""

    text: Annotated[str, Field(max_length=600), _VISIBLE, _NOT_BLANK]
    kind: Literal["fact", "inference", "forecast", "value"]
    direction: Direction
    severity: Severity
    evidence_ids: Cited
    assertion: Assertion | None = None


class Opening(Said):
    """The isolated case. `no_case` says why where a side honestly has none."""

    stance: Stance
    p_up: Probability
    no_case: Annotated[str, Field(max_length=1200), _VISIBLE, _NOT_BLANK] | None = None
    claims: Annotated[tuple[Claim, ...], Field(max_length=MAX_LISTED)]
    strongest_counter: Annotated[str, Field(max_length=1500), _VISIBLE, _NOT_BLANK]

    @model_validator(mode="after")
    def _case_or_none(self) -> "Opening":
        if self.claims and self.no_case is not None:
            raise ValueError('Give either "claims" or "no_case", not both')
        return self


class Steelman(Said):
    """The opponent's case at its best; names the claims it speaks of."""

    claim_ids: Cited
    text: Annotated[str, Field(max_length=1500), _VISIBLE, _NOT_BLANK]


class Objection(Said):
    """An attack on one claim of the opponent, carried by evidence or by a named fallacy."""

    target_claim_id: Id
    argument: Annotated[str, Field(max_length=1200), _VISIBLE, _NOT_BLANK]
    severity: Severity
    evidence_ids: Cited
    fallacy: Fallacy | None = None


class Adjudication(Said):
    """What an objector says to the rebuttal of its own objection."""

    objection_id: Id
    verdict: Literal["ACCEPT", "SUSTAIN"]
    reason: Reason
    evidence_ids: Cited


Adjudications = Annotated[tuple[Adjudication, ...], Field(max_length=MAX_LISTED)]


class Rebuttal(Said):
    """The first answer to the opponent's case: it at its best, and what is wrong with it."""

    steelman: Steelman
    p_up: Probability
    objections: Annotated[tuple[Objection, ...], Field(max_length=MAX_LISTED)]
    adjudications: Adjudications = ()


class Resolution(Said):
    """What would settle a point, so that code can look: an observable against a threshold by a day, and which way it then speaks."""

    observable: Annotated[str, Field(max_length=160), _VISIBLE, _NOT_BLANK]
    operator: Literal["<", "<=", ">=", ">"]
    threshold: Decimal
    by_date: Annotated[date, BeforeValidator(_iso_date)]
    says: Direction


class PointResolution(Resolution):
    """A resolution and the objection it would settle."""

    objection_id: Id

    def condition(self) -> Resolution:
        """The resolution without the objection it belongs to."""
        return Resolution(observable=self.observable, operator=self.operator, threshold=self.threshold, by_date=self.by_date, says=self.says)


class Move(Said):
    """The answer to one objection. What a move of its type needs is judged by `debate.moves`."""

    objection_id: Id
    type: MoveType
    reason: Reason
    evidence_ids: Cited
    scope: Literal["full", "partial"] | None = None
    narrowed_text: Annotated[str, Field(max_length=600), _VISIBLE] | None = None
    would_resolve_if: Resolution | None = None


class Retort(Said):
    """The answer to the opponent's objections: one move for each that is outstanding."""

    p_up: Probability
    moves: Annotated[tuple[Move, ...], Field(max_length=MAX_LISTED)]
    adjudications: Adjudications = ()


class Conclusion(Said):
    """The last word: verdicts on rebuttals, and what would settle each point that stays open."""

    p_up: Probability
    summary: Annotated[str, Field(max_length=3000), _VISIBLE, _NOT_BLANK]
    adjudications: Adjudications
    would_resolve_if: Annotated[tuple[PointResolution, ...], Field(max_length=MAX_LISTED)]


Answer = Opening | Rebuttal | Retort | Conclusion
ANSWERS: dict[AnswerKind, type[Answer]] = {"opening": Opening, "rebuttal": Rebuttal, "retort": Retort, "conclusion": Conclusion}

Part = Literal["claims", "steelman", "objections", "moves", "adjudications", "would_resolve_if"]


class PointFault(Frozen):
    """One thing that is wrong with one point of a readable answer."""

    part: Part
    index: int | None
    """Which one of the part's points, counted from 0 as in the answer's JSON; None where one is missing."""
    subject: str
    """The id at fault as it was written, or the one that is missing; empty where none is."""
    code: str
    message: str
    """One line for the model: what to mend."""


class Turn(Frozen):
    """One side's accepted answer in one phase. A debate is an append-only tuple of these; everything else is computed from it."""

    phase: int = Field(ge=0)
    round: int = Field(ge=0)
    kind: AnswerKind
    side: Debater
    order: Literal[0, 1] | None = None
    """None where both sides write at once; otherwise who spoke first in the phase."""
    answer: Answer
    attempts: int = Field(default=1, ge=1)
    faults: tuple[PointFault, ...] = ()
    """What stood at the end in spite of repair; a point with a fault has no effect. An opening is stored as kept: its faults name what went."""
    degraded: tuple[Degradation, ...] = ()
    """Signs of a failing model in any text of this turn, those that were sent back included."""

    @model_validator(mode="after")
    def _answers_its_kind(self) -> "Turn":
        if type(self.answer) is not ANSWERS[self.kind]:
            raise ValueError(f"a {self.kind} cannot hold a {type(self.answer).__name__}")
        return self

    @property
    def p_up(self) -> Decimal:
        """The probability that the side states in this turn."""
        return self.answer.p_up

    def faulty(self, part: Part) -> frozenset[int]:
        """The indexes of the part's points that have a fault."""
        return frozenset(fault.index for fault in self.faults if fault.part == part and fault.index is not None)


class PlacedClaim(Frozen):
    """A claim with the id that it was given."""

    id: str
    side: Debater
    round: int
    claim: Claim


class PlacedObjection(Frozen):
    """A valid objection with the id that it was given."""

    id: str
    side: Debater
    round: int
    phase: int
    objection: Objection
