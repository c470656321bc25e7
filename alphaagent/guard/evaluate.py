"""The guard: raw proposal text, state, mandate and book time go in; a ruling comes out. Nothing else decides about an order.

Chosen on purpose: pure, no clock, no I/O, no floats, and an own decimal context, so that the same inputs give the same bytes anywhere.
Stages A and B stop at the first failure, because what follows could not be trusted. C to G all run and report every reason. The caps of
H cut by one minimum, so their order cannot matter. I asks again about what is left. Anything unexpected inside a rule blocks.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_HALF_EVEN, Context, Decimal, DivisionByZero, InvalidOperation, Overflow, localcontext
from typing import Any, Literal

from alphaagent.domain.proposal import Action, Sentiment, TradeProposal
from alphaagent.domain.ruling import GuardSnapshot, Outcome, RuleTrace, Ruling
from alphaagent.errors import IntakeRefused
from alphaagent.guard import intake
from alphaagent.guard.mandate import Mandate
from alphaagent.guard.rule import (
    ZERO,
    Block,
    Cap,
    CapRule,
    Finding,
    MissingField,
    NotApplicable,
    NotConfigured,
    Pass,
    RequestRule,
    Rule,
    Subject,
    floor_to_lot,
    known,
)
from alphaagent.guard.rules.b1_kill_switch import KillSwitch
from alphaagent.guard.rules.h9_cash import CashCap
from alphaagent.guard.rules.i1_too_small import MinimumSize
from alphaagent.guard.versions import snapshot_hash

_CONTEXT = Context(prec=34, rounding=ROUND_HALF_EVEN, traps=[InvalidOperation, DivisionByZero, Overflow])
_CENT = Decimal("0.01")
_MICRO = Decimal("1e-6")
_TINY = Decimal("1e-9")
_EVERYTHING = Decimal(10) ** 15
"""More shares than any cap leaves: what the budget asks the caps about."""
_BUDGET_STAGES = "DEG"
"""What else must let an opening order pass before there is a budget; C and F are about a proposal, and there is none yet."""


@dataclass(slots=True)
class _Findings:
    """What the rules found so far, in the order in which they ran."""

    items: list[tuple[Rule, Finding]] = field(default_factory=list)

    def run(self, subject: Subject, stages: str, *, stop: bool = False) -> bool:
        """Runs the rules of some stages; whether nothing among all findings blocks."""
        for rule in subject.rules:
            if rule.stage in stages and not (stop and self.blocks()):
                self.items.append((rule, _examine(rule, subject)))
        return not self.blocks()

    def blocks(self) -> list[Block]:
        return [finding for _, finding in self.items if isinstance(finding, Block)]

    def caps(self) -> list[Cap]:
        return [finding for _, finding in self.items if isinstance(finding, Cap)]

    def codes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(finding.code for _, finding in self.items if isinstance(finding, Block | Cap)))


def evaluate(proposal_text: str, snapshot: GuardSnapshot, mandate: Mandate, now: datetime) -> Ruling:
    """The ruling on a proposal's raw text. `now` is book time: as_of at the decision, the fill session's open at settlement."""
    with localcontext(_CONTEXT):
        snapshot = _finite(snapshot)
        try:
            proposal = intake.parse_proposal(proposal_text, ticker=snapshot.ticker)
        except IntakeRefused as refused:
            return _refused(refused, snapshot, mandate, now)
        return _judged(_subject(proposal, snapshot, mandate, now))


def budget(snapshot: GuardSnapshot, mandate: Mandate) -> Decimal:
    """The most that an opening order may be now, in the portfolio's currency, rounded down to the cent; zero where none may be made."""
    with localcontext(_CONTEXT):
        wish = TradeProposal(action=Action.BUY, amount=ZERO, sentiment=Sentiment.NEUTRAL, reasoning="budget")
        subject = replace(_subject(wish, snapshot, mandate, datetime.min.replace(tzinfo=UTC)), quantity=_EVERYTHING)
        gates = [rule for rule in subject.rules if isinstance(rule, KillSwitch | CapRule) or rule.stage in _BUDGET_STAGES]
        findings = _Findings([(rule, _examine(rule, subject)) for rule in gates])
        if findings.blocks():
            return ZERO
        asked = [most for rule in subject.rules if isinstance(rule, RequestRule) and (most := rule.most(subject)) is not None]
        most = min([_least(subject, findings), *asked])
        largest = replace(subject, out=floor_to_lot(most, mandate.lot))
        if isinstance(_examine(subject.rule(MinimumSize), largest), Block):
            return ZERO
        # The cap came from a division: without the first rounding 5,000.00 would read 4,999.99.
        return (most * subject.number("price")).quantize(_TINY).quantize(_CENT, ROUND_DOWN)


