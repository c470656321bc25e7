"""Which moves count; every code has a case that gives it and one that does not."""

from collections.abc import Callable
from datetime import date
from decimal import Decimal

import pytest

from alphaagent.debate.faults import answer_faults
from alphaagent.debate.floor import Floor, floor
from alphaagent.debate.hit_ledger import ledger
from alphaagent.debate.thresholds import Thresholds
from alphaagent.domain.argument import Claim, Move, PointFault, Retort, Turn
from alphaagent.errors import DebateFault
from tests.unit.debate.debate_scenes import (
    AS_OF,
    ATTACK,
    KNOWN,
    OPENINGS,
    STRICT,
    assertion,
    at,
    carried,
    claim,
    codes,
    conceded,
    ev,
    objection,
    opening,
    rebuttal,
    rebutted,
    resolution,
    retort,
    ruling,
    turn,
)


def move_codes(*moves: Move, before: tuple[Turn, ...] = ATTACK, p_up: str = "0.70", thresholds: Thresholds = STRICT) -> list[str]:
    """The codes of bull's moves; o_bear_2 is answered soundly unless the moves say otherwise."""
    rest = () if any(move.objection_id == "o_bear_2" for move in moves) else (rebutted("o_bear_2", 5),)
    return [fault.code for fault in answer_faults(retort(*moves, *rest, p_up=p_up), at("bull", *before, thresholds=thresholds))]


class TestWhichObjection:
    @pytest.mark.parametrize("id", ["o_bear_3", "o_bear_10", "o_bear_", "O_BEAR_1", " o_bear_1", "o_bear_1,o_bear_2"])
    def test_UNKNOWN_OBJECTION_ids_match_whole(self, id: str) -> None:
        assert move_codes(rebutted(id), rebutted("o_bear_1")) == ["UNKNOWN_OBJECTION"]

    def test_NOT_ADDRESSED_TO_YOU(self) -> None:
        attack = (turn(1, "bull", rebuttal(objection("c_bear_1"))), ATTACK[1])
        assert move_codes(rebutted("o_bull_1"), rebutted("o_bear_1"), before=attack) == ["NOT_ADDRESSED_TO_YOU"]

    def test_ALREADY_CLOSED_once_conceded_and_while_a_rebuttal_waits(self) -> None:
        said = turn(2, "bull", retort(conceded("o_bear_1"), rebutted("o_bear_2"), p_up="0.6"))
        before = (*ATTACK, said, turn(2, "bear", retort()))
        assert move_codes(conceded("o_bear_1", 4), carried("o_bear_2"), before=before) == ["ALREADY_CLOSED", "ALREADY_CLOSED"]

    def test_DUPLICATE_MOVE_spoils_both(self) -> None:
        assert move_codes(conceded("o_bear_1"), rebutted("o_bear_1"), p_up="0.6") == ["DUPLICATE_MOVE", "DUPLICATE_MOVE"]

    def test_C4_MISSING_MOVE_names_what_was_left_out(self) -> None:
        [fault] = answer_faults(retort(rebutted("o_bear_1")), at("bull", *ATTACK))
        assert fault == PointFault(part="moves", index=None, subject="o_bear_2", code="MISSING_MOVE", message="moves: answer o_bear_2.")

    def test_nothing_outstanding_needs_no_move(self) -> None:
        assert codes(retort(), at("bear", *ATTACK)) == []


LONG_ENOUGH = "x" * 39 + "y"


