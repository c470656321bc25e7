"""Every way a debate can go wrong, or well, held from beginning to end on a scripted room; beside each fixture one in which its detector is silent."""

from collections.abc import Callable, Mapping, Sequence

import pytest

from alphaagent.debate.orchestrate import Held
from alphaagent.debate.thresholds import Thresholds
from alphaagent.domain.argument import Answer, Move, Opening, Rebuttal
from tests.fake_room import DEEP, FakeRoom, Lines, bear_case, bull_case, hold, id_of, setup, spoken
from tests.unit.debate.debate_scenes import (
    assertion,
    carried,
    claim,
    conceded,
    conclusion,
    condition,
    objection,
    opening,
    rebuttal,
    rebutted,
    resolution,
    retort,
    ruling,
    words,
)

Round = tuple[Lines, Lines]
OBSERVABLES = tuple(f"get_price_history.{path}" for path in ("momentum.p_21", "trend.sma50", "trend.sma200", "volatility.sigma", "reversal.p_5"))
FRESH = ("trend", "reversal", "base_rate", "history")


def openings(bull: str = "0.70", bear: str = "0.40") -> Round:
    return bull_case(bull), bear_case(bear)


def attack(count: int = 1, bull: str = "0.70", bear: str = "0.40") -> tuple[Rebuttal, Rebuttal]:
    """Each side raises as many objections against the other's only claim."""
    bulls = (objection("c_bear_1", seed, id_of("volatility")) for seed in range(count))
    bears = (objection("c_bull_1", 4 + seed, id_of("volatility")) for seed in range(count))
    return rebuttal(*bulls, p_up=bull), rebuttal(*bears, p_up=bear, steelman=["c_bull_1"])


def carry(id: str, number: int) -> Move:
    return carried(id, number, would_resolve_if=resolution(observable=OBSERVABLES[number]))


def rebut(id: str, number: int) -> Move:
    return rebutted(id, number, id_of(FRESH[number % len(FRESH)]))


def still_open(*ids: str, p_up: str, start: int = 0) -> Answer:
    """A conclusion that says what would settle each of these."""
    return conclusion(*(condition(id, observable=OBSERVABLES[start + number]) for number, id in enumerate(ids)), p_up=p_up)


def accepting(*ids: str, p_up: str) -> Answer:
    return conclusion(p_up=p_up, rulings=[ruling(id, "ACCEPT", seed) for seed, id in enumerate(ids)])


PROSE = "Off the point, the weather has been fine and the markets are full of people."


def theater() -> Sequence[Round]:
    """Two retorts that answer nothing, even when they are told to."""
    nothing = retort(p_up="0.70"), retort(p_up="0.40")
    end = still_open("o_bull_1", p_up="0.70"), still_open("o_bear_1", p_up="0.40", start=1)
    return openings(), attack(), ([nothing[0]] * 2, [nothing[1]] * 2), end


def stagnant() -> Sequence[Round]:
    """All is carried, with reasons, and nobody moves."""
    end = still_open("o_bull_1", p_up="0.70", start=2), still_open("o_bear_1", p_up="0.40", start=3)
    return openings(), attack(), (retort(carry("o_bear_1", 0), p_up="0.70"), retort(carry("o_bull_1", 1), p_up="0.40")), end


def stubborn() -> Sequence[Round]:
    """All is rebutted, and nobody accepts."""
    end = conclusion(p_up="0.70"), conclusion(p_up="0.40")
    return openings(), attack(), (retort(rebut("o_bear_1", 0), p_up="0.70"), retort(rebut("o_bull_1", 1), p_up="0.40")), end


def capitulation() -> Sequence[Round]:
    """The bear concedes both, the bull carries both: half of all, and all of one side."""
    given = retort(conceded("o_bull_1", 2, scope="partial", narrowed_text="It lies under its high"), conceded("o_bull_2", 3), p_up="0.45")
    kept = retort(carry("o_bear_1", 0), carry("o_bear_2", 1), p_up="0.70")
    end = conclusion(p_up="0.70"), still_open("o_bear_1", "o_bear_2", p_up="0.45", start=2)
    return openings(), attack(2), (kept, given), end


def hollow() -> Sequence[Round]:
    """The numbers meet and nobody has given way."""
    kept = retort(carry("o_bear_1", 0), p_up="0.56"), retort(carry("o_bull_1", 1), p_up="0.54")
    return openings(), attack(), kept, (still_open("o_bull_1", p_up="0.56", start=2), still_open("o_bear_1", p_up="0.54", start=3))


def earned() -> Sequence[Round]:
    """Each gives way once, on evidence, and the gap closes."""
    reply = retort(rebut("o_bear_1", 0), p_up="0.62"), retort(conceded("o_bull_1", 2), p_up="0.52")
    return openings(), attack(), reply, (conclusion(p_up="0.62"), accepting("o_bear_1", p_up="0.56"))