def reservation(ruling: Ruling, mandate: Mandate) -> Decimal:
    """The cash that an approved BUY sets aside until it settles, by the cash rule's own formula; zero for anything else."""
    if ruling.side != "BUY" or ruling.price is None:
        return ZERO
    cash = next(rule for rule in mandate.rules if isinstance(rule, CashCap))
    with localcontext(_CONTEXT):
        return cash.cost(ruling.quantity_out, ruling.price).quantize(_MICRO, ROUND_CEILING)


def _finite(snapshot: GuardSnapshot) -> GuardSnapshot:
    """The snapshot with what is no number taken for missing: it cannot be recorded, and a rule that needs it then blocks."""
    bad = [name for name, value in snapshot if isinstance(value, Decimal) and not value.is_finite()]
    return snapshot.model_copy(update=dict.fromkeys(bad)) if bad else snapshot


def _subject(proposal: TradeProposal, snapshot: GuardSnapshot, mandate: Mandate, now: datetime) -> Subject:
    return Subject(
        proposal=proposal,
        snapshot=snapshot,
        now=now,
        limits_hash=mandate.limits_hash,
        limits_fault=mandate.fault,
        lot=mandate.lot,
        rules=mandate.rules,
        guard_version=mandate.guard_version,
    )


def _judged(subject: Subject) -> Ruling:
    findings = _Findings()
    if not findings.run(subject, "B", stop=True):
        return _ruling(subject, findings, Outcome.BLOCK)
    if subject.proposal.action is Action.HOLD:
        return _ruling(subject, findings, Outcome.APPROVE)
    subject = _sized(subject)
    if not (findings.run(subject, "CDEFG") and findings.run(subject, "H")):
        return _ruling(subject, findings, Outcome.BLOCK)
    subject = replace(subject, out=_clipped(subject, findings))
    if not findings.run(subject, "I"):
        return _ruling(subject, findings, Outcome.BLOCK)
    return _ruling(subject, findings, Outcome.CLIP if findings.caps() else Outcome.APPROVE)


def _examine(rule: Rule, subject: Subject) -> Finding:
    """One rule's finding; a missing field and any exception block."""
    try:
        skipped = rule.skipped(subject)
        if skipped is not None:
            return NotApplicable(skipped)
        for need in rule.needs:
            if need.applies(subject):
                known(getattr(subject.snapshot, need.field), need.field)
        return rule.check(subject)
    except MissingField as missing:
        return Block(f"DATA_MISSING:{missing.field}", f"{missing.field} is not known")
    except Exception as error:  # noqa: BLE001 - whatever goes wrong in a rule must block the order, not the process
        return Block(f"RULE_ERROR:{rule.id}", f"the rule failed with {type(error).__name__}")


def _sized(subject: Subject) -> Subject:
    """The subject with its side and the quantity that it asks for; zero where a figure is missing, which some rule then blocks."""
    side: Literal["BUY", "SELL"] = "BUY" if subject.opening else "SELL"
    quantity, close_all = _bought(subject) if subject.opening else _sold(subject)
    return replace(subject, side=side, quantity=quantity, close_all=close_all)


def _bought(subject: Subject) -> tuple[Decimal, bool]:
    if subject.snapshot.stage == "decide":
        return _shares(subject), False
    return floor_to_lot(_or_zero(subject.snapshot.quantity), subject.lot), False


def _sold(subject: Subject) -> tuple[Decimal, bool]:
    """At least the position's value, to the cent below it, means all of it: exact shares, whatever the lot."""
    held = _or_zero(subject.snapshot.held)
    if subject.snapshot.stage != "decide":
        return (held, True) if subject.snapshot.close_all else (_or_zero(subject.snapshot.quantity), False)
    worth = (held * _or_zero(subject.snapshot.price)).quantize(_CENT, ROUND_DOWN)
    if held > 0 and subject.proposal.amount >= worth:
        return held, True
    return _shares(subject), False


