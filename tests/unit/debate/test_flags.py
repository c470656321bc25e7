"""Every flag fires on its fixture and is silent on its nearest neighbour; every class has a debate."""

from decimal import Decimal
from typing import Any

import pytest

from alphaagent.debate.faults import answer_faults
from alphaagent.debate.flags import Flag, debate_class, flags
from alphaagent.debate.floor import Floor, floor
from alphaagent.debate.thresholds import Thresholds
from alphaagent.debate.turns import DEBATERS
from alphaagent.domain.argument import Adjudication, Move, PointFault, Retort, Turn
from tests.unit.debate.debate_scenes import (
    AS_OF,
    ATTACK,
    KNOWN,
    OPENINGS,
    assertion,
    carried,
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
    words,
)

LIMITS = Thresholds()
EVEN = (OPENINGS[0], turn(0, "bear", opening(*[claim(f"Point {n} of the {words(n)}", ev(2), direction="down") for n in (1, 2, 3)], p_up="0.40")))
QUIET = turn(2, "bear", retort(p_up="0.40"))


def raised(*turns: Turn, openings: tuple[Turn, ...] = EVEN, thresholds: Thresholds = LIMITS) -> dict[str, Flag]:
    """The flags of a debate by name; the ones that appear more than once by their last."""
    return {flag.name: flag for flag in flags((*openings, *turns), KNOWN, thresholds)}


def class_of(*turns: Turn, openings: tuple[Turn, ...] = EVEN) -> str:
    return debate_class((*openings, *turns), flags((*openings, *turns), KNOWN, LIMITS), LIMITS)


def bulls(*moves: Move, p_up: str = "0.70", faults: tuple[PointFault, ...] = ()) -> tuple[Turn, ...]:
    """The attack, bull's retort to it, and a bear that owes nothing."""
    return (*ATTACK, turn(2, "bull", retort(*moves, p_up=p_up), *faults), QUIET)


def last_words(bull: str = "0.70", bear: str = "0.40", *rulings: Adjudication) -> tuple[Turn, ...]:
    return (turn(3, "bull", conclusion(p_up=bull)), turn(3, "bear", conclusion(p_up=bear, rulings=rulings)))


def bad(index: int | None, code: str = "NO_REASON", subject: str = "", part: Any = "moves") -> PointFault:
    return PointFault(part=part, index=index, subject=subject, code=code, message="")


OFF_TOPIC = bulls(faults=(bad(None, "MISSING_MOVE", "o_bear_1"), bad(None, "MISSING_MOVE", "o_bear_2")))
ALL_CARRIED = bulls(carried("o_bear_1"), carried("o_bear_2", 3))
ALL_REBUTTED = bulls(rebutted("o_bear_1"), rebutted("o_bear_2", 4))


class TestTheater:
    def test_C11_prose_beside_the_point_on_both_sides_is_theater(self) -> None:
        both = (
            turn(1, "bull", rebuttal(objection("c_bear_1"))),
            turn(1, "bear", rebuttal(objection("c_bull_1"))),
            turn(2, "bull", retort()),
            turn(2, "bear", retort()),
        )
        assert raised(*both, *last_words()).keys() == {"theater"}
        assert class_of(*both, *last_words()) == "theater"

    def test_C11_moves_that_are_all_at_fault_are_theater(self) -> None:
        shams = bulls(carried("o_bear_1", reason="Carried."), carried("o_bear_2", reason="Carried."), faults=(bad(0), bad(1)))
        assert "theater" in raised(*shams)

    @pytest.mark.parametrize("moves", [ALL_CARRIED, ALL_REBUTTED], ids=["carried", "rebutted"])
    def test_C11_a_valid_move_is_engagement(self, moves: tuple[Turn, ...]) -> None:
        assert "theater" not in raised(*moves)

    def test_without_an_objection_there_is_nothing_to_play(self) -> None:
        assert "theater" not in raised(turn(1, "bull", rebuttal()), turn(1, "bear", rebuttal()), turn(2, "bull", retort()), turn(2, "bear", retort()))

    def test_an_objection_that_was_never_put_to_anybody_is_no_theater(self) -> None:
        assert "theater" not in raised(*ATTACK)