class TestConceding:
    @pytest.mark.parametrize(
        ("move", "expected"),
        [
            (conceded("o_bear_1"), []),
            (conceded("o_bear_1", reason=LONG_ENOUGH), []),
            (conceded("o_bear_1", reason=LONG_ENOUGH[1:]), ["NO_REASON"]),
            (conceded("o_bear_1", reason=""), ["NO_REASON"]),
            (conceded("o_bear_1", reason=" " * 60), ["NO_REASON"]),
            (conceded("o_bear_1", reason=objection("c_bull_1").argument + "."), ["BOILERPLATE_REASON"]),
            (conceded("o_bear_1", scope=None), ["NO_SCOPE"]),
            (conceded("o_bear_1", scope="partial"), ["NO_NARROWED_TEXT"]),
            (conceded("o_bear_1", scope="partial", narrowed_text=" "), ["NO_NARROWED_TEXT"]),
            (conceded("o_bear_1", scope="partial", narrowed_text="MOMENTUM is strong, and has been for a year"), ["NO_NARROWED_TEXT"]),
            (conceded("o_bear_1", scope="partial", narrowed_text="Momentum is strong"), []),
            (conceded("o_bear_1", scope="partial", narrowed_text="Momentum is strong and has been for a year now"), ["NO_NARROWED_TEXT"]),
            (conceded("o_bear_1", scope="partial", narrowed_text="Margins will double within three quarters"), ["NO_NARROWED_TEXT"]),
            (conceded("o_bear_1", evidence_ids=(ev(99),)), ["UNKNOWN_EVIDENCE"]),
            (conceded("o_bear_1", evidence_ids=(ev(7),)), ["AFTER_CUTOFF"]),
            (conceded("o_bear_1", evidence_ids=(ev(2),)), []),
        ],
    )
    def test_C5_a_concession_needs_a_reason_and_a_scope(self, move: Move, expected: list[str]) -> None:
        assert move_codes(move, p_up="0.65") == expected

    @pytest.mark.parametrize(("p_up", "expected"), [("0.72", True), ("0.71", True), ("0.709", False), ("0.70", False), ("0.50", False)])
    def test_P_UP_CONTRADICTS_MOVE_from_a_step_on(self, p_up: str, expected: bool) -> None:
        assert move_codes(conceded("o_bear_1"), p_up=p_up) == ["P_UP_CONTRADICTS_MOVE"] * expected

    @pytest.mark.parametrize(("p_up", "expected"), [("0.39", True), ("0.41", False)])
    def test_P_UP_CONTRADICTS_MOVE_looks_at_the_sides_own_way(self, p_up: str, expected: bool) -> None:
        weighty = turn(0, "bear", opening(claim("Debt doubled within the year", ev(2), severity="high"), p_up="0.40"))
        attack = (turn(1, "bull", rebuttal(objection("c_bear_1"))), turn(1, "bear", rebuttal(p_up="0.40", steelman=["c_bull_1"])))
        place = floor("bear", (OPENINGS[0], weighty, *attack), KNOWN, AS_OF, STRICT)
        assert [fault.code for fault in answer_faults(retort(conceded("o_bull_1"), p_up=p_up), place)] == ["P_UP_CONTRADICTS_MOVE"] * expected

    def test_a_partial_concession_of_a_grave_claim_may_not_go_with_a_number_against_it(self) -> None:
        assert move_codes(conceded("o_bear_1", scope="partial", narrowed_text="Momentum is strong"), p_up="0.9") == ["P_UP_CONTRADICTS_MOVE"]

    def test_a_claim_of_less_weight_may_go_with_any_number(self) -> None:
        light = turn(0, "bull", opening(claim("Momentum is strong", ev(1), severity="med"), p_up="0.70"))
        place = floor("bull", (light, OPENINGS[1], *ATTACK), KNOWN, AS_OF, STRICT)
        assert answer_faults(retort(conceded("o_bear_1"), rebutted("o_bear_2"), p_up="0.9"), place) == ()


