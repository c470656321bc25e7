"""The stream of a debate: in order, to its last line, and nobody who listens can disturb it."""

import json
import threading
from typing import Any

import pytest

from alphaagent.debate import events
from alphaagent.debate.events import Events
from tests.fake_room import FakeRoom, bear_case, bull_case, hold, setup, spoken


class Listening:
    """Keeps what it hears, and fails from one line on where it is told to."""

    def __init__(self, fails_from: int | None = None) -> None:
        self.lines: list[dict[str, Any]] = []
        self._fails_from = fails_from

    def __call__(self, line: str) -> None:
        if self._fails_from is not None and len(self.lines) + 1 >= self._fails_from:
            raise BrokenPipeError
        self.lines.append(json.loads(line))


def watched(listener: Listening, complaints: list[str]) -> Events:
    return Events("run_1", listener, complaints.append)


def held(tell: Events) -> str | None:
    return hold(FakeRoom(spoken((bull_case("0.53"), bear_case("0.50")))), setup(), tell=tell).verdict


def test_D19_lines_are_numbered_and_carry_their_run() -> None:
    listener = Listening()
    assert held(watched(listener, [])) is not None
    assert [line["seq"] for line in listener.lines] == list(range(1, len(listener.lines) + 1))
    assert {line["run_id"] for line in listener.lines} == {"run_1"}
    assert [line["event"] for line in listener.lines if line["event"] in ("phase_started", "committed", "revealed", "gap", "phase_completed", "proposal")] == [
        "phase_started",
        "committed",
        "committed",
        "revealed",
        "gap",
        "phase_completed",
        "proposal",
    ]


def test_D19_a_listener_that_fails_is_complained_of_once_and_the_debate_goes_on() -> None:
    listener, complaints = Listening(fails_from=3), list[str]()
    assert held(watched(listener, complaints)) is not None
    assert [line["seq"] for line in listener.lines] == [1, 2]
    assert complaints == ["the event stream was given up (BrokenPipeError); the debate goes on"]


def test_D19_nothing_comes_after_the_last_line() -> None:
    for last in ("run_completed", "run_failed"):
        listener = Listening()
        tell = watched(listener, [])
        tell("run")
        tell(last)
        tell("flag", name="theater")
        assert [line["event"] for line in listener.lines] == ["run", last]


def test_D19_a_debate_is_the_same_whoever_watches_it() -> None:
    assert held(Events()) == held(watched(Listening(), [])) == held(watched(Listening(fails_from=1), []))


def test_a_listener_that_does_not_come_back_is_given_up_and_nothing_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "PATIENCE_SECONDS", 0.2)
    complaints: list[str] = []
    go_on = threading.Event()

    def stuck(line: str) -> None:
        go_on.wait(30)

    tell = events.Events("r", stuck, complaints.append)
    tell("run")
    tell("phase_started")
    go_on.set()
    assert complaints == ["the event stream was given up (it does not read); the debate goes on"]