class TestStagnantAndStubborn:
    def test_C11_all_carried_with_reasons_is_stagnant(self) -> None:
        assert raised(*ALL_CARRIED).keys() == {"stagnant"}
        assert class_of(*ALL_CARRIED) == "stagnant"

    @pytest.mark.parametrize(("p_up", "expected"), [("0.71", True), ("0.69", True), ("0.711", False), ("0.5", False)])
    def test_a_number_that_moved_more_than_a_step_is_not_stagnant(self, p_up: str, expected: bool) -> None:
        assert ("stagnant" in raised(*bulls(carried("o_bear_1"), carried("o_bear_2", 3), p_up=p_up))) is expected

    def test_a_rebuttal_among_them_is_not_stagnant(self) -> None:
        assert "stagnant" not in raised(*bulls(carried("o_bear_1"), rebutted("o_bear_2")))

    def test_C11_all_rebutted_is_stubborn_which_is_no_fault(self) -> None:
        assert raised(*ALL_REBUTTED).keys() == {"stubborn"}
        assert class_of(*ALL_REBUTTED) == "stubborn"

    def test_one_concession_is_not_stubborn(self) -> None:
        assert "stubborn" not in raised(*bulls(conceded("o_bear_1"), rebutted("o_bear_2")))

    def test_a_rebuttal_at_fault_is_not_stubborn(self) -> None:
        assert "stubborn" not in raised(*bulls(rebutted("o_bear_1"), carried("o_bear_2"), faults=(bad(0, "NO_EVIDENCE"),)))


def exchange(*bears: Move, bull_carries: int = 4) -> tuple[Turn, ...]:
    """Four objections each way, on two claims each; bear answers as told, bull carries."""
    openings = (turn(0, "bull", opening(claim("One"), claim("Two"), p_up="0.7")), OPENINGS[1])
    targets = [(1, 0), (1, 1), (2, 2), (2, 3)]
    attack = (
        turn(1, "bull", rebuttal(*[objection(f"c_bear_{n}", seed) for n, seed in targets], p_up="0.7")),
        turn(1, "bear", rebuttal(*[objection(f"c_bull_{n}", seed) for n, seed in targets], p_up="0.4")),
    )
    carries = [carried(f"o_bear_{n}", n) for n in range(1, bull_carries + 1)]
    return (*openings, *attack, turn(2, "bull", retort(*carries, p_up="0.7")), turn(2, "bear", retort(*bears, p_up="0.45")))


class TestCapitulation:
    def test_C12_it_is_counted_per_side(self) -> None:
        told = exchange(*[conceded(f"o_bull_{n}", n) for n in range(1, 5)])
        [flag] = [flag for flag in flags(told, KNOWN, LIMITS) if flag.name == "capitulation"]
        assert (flag.side, flag.round) == ("bear", 3)
        assert debate_class(told, flags(told, KNOWN, LIMITS), LIMITS) == "capitulated"

    @pytest.mark.parametrize(
        "bears",
        [
            [*[conceded(f"o_bull_{n}", n) for n in (1, 2, 3)], carried("o_bull_4")],
            [*[conceded(f"o_bull_{n}", n) for n in (1, 2, 3)], rebutted("o_bull_4")],
            [*[conceded(f"o_bull_{n}", n) for n in (1, 2, 3)]],
        ],
        ids=["three of four", "with a rebuttal", "one not answered"],
    )
    def test_three_of_four_is_none(self, bears: list[Move]) -> None:
        assert "capitulation" not in {flag.name for flag in flags(exchange(*bears), KNOWN, LIMITS)}

    def test_exactly_the_share_is_one(self) -> None:
        told = exchange(*[conceded(f"o_bull_{n}", n) for n in (1, 2, 3)], carried("o_bull_4"))
        assert "capitulation" in {flag.name for flag in flags(told, KNOWN, Thresholds(capitulation=Decimal("0.75")))}

    def test_two_of_two_is_one(self) -> None:
        assert "capitulation" in raised(*bulls(conceded("o_bear_1"), conceded("o_bear_2", 4), p_up="0.5"))

    def test_to_concede_the_only_objection_is_none(self) -> None:
        attack = (ATTACK[0], turn(1, "bear", rebuttal(objection("c_bull_1"))))
        assert "capitulation" not in raised(*attack, turn(2, "bull", retort(conceded("o_bear_1"))), QUIET)

    def test_only_the_first_retort_counts(self) -> None:
        later = (*ALL_CARRIED, turn(3, "bull", rebuttal()), turn(3, "bear", rebuttal()))
        given_in = turn(4, "bull", retort(conceded("o_bear_1"), conceded("o_bear_2", 4)))
        assert "capitulation" not in raised(*later, given_in)


