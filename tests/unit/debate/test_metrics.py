"""Everything computed from a debate in one record, and what a verdict may rely on."""

import time
from decimal import Decimal

import pytest

from alphaagent.debate.hit_ledger import ledger
from alphaagent.debate.metrics import Metrics, measure
from alphaagent.debate.zombies import unfit_reliance
from alphaagent.domain.base import fingerprint
from tests.unit.debate.debate_scenes import (
    ATTACK,
    KNOWN,
    OPENINGS,
    STRICT,
    assertion,
    claim,
    conceded,
    conclusion,
    ev,
    objection,
    opening,
    rebuttal,
    rebutted,
    retort,
    ruling,
    turn,
)

EARNED = (
    *OPENINGS,
    *ATTACK,
    turn(2, "bull", retort(conceded("o_bear_1"), rebutted("o_bear_2", 4), p_up="0.55")),
    turn(2, "bear", retort(p_up="0.40")),
    turn(3, "bull", conclusion(p_up="0.55")),
    turn(3, "bear", conclusion(p_up="0.40", rulings=[ruling("o_bear_2")])),
)


def test_the_record_agrees_with_its_parts_and_with_its_json() -> None:
    found = measure(EARNED, KNOWN, Decimal("0.5"), STRICT)
    assert (found.debate_class, found.outcome, found.closed_by, found.gap_closure) == ("earned", "closed", "bull", Decimal("0.5"))
    assert (found.convergence.settled.part, found.convergence.settled.whole) == (1, 1)
    assert (len(found.trajectory), len(found.stances), found.unresolved) == (4, 8, ())
    assert found.ledger == ledger(EARNED)
    assert Metrics.model_validate_json(found.model_dump_json()) == found


def test_it_has_a_canonical_form_so_no_float_is_in_it() -> None:
    assert fingerprint(measure(EARNED, KNOWN, Decimal("0.5"), STRICT)) == fingerprint(measure(EARNED, KNOWN, Decimal("0.5"), STRICT))


def test_a_debate_that_was_not_held_has_no_outcome() -> None:
    found = measure(OPENINGS, KNOWN, Decimal("0.5"), STRICT)
    assert (found.debate_class, found.outcome, found.closed_by, found.gap_closure) == ("no_debate", None, None, Decimal(0))


@pytest.mark.parametrize(
    ("id", "expected"),
    [
        ("c_bull_1", {"c_bull_1": "conceded"}),
        ("c_bear_1", {}),
        ("c_bear_10", {}),
        ("c_bear_13", {"c_bear_13": "unknown"}),
        (ev(1), {}),
        (ev(99), {ev(99): "unknown"}),
        ("", {"": "unknown"}),
    ],
)
def test_a_verdict_relies_on_what_stands(id: str, expected: dict[str, str]) -> None:
    assert unfit_reliance([id], ledger(EARNED), KNOWN) == expected


def test_a_verdict_does_not_rely_on_a_wrong_number() -> None:
    wrong = turn(0, "bull", opening(claim(assertion=assertion(">", "9")), claim(assertion=assertion(">", "1"))))
    assert unfit_reliance(["c_bull_1", "c_bull_2"], ledger((wrong,)), KNOWN) == {"c_bull_1": "contradicted"}


def test_the_worst_legal_texts_are_measured_in_time() -> None:
    opened = (
        turn(0, "bull", opening(*[claim(f"{n} " + "a b. " * 118) for n in range(6)])),
        turn(0, "bear", opening(*[claim(f"{n} " + "b a. " * 118) for n in range(6)])),
    )
    attack = [turn(1, side, rebuttal(*[objection(f"c_{other}_{n}", n) for n in range(1, 7)])) for side, other in (("bull", "bear"), ("bear", "bull"))]
    given = [turn(2, side, retort(*[conceded(f"o_{other}_{n}") for n in range(1, 7)])) for side, other in (("bull", "bear"), ("bear", "bull"))]
    closing = [turn(3, side, conclusion(summary=("x a. b b. a " * 272)[:3000])) for side in ("bull", "bear")]
    started = time.thread_time()
    assert len(measure((*opened, *attack, *given, *closing), KNOWN, Decimal("0.5"), STRICT).ledger.concessions) == 12
    assert time.thread_time() - started < 5
