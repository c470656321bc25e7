"""What is written down of a debate: in an order that no race can change, and nothing once it is over."""

import itertools
from typing import Any

import pytest

from alphaagent.domain.transcript import Fault, ToolRecord
from alphaagent.llm.trace import Trace
from tests.unit.llm.call_records import call

CALLS = [call("bull"), call("bull", 1, 2), call("bull", 2), call("bear"), call("cio")]


def tool(side: str, name: str, status: str = "success") -> ToolRecord:
    return ToolRecord.model_validate({"phase": "opening", "round": 1, "side": side, "tool": name, "arguments": "{}", "status": status})


@pytest.mark.parametrize("order", list(itertools.permutations(range(5)))[::7])
def test_calls_stand_in_the_order_of_their_keys(order: Any) -> None:
    trace = Trace()
    for place in order:
        trace.call(CALLS[place])
    assert trace.calls() == tuple(CALLS)


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_tool_calls_stand_by_turn_reply_and_name(order: Any) -> None:
    kept = [(1, tool("bull", "a")), (1, tool("bull", "b")), (2, tool("bull", "a", "cached")), (1, tool("bear", "a"))]
    trace = Trace()
    for place in order:
        trace.tool(*kept[place])
    assert trace.tools() == tuple(record for _, record in kept)


def test_after_its_end_nothing_is_written() -> None:
    trace = Trace()
    trace.call(CALLS[0])
    trace.close()
    trace.call(CALLS[3])
    trace.tool(1, tool("bull", "a"))
    assert (trace.calls(), trace.tools()) == ((CALLS[0],), ())


def test_whoever_listens_hears_of_every_call_once_until_the_end() -> None:
    heard: list[str] = []
    trace = Trace(lambda record: heard.append(record.side))
    trace.call(CALLS[0])
    trace.call(CALLS[3])
    trace.close([CALLS[4]])
    trace.call(CALLS[1])
    assert heard == ["bull", "bear"]


def test_a_call_that_is_on_record_is_not_there_once_more_as_unanswered() -> None:
    late = Fault(kind="deadline", message="late")
    trace = Trace()
    trace.call(CALLS[0])
    trace.close([call("bull", fault=late), call("bear", fault=late)])
    assert [(one.side, one.fault) for one in trace.calls()] == [("bull", None), ("bear", late)]
