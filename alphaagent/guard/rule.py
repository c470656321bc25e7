"""What a rule is: a small frozen model whose fields are its limits, with hard bounds, and a check that gives one finding.

Chosen on purpose: a rule declares the snapshot fields that it needs, so that absence blocks in one place and no rule guesses. A cap says
how much of its limit a quantity would use and never how many shares are left: that is derived once, here, because every cap is linear
in the quantity. The budget, the clip and the check after the clip therefore stand on one formula.
"""

from abc import abstractmethod
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_CEILING, Decimal
from typing import Any, ClassVar, Literal, TypeVar

from pydantic import ConfigDict

from alphaagent.domain.base import Frozen, decimal_text
from alphaagent.domain.proposal import Action, TradeProposal
from alphaagent.domain.ruling import GuardSnapshot, Mode, Stage

Known = TypeVar("Known")
SomeRule = TypeVar("SomeRule", bound="Rule")
StageLetter = Literal["B", "C", "D", "E", "F", "G", "H", "I"]
ZERO = Decimal(0)
HIGHER: dict[str, Any] = {"looser": "higher"}
"""Mark of a limit that lets more through as it rises; every limit says which way it loosens."""
LOWER: dict[str, Any] = {"looser": "lower"}
LONGER: dict[str, Any] = {"looser": "longer"}
"""A list of what is allowed: it loosens by what is added to it."""
SHORTER: dict[str, Any] = {"looser": "shorter"}
"""A list of what is refused: it loosens by what is taken from it."""
AT_DECISION: tuple[Stage, ...] = ("decide",)
"""The stages of a rule that judges the request; a pending order was judged when it was decided."""


class MissingField(Exception):
    """A snapshot field that a rule needs is None, or is not a finite number."""

    def __init__(self, field: str) -> None:
        super().__init__(field)
        self.field = field


def known(value: Known | None, field: str) -> Known:
    """A needed value; raises MissingField where there is none, or no finite one."""
    if value is None or (isinstance(value, Decimal) and not value.is_finite()):
        raise MissingField(field)
    return value


@dataclass(frozen=True, slots=True)
class Need:
    """A snapshot field that a rule cannot do without, and when."""

    field: str
    stages: tuple[Stage, ...] = ("decide", "settle", "approve")
    modes: tuple[Mode, ...] = ("eod", "live")
    opening_only: bool = False

    def applies(self, subject: "Subject") -> bool:
        """Whether the field is needed for this order, stage and mode."""
        return subject.snapshot.stage in self.stages and subject.snapshot.mode in self.modes and (subject.opening or not self.opening_only)


@dataclass(frozen=True, slots=True)
class Pass:
    value: str | None = None
    limit: str | None = None
    note: str | None = None
    """What a reader should know although nothing is wrong."""


@dataclass(frozen=True, slots=True)
class NotApplicable:
    reason: str


@dataclass(frozen=True, slots=True)
class NotConfigured:
    """The rule's input is one that this installation does not supply."""

    reason: str


@dataclass(frozen=True, slots=True)
class Block:
    code: str
    reason: str
    value: str | None = None
    limit: str | None = None
    halt: bool = False
    """The finding demands that the whole system stops."""


@dataclass(frozen=True, slots=True)
class Cap:
    quantity: Decimal
    """The most shares that the rule allows, not negative, before rounding to lots."""
    code: str
    reason: str
    value: str | None = None
    limit: str | None = None


Finding = Pass | NotApplicable | NotConfigured | Block | Cap


@dataclass(frozen=True, slots=True)
class Subject:
    """What is judged: a proposal, the state it meets, and how many shares it asks for (`quantity`) and would get (`out`)."""

    proposal: TradeProposal
    snapshot: GuardSnapshot
    now: datetime
    limits_hash: str
    limits_fault: str | None
    lot: Decimal
    rules: "tuple[Rule, ...]"
    side: Literal["BUY", "SELL"] | None = None
    quantity: Decimal = ZERO
    out: Decimal = ZERO
    close_all: bool = False
    guard_version: str = ""

    @property
    def opening(self) -> bool:
        """Whether the order opens or adds; the book is long only, so that is a BUY."""
        return self.proposal.action is Action.BUY

    def number(self, field: str) -> Decimal:
        """A decimal field of the snapshot; raises MissingField."""
        value: Decimal | None = getattr(self.snapshot, field)
        return known(value, field)

    def rule(self, kind: type[SomeRule]) -> SomeRule:
        """The mandate's own rule of one kind."""
        return next(rule for rule in self.rules if isinstance(rule, kind))


