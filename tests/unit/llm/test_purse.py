"""What a turn may still spend, at each edge."""

import pytest

from alphaagent.domain.transcript import Fault, TokenUsage
from alphaagent.llm.purse import BYTES_PER_TOKEN, SMALLEST_CAP, TOLERANCE, Purse


def kind(found: int | Fault | None) -> str | int | None:
    return found.kind if isinstance(found, Fault) else found


@pytest.mark.parametrize(("tokens", "cap"), [(1100, 1000), (1099, 999), (100 + SMALLEST_CAP, SMALLEST_CAP), (100 + SMALLEST_CAP - 1, "budget"), (0, "budget")])
def test_an_answer_may_have_what_the_prompt_leaves_and_no_more_than_is_wanted(tokens: int, cap: int | str) -> None:
    assert kind(Purse(calls=6, tokens=tokens).cap(100 * BYTES_PER_TOKEN, 1000)) == cap


@pytest.mark.parametrize(("calls", "cap"), [(2, 500), (1, 500), (0, "budget"), (-1, "budget")])
def test_without_calls_left_nothing_is_sent(calls: int, cap: int | str) -> None:
    assert kind(Purse(calls=calls, tokens=40_000).cap(400, 500)) == cap


def test_a_call_is_spent_and_a_reply_takes_its_tokens() -> None:
    purse = Purse(calls=2, tokens=1000)
    purse.spend_call()
    assert purse.settle(TokenUsage(prompt=300, completion=200), 500) is None
    assert (purse.calls, purse.tokens) == (1, 500)


@pytest.mark.parametrize(("completion", "fault"), [(500, None), (500 + TOLERANCE, None), (500 + TOLERANCE + 1, "overrun")])
def test_a_reply_beyond_its_cap_is_an_overrun_and_is_booked_all_the_same(completion: int, fault: str | None) -> None:
    purse = Purse(calls=1, tokens=2000)
    assert kind(purse.settle(TokenUsage(prompt=0, completion=completion), 500)) == fault
    assert purse.tokens == 2000 - completion


@pytest.mark.parametrize(("prompt", "fault"), [(500, None), (501, "budget")])
def test_a_prompt_that_is_longer_than_it_looked_ends_a_turn_beyond_its_budget(prompt: int, fault: str | None) -> None:
    assert kind(Purse(calls=2, tokens=1000).settle(TokenUsage(prompt=prompt, completion=500), 500)) == fault


def test_what_is_overdrawn_is_told_as_nothing() -> None:
    found = Purse(calls=1, tokens=-50).cap(0, 500)
    assert isinstance(found, Fault)
    assert "has 0 tokens left" in found.message
