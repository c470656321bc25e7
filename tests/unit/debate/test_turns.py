"""The append-only list of turns."""

import pytest
from pydantic import ValidationError

from alphaagent.debate.hit_ledger import ledger
from alphaagent.debate.turns import appended, last_p_up, require_grid, steps, texts
from alphaagent.domain.argument import Turn
from alphaagent.errors import DebateFault
from tests.unit.debate.debate_scenes import carried, claim, conceded, conclusion, objection, opening, rebuttal, retort, turn, words

BULL, BEAR = turn(0, "bull", opening(claim(), p_up="0.7")), turn(0, "bear", opening(claim(direction="down"), p_up="0.4"))


def test_D2_a_repeated_phase_kind_keeps_both_texts() -> None:
    turns: tuple[Turn, ...] = (BULL, BEAR)
    for phase, seed in ((1, 0), (2, 1)):
        turns = appended(turns, turn(phase, "bull", rebuttal(objection("c_bear_1", seed))))
        turns = appended(turns, turn(phase, "bear", rebuttal(objection("c_bull_1", seed))))
    require_grid(turns)
    assert [placed.objection.argument for placed in ledger(turns).objections if placed.side == "bull"] == [
        objection("c_bear_1", 0).argument,
        objection("c_bear_1", 1).argument,
    ]


@pytest.mark.parametrize(
    "again",
    [
        BULL,
        BULL.model_copy(update={"round": 2}),
        BULL.model_copy(update={"phase": 3}),
    ],
    ids=["both keys", "same phase", "same round"],
)
def test_D2_a_key_is_given_once(again: Turn) -> None:
    with pytest.raises(DebateFault) as fault:
        appended((BULL, BEAR), again)
    assert fault.value.code == "PHASE_FAILED"


def test_a_phase_that_is_over_stays_over() -> None:
    with pytest.raises(DebateFault, match="over"):
        appended((BULL, turn(1, "bull", rebuttal())), BEAR)


@pytest.mark.parametrize(
    "turns",
    [(BULL,), (BULL, BEAR, turn(1, "bear", rebuttal())), (BULL, turn(0, "bear", rebuttal())), (BULL, BEAR.model_copy(update={"round": 2}))],
    ids=["one side", "one side later", "two kinds", "two rounds"],
)
def test_a_grid_with_a_hole_is_no_debate(turns: tuple[Turn, ...]) -> None:
    with pytest.raises(DebateFault) as fault:
        require_grid(turns)
    assert fault.value.code == "PHASE_FAILED"


def test_a_turn_holds_the_answer_of_its_kind_and_is_frozen() -> None:
    with pytest.raises(ValidationError, match="a retort cannot hold a Opening"):
        Turn(phase=1, round=2, kind="retort", side="bull", answer=opening(claim()))
    with pytest.raises(ValidationError, match="frozen"):
        BULL.round = 5  # type: ignore[misc]


def test_C3_a_turn_comes_back_from_its_json() -> None:
    for answer in (opening(claim()), rebuttal(objection("c_bear_1")), retort(carried("o_bear_1"), conceded("o_bear_2")), conclusion()):
        said = turn(1, "bull", answer)
        assert Turn.model_validate_json(said.model_dump_json()) == said


def test_a_simultaneous_phase_is_one_step_and_an_alternating_one_two() -> None:
    first, second = turn(1, "bull", rebuttal(), order=0), turn(1, "bear", rebuttal(), order=1)
    assert list(steps((BULL, BEAR, first, second))) == [(BULL, BEAR), (first,), (second,)]


def test_the_last_probability_is_the_sides_own() -> None:
    later = turn(1, "bear", rebuttal(p_up="0.45"))
    assert [str(last_p_up((BULL, BEAR, later), side)) for side in ("bull", "bear")] == ["0.7", "0.45"]
    assert last_p_up((BULL,), "bear") is None


def test_a_side_speaks_for_itself_in_all_but_the_steelman_and_the_counter_argument() -> None:
    assert texts(opening(claim("Mine"), counter="Theirs")) == ("Mine",)
    assert texts(rebuttal(objection("c_bear_1"))) == (objection("c_bear_1").argument,)
    assert texts(retort(conceded("o_bear_1", narrowed_text="Less", scope="partial"))) == (words(0), "Less")
    assert texts(conclusion(summary="In sum")) == ("In sum",)