class TestConcessions:
    SAID = "Momentum is strong and has been for a year"

    def closing(self, summary: str, scope: Any = "full") -> dict[str, Flag]:
        narrowed = {"narrowed_text": "Momentum is strong"} if scope == "partial" else {}
        given = bulls(conceded("o_bear_1", scope=scope, **narrowed), rebutted("o_bear_2"), p_up="0.5")
        return raised(*given, turn(3, "bull", conclusion(summary=summary)), turn(3, "bear", conclusion()))

    def test_a_conceded_claim_that_comes_back_is_a_zombie(self) -> None:
        flag = self.closing(f"I stay long. {self.SAID}! That carries it.")["zombie_claim"]
        assert (flag.side, flag.round, flag.subject) == ("bull", 4, "c_bull_1")

    @pytest.mark.parametrize(
        "summary",
        ["I conceded c_bull_1 and no longer rely on it.", "Momentum is not strong and has not been for half a year.", "Rates decide."],
    )
    def test_owning_up_to_it_is_none(self, summary: str) -> None:
        assert "zombie_claim" not in self.closing(summary)

    def test_a_narrowed_claim_may_be_repeated(self) -> None:
        assert "zombie_claim" not in self.closing("Momentum is strong.", scope="partial")

    def test_the_opponent_may_quote_it(self) -> None:
        given = bulls(conceded("o_bear_1"), rebutted("o_bear_2"), p_up="0.5")
        assert "zombie_claim" not in raised(*given, turn(3, "bull", conclusion()), turn(3, "bear", conclusion(summary=self.SAID)))

    @pytest.mark.parametrize(("p_up", "expected"), [("0.70", True), ("0.691", True), ("0.69", False), ("0.5", False)])
    def test_a_weighty_concession_that_moves_nothing_is_costless(self, p_up: str, expected: bool) -> None:
        found = raised(*bulls(conceded("o_bear_1"), rebutted("o_bear_2"), p_up=p_up))
        assert ("costless_concession" in found) is expected
        assert not expected or (found["costless_concession"].side, found["costless_concession"].subject) == ("bull", "c_bull_1")

    def test_a_light_or_partial_one_may_move_nothing(self) -> None:
        light = (turn(0, "bull", opening(claim(self.SAID, severity="med"), p_up="0.70")), OPENINGS[1])
        assert "costless_concession" not in raised(*bulls(conceded("o_bear_1"), rebutted("o_bear_2")), openings=light)
        part = conceded("o_bear_1", scope="partial", narrowed_text="Less")
        assert "costless_concession" not in raised(*bulls(part, rebutted("o_bear_2")))


class TestEffort:
    def told(self, first: int, second: int, third: int) -> dict[str, Flag]:
        """So many moves on three claims of bear, one retort after the other."""
        attack = turn(1, "bull", rebuttal(*[objection(f"c_bear_{n}", n) for n in (1, 2, 3)]))
        turns: tuple[Turn, ...] = (attack, turn(1, "bear", rebuttal()))
        for number in range(max(first, second, third)):
            moves = [carried(f"o_bull_{n}", number) for n, times in ((1, first), (2, second), (3, third)) if number < times]
            turns = (*turns, turn(2 + number, "bull", retort()), turn(2 + number, "bear", retort(*moves)))
        return raised(*turns)

    @pytest.mark.parametrize(("moves", "expected"), [((3, 1, 0), True), ((3, 2, 0), False), ((3, 1, 1), False), ((2, 1, 0), False), ((2, 0, 0), False)])
    def test_a_loop_is_most_of_many_moves_on_one_claim(self, moves: tuple[int, int, int], expected: bool) -> None:
        found = self.told(*moves)
        assert ("loop_on_point" in found) is expected
        assert not expected or found["loop_on_point"].subject == "c_bear_1"

    @pytest.mark.parametrize(("bull", "bear", "expected"), [(6, 1, True), (5, 1, False), (1, 6, True), (6, 2, False), (1, 1, False)])
    def test_effort_is_unequal_beyond_five_to_one(self, bull: int, bear: int, expected: bool) -> None:
        cases = tuple(turn(0, side, opening(*[claim()] * count)) for side, count in (("bull", bull), ("bear", bear)))
        assert ("asymmetric_effort" in raised(openings=cases)) is expected

    def test_to_have_no_case_is_no_lack_of_effort(self) -> None:
        cases = (turn(0, "bull", opening(*[claim()] * 6)), turn(0, "bear", opening(no_case="Nothing speaks against it")))
        assert "asymmetric_effort" not in raised(openings=cases)


