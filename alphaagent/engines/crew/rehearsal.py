"""One turn from memory before the first real one.

CrewAI loads a good part of itself only while a crew speaks, and both openings of a process' first debate speak at once: two threads that load
modules which import each other may see half of one, and a side is then lost before it was asked. A turn that calls a tool, is sent back and is
accepted goes all of that way alone. Nothing leaves the process, and nothing is loaded that the first debate would not load itself.
"""

import json
from collections.abc import Callable
from typing import Any

from alphaagent.debate.orchestrate import Asked
from alphaagent.debate.record import Bounds, Repair
from alphaagent.engines.crew.tools import Tool
from alphaagent.llm.carrier import Carried, Key, Parcel
from alphaagent.llm.dialects import DIALECTS
from alphaagent.llm.purse import Purse
from alphaagent.llm.steps import Steps
from alphaagent.llm.trace import Trace
from alphaagent.llm.wire import Seat, Wire

TOOL = "get_market_price"
CALL = {"content": None, "tool_calls": [{"id": "1", "type": "function", "function": {"name": TOOL, "arguments": "{}"}}]}
BOUNDS = Bounds(model="rehearsal", temperature=None, completion_tokens=64, call_seconds="1.0", tool_calls=1, repairs=1, calls=9, tokens=100_000)


class _Memory:
    """Carries nothing anywhere: a tool call, an answer that is sent back, one that is accepted."""

    def __init__(self) -> None:
        self._left: list[dict[str, Any]] = [CALL, {"content": "no"}, {"content": "yes"}]

    def carry(self, parcel: Parcel) -> Carried:  # noqa: ARG002 - what is asked does not matter
        choice = {"index": 0, "message": {"role": "assistant", **self._left.pop(0)}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        document = {"id": "1", "object": "chat.completion", "created": 1, "model": "rehearsal", "choices": [choice], "usage": usage}
        return Carried(1, 0, 0, 200, "application/json", json.dumps(document).encode())

    def rest(self, seconds: float, upcoming: Key) -> bool:  # noqa: ARG002 - there is no second attempt
        return False


def rehearse(place_at: Callable[..., Any], spoken: Callable[[Asked, Any], Any]) -> Any:
    """The outcome of the rehearsal: "yes", or the fault that every turn would end in."""
    steps = Steps(1, (TOOL,), (), lambda *_: None)
    seat = Seat("verdict", 1, "cio", "rehearsal", 64, 1.0, 1, "max_tokens", {}, (), None)
    wire = Wire(seat, DIALECTS["openai"], _Memory(), Purse(BOUNDS.calls, BOUNDS.tokens), steps, Trace())
    tool = Tool(TOOL, "Nothing.", lambda: steps.run(TOOL, "{}", lambda: ("success", "nothing")))
    place = place_at("nobody", "none", "none", "openai", "rehearsal", None, "no-key", "http://127.0.0.1/v1", 1, (tool,), wire)

    def check(raw: str, hit_budget: bool) -> Repair | None:  # noqa: ARG001 - the room's signature
        return None if raw == "yes" else Repair(codes=("AGAIN",), message="Say yes.")

    return spoken(Asked("verdict", 1, "cio", BOUNDS, "Say yes.", "Yes.", check, has_tools=True, is_proposal=True), place)
