"""The wiki's links, paths and keys are held against the repository."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from alphaagent.debate.config import TASKS, DebateFile, SideBounds, Sides
from alphaagent.debate.plan import Phase
from alphaagent.domain.evidence import Status
from alphaagent.errors import VendorFaultKind
from alphaagent.evidence.live.described import Description
from alphaagent.evidence.live.feeds_config import Feed
from alphaagent.evidence.live.limits import VendorLimits
from alphaagent.guard import intake
from alphaagent.guard.registry import RULES
from alphaagent.settings import VARIABLES
from alphaagent.yaml_files import read_yaml

ROOT = Path(__file__).parents[2]
WIKI = ROOT / "docs" / "wiki"
PAGES = sorted(WIKI.glob("*.md"))
PROSE = [*PAGES, ROOT / "README.md", ROOT / "CHANGELOG.md"]
CONFIGURATION = (WIKI / "Configuration.md").read_text(encoding="utf-8")
OTHERS = {"Execution-Guard.md", "Add-a-rule.md", "Data-Model.md", "News-Sentiment.md"}
"""Pages that stand beside their parts of the program and may come later than these."""
MADE_AT_RUN_TIME = {"data/runs/", "data/live/archive.db", "data/live/", "data/schedule.lock", "data/alphaagent.db", "data/demo.db", "data/HALT", "data/cache/"}
NEW_IN_AN_EXAMPLE = {"alphaagent/evidence/sources/desk_notes.py", "alphaagent/evidence/live/vendors/acme.py", "alphaagent/guard/rules/h8_gross_cap.py"}
LIVE_DATA = (WIKI / "Live-Data.md").read_text(encoding="utf-8")
LIVE_MESSAGES = (
    "the data are recorded, and this is for live data",
    "the SEC is not asked: nobody is named whom it could write to",
    "is unknown to every vendor asked",
    "shares and exchange-traded funds are supported",
    "no usable prices of",
    "; this is what",
    "revised: ",
    "now gives other closes than at",
    "times in a row and is left alone for",
    "asks us to slow down (HTTP 429)",
    "stooq asks for a key",
    "the second source of prices gave none",
    "live data hold",
    "is in conflict with what was seen before",
    "the archive holds no two documents of",
    "the archive of live data, ",
    "is missing or damaged",
    "is not empty",
)
CREW_MESSAGES = (
    "and its key is missing",
    "needs a package that is not installed",
    "no model is named for the provider",
    "is set, and no provider is named",
    "has no price for",
    "the answer could not be used after",
    "no model provider is configured",
    "Both sides were the same model",
    "no model took part in this decision",
    "bull and bear, then CIO",
)
MACHINE_OR_REGISTRY = re.compile(r"(?<![\w.])/(?:work|tmp|root|home)/|https?://[\w.-]*(?:pypi|pythonhosted|anaconda|npmjs|golang)", re.IGNORECASE)


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _headings(text: str) -> set[str]:
    return {re.sub(r"[^\w -]", "", line.lstrip("# ").lower()).replace(" ", "-") for line in text.splitlines() if line.startswith("#")}


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", _read(page)):
        if target.startswith("http"):
            continue
        name, _, anchor = target.partition("#")
        found = page.parent / name if name else page
        if name in OTHERS and not found.exists():
            continue
        assert found.exists(), target
        assert not anchor or anchor in _headings(_read(found)), target


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.name)
def test_every_path_that_is_named_exists(page: Path) -> None:
    named = set(re.findall(r"`((?:alphaagent|config|data|docs|tests)/[\w./-]*)`", _read(page)))
    missing = {path for path in named if not (ROOT / path).exists()}
    assert missing - MADE_AT_RUN_TIME - NEW_IN_AN_EXAMPLE == set()


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.name)
def test_no_page_names_a_machine_or_a_registry(page: Path) -> None:
    assert MACHINE_OR_REGISTRY.findall(_read(page)) == []


def test_home_leads_to_every_page() -> None:
    linked = set(re.findall(r"\]\(([\w-]+\.md)\)", _read(WIKI / "Home.md")))
    assert {page.name for page in PAGES} - linked == {"Home.md"}


@pytest.mark.parametrize("variable", [*VARIABLES, "ALLOW_HEURISTIC_FALLBACK"])
def test_every_environment_variable_is_described(variable: str) -> None:
    assert f"`{variable}`" in CONFIGURATION


def _keys(document: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in document.items():
        if isinstance(value, dict):
            yield from _keys(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}"


def test_every_setting_is_described() -> None:
    keys = list(_keys(read_yaml(ROOT / "config" / "alphaagent.yaml")))
    assert [key for key in keys if f"`{key}`" not in CONFIGURATION] == []


def test_every_key_of_debate_yaml_is_described() -> None:
    debate = read_yaml(ROOT / "config" / "debate.yaml")
    phases = {key for plan in debate.pop("plans").values() for phase in plan for key in phase}
    keys = {*_keys(debate), "plans", *(f"sides.{side}.{bound}" for side in Sides.model_fields for bound in SideBounds.model_fields)}
    assert set(DebateFile.model_fields) == {key.partition(".")[0] for key in keys}
    assert [key for key in sorted(keys) if f"`{key}`" not in CONFIGURATION] == []
    assert [key for key in sorted(phases | set(Phase.model_fields)) if not re.search(rf"^\| `plans`:.*`{key}`", CONFIGURATION, re.MULTILINE)] == []


def test_every_task_and_placeholder_is_described() -> None:
    assert [name for name in TASKS if f"`{name}`" not in CONFIGURATION] == []
    assert [name for _, names in TASKS.values() for name in names if f"`{{{name}}}`" not in CONFIGURATION] == []


@pytest.mark.parametrize("message", [*CREW_MESSAGES, *LIVE_MESSAGES])
def test_a_message_that_the_wiki_quotes_is_the_programs(message: str) -> None:
    pages = _read(WIKI / "Troubleshooting.md") + CONFIGURATION
    sources = "\n".join(_read(path) for path in (ROOT / "alphaagent").rglob("*.py"))
    assert message in pages
    assert message in sources


def _section(heading: str) -> str:
    return CONFIGURATION.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def test_every_key_of_vendors_yaml_is_described_with_its_default() -> None:
    section = _section("config/vendors.yaml")
    shown = dict(re.findall(r"^\| `(\w+)` \| ([^|]+?) \|", section, re.MULTILINE))
    assert shown == {name: "null" if field.default is None else str(field.default) for name, field in VendorLimits.model_fields.items()}
    assert [vendor for vendor in read_yaml(ROOT / "config" / "vendors.yaml") if f"`{vendor}`" not in section] == []


@pytest.mark.parametrize(("name", "shape"), [("feeds", Feed), ("instruments", Description)])
def test_every_key_of_the_files_of_names_is_described(name: str, shape: type[Feed | Description]) -> None:
    section = _section(f"config/{name}.yaml")
    described = {key for row in re.findall(r"^\| (`[^|]+`) \|", section, re.MULTILINE) for key in re.findall(r"`(\w+)`", row)}
    assert described == set(shape.model_fields) - ({"name"} if shape is Feed else set())
    assert [block for block in read_yaml(ROOT / "config" / f"{name}.yaml", texts=True) if f"`{block}`" not in section] == []


@pytest.mark.parametrize("word", [*get_args(VendorFaultKind), *(status.value for status in Status)])
def test_every_failure_and_status_has_a_row_on_the_page_of_live_data(word: str) -> None:
    assert len(re.findall(rf"^\| `{word}` \|", LIVE_DATA, re.MULTILINE)) == 1


def test_every_key_of_the_mandates_is_described() -> None:
    mandates = read_yaml(ROOT / "config" / "mandate.yaml")
    names = {*mandates, *(key for mandate in mandates.values() for key in mandate)}
    limits = {f"`{rule}`: `{limit}`" for mandate in mandates.values() for rule, limits in mandate["rules"].items() for limit in limits}
    assert [name for name in sorted(names) if f"`{name}`" not in CONFIGURATION] == []
    assert [limit for limit in sorted(limits) if limit not in CONFIGURATION] == []


def test_the_defaults_and_bounds_of_the_limits_are_the_programs() -> None:
    for rule, kind in RULES.items():
        for limit, field in kind.model_fields.items():
            row = re.search(rf"^\| `{rule}`: `{limit}` \| `?([^|`]+?)`? \|", CONFIGURATION, re.MULTILINE)
            assert row, f"{rule} {limit}"
            assert row[1] == (", ".join(field.default) if isinstance(field.default, tuple) else str(field.default).lower())


def test_every_key_of_the_lexicon_is_described() -> None:
    lexicon = read_yaml(ROOT / "config" / "lexicon.yaml")
    named = set(lexicon)
    for section in ("sides", "connectors", "markers", "full_move_percent"):
        named |= set(lexicon[section])
    for section in ("topics", "directions", "objects"):
        named |= {key for group in lexicon[section].values() for key in group}
    assert [key for key in sorted(named) if f"`{key}`" not in CONFIGURATION] == []


def test_every_reason_code_is_on_the_guards_page() -> None:
    path = WIKI / "Execution-Guard.md"
    if not path.exists():
        pytest.skip("the guard's page is not here yet")
    codes = {code for kind in RULES.values() for code in kind.codes} | {code for group in intake.CODES.values() for code in group}
    page = _read(path)
    assert [code for code in sorted(codes) if f"`{code}`" not in page] == []


def test_every_exit_code_of_the_error_tree_is_explained() -> None:
    from alphaagent import errors

    page = _read(WIKI / "Troubleshooting.md")
    codes = {kind.exit_code for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.AlphaAgentError)}
    assert [code for code in sorted(codes) if f"| {code} |" not in page] == []