def zombie() -> Sequence[Round]:
    """The bull concedes its claim and closes on it."""
    back = conclusion(p_up="0.60", summary="Momentum has been strong for a year")
    reply = retort(conceded("o_bear_1", 2), p_up="0.60"), retort(rebut("o_bull_1", 1), p_up="0.40")
    return openings(), attack(), reply, (back.model_copy(update={"adjudications": (ruling("o_bull_1"),)}), conclusion(p_up="0.40"))


def costless() -> Sequence[Round]:
    """A claim of high severity is given up and the number stays."""
    reply = retort(conceded("o_bear_1", 2), p_up="0.70"), retort(rebut("o_bull_1", 1), p_up="0.40")
    return (bull_case(severity="high"), bear_case()), attack(), reply, (accepting("o_bull_1", p_up="0.70"), conclusion(p_up="0.40"))


def unequal() -> Sequence[Round]:
    """Six claims against one."""
    six = opening(*(claim(f"Point {number}: {words(number)}", id_of("momentum")) for number in range(6)), p_up="0.70")
    end = conclusion(p_up="0.70"), conclusion(p_up="0.40")
    return (six, bear_case()), attack(), (retort(rebut("o_bear_1", 0), p_up="0.70"), retort(rebut("o_bull_1", 1), p_up="0.40")), end


def hallucinating() -> Sequence[Round]:
    """Both cite an item that nobody has, and cite it again."""
    made_up = "ev_ffffffffffff"
    bull = opening(claim("Momentum has been strong for a year", id_of("momentum"), made_up), p_up="0.70")
    bear = opening(claim("The stock lies far under its high", id_of("drawdown"), made_up, direction="down"), p_up="0.40", stance="BEARISH")
    return (([bull] * 2, [bear] * 2), *earned()[1:])


def degraded() -> Sequence[Round]:
    """One answer is a refusal, and is mended."""
    return ((["I'm unable to help with that.", bull_case()], bear_case()), *earned()[1:])


def crossed() -> Sequence[Round]:
    """The bull ends below the bear."""
    reply = retort(conceded("o_bear_1", 2), p_up="0.45"), retort(conceded("o_bull_1", 3), p_up="0.55")
    return openings(), attack(), reply, (conclusion(p_up="0.45"), conclusion(p_up="0.55"))


def drifting() -> Sequence[Round]:
    """Both go up together."""
    reply = retort(rebut("o_bear_1", 0), p_up="0.80"), retort(rebut("o_bull_1", 1), p_up="0.50")
    return openings(), attack(), reply, (conclusion(p_up="0.80"), conclusion(p_up="0.50"))


def held(rounds: Sequence[Round], thresholds: Thresholds | None = None) -> Held:
    debate = hold(FakeRoom(spoken(*rounds)), setup(thresholds=thresholds or Thresholds(), consensus_stop=False))
    assert debate.fault is None
    return debate


def raised(debate: Held) -> set[str]:
    assert debate.debate.metrics is not None
    return {flag.name for flag in debate.debate.metrics.flags}


def class_of(debate: Held) -> str:
    assert debate.debate.metrics is not None
    return debate.debate.metrics.debate_class


FIXTURES: Mapping[str, tuple[Callable[[], Sequence[Round]], Callable[[], Sequence[Round]]]] = {
    "theater": (theater, stagnant),
    "stagnant": (stagnant, stubborn),
    "stubborn": (stubborn, earned),
    "capitulation": (capitulation, earned),
    "hollow_consensus": (hollow, earned),
    "zombie_claim": (zombie, costless),
    "costless_concession": (costless, zombie),
    "asymmetric_effort": (unequal, stubborn),
    "shared_hallucination": (hallucinating, earned),
    "degraded": (degraded, earned),
    "crossed": (crossed, earned),
    "drift": (drifting, stubborn),
}
"""By flag: a debate in which it has to be raised, and one in which it may not be."""


@pytest.mark.parametrize("name", FIXTURES)
def test_C11_a_flag_is_raised_where_it_belongs_and_nowhere_else(name: str) -> None:
    guilty, innocent = FIXTURES[name]
    assert [name in raised(held(guilty())), name in raised(held(innocent()))] == [True, False]