class TestHallucination:
    def openings(self, bull: Any, bear: Any, *faults: tuple[str, ...]) -> tuple[Turn, ...]:
        def at_fault(ids: tuple[str, ...]) -> list[PointFault]:
            return [bad(0, "UNKNOWN_EVIDENCE", id, "claims") for id in ids]

        ids = faults or ((), ())
        return (turn(0, "bull", opening(claim(assertion=bull)), *at_fault(ids[0])), turn(0, "bear", opening(claim(assertion=bear)), *at_fault(ids[1])))

    def test_both_sides_cite_the_same_id_that_does_not_exist(self) -> None:
        assert raised(openings=self.openings(None, None, (ev(99),), (ev(98), ev(99))))["shared_hallucination"].subject == ev(99)

    def test_one_side_alone_does_not_share(self) -> None:
        assert "shared_hallucination" not in raised(openings=self.openings(None, None, (ev(99),), (ev(98),)))

    @pytest.mark.parametrize(
        ("bull", "bear", "expected"),
        [
            (assertion(">", "9"), assertion(">", "9.0"), True),
            (assertion(">", "9"), assertion(">", "8"), False),
            (assertion(">", "9"), assertion("<", "9"), False),
            (assertion(">", "1"), assertion(">", "1"), False),
            (assertion(">", "9"), None, False),
        ],
        ids=["same and wrong", "other value", "other way", "same and right", "one side"],
    )
    def test_both_sides_assert_the_same_wrong_number(self, bull: Any, bear: Any, expected: bool) -> None:
        assert ("shared_hallucination" in raised(openings=self.openings(bull, bear))) is expected


class TestTheRest:
    def test_C16_a_degraded_turn_is_named_by_side_and_round(self) -> None:
        tired = turn(1, "bear", rebuttal()).model_copy(update={"degraded": ("repetition",)})
        flag = raised(turn(1, "bull", rebuttal()), tired)["degraded"]
        assert (flag.side, flag.round, flag.subject) == ("bear", 2, "repetition")
        assert "degraded" not in raised(turn(1, "bull", rebuttal()))

    def near(self, *moves: Move) -> tuple[Turn, ...]:
        return (*ATTACK, turn(2, "bull", retort(*moves, p_up="0.44")), QUIET, *last_words("0.44"))

    def test_a_gap_that_closed_by_itself_is_hollow(self) -> None:
        told = self.near(carried("o_bear_1"), carried("o_bear_2", 3))
        assert raised(*told)["hollow_consensus"].round == 4
        assert class_of(*told) == "hollow"

    def test_a_gap_that_was_closed_by_conceding_is_not(self) -> None:
        assert "hollow_consensus" not in raised(*self.near(conceded("o_bear_1"), carried("o_bear_2")))

    def test_crossed(self) -> None:
        crossed = (*ATTACK, turn(2, "bull", retort(carried("o_bear_1"), carried("o_bear_2", 3), p_up="0.39")), QUIET)
        assert raised(*crossed)["crossed"].round == 3
        assert "crossed" not in raised(*ALL_CARRIED)

    def test_drift(self) -> None:
        drifted = (*ATTACK, turn(2, "bull", retort(carried("o_bear_1"), carried("o_bear_2", 3), p_up="0.8")), turn(2, "bear", retort(p_up="0.5")))
        assert "drift" in raised(*drifted)
        assert "drift" not in raised(*ALL_CARRIED)

    def test_a_quiet_debate_has_no_flag(self) -> None:
        assert raised(*bulls(conceded("o_bear_1"), rebutted("o_bear_2"), p_up="0.6")) == {}


