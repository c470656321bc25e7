"""How much of what was contested was settled."""

from decimal import Decimal

from alphaagent.debate.convergence import Convergence, Share, convergence
from alphaagent.debate.hit_ledger import ledger
from alphaagent.domain.argument import Answer, Move, Turn
from tests.unit.debate.debate_scenes import ATTACK, OPENINGS, carried, claim, conceded, conclusion, objection, opening, rebuttal, rebutted, retort, ruling, turn

CONTESTED = (turn(1, "bull", rebuttal(*[objection(f"c_bear_{n}", n) for n in (1, 2, 3)])), turn(1, "bear", rebuttal(steelman=["c_bull_1"])))


def shares(*turns: Turn) -> Convergence:
    return convergence(ledger((*OPENINGS, *turns)))


def answered(*moves: Move, word: Answer) -> Convergence:
    return shares(*CONTESTED, turn(2, "bull", retort()), turn(2, "bear", retort(*moves)), turn(3, "bull", word), turn(3, "bear", conclusion()))


def test_C10_nothing_contested_is_no_convergence() -> None:
    nothing = shares()
    assert (nothing.settled, nothing.settled.value, nothing.converged) == (Share(part=0, whole=0), None, False)
    assert (nothing.contested.part, nothing.contested.whole) == (0, 13)


def test_C10_two_of_three_with_both_counts() -> None:
    found = answered(conceded("o_bull_1"), rebutted("o_bull_2"), carried("o_bull_3"), word=conclusion(rulings=[ruling("o_bull_2")]))
    assert (found.settled, found.settled.value) == (Share(part=2, whole=3), Decimal("0.666667"))
    assert found.settled_of_all == Share(part=2, whole=13)
    assert not found.converged


def test_C10_a_lapse_is_no_agreement() -> None:
    assert answered(conceded("o_bull_1"), rebutted("o_bull_2"), carried("o_bull_3"), word=conclusion()).settled == Share(part=1, whole=3)


def test_all_settled_is_converged() -> None:
    assert answered(*[conceded(f"o_bull_{n}", n) for n in (1, 2, 3)], word=conclusion()).converged


def test_a_claim_is_settled_when_all_its_objections_are() -> None:
    half = shares(*ATTACK, turn(2, "bull", retort(conceded("o_bear_1"), carried("o_bear_2"))))
    assert (half.contested.part, half.settled.part) == (1, 0)


def test_the_weighted_share_counts_severity() -> None:
    heavy = turn(0, "bear", opening(claim("One", severity="high"), claim("Two", severity="low"), claim("Three")))
    told = (OPENINGS[0], heavy, *CONTESTED, turn(2, "bear", retort(conceded("o_bull_1"), carried("o_bull_2"), carried("o_bull_3", 3))))
    assert convergence(ledger(told)).settled_weighted == Share(part=3, whole=6)


def test_two_sides_that_say_the_same_in_other_words_have_settled_nothing() -> None:
    """Paraphrase is not convergence: only states count."""
    alike = shares(*CONTESTED, turn(2, "bull", retort()), turn(2, "bear", retort(*[carried(f"o_bull_{n}", 2) for n in (1, 2, 3)])))
    assert alike.settled == Share(part=0, whole=3)