class Rule(Frozen):
    """Base of the rules. Limits are fields with hard bounds; what the rule is stands in class attributes."""

    model_config = ConfigDict(strict=True)

    id: ClassVar[str]
    stage: ClassVar[StageLetter]
    title: ClassVar[str]
    why: ClassVar[str]
    codes: ClassVar[tuple[str, ...]]
    since: ClassVar[str] = "3"
    """The version of the guard that brought it; all that version 3 had say 3."""
    opening_only: ClassVar[bool] = False
    stages: ClassVar[tuple[Stage, ...]] = ("decide", "settle", "approve")
    needs: ClassVar[tuple[Need, ...]] = ()

    def skipped(self, subject: Subject) -> str | None:
        """Why the rule says nothing about this order; None where it speaks."""
        if self.opening_only and not subject.opening:
            return "the order reduces"
        return None if subject.snapshot.stage in self.stages else f"asked at stage {' and '.join(self.stages)} only"

    @abstractmethod
    def check(self, subject: Subject) -> Finding:
        """What the rule finds; may raise MissingField."""


class RequestRule(Rule):
    """A rule of stage H that blocks what was asked for, before any clip: a request far too large is an error, not a wish."""

    opening_only = True
    stages = AT_DECISION

    def most(self, subject: Subject) -> Decimal | None:  # noqa: ARG002 - for the rules that set a bound
        """The most shares that may be asked for; None where the rule sets no such bound."""
        return None


class CapRule(Rule):
    """A rule of stage H: an order may use at most `limit`, and what it uses is linear in its quantity."""

    def binds(self, subject: Subject) -> bool:
        """Whether the cap applies to this order at all."""
        return subject.opening

    @abstractmethod
    def use(self, subject: Subject, quantity: Decimal) -> Decimal:
        """How much of the limit the book uses once `quantity` is filled; linear in the quantity."""

    @abstractmethod
    def limit(self, subject: Subject) -> Decimal:
        """The most that may be used, in the same unit."""

    @abstractmethod
    def words(self, subject: Subject, used: Decimal) -> str:
        """Why the order is cut, for a person."""

    def allows(self, subject: Subject, quantity: Decimal) -> bool:
        """Whether a quantity keeps to the limit, by multiplication and therefore exactly."""
        return self.use(subject, quantity) <= self.limit(subject)

    def cap(self, subject: Subject) -> Decimal:
        """The most shares that keep to the limit, before rounding to lots; not negative."""
        start = self.use(subject, ZERO)
        return max(ZERO, (self.limit(subject) - start) / (self.use(subject, Decimal(1)) - start))

    def check(self, subject: Subject) -> Finding:
        if not self.binds(subject):
            return NotApplicable("the cap does not apply to this order")
        used, limit = self.use(subject, subject.quantity), self.limit(subject)
        value, bound = decimal_text(used), decimal_text(limit)
        if used <= limit:
            return Pass(value, bound)
        return Cap(self.cap(subject), self.codes[0], self.words(subject, used), value, bound)


def percent(part: Decimal, whole: Decimal) -> str:
    """A share of a whole in words, rounded up at 0.01% so that a breach never reads like the limit."""
    if whole <= 0:
        return "more than all"
    text = format((100 * part / whole).quantize(Decimal("0.01"), ROUND_CEILING), "f")
    return text.rstrip("0").rstrip(".") + "%"


def money(value: Decimal) -> str:
    """An amount in words, to the cent."""
    return format(value.quantize(Decimal("0.01")), "f")


def floor_to_lot(quantity: Decimal, lot: Decimal) -> Decimal:
    """The whole lots in a quantity that is not negative; never rounds up."""
    return quantity // lot * lot