class TestClass:
    EARNED = (*bulls(conceded("o_bear_1"), rebutted("o_bear_2", 4), p_up="0.55"), *last_words("0.55", "0.40", ruling("o_bear_2")))

    def test_earned(self) -> None:
        assert class_of(*self.EARNED) == "earned"

    def test_a_gap_that_held_is_not_earned(self) -> None:
        told = (*bulls(conceded("o_bear_1"), rebutted("o_bear_2", 4), p_up="0.65"), *last_words("0.65", "0.40", ruling("o_bear_2")))
        assert class_of(*told) == "mixed"

    def test_exactly_half_settled_is_earned(self) -> None:
        """Two contested claims, one of them given up."""
        attack = turn(1, "bull", rebuttal(objection("c_bear_1"), objection("c_bear_2", 1), p_up="0.7")), turn(1, "bear", rebuttal(p_up="0.4"))
        reply = turn(2, "bull", retort(p_up="0.7")), turn(2, "bear", retort(conceded("o_bull_1"), carried("o_bull_2"), p_up="0.5"))
        assert debate_class((*EVEN, *attack, *reply), flags((*EVEN, *attack, *reply), KNOWN, LIMITS), LIMITS) == "earned"

    def test_less_than_half_settled_is_not_earned(self) -> None:
        assert class_of(*bulls(conceded("o_bear_1"), rebutted("o_bear_2", 4), p_up="0.55"), *last_words("0.55")) == "mixed"

    def test_a_concession_to_pure_logic_bears_no_evidence(self) -> None:
        logic = [objection("c_bull_1", 0, fallacy="straw_man")]
        attack = (ATTACK[0], turn(1, "bear", rebuttal(*logic, p_up="0.40")))
        given = (*attack, turn(2, "bull", retort(conceded("o_bear_1"), p_up="0.55")), QUIET)
        assert class_of(*given) == "mixed"
        cited = (*attack, turn(2, "bull", retort(conceded("o_bear_1", evidence_ids=(ev(2),)), p_up="0.55")), QUIET)
        assert class_of(*cited) == "earned"

    def test_theater_comes_before_hollow(self) -> None:
        assert class_of(*ATTACK, turn(2, "bull", retort(p_up="0.42")), QUIET) == "theater"

    def test_I15_a_debate_without_a_claim_is_none(self) -> None:
        none = tuple(turn(0, side, opening(no_case="Nothing to say")) for side in ("bull", "bear"))
        assert class_of(turn(1, "bull", rebuttal()), turn(1, "bear", rebuttal()), openings=none) == "no_debate"
        assert class_of() == "no_debate"

    def test_nothing_contested_is_mixed_and_never_converged(self) -> None:
        assert class_of(turn(1, "bull", rebuttal()), turn(1, "bear", rebuttal())) == "mixed"


def lazy(place: Floor) -> Retort:
    """LazyDebater: carries everything, says nothing, moves nothing; the cheapest answer there is."""
    moves = [carried(row.id, reason="", would_resolve_if=None) for row in place.ledger.outstanding(place.side)]
    return retort(*moves, p_up=str(place.p_before))


def lazy_debate(thresholds: Thresholds) -> tuple[Turn, ...]:
    attack = (
        turn(1, "bull", rebuttal(objection("c_bear_1"), p_up="0.70")),
        turn(1, "bear", rebuttal(objection("c_bull_1"), p_up="0.40", steelman=["c_bull_1"])),
    )
    read = (*EVEN, *attack)
    replies = []
    for side in DEBATERS:
        place = floor(side, read, KNOWN, AS_OF, thresholds)
        answer = lazy(place)
        replies.append(turn(2, side, answer, *answer_faults(answer, place), attempts=2))
    return (*read, *replies)


def test_a_contract_that_asks_for_nothing_hides_theater_and_the_strict_one_shows_it() -> None:
    permissive, strict = Thresholds(carries="permissive"), Thresholds()
    assert debate_class(lazy_debate(permissive), flags(lazy_debate(permissive), KNOWN, permissive), permissive) == "stagnant"
    assert debate_class(lazy_debate(strict), flags(lazy_debate(strict), KNOWN, strict), strict) == "theater"
    assert {flag.name for flag in flags(lazy_debate(strict), KNOWN, strict)} == {"theater"}
