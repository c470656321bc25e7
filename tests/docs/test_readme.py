"""The README's commands work, in their order, for somebody who has nothing yet."""

import re
import shlex
from pathlib import Path

import pytest

from alphaagent import cli

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
LINES = [line.strip() for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL) for line in block.splitlines() if line.strip()]
TARGETS = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def test_every_line_is_a_command_of_a_known_kind() -> None:
    assert [line for line in LINES if not line.startswith(("alphaagent ", "make ", ". .venv/"))] == []
    assert sum(line.startswith("alphaagent ") for line in LINES) >= 5


def test_the_commands_run_in_order_in_one_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALPHAAGENT_HOME", str(tmp_path))
    commands = [line for line in LINES if line.startswith("alphaagent ")]
    assert [(line, cli.run(shlex.split(line)[1:])) for line in commands] == [(line, 0) for line in commands]


def test_the_make_targets_exist() -> None:
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", README, re.MULTILINE))
    assert named
    assert named - set(TARGETS) == set()


def test_the_commands_of_the_table_exist() -> None:
    page = (ROOT / "docs" / "wiki" / "CLI.md").read_text(encoding="utf-8")
    rows = [row for row in README.splitlines() if row.startswith("| `alphaagent ")]
    for row in rows:
        words = re.findall(r"`([^`]*)`", row.split("|")[1])
        head, group = words[0].split()[1], words[0].split()[2:3]
        assert f"## alphaagent {head}\n" in page
        for member in [*(word for word in group if word.islower()), *(word for word in words[1:] if group and group[0].islower())]:
            assert f"## alphaagent {head} {member}\n" in page


def _one_spaced(line: str) -> str:
    """A line without its layout; the decision's id changes with every change of the configuration."""
    return re.sub(r"dec_[0-9a-f]{16}", "dec_…", " ".join(line.split()))


def _demo_commands() -> list[str]:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    return re.findall(r"^\t\$\(call DEMO,(.*)\)$", makefile, re.MULTILINE)


def test_the_demo_shows_what_the_readme_shows(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("ALPHAAGENT_HOME", str(tmp_path))
    commands = _demo_commands()
    assert len(commands) >= 4
    assert [(line, cli.run(shlex.split(line))) for line in commands] == [(line, 0) for line in commands]
    shown = {_one_spaced(line) for line in capsys.readouterr().out.splitlines()}
    block = README.split("here shortened:\n\n```\n")[1].split("```")[0]
    lines = [_one_spaced(line) for line in block.splitlines() if not line.startswith(("$", "│", "╭", "╰")) and line.strip() not in ("", "...")]
    assert [line for line in lines if line not in shown] == []
