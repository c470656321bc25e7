"""Liberties that servers take with a wire form, beyond what all wire forms have in common."""

import contextlib
import json
from typing import Any

import pytest

from alphaagent.llm.dialect import DefectiveReply
from alphaagent.llm.dialects import DIALECTS
from alphaagent.llm.provider import Route
from tests.scripted_provider import Text, wire


def chat(message: Any, finish: Any = "stop", **usage: Any) -> bytes:
    tokens = {"prompt_tokens": 5, "completion_tokens": 4, **usage}
    return json.dumps({"choices": [{"message": message, "finish_reason": finish}], "usage": tokens}).encode()


def message_of(*blocks: Any, stop: str = "end_turn", **usage: Any) -> bytes:
    return json.dumps({"content": list(blocks), "stop_reason": stop, "usage": {"input_tokens": 5, "output_tokens": 4, **usage}}).encode()


def candidate(parts: Any, finish: str = "STOP", **usage: Any) -> bytes:
    tokens = {"promptTokenCount": 5, "candidatesTokenCount": 4, **usage}
    return json.dumps({"candidates": [{"content": {"parts": parts}, "finishReason": finish}], "usageMetadata": tokens}).encode()


def refused(route: Route, body: bytes) -> DefectiveReply:
    with pytest.raises(DefectiveReply) as caught:
        DIALECTS[route].read(body)
    return caught.value


def test_a_list_of_parts_is_joined_and_thinking_left_out() -> None:
    parts = [{"type": "text", "text": "a"}, "b", {"type": "thinking", "thinking": "?"}, {"text": "c"}]
    assert DIALECTS["openai"].read(chat({"content": parts})).text == "abc"
    assert (
        DIALECTS["anthropic"].read(message_of({"type": "thinking", "thinking": "?"}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"})).text == "ab"
    )
    assert DIALECTS["gemini"].read(candidate([{"text": "?", "thought": True}, {"text": "a"}, {"text": "b"}])).text == "ab"


@pytest.mark.parametrize(
    ("usage", "completion", "reasoning"),
    [
        ({"completion_tokens_details": {"reasoning_tokens": 3}}, 4, 3),
        ({"completion_tokens_details": None}, 4, 0),
        ({"completion_tokens_details": {"reasoning_tokens": None}}, 4, 0),
        ({"completion_tokens_details": {"reasoning_tokens": 9}, "total_tokens": 18}, 13, 9),
        ({"completion_tokens_details": {"reasoning_tokens": 9}}, 9, 9),
        ({"total_tokens": 9}, 4, 0),
        ({"total_tokens": 3}, 4, 0),
    ],
)
def test_reasoning_is_part_of_what_was_paid(usage: dict[str, Any], completion: int, reasoning: int) -> None:
    found = DIALECTS["openai"].read(chat({"content": "a"}, **usage)).usage
    assert (found.prompt, found.completion, found.reasoning) == (5, completion, reasoning)


@pytest.mark.parametrize(
    ("route", "body"),
    [
        ("openai", chat({"content": "a"}, prompt_tokens=0)),
        ("openai", chat({"content": "a"}, completion_tokens=0)),
        ("openai", chat({"content": ""}, prompt_tokens=0)),
        ("anthropic", message_of({"type": "text", "text": "a"}, input_tokens=0)),
        ("anthropic", message_of({"type": "text", "text": "a"}, output_tokens=0)),
        ("gemini", candidate([{"text": "a"}], promptTokenCount=0)),
    ],
)
def test_nothing_is_no_count_of_what_was_asked_or_answered(route: Route, body: bytes) -> None:
    assert refused(route, body).kind == "no_usage"


def test_an_empty_answer_may_have_taken_no_tokens() -> None:
    assert refused("openai", chat({"content": ""}, completion_tokens=0)).kind == "no_answer"


def test_gemini_counts_thoughts_apart_and_they_were_paid() -> None:
    found = DIALECTS["gemini"].read(candidate([{"text": "a"}], thoughtsTokenCount=6, toolUsePromptTokenCount=2)).usage
    assert (found.prompt, found.completion, found.reasoning) == (7, 10, 6)


def test_anthropic_counts_what_was_cached_apart_and_it_is_prompt() -> None:
    found = DIALECTS["anthropic"].read(message_of({"type": "text", "text": "a"}, cache_creation_input_tokens=2, cache_read_input_tokens=3)).usage
    assert (found.prompt, found.completion) == (10, 4)


@pytest.mark.parametrize(
    ("route", "body"),
    [
        ("openai", chat({"content": "a"}, completion_tokens_details={"reasoning_tokens": -1})),
        ("anthropic", message_of({"type": "text", "text": "a"}, cache_read_input_tokens="3")),
        ("gemini", candidate([{"text": "a"}], thoughtsTokenCount=1.5)),
        ("gemini", candidate([{"text": "a"}], candidatesTokenCount=None)),
    ],
)
def test_a_detail_of_the_cost_that_is_no_count_is_no_usage(route: Route, body: bytes) -> None:
    assert refused(route, body).kind == "no_usage"


@pytest.mark.parametrize(
    ("route", "body"),
    [
        ("openai", chat({"content": 1})),
        ("openai", chat({"content": {"a": 1}})),
        ("openai", chat({"content": [1]})),
        ("openai", chat({"content": [{"type": "text", "text": None}]})),
        ("openai", chat("a")),
        ("openai", chat({"content": "a", "tool_calls": {}})),
        ("openai", chat({"content": "a", "tool_calls": ["quote"]})),
        ("openai", chat({"content": "a", "tool_calls": [{"function": {"name": ""}}]})),
        ("openai", chat({"content": "a", "tool_calls": [{"function": {"name": "quote", "arguments": [1]}}]})),
        ("anthropic", json.dumps({"content": "a"}).encode()),
        ("anthropic", message_of("a")),
        ("anthropic", message_of({"type": "text"})),
        ("anthropic", message_of({"type": "tool_use", "name": 1, "input": {}})),
        ("gemini", json.dumps({"candidates": ["a"]}).encode()),
        ("gemini", json.dumps({"candidates": [{"content": "a"}]}).encode()),
        ("gemini", candidate(["a"])),
        ("gemini", candidate("a")),
        ("gemini", candidate([{"text": 1}])),
        ("gemini", candidate([{"functionCall": "quote"}])),
    ],
)
def test_a_part_of_the_wrong_type_is_malformed(route: Route, body: bytes) -> None:
    assert refused(route, body).kind == "malformed"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [('{"a": 1}', '{"a": 1}'), ("{broken", "{broken"), ("", ""), (None, "{}"), ({"b": 1.50, "a": "é"}, '{"a":"é","b":1.5}')],
)
def test_arguments_are_json_text_and_a_text_is_left_alone(arguments: Any, text: str) -> None:
    reply = DIALECTS["openai"].read(chat({"content": None, "tool_calls": [{"function": {"name": "quote", "arguments": arguments}}]}, "tool_calls"))
    assert [(call.id, call.arguments) for call in reply.tool_calls] == [("call_1", text)]


def test_calls_without_an_id_are_numbered() -> None:
    reply = DIALECTS["gemini"].read(candidate([{"functionCall": {"name": "a"}}, {"functionCall": {"name": "b", "id": "own"}}, {"functionCall": {"name": "c"}}]))
    assert [call.id for call in reply.tool_calls] == ["call_1", "own", "call_3"]


@pytest.mark.parametrize(
    ("route", "body"),
    [
        ("openai", chat({"content": "a"}, "content_filter")),
        ("openai", chat({"content": "a"}, "error")),
        ("anthropic", message_of({"type": "text", "text": "a"}, stop="refusal")),
        ("anthropic", message_of({"type": "text", "text": "a"}, stop="model_context_window_exceeded")),
        ("gemini", candidate([{"text": "a"}], "SAFETY")),
        ("gemini", candidate([{"text": "a"}], "SOMETHING_NEW")),
    ],
)
def test_an_answer_that_ended_early_for_another_reason_is_cut_too(route: Route, body: bytes) -> None:
    assert refused(route, body).kind == "cut"


def test_a_refusal_and_a_blocked_prompt_are_no_answer() -> None:
    said = refused("openai", chat({"content": None, "refusal": "I\nwill not."}))
    blocked = refused("gemini", json.dumps({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 5}}).encode())
    assert (said.kind, said.message) == ("no_answer", "the reply refuses to answer: I will not.")
    assert (blocked.kind, blocked.message, blocked.usage and blocked.usage.prompt) == ("no_answer", "the prompt was blocked (SAFETY)", 5)