def test_C11_loop_on_point_needs_three_moves_on_one_claim_and_another_claim_beside_it() -> None:
    def deep(second: str) -> set[str]:
        bull = opening(claim("Momentum has been strong for a year", id_of("momentum")), claim(words(7), id_of("trend")), p_up="0.70")
        bears = rebuttal(objection("c_bull_1", 4, id_of("volatility")), objection(second, 5, id_of("volatility")), p_up="0.40", steelman=["c_bull_1"])
        idle = rebuttal(p_up="0.70"), rebuttal(p_up="0.40", steelman=["c_bull_1"])
        first = retort(carry("o_bear_1", 0), carry("o_bear_2", 1), p_up="0.70"), retort(p_up="0.40")
        again = retort(carry("o_bear_1", 2), carry("o_bear_2", 3), p_up="0.70"), retort(p_up="0.40")
        end = conclusion(p_up="0.70"), still_open("o_bear_1", "o_bear_2", p_up="0.40", start=3)
        debate = hold(FakeRoom(spoken((bull, bear_case()), (idle[0], bears), first, idle, again, end)), setup(*DEEP, plan="deep"))
        assert debate.fault is None
        return raised(debate)

    assert ["loop_on_point" in deep(second) for second in ("c_bull_1", "c_bull_2")] == [True, False]


@pytest.mark.parametrize(
    ("debate", "expected"),
    [
        (theater, "theater"),
        (capitulation, "capitulated"),
        (hollow, "hollow"),
        (stagnant, "stagnant"),
        (earned, "earned"),
        (stubborn, "stubborn"),
        (costless, "mixed"),
    ],
)
def test_C11_the_class_of_a_debate_from_its_first_word_to_its_last(debate: Callable[[], Sequence[Round]], expected: str) -> None:
    assert class_of(held(debate())) == expected


def test_C12_it_is_the_bear_that_gave_in_although_half_of_all_objections_stand() -> None:
    found = held(capitulation()).debate.metrics
    assert found is not None
    assert [(flag.name, flag.side) for flag in found.flags if flag.name == "capitulation"] == [("capitulation", "bear")]


def test_C10_a_lapse_settles_nothing_and_an_acceptance_does() -> None:
    shares = []
    for rounds in (stubborn(), earned()):
        found = held(rounds).debate.metrics
        assert found is not None
        shares.append((found.convergence.settled.part, found.convergence.settled.whole))
    assert shares == [(0, 2), (2, 2)]


def test_C15_every_open_point_at_the_end_has_a_condition_of_its_own() -> None:
    found = held(stagnant()).debate.metrics
    assert found is not None
    conditions = [point.conditions for point in found.unresolved]
    assert [point.objection_id for point in found.unresolved] == ["o_bull_1", "o_bear_1"]
    assert len({condition for of_one in conditions for condition in of_one}) == sum(len(of_one) for of_one in conditions) == 4


class TestTheLazyDebater:
    """It does the cheapest thing that its contract admits."""

    def bare(self, id: str) -> Move:
        return carried(id, reason="", would_resolve_if=None)

    def rounds(self) -> Sequence[Round]:
        bare = retort(self.bare("o_bear_1"), p_up="0.70"), retort(self.bare("o_bull_1"), p_up="0.40")
        end = still_open("o_bull_1", p_up="0.70"), still_open("o_bear_1", p_up="0.40", start=1)
        return openings(), attack(), ([bare[0]] * 2, [bare[1]] * 2), end

    def test_C7_a_carry_that_costs_nothing_passes_for_a_debate_under_a_permissive_contract_only(self) -> None:
        contracts = (Thresholds(), Thresholds(carries="permissive"))
        assert [class_of(held(self.rounds(), contract)) for contract in contracts] == ["theater", "stagnant"]


def test_C8_a_number_that_the_evidence_refutes_may_not_be_carried() -> None:
    wrong = bull_case().model_copy(
        update={"claims": (claim("Momentum is up a third", id_of("momentum"), assertion=assertion(">", "130", id=id_of("momentum"), path="p_21")),)}
    )
    assert isinstance(wrong, Opening)
    bears = rebuttal(objection("c_bull_1", 4, id_of("momentum")), p_up="0.40", steelman=["c_bull_1"])
    stands = retort(carry("o_bear_1", 0), p_up="0.70")
    end = conclusion(p_up="0.70"), still_open("o_bear_1", p_up="0.40", start=1)
    room = FakeRoom(spoken((wrong, bear_case()), (rebuttal(p_up="0.70"), bears), ([stands] * 2, retort(p_up="0.40")), end))
    debate = hold(room)
    assert debate.fault is None
    (turn,) = [turn for turn in debate.turns if (turn.phase, turn.side) == ("retort", "bull")]
    assert ([repair.codes for repair in turn.repairs], turn.faults) == ([("MUST_CONCEDE",)], ("MUST_CONCEDE",))
    assert "they are wrong under o_bear_1" in room.prompt("retort", 3, "bull")
    assert debate.debate.checked == {"c_bull_1": "contradicted"}