class TestRebutting:
    @pytest.mark.parametrize(
        ("ids", "expected"),
        [
            ((ev(3),), []),
            ((ev(5),), []),
            ((ev(1), ev(3)), []),
            ((), ["NO_EVIDENCE"]),
            ((ev(1),), ["NOT_NEW_EVIDENCE"]),
            ((ev(99),), ["UNKNOWN_EVIDENCE"]),
            ((ev(3), ev(99)), ["UNKNOWN_EVIDENCE"]),
            ((ev(3)[:-2],), ["UNKNOWN_EVIDENCE"]),
            ((ev(7),), ["AFTER_CUTOFF"]),
        ],
    )
    def test_C6_a_rebuttal_needs_new_evidence(self, ids: tuple[str, ...], expected: list[str]) -> None:
        assert move_codes(rebutted("o_bear_1", evidence_ids=ids)) == expected

    def test_the_objectors_own_evidence_is_new_to_the_claim(self) -> None:
        assert move_codes(rebutted("o_bear_1", 1, ev(2))) == []

    def test_an_asserted_item_is_the_claims_own(self) -> None:
        asserted = turn(0, "bull", opening(claim("Momentum is strong", ev(1), assertion=assertion(id=ev(3))), p_up="0.70"))
        place = floor("bull", (asserted, OPENINGS[1], *ATTACK), KNOWN, AS_OF, STRICT)
        moves = retort(rebutted("o_bear_1", 1, ev(3)), rebutted("o_bear_2", 5, ev(4)))
        assert [fault.code for fault in answer_faults(moves, place)] == ["NOT_NEW_EVIDENCE"]

    def test_what_was_used_on_the_objection_before_is_no_longer_new(self) -> None:
        told = (*ATTACK, turn(2, "bull", retort(rebutted("o_bear_1", 1, ev(3)), rebutted("o_bear_2", 5, ev(4)))), turn(2, "bear", retort()))
        sustained = [ruling("o_bear_1", "SUSTAIN", 3, ev(6)), ruling("o_bear_2", "SUSTAIN", 4, ev(6))]
        told = (*told, turn(3, "bull", rebuttal()), turn(3, "bear", rebuttal(steelman=["c_bull_1"], rulings=sustained)))
        assert move_codes(rebutted("o_bear_1", 1, ev(3)), rebutted("o_bear_2", 6, ev(3)), before=told) == ["NOT_NEW_EVIDENCE"]

    def test_a_rebuttal_without_a_word_is_none(self) -> None:
        assert move_codes(rebutted("o_bear_1", reason=" ")) == ["NO_REASON"]

    @pytest.mark.parametrize("id", [ev(6), ev(8)])
    @pytest.mark.parametrize("make", [rebutted, conceded, carried])
    def test_ISOLATION_VIOLATION_to_cite_what_was_never_shown_ends_the_debate(self, make: Callable[..., Move], id: str) -> None:
        with pytest.raises(DebateFault) as fault:
            move_codes(make("o_bear_1", evidence_ids=(id,)))
        assert fault.value.code == "ISOLATION_VIOLATION"

    def test_what_the_opponent_cited_may_be_cited(self) -> None:
        attack = (ATTACK[0], turn(1, "bear", rebuttal(objection("c_bull_1", 0, ev(6)), steelman=["c_bull_1"])))
        assert move_codes(rebutted("o_bear_1", 1, ev(6)), before=attack, thresholds=STRICT) == ["UNKNOWN_OBJECTION"]  # of o_bear_2


def carries(*seeds: int) -> tuple[Turn, ...]:
    """The attack, and o_bear_1 carried once for each seed."""
    told = ATTACK
    for number, seed in enumerate(seeds):
        moves = retort(carried("o_bear_1", seed), *([rebutted("o_bear_2", 5)] if number == 0 else []))
        told = (*told, turn(2 + number, "bull", moves, order=0), turn(2 + number, "bear", retort(), order=1))
    return told


