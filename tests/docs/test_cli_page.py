"""The page of commands is the program's own word, whatever the width of the terminal."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GENERATOR = ROOT / "docs" / "make_cli_page.py"


def _run(*arguments: str, columns: int = 80) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": "/usr/bin:/bin", "COLUMNS": str(columns), "TERMINAL_WIDTH": str(columns)}
    return subprocess.run([sys.executable, str(GENERATOR), *arguments], capture_output=True, text=True, check=False, env=environment)


@pytest.mark.parametrize("columns", [20, 80, 300])
def test_the_committed_page_is_what_the_program_says(columns: int) -> None:
    done = _run("--check", columns=columns)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_command_and_every_parameter_has_a_text() -> None:
    page = runpy.run_path(str(GENERATOR))["page"]()
    assert [line for line in page.splitlines() if line.endswith("|  |")] == []
    assert "## alphaagent audit verify\n" in page


def test_a_page_that_differs_is_told(tmp_path: Path) -> None:
    module = runpy.run_path(str(GENERATOR))
    module["main"].__globals__["PAGE"] = tmp_path / "CLI.md"
    assert module["main"](["--check"]) == 1
    assert module["main"]([]) == 0
    assert module["main"](["--check"]) == 0