@pytest.mark.parametrize("finish", [None, ""])
def test_a_finish_reason_that_is_left_out_is_unstated(finish: str | None) -> None:
    assert DIALECTS["openai"].read(chat({"content": "a"}, finish)).finish_reason == "unstated"


def test_the_smaller_of_two_caps_counts() -> None:
    assert DIALECTS["openai"].cap_of({"max_tokens": 7, "max_completion_tokens": 9}) == 7


@pytest.mark.parametrize("route", DIALECTS)
def test_every_prefix_of_a_reply_is_refused(route: Route) -> None:
    body = wire(route, Text("An answer.", reasoning=2))
    for length in range(len(body)):
        assert refused(route, body[:length]).kind == "malformed"


@pytest.mark.parametrize("route", DIALECTS)
def test_a_part_of_any_other_type_raises_nothing_else(route: Route) -> None:
    document = json.loads(wire(route, Text("An answer.", reasoning=2)))
    for path in _paths(document):
        for value in (None, True, -1, 1.5, "text", [], {}, [None], {"a": 1}):
            with contextlib.suppress(DefectiveReply):
                DIALECTS[route].read(json.dumps(_with(document, path, value)).encode())


def _paths(value: Any, *above: Any) -> list[tuple[Any, ...]]:
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path for step, part in steps for path in ((*above, step), *_paths(part, *above, step))]


def _with(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    copy = json.loads(json.dumps(document))
    place = copy
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return copy
