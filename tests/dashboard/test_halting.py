"""The halt from the page: only where it is allowed, only with the word, and by the command line alone."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dashboard import halting
from dashboard.halting import Answer, command, halt
from tests.dashboard.conftest import served

ALLOWED = "dashboard: {allow_halt: true}\n"
Ran = list[list[str]]


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> Ran:
    """What would have been run."""
    commands: Ran = []

    def note(words: list[str], **how: Any) -> subprocess.CompletedProcess[str]:
        assert "shell" not in how
        assert how["timeout"] == halting.PATIENCE_SECONDS
        commands.append(words)
        return subprocess.CompletedProcess(words, 0, "HALTED\n", "")

    monkeypatch.setattr(subprocess, "run", note)
    return commands


@pytest.fixture
def allowed(own_home: Path) -> Path:
    (own_home / "config" / "alphaagent.yaml").write_text(ALLOWED, encoding="utf-8")
    return own_home


def press(app: Any, word: str, reason: str) -> Any:
    app.text_input[0].set_value(word)
    app.text_input[1].set_value(reason)
    return app.button[0].click().run()


@pytest.mark.parametrize(
    ("reason", "last"),
    [
        ("the market is mad", "the market is mad"),
        ("--help", "--help"),
        ("-x", "-x"),
        ("a\x00b\nc\x1b[31m\ud800d\u202ee", "a b c [31m d e"),
        ("x" * 5000, "x" * 300),
    ],
)
def test_a_reason_is_one_word_of_the_command_and_never_an_option(allowed: Path, monkeypatch: pytest.MonkeyPatch, ran: Ran, reason: str, last: str) -> None:
    monkeypatch.setenv("ALPHAAGENT_HOME", str(allowed))
    assert halt("HALT", reason).code == 0
    assert ran == [[sys.executable, "-m", "alphaagent", "halt", "--", last]]


@pytest.mark.parametrize("reason", ["", "  \n", "\x00"])
def test_without_a_reason_nothing_is_run(allowed: Path, monkeypatch: pytest.MonkeyPatch, ran: Ran, reason: str) -> None:
    monkeypatch.setenv("ALPHAAGENT_HOME", str(allowed))
    assert "say why" in halt("HALT", reason).words
    assert ran == []


def test_where_it_is_not_allowed_there_is_a_command_and_no_form(page: Any, recorded: Path) -> None:
    app = page("today", recorded)
    assert not app.text_input
    assert not app.button
    assert any('alphaagent halt "WHY"' in one.value for one in app.code)


def test_where_it_is_not_allowed_whoever_calls_the_function_runs_nothing(recorded: Path, monkeypatch: pytest.MonkeyPatch, ran: Ran) -> None:
    monkeypatch.setenv("ALPHAAGENT_HOME", str(recorded))
    assert halt("HALT", "crafted").code is None
    assert ran == []


def test_a_permission_that_was_taken_away_while_the_page_was_open_counts(page: Any, allowed: Path, ran: Ran) -> None:
    app = page("today", allowed)
    (allowed / "config" / "alphaagent.yaml").write_text("dashboard: {allow_halt: false}\n", encoding="utf-8")
    press(app, "HALT", "too late")
    assert ran == []


@pytest.mark.parametrize("word", ["", "halt", "HALT!", "STOP"])
def test_without_the_word_nothing_is_run(page: Any, allowed: Path, ran: Ran, word: str) -> None:
    app = press(page("today", allowed), word, "why not")
    assert ran == []
    assert any("Not halted" in one.value for one in app.warning)
    assert any("type HALT" in one.value for one in app.text)


def test_with_the_word_the_command_is_run_and_its_answer_shown(page: Any, allowed: Path, ran: Ran) -> None:
    app = press(page("portfolio", allowed), "HALT", "the market is mad")
    assert not app.exception
    assert ran == [command("the market is mad")]
    assert any("exit code 0" in one.value for one in app.success)


@pytest.mark.parametrize(
    ("fails", "words"),
    [(subprocess.TimeoutExpired("alphaagent", 60), "has not ended"), (OSError(13, "Permission denied"), "Permission denied")],
)
def test_a_command_that_does_not_end_or_begin_is_told(allowed: Path, monkeypatch: pytest.MonkeyPatch, fails: Exception, words: str) -> None:
    def fail(*_: object, **__: object) -> None:
        raise fails

    monkeypatch.setenv("ALPHAAGENT_HOME", str(allowed))
    monkeypatch.setattr(subprocess, "run", fail)
    answer = halt("HALT", "why")
    assert answer.code is None
    assert words in answer.words


def test_an_answer_that_looks_like_markup_is_text(page: Any, allowed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = Answer(5, "error: <script>x</script> [a](https://evil.example)\x1b[31m")
    monkeypatch.setattr(halting, "halt", lambda *_: answer)
    app = press(page("today", allowed), "HALT", "why")
    assert any("exit code 5" in one.value for one in app.error)
    assert [one.value for one in app.text if "script" in one.value] == ["error: <script>x</script> [a](https://evil.example) [31m"]
    assert not any("script" in one.value for one in app.markdown)


def test_a_halted_system_offers_no_form_and_no_way_back(page: Any, allowed: Path) -> None:
    (allowed / "data" / "HALT").touch()
    app = page("today", allowed)
    assert not app.text_input
    assert not app.button
    assert any("alphaagent resume" in one.value for one in app.code)


def test_by_keyboard_in_a_browser_it_halts_and_every_page_says_so(allowed: Path, visit: Callable[..., Any]) -> None:
    with served(allowed) as address:
        seen = visit(address)
        page = seen.go("audit")
        page.locator("summary", has_text="Stop trading").press("Enter")
        page.get_by_label("Type HALT").press_sequentially("HALT")
        page.keyboard.press("Tab")
        page.keyboard.type("--by keyboard")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.get_by_text("Halted (exit code 0).").wait_for(timeout=60_000)
        page.get_by_text("HALTED (by command or by the guard)").wait_for()
        seen.picture("halted-light")
        assert "--by keyboard" in page.inner_text("[data-testid=stMain]")
        assert seen.faults == []
