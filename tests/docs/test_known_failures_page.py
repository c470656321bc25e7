"""Every case of the page of known failures has one row, and every test that a row names is there."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "wiki" / "Known-Failures.md").read_text(encoding="utf-8")
CASES = [f"E{n}" for n in range(1, 22)] + [f"M{n}" for n in range(1, 21)] + [f"G{n}" for n in (1, 2, 3, 6, 7, 8, 9, 11, 12, 14, 17, 18, 20, 23, 25)]
ROWS = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in PAGE.splitlines() if re.match(r"\| [EMG]\d+ \|", line)]
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


@cache
def _tests_in(path: str) -> frozenset[str]:
    file = ROOT / path
    tree = ast.parse(file.read_text(encoding="utf-8")) if file.exists() else ast.Module([], [])
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"))


def test_every_case_has_one_row() -> None:
    assert [row[0] for row in ROWS] == CASES


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_says_what_happens_and_names_tests_that_exist(row: list[str]) -> None:
    _, elsewhere, here, shown = row
    named = NAMED.findall(shown)
    assert elsewhere
    assert here
    assert named
    assert ", ".join(f"`{path}::{name}`" for path, name in named) == shown, "nothing but tests stands in the last cell"
    assert [f"{path}::{name}" for path, name in named if name not in _tests_in(path)] == []


def test_every_test_of_a_case_is_named_in_its_row() -> None:
    own = "tests/integration/test_known_failures.py"
    shown = {row[0]: row[3] for row in ROWS}
    for name in _tests_in(own):
        case = name.split("_")[1].upper()
        assert f"`{own}::{name}`" in shown[case], name
