"""The step budget of a turn: counted with the replies, the same whichever thread comes first, and an error where it ends."""

import threading

import pytest

from alphaagent.domain.transcript import ToolCall
from alphaagent.llm.steps import MOST_IN_ONE_REPLY, MOST_OF_ONE_TOOL, Steps, ToolStatus

OWN, OTHERS = ("news", "prices"), ("news", "prices", "accounts")
STOP = "No tool calls are left. Answer now, with what you have been given."


class Turn:
    """Steps with a log."""

    def __init__(self, allowed: int) -> None:
        self.log: list[tuple[int, str, str]] = []
        self.steps = Steps(allowed, OWN, OTHERS, lambda number, name, _, status: self.log.append((number, name, status)))

    def reply(self, number: int, *calls: tuple[str, str]) -> str | None:
        fault = self.steps.take(number, tuple(ToolCall(id=f"call_{n}", name=name, arguments=arguments) for n, (name, arguments) in enumerate(calls)))
        return fault.kind if fault else None

    def run(self, name: str = "news", status: ToolStatus = "success") -> str:
        return self.steps.run(name, "{}", lambda: (status, f"found by {name}"))


def test_a_reply_without_tool_calls_costs_nothing() -> None:
    turn = Turn(0)
    assert [turn.reply(number) for number in range(1, 9)] == [None] * 8


@pytest.mark.parametrize("allowed", [0, 1, 2, 5])
def test_a_model_that_goes_on_after_it_was_told_to_stop_ends_its_turn(allowed: int) -> None:
    turn, heard = Turn(allowed), []
    for number in range(1, allowed + 2):
        assert turn.reply(number, ("news", "{}")) is None
        heard.append(turn.run())
    assert heard == ["found by news"] * allowed + [STOP]
    assert turn.reply(allowed + 2, ("news", "{}")) == "steps"
    assert turn.log[-1] == (allowed + 1, "news", "exhausted")


@pytest.mark.parametrize("order", [("news", "prices"), ("prices", "news")])
def test_a_reply_has_as_many_calls_answered_as_are_left_in_its_own_order(order: tuple[str, str]) -> None:
    for threads in (order, order[::-1]):
        turn = Turn(1)
        assert turn.reply(1, (order[0], "{}"), (order[1], "{}")) is None
        assert {name: turn.run(name) for name in threads} == {order[0]: f"found by {order[0]}", order[1]: STOP}
        assert turn.reply(2, ("news", "{}")) == "steps"


def test_a_call_that_is_not_run_takes_its_place_among_those_that_are_left() -> None:
    turn = Turn(2)
    assert turn.reply(1, ("orders", "{}"), ("news", "{}"), ("prices", "{}")) is None
    assert [turn.run("prices"), turn.run("news")] == [STOP, "found by news"]


def test_a_reply_that_just_fits_is_followed_by_one_that_is_told_to_stop() -> None:
    turn = Turn(2)
    assert turn.reply(1, ("news", "{}"), ("prices", "{}")) is None
    assert [turn.run("prices"), turn.run("news")] == ["found by prices", "found by news"]
    assert turn.reply(2, ("news", "{}")) is None
    assert turn.run() == STOP


@pytest.mark.parametrize(("calls", "fault"), [(MOST_IN_ONE_REPLY, None), (MOST_IN_ONE_REPLY + 1, "steps")])
def test_one_reply_may_hold_so_many_calls(calls: int, fault: str | None) -> None:
    assert Turn(20).reply(1, *[(f"tool {number}", "{}") for number in range(calls)]) == fault


@pytest.mark.parametrize(("calls", "fault"), [(MOST_OF_ONE_TOOL, None), (MOST_OF_ONE_TOOL + 1, "steps")])
def test_one_reply_may_call_one_tool_so_often(calls: int, fault: str | None) -> None:
    assert Turn(20).reply(1, ("prices", "{}"), *[("news", "{}")] * calls) == fault


CALLS = [
    ("accounts", "{}", "blocked"),
    ("orders", "{}", "unknown"),
    ("", "{}", "unknown"),
    ("news", '{"window": 3}', "malformed"),
    ("news", "[]", "malformed"),
    ("news", "{", "malformed"),
    ("news", "null", "malformed"),
]


@pytest.mark.parametrize(("name", "arguments", "status"), CALLS)
def test_a_call_that_may_not_be_run_is_on_record_and_costs_a_step(name: str, arguments: str, status: str) -> None:
    turn = Turn(1)
    assert turn.reply(1, (name, arguments)) is None
    assert turn.log == [(1, name, status)]
    assert turn.reply(2, ("news", "{}")) is None
    assert turn.run() == STOP


@pytest.mark.parametrize("arguments", ["", "{}", " { } "])
def test_no_arguments_may_be_written_in_several_ways(arguments: str) -> None:
    turn = Turn(2)
    turn.reply(1, ("news", arguments))
    assert turn.log == []


@pytest.mark.parametrize("status", ["success", "empty", "error"])
def test_a_repeated_call_is_answered_again_and_noted_as_such(status: ToolStatus) -> None:
    turn = Turn(5)
    for number in (1, 2):
        turn.reply(number, ("news", "{}"))
        assert turn.run(status=status) == "found by news"
    assert turn.log == [(1, "news", status), (2, "news", "cached")]


def test_a_model_that_asks_in_words_has_the_same_budget() -> None:
    turn = Turn(2)
    assert [turn.run(), turn.run(), turn.run()] == ["found by news", "found by news", STOP]


def test_calls_of_one_reply_are_all_answered_whichever_thread_comes_first() -> None:
    for _ in range(20):
        turn, heard = Turn(1), []
        turn.reply(1, *[("news", "{}")] * MOST_OF_ONE_TOOL)
        threads = [threading.Thread(target=lambda: heard.append(turn.run())) for _ in range(MOST_OF_ONE_TOOL)]  # noqa: B023 - joined below
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert heard == ["found by news"] * MOST_OF_ONE_TOOL
