"""The example source of the wiki passes the contract of every source."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tests.contract import test_source_contract as contract

PAGE = (Path(__file__).parents[2] / "docs" / "wiki" / "Add-a-source.md").read_text(encoding="utf-8")
NOTES = "\n".join(f"20{year}-03-0{day}T15:00:00+00:00\tApple raises guidance for the {day}th time" for year in range(13, 23) for day in range(1, 8))


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Iterator[contract.Case]:
    found = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert found
    module = ModuleType("desk_notes")
    sys.modules["desk_notes"] = module
    exec(found[1], vars(module))
    folder = tmp_path_factory.mktemp("with_notes")
    (folder / "notes").mkdir()
    (folder / "notes" / "AAPL.txt").write_text(NOTES + "\n", encoding="utf-8")
    yield contract.Case(lambda: module.DeskNotes(folder), lambda empty: module.DeskNotes(empty))
    del sys.modules["desk_notes"]


@pytest.fixture
def raw(case: contract.Case) -> bytes:
    document = case.full().fetch(contract.AAPL)
    assert document is not None
    return document


@pytest.fixture
def records(case: contract.Case, raw: bytes) -> contract.Records:
    return case.full().parse(raw, contract.AAPL, contract.CALENDAR)


globals().update({name: check for name, check in vars(contract).items() if name.startswith("test_")})
