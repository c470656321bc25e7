"""What is worth a debate: whatever moved since the evidence of the last decision."""

from decimal import Decimal

import pytest

from alphaagent.operations.screening import SCORE_MOVED, Read, compared

SESSION = "2020-08-03"


def read(action: str = "HOLD", score: str = "0.10", flags: frozenset[str] = frozenset()) -> Read:
    return Read(action, Decimal(score), flags)


@pytest.mark.parametrize(
    ("before", "now", "why"),
    [
        (read("HOLD"), read("BUY", "0.11"), "the heuristic engine would buy"),
        (read("BUY"), read("BUY"), "the heuristic engine would buy"),
        (read("BUY"), read("HOLD"), "the heuristic engine says HOLD after BUY"),
        (read(score="0.10"), read(score="0.20"), "the score went from +0.100 to +0.200"),
        (read(score="0.05"), read(score="-0.05"), "the score went from +0.050 to -0.050"),
        (read(), read(flags=frozenset({"negative_equity:1"})), "a hard flag was raised or has gone"),
        (read(flags=frozenset({"negative_equity:1"})), read(), "a hard flag was raised or has gone"),
        (read(flags=frozenset({"negative_equity:1"})), read(flags=frozenset({"negative_equity:2"})), "a hard flag was raised or has gone"),
    ],
)
def test_what_moved_is_debated_and_says_why(before: Read, now: Read, why: str) -> None:
    found = compared(before, now, SESSION)
    assert (found.debated, found.why) == (True, why)


@pytest.mark.parametrize("score", ["0.10", "0.199999", "0.000001"])
def test_what_did_not_move_by_the_threshold_is_left_out_and_says_so(score: str) -> None:
    assert abs(Decimal(score) - Decimal("0.10")) < SCORE_MOVED
    found = compared(read(), read(score=score), SESSION)
    assert not found.debated
    assert found.why.startswith("as on 2020-08-03: HOLD, score ")