class TestCarrying:
    @pytest.mark.parametrize(
        ("move", "expected"),
        [
            (carried("o_bear_1"), []),
            (carried("o_bear_1", reason=""), ["NO_REASON"]),
            (carried("o_bear_1", reason="Carried."), ["NO_REASON"]),
            (carried("o_bear_1", reason=LONG_ENOUGH), []),
            (carried("o_bear_1", reason="Momentum is strong and has been for a year!"), ["BOILERPLATE_REASON"]),
            (carried("o_bear_1", reason=objection("c_bull_1").argument), ["BOILERPLATE_REASON"]),
            (carried("o_bear_1", would_resolve_if=None), ["NO_RESOLUTION_CONDITION"]),
            (carried("o_bear_1", reason="", would_resolve_if=None), ["NO_REASON", "NO_RESOLUTION_CONDITION"]),
            (carried("o_bear_1", would_resolve_if=resolution(observable="the market calms down")), ["NO_RESOLUTION_CONDITION"]),
            (carried("o_bear_1", would_resolve_if=resolution(observable="get_price_history.trend")), ["NO_RESOLUTION_CONDITION"]),
            (carried("o_bear_1", would_resolve_if=resolution(observable="get_price_history.trend.value")), []),
            (carried("o_bear_1", would_resolve_if=resolution(by=AS_OF.date())), ["NO_RESOLUTION_CONDITION"]),
            (carried("o_bear_1", would_resolve_if=resolution(by=date(2024, 3, 2))), []),
            (carried("o_bear_1", evidence_ids=(ev(99),)), ["UNKNOWN_EVIDENCE"]),
        ],
    )
    def test_C7_C15_carried_is_not_free(self, move: Move, expected: list[str]) -> None:
        assert move_codes(move) == expected

    def test_C7_a_reason_does_not_carry_twice(self) -> None:
        again = carried("o_bear_1", 2, would_resolve_if=resolution("3"))
        assert move_codes(again, before=carries(2)) == ["BOILERPLATE_REASON", "ALREADY_CLOSED"]
        assert move_codes(carried("o_bear_1", 3), before=carries(2)) == ["ALREADY_CLOSED"]  # of o_bear_2, which was rebutted

    def test_C7_REPEATED_CARRY_the_third_time(self) -> None:
        assert "REPEATED_CARRY" not in move_codes(carried("o_bear_1", 3), before=carries(2))
        assert "REPEATED_CARRY" in move_codes(carried("o_bear_1", 4), before=carries(2, 3))

    def test_C15_two_points_do_not_share_a_condition(self) -> None:
        assert move_codes(carried("o_bear_1"), carried("o_bear_2", 3)) == ["NO_RESOLUTION_CONDITION"]
        assert move_codes(carried("o_bear_1"), carried("o_bear_2", 3, would_resolve_if=resolution("3"))) == []

    def test_C15_a_condition_counts_with_a_carried_objection_only(self) -> None:
        assert move_codes(rebutted("o_bear_1", would_resolve_if=resolution()), carried("o_bear_2", 3)) == []

    @pytest.mark.parametrize(("last", "expected"), [("alpha beta", ["BOILERPLATE_REASON"]), ("alpha beta gamma", [])])
    def test_C7_texts_are_the_same_from_nine_tenths_on(self, last: str, expected: list[str]) -> None:
        """Eighteen words in common of twenty and twenty are nine tenths; of twenty and twenty-one they are less."""
        shared = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen"
        attack = (ATTACK[0], turn(1, "bear", rebuttal(objection("c_bull_1", argument=f"{shared} nineteen twenty"), steelman=["c_bull_1"])))
        answer = retort(carried("o_bear_1", reason=f"{shared} {last}"))
        assert [fault.code for fault in answer_faults(answer, at("bull", *attack))] == expected

    def test_C15_not_even_rounds_apart_but_a_point_may_keep_its_own(self) -> None:
        told = (*ATTACK, turn(2, "bull", retort(carried("o_bear_1"), carried("o_bear_2", 3, would_resolve_if=resolution("3")))), turn(2, "bear", retort()))
        swapped = (carried("o_bear_1", 4, would_resolve_if=resolution("3.0")), carried("o_bear_2", 5, would_resolve_if=resolution("2")))
        assert move_codes(*swapped, before=told) == ["NO_RESOLUTION_CONDITION"] * 2
        assert move_codes(carried("o_bear_1", 4), carried("o_bear_2", 5, would_resolve_if=resolution("3")), before=told) == []

    def test_a_permissive_debate_takes_a_bare_carry_but_not_a_third(self) -> None:
        permissive = Thresholds(carries="permissive")
        bare = carried("o_bear_1", reason="", would_resolve_if=None)
        assert move_codes(bare, thresholds=permissive) == []
        assert "REPEATED_CARRY" in move_codes(bare, before=carries(2, 3), thresholds=permissive)


