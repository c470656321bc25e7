"""The gate between the isolated openings and the rest."""

from collections.abc import Callable

import pytest
from pydantic import ValidationError

from alphaagent.debate.revelation import Gate
from alphaagent.debate.turns import DEBATERS
from alphaagent.domain.argument import Turn
from alphaagent.errors import DebateFault
from tests.unit.debate.debate_scenes import OPENINGS, claim, opening, rebuttal, turn

BULL, BEAR = OPENINGS


def refused(step: Callable[[], object], message: str) -> None:
    with pytest.raises(DebateFault, match=message) as fault:
        step()
    assert fault.value.code == "ISOLATION_VIOLATION"


BOTH = Gate().commit("bull", OPENINGS).commit("bear", OPENINGS)


def test_C2_the_way_through() -> None:
    open_gate = BOTH.reveal(OPENINGS)
    assert open_gate.turns == OPENINGS
    assert [open_gate.gate.state(side) for side in DEBATERS] == ["revealed", "revealed"]
    closed = open_gate.gate.close()
    assert [closed.state(side) for side in DEBATERS] == ["closed", "closed"]
    assert [event.state for event in closed.events] == ["committed"] * 2 + ["revealed"] * 2 + ["closed"] * 2


def test_C2_sides_start_out_gathering() -> None:
    assert [Gate().state(side) for side in DEBATERS] == ["gathering", "gathering"]
    assert Gate().commitment("bull") is None


@pytest.mark.parametrize("gate", [Gate(), Gate().commit("bull", OPENINGS), Gate().commit("bear", OPENINGS)], ids=["none", "bull only", "bear only"])
def test_C2_no_reveal_before_both_have_committed(gate: Gate) -> None:
    refused(lambda: gate.reveal(OPENINGS), "while (bull|bear) is gathering")


def test_C2_no_second_reveal() -> None:
    refused(lambda: BOTH.reveal(OPENINGS).gate.reveal(OPENINGS), "while bull is revealed")


@pytest.mark.parametrize(
    "edited",
    [
        (BULL.model_copy(update={"attempts": 2}), BEAR),
        (BULL, BEAR.model_copy(update={"answer": opening(claim("Something else"))})),
        (BULL,),
        (*OPENINGS, turn(1, "bull", rebuttal())),
    ],
    ids=["bull edited", "bear edited", "bear missing", "one more turn"],
)
def test_C2_what_is_revealed_is_what_was_committed(edited: tuple[Turn, ...]) -> None:
    refused(lambda: BOTH.reveal(edited), "is not what it committed to")


def test_a_commit_is_made_once_and_of_something() -> None:
    refused(lambda: BOTH.commit("bull", OPENINGS), "bull cannot commit: it is committed")
    refused(lambda: Gate().commit("bull", (BEAR,)), "has 0 turns")


def test_a_commitment_is_of_the_sides_own_turns_only() -> None:
    assert Gate().commit("bull", OPENINGS).commitment("bull") == Gate().commit("bull", (BULL,)).commitment("bull")
    assert BOTH.commitment("bull") != BOTH.commitment("bear")


def test_a_side_that_failed_stays_out() -> None:
    failed = Gate().commit("bull", OPENINGS).fail("bear")
    assert failed.state("bear") == "failed"
    refused(lambda: failed.commit("bear", OPENINGS), "it is failed")
    refused(lambda: failed.reveal(OPENINGS), "while bear is failed")
    refused(lambda: failed.fail("bear"), "bear is failed and cannot fail")
    refused(failed.close, "was not revealed")


def test_events_cannot_be_edited() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        BOTH.events = ()  # type: ignore[misc]


STEPS: dict[str, Callable[[Gate], Gate]] = {
    "commit bull": lambda gate: gate.commit("bull", OPENINGS),
    "commit bear": lambda gate: gate.commit("bear", OPENINGS),
    "reveal": lambda gate: gate.reveal(OPENINGS).gate,
    "close": lambda gate: gate.close(),
    "fail bull": lambda gate: gate.fail("bull"),
    "fail bear": lambda gate: gate.fail("bear"),
}


def test_C2_every_state_that_can_be_reached_and_no_other() -> None:
    """All orders of steps: nothing is revealed without both commits, and the end can be reached."""
    seen: set[tuple[str, str]] = set()
    waiting = [Gate()]
    while waiting:
        gate = waiting.pop()
        state = (gate.state("bull"), gate.state("bear"))
        if state in seen:
            continue
        seen.add(state)
        for step in STEPS.values():
            try:
                waiting.append(step(gate))
            except DebateFault:
                continue
    assert ("closed", "closed") in seen
    assert not any(("revealed" in pair or "closed" in pair) and {"gathering", "committed"} & set(pair) for pair in seen)
