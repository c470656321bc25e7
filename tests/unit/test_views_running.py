"""A run as its events tell it: how far it is, what was said, what it cost; and that no event can be more than text."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from alphaagent.runs import RunFile
from alphaagent.views_running import SILENT_AFTER_SECONDS, Run, run_of

NOW = datetime(2020, 2, 5, 21, 30, tzinfo=UTC)
START: dict[str, Any] = {"event": "run", "ticker": "AAPL", "as_of": "2020-02-05T21:00:01Z", "plan": "standard", "phases": ["opening", "rebuttal"]}
OPENING = {"stance": "BULLISH", "claims": [{"text": "It rises.", "kind": "fact", "severity": "high", "direction": "up", "evidence_ids": ["ev_1"]}]}


def run(*events: dict[str, Any], quiet: int = 0) -> Run:
    return run_of(RunFile("dec_0123456789abcdef", NOW - timedelta(seconds=quiet), events, 0, is_cut=False), NOW)


def test_the_phases_of_the_plan_are_done_going_on_or_to_come() -> None:
    found = run(
        START, {"event": "phase_started", "phase": "opening"}, {"event": "phase_completed", "phase": "opening"}, {"event": "phase_started", "phase": "rebuttal"}
    )
    assert found.phases == (("openings", "done"), ("rebuttals", "going on"), ("the verdict", "to come"))
    assert found.state == "running"


@pytest.mark.parametrize(
    ("last", "quiet", "state"),
    [
        ("revealed", SILENT_AFTER_SECONDS - 1, "running"),
        ("revealed", SILENT_AFTER_SECONDS, "silent"),
        ("run_completed", 5000, "done"),
        ("run_failed", 5000, "failed"),
    ],
)
def test_the_state_follows_from_the_last_line_and_from_how_long_ago_it_came(last: str, quiet: int, state: str) -> None:
    assert run(START, {"event": last}, quiet=quiet).state == state


def test_a_turn_is_told_point_by_point() -> None:
    (turn,) = run(START, {"event": "turn_completed", "phase": "opening", "round": "1", "side": "bull", "p_up": "0.66", "answer": OPENING}).turns
    assert (turn.phase, turn.side, turn.p_up) == ("openings", "bull", "0.66")
    assert turn.said == (("stance", "BULLISH"), ("claim, fact, high severity, up, ev_1", "It rises."))


def test_later_turns_are_told_too() -> None:
    answers: list[dict[str, Any]] = [
        {"steelman": {"text": "At its best."}, "objections": [{"target_claim_id": "c_bull_1", "argument": "No."}]},
        {"moves": [{"objection_id": "o_bear_1", "type": "CONCEDED", "reason": "True."}]},
        {"summary": "Done.", "adjudications": [{"objection_id": "o_bull_1", "verdict": "ACCEPT", "reason": "Fair."}]},
    ]
    said = [turn.said for turn in run(START, *({"event": "turn_completed", "answer": answer} for answer in answers)).turns]
    assert said == [
        (("the other side at its best", "At its best."), ("objection to c_bull_1", "No.")),
        (("conceded o_bear_1", "True."),),
        (("accepted the answer: o_bull_1", "Fair."), ("summary", "Done.")),
    ]


def test_calls_add_up_and_one_without_a_price_makes_the_cost_unknown() -> None:
    call = {"event": "call_completed", "prompt_tokens": "900", "completion_tokens": "120", "cost_usd": "0.002"}
    found = run(START, call, call)
    assert (found.calls, found.prompt_tokens, found.completion_tokens, found.cost_usd) == (2, 1800, 240, Decimal("0.004"))
    assert run(START, call, call | {"cost_usd": None}).cost_usd is None


def test_what_happened_is_told_in_order_and_in_words() -> None:
    found = run(
        START,
        {"event": "objection_raised", "round": "2", "side": "bear", "objection": "o_bear_1", "claim": "c_bull_1"},
        {"event": "move", "round": "3", "side": "bull", "objection": "o_bear_1", "what": "REBUTTED", "counts": False},
        {"event": "move_rejected", "round": "3", "side": "bull", "codes": ["NO_REASON"]},
    )
    assert found.happened == (
        "round 2: the short seller attacks c_bull_1 (o_bear_1)",
        "round 3: the bull rebutted o_bear_1 (does not count)",
        "round 3: an answer of the bull was sent back (NO_REASON)",
    )


def test_the_end_says_what_the_guard_and_what_the_fault_said() -> None:
    assert run(START, {"event": "guard", "outcome": "CLIP", "code": "CLIP_ORDER"}, {"event": "run_completed"}).guard == "CLIP CLIP_ORDER"
    assert run(START, {"event": "run_failed", "message": "http: the provider answered HTTP 503"}).failure == "http: the provider answered HTTP 503"


@pytest.mark.parametrize(
    "value", [None, True, [], {}, [[["x"]]], {"a": {"b": []}}, "text\x00\u202e", ["{side}"], "{0.__class__}", "9" * 5000, "NaN", "1e999999"]
)
def test_no_value_of_an_event_is_more_than_text(value: Any) -> None:
    names = ("run", "phase_started", "turn_completed", "gap", "call_completed", "move", "flag", "guard", "run_failed", "tool_called", "move_rejected")
    keys = (
        "ticker",
        "phases",
        "sides",
        "phase",
        "round",
        "side",
        "answer",
        "bull",
        "bear",
        "p_up",
        "prompt_tokens",
        "cost_usd",
        "codes",
        "what",
        "outcome",
        "message",
    )
    found = run(*({"event": name} | dict.fromkeys(keys, value) for name in names))
    assert found.prompt_tokens == 0
    assert "\x00" not in found.ticker
    assert found.rounds == ()


@pytest.mark.parametrize("answer", [{"claims": {"0": "x"}}, {"claims": ["x", None]}, {"steelman": []}, {"moves": [{"type": []}]}, {"stance": {"x": 1}}])
def test_an_answer_of_any_shape_can_be_told(answer: Any) -> None:
    assert run(START, {"event": "turn_completed", "answer": answer}).turns[0].phase == ""


def test_a_file_without_an_event_is_a_run_of_nothing_known() -> None:
    found = run()
    assert (found.ticker, found.phases, found.state) == ("", (), "running")
