"""Which objections may be raised; every code has a case that gives it and one that does not."""

import pytest

from alphaagent.debate.faults import answer_faults
from alphaagent.debate.floor import floor
from alphaagent.domain.argument import Objection
from tests.unit.debate.debate_scenes import (
    AS_OF,
    KNOWN,
    OPENINGS,
    STRICT,
    at,
    codes,
    conceded,
    ev,
    objection,
    opening,
    rebuttal,
    rebutted,
    retort,
    ruling,
    turn,
)


@pytest.mark.parametrize("good", [objection("c_bear_1"), objection("c_bear_12"), objection("c_bear_1", fallacy="straw_man"), objection("c_bear_1", 0, ev(5))])
def test_one_with_evidence_or_a_fallacy_may_be_raised(good: Objection) -> None:
    assert codes(rebuttal(good), at("bull")) == []


@pytest.mark.parametrize("target", ["c_bull_1", "c_bear_13", "c_bear_", "c_bear_1 ", "bear_1", ""])
def test_BAD_TARGET_only_a_claim_of_the_opponent_by_its_whole_id(target: str) -> None:
    assert codes(rebuttal(objection(target)), at("bull")) == [("objections", 0, "BAD_TARGET")]


def test_BAD_TARGET_a_settled_claim_takes_no_more() -> None:
    attack = turn(1, "bull", rebuttal(objection("c_bear_1"), objection("c_bear_2", 1), objection("c_bear_3", 2)))
    quiet = turn(1, "bear", rebuttal(steelman=["c_bull_1"]))
    given_way = turn(2, "bear", retort(conceded("o_bull_1"), rebutted("o_bull_2"), conceded("o_bull_3", scope="partial", narrowed_text="Less")))
    told = (attack, quiet, turn(2, "bull", retort()), given_way)
    accepted = turn(3, "bull", rebuttal(rulings=[ruling("o_bull_2")]))
    place = at("bull", *told, accepted, turn(3, "bear", rebuttal(steelman=["c_bull_1"])))
    again = [objection(f"c_bear_{n}", 4 + n) for n in (1, 2, 3)]
    assert [fault.message for fault in answer_faults(rebuttal(*again), place)] == [
        "objections[0]: 'c_bear_1' is conceded and takes no more objections.",
        "objections[1]: 'c_bear_2' is upheld and takes no more objections.",
    ]


def test_NO_SUPPORT() -> None:
    bare = objection("c_bear_1").model_copy(update={"evidence_ids": ()})
    assert codes(rebuttal(bare), at("bull")) == [("objections", 0, "NO_SUPPORT")]


def test_DUPLICATE_OBJECTION_within_a_turn_and_across_rounds() -> None:
    twin = objection("c_bear_1").model_copy(update={"argument": objection("c_bear_1").argument.upper() + "!!"})
    assert codes(rebuttal(objection("c_bear_1"), twin), at("bull")) == [("objections", 1, "DUPLICATE_OBJECTION")]
    before = (turn(1, "bull", rebuttal(objection("c_bear_1"))), turn(1, "bear", rebuttal(steelman=["c_bull_1"])))
    assert codes(rebuttal(twin), at("bull", *before)) == [("objections", 0, "DUPLICATE_OBJECTION")]


def test_the_same_words_against_another_claim_are_no_duplicate() -> None:
    assert codes(rebuttal(objection("c_bear_1"), objection("c_bear_2")), at("bull")) == []


def test_CLAIM_CAP() -> None:
    assert codes(rebuttal(*[objection("c_bear_1", seed) for seed in range(3)]), at("bull")) == [("objections", 2, "CLAIM_CAP")]


def test_PHASE_CAP() -> None:
    many = [objection(f"c_bear_{n}", n) for n in range(1, 7)]
    assert codes(rebuttal(*many), at("bull")) == [("objections", 4, "PHASE_CAP"), ("objections", 5, "PHASE_CAP")]


def test_an_objection_at_fault_uses_up_no_cap() -> None:
    bad = objection("c_bear_99")
    assert codes(rebuttal(bad, *[objection(f"c_bear_{n}", n) for n in range(1, 5)]), at("bull")) == [("objections", 0, "BAD_TARGET")]


@pytest.mark.parametrize(("id", "code"), [(ev(99), "UNKNOWN_EVIDENCE"), (ev(1)[:-1], "UNKNOWN_EVIDENCE"), (ev(7), "AFTER_CUTOFF")])
def test_what_may_not_be_cited_carries_no_objection(id: str, code: str) -> None:
    assert codes(rebuttal(objection("c_bear_1", 0, id)), at("bull")) == [("objections", 0, code)]


def test_a_steelman_names_the_opponents_claims() -> None:
    assert codes(rebuttal(steelman=[]), at("bull")) == [("steelman", None, "BAD_TARGET")]
    assert codes(rebuttal(steelman=["c_bear_1", "c_bull_1"]), at("bull")) == [("steelman", None, "BAD_TARGET")]
    assert codes(rebuttal(steelman=["c_bear_1", "c_bear_12"]), at("bull")) == []


def test_a_side_without_a_case_needs_no_claim_named() -> None:
    none = turn(0, "bear", opening(no_case="Nothing speaks against it"))
    assert answer_faults(rebuttal(steelman=[]), floor("bull", (OPENINGS[0], none), KNOWN, AS_OF, STRICT)) == ()


@pytest.mark.parametrize(("target", "why"), [("c_bull_1", "'c_bull_1' is your own claim"), ("c_bear_99", "'c_bear_99' is no claim id that you were given")])
def test_BAD_TARGET_says_why(target: str, why: str) -> None:
    [fault] = answer_faults(rebuttal(objection(target)), at("bull"))
    assert fault.message == f"objections[0]: {why}."


def test_an_argument_of_a_few_words_is_none() -> None:
    answer = rebuttal(objection("c_bull_1", 0, ev(2), argument="No."), steelman=["c_bull_1"])
    assert codes(answer, at("bear")) == [("objections", 0, "NO_REASON")]