def _shares(subject: Subject) -> Decimal:
    price = _or_zero(subject.snapshot.price)
    return subject.proposal.amount // (price * subject.lot) * subject.lot if price > 0 else ZERO


def _or_zero(value: Decimal | None) -> Decimal:
    """A figure to size with; what is missing or impossible counts zero here and is blocked by a rule."""
    return max(value, ZERO) if value is not None and value.is_finite() else ZERO


def _clipped(subject: Subject, findings: _Findings) -> Decimal:
    """What is left of the order. What opens is cut to whole lots; what reduces is not, so that an exit is whole."""
    least = _least(subject, findings)
    return floor_to_lot(least, subject.lot) if subject.opening else least


def _least(subject: Subject, findings: _Findings) -> Decimal:
    return min([subject.quantity, *(cap.quantity for cap in findings.caps())])


def _ruling(subject: Subject, findings: _Findings, outcome: Outcome) -> Ruling:
    blocked = findings.blocks()
    codes = findings.codes() or ("NO_ORDER" if subject.side is None else "APPROVED",)
    return Ruling(
        outcome=outcome,
        code=blocked[0].code if blocked else codes[0],
        codes=codes,
        rules=(*_intake_trace(), *_trace(subject.rules, findings, "not reached" if blocked else "there is no order")),
        side=subject.side,
        quantity_in=subject.quantity,
        quantity_out=ZERO if blocked else subject.out,
        close_all=subject.close_all,
        halt=next((block.reason for block in blocked if block.halt), None),
        **_stamp(subject.snapshot, subject.limits_hash, subject.now, subject.guard_version),
    )


def _refused(refused: IntakeRefused, snapshot: GuardSnapshot, mandate: Mandate, now: datetime) -> Ruling:
    return Ruling(
        outcome=Outcome.BLOCK,
        code=refused.code,
        codes=(refused.code,),
        rules=(*_intake_trace(refused), *_trace(mandate.rules, _Findings(), "not reached")),
        side=None,
        quantity_in=ZERO,
        quantity_out=ZERO,
        close_all=False,
        **_stamp(snapshot, mandate.limits_hash, now, mandate.guard_version),
    )


def _stamp(snapshot: GuardSnapshot, limits_hash: str, now: datetime, guard_version: str) -> dict[str, Any]:
    """What every ruling says about its inputs."""
    return {
        "stage": snapshot.stage,
        "price": snapshot.price,
        "evaluated_at": now if now.tzinfo else now.replace(tzinfo=UTC),
        "limits_hash": limits_hash,
        "snapshot_hash": snapshot_hash(snapshot, guard_version),
        "guard_version": guard_version,
    }


def _intake_trace(refused: IntakeRefused | None = None) -> Iterable[RuleTrace]:
    """Stage A in the order of its checks: passes up to the rule that refused."""
    reached = True
    for rule, codes in intake.CODES.items():
        if refused is not None and refused.code in codes:
            reached = False
            yield RuleTrace(id=rule, verdict="block", code=refused.code, reason=refused.message)
        else:
            yield RuleTrace(id=rule, verdict="pass") if reached else RuleTrace(id=rule, verdict="not_applicable", reason="not reached")


def _trace(rules: tuple[Rule, ...], findings: _Findings, rest: str) -> Iterable[RuleTrace]:
    found = {rule.id: finding for rule, finding in findings.items}
    for rule in rules:
        yield _line(rule.id, found.get(rule.id, NotApplicable(rest)))


def _line(rule: str, finding: Finding) -> RuleTrace:
    match finding:
        case Pass(value, limit, note):
            return RuleTrace(id=rule, verdict="pass", value=value, limit=limit, reason=note)
        case NotConfigured(reason):
            return RuleTrace(id=rule, verdict="not_configured", reason=reason)
        case NotApplicable(reason):
            return RuleTrace(id=rule, verdict="not_applicable", reason=reason)
        case _:
            verdict: Literal["block", "clip"] = "block" if isinstance(finding, Block) else "clip"
            return RuleTrace(id=rule, verdict=verdict, code=finding.code, value=finding.value, limit=finding.limit, reason=finding.reason)