def outmatched(said: Claim, *cited: str) -> Floor:
    told = (
        turn(0, "bull", opening(said, p_up="0.70")),
        OPENINGS[1],
        turn(1, "bull", rebuttal()),
        turn(1, "bear", rebuttal(objection("c_bull_1", 0, *cited), steelman=["c_bull_1"])),
    )
    return floor("bull", told, KNOWN, AS_OF, STRICT)


FALSE = claim("Momentum is above nine", ev(1), assertion=assertion(">", "9"))


class TestMustConcede:
    def test_C8_a_number_shown_to_be_wrong_cannot_be_carried(self) -> None:
        place = outmatched(FALSE, ev(1))
        assert place.must_concede() == ("o_bear_1",)
        assert codes(retort(carried("o_bear_1")), place) == [("moves", 0, "MUST_CONCEDE")]

    def test_C8_it_may_be_conceded_or_rebutted_with_new_evidence(self) -> None:
        for move in (conceded("o_bear_1"), rebutted("o_bear_1")):
            assert codes(retort(move), outmatched(FALSE, ev(1))) == []

    @pytest.mark.parametrize(
        ("said", "cited"),
        [
            (FALSE, ev(2)),
            (claim("Momentum is above one", ev(1), assertion=assertion(">", "1")), ev(1)),
            (claim("Momentum is above nine", ev(1), assertion=assertion(">", "9", path="unit")), ev(1)),
            (claim("Momentum is above nine", ev(1)), ev(1)),
        ],
        ids=["other evidence", "supported", "not checkable", "no assertion"],
    )
    def test_otherwise_it_may_be_carried(self, said: Claim, cited: str) -> None:
        place = outmatched(said, cited)
        assert place.must_concede() == ()
        assert codes(retort(carried("o_bear_1")), place) == []

    def test_a_part_of_it_is_not_enough(self) -> None:
        answer = retort(conceded("o_bear_1", scope="partial", narrowed_text=" ".join(FALSE.text.split()[:2])))
        assert ("moves", 0, "MUST_CONCEDE") in codes(answer, outmatched(FALSE, ev(1)))

    def test_a_narrowed_claim_no_longer_asserts_the_number(self) -> None:
        told = (
            turn(0, "bull", opening(FALSE, p_up="0.70")),
            OPENINGS[1],
            turn(1, "bull", rebuttal()),
            turn(1, "bear", rebuttal(objection("c_bull_1", 0, ev(1)), objection("c_bull_1", 1, ev(1)), steelman=["c_bull_1"])),
            turn(2, "bull", retort(conceded("o_bear_1", scope="partial", narrowed_text="Momentum is above one"), carried("o_bear_2"))),
            turn(2, "bear", retort()),
        )
        assert floor("bull", told, KNOWN, AS_OF, STRICT).must_concede() == ()


def test_words_in_a_reason_decide_nothing() -> None:
    """Neither a negated keyword nor ids named in passing: only the fields count."""
    shouting = rebutted("o_bear_1", reason="NOT CONCEDED. I do not accept o_bear_2, and AGREED is not what I say; o_bear_10 is CARRIED.")
    said = turn(2, "bull", Retort(p_up=Decimal("0.7"), moves=(shouting, carried("o_bear_2"))))
    assert answer_faults(said.answer, at("bull", *ATTACK)) == ()
    book = ledger((*OPENINGS, *ATTACK, said, turn(2, "bear", retort())))
    assert book.concessions == ()
    assert [(row.id, row.pending, row.history[0].what) for row in book.rows] == [("o_bear_1", True, "REBUTTED"), ("o_bear_2", False, "CARRIED")]


def test_with_twelve_claims_the_first_is_not_the_tenth() -> None:
    attack = turn(1, "bull", rebuttal(objection("c_bear_10")))
    book = ledger((*OPENINGS, attack, turn(1, "bear", rebuttal(steelman=["c_bull_1"])), turn(2, "bear", retort(conceded("o_bull_1")))))
    assert [claim.id for claim in book.claims if claim.status == "conceded"] == ["c_bear_10"]


def test_a_rebuttal_of_a_few_words_has_no_reason() -> None:
    assert ("moves", 0, "NO_REASON") in codes(retort(rebutted("o_bear_1", reason="No.")), at("bull", *ATTACK))
