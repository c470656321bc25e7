"""Who may import whom, read from the source; and what may not be loaded by `import alphaagent` or `--help`."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "alphaagent"

ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "domain": {"errors"},
    "ports": {"domain", "errors"},
    "clock": {"errors"},
    "settings": {"domain", "errors", "yaml_files"},
    "yaml_files": {"errors"},
    "moments": {"clock", "desk", "domain", "errors"},
    "guard": {"domain", "errors"},
    "debate": {"domain", "ports", "errors"},
    "evidence": {"domain", "ports", "errors"},
    "engines": {"domain", "ports", "errors", "debate", "llm"},
    "llm": {"domain", "errors"},
    "execution": {"domain", "ports", "errors"},
    "notify": {"domain", "errors"},
    "ledger": {"domain", "ports", "errors"},
    "desk": {"domain", "ports", "errors", "debate", "llm", "evidence", "execution", "guard", "portfolio_files", "staffing"},
    "staffing": {"domain", "errors", "debate", "engines", "llm", "settings"},
    "judgement": {"domain", "ports", "errors", "debate", "evidence", "execution", "guard", "desk", "engines", "llm", "staffing"},
    "settling": {"domain", "ports", "errors", "execution", "desk"},
    "portfolio_files": {"domain", "errors", "settings", "yaml_files"},
    "pipeline": {"", "domain", "ports", "errors", "execution", "guard", "desk", "judgement", "settling", "debate"},
    "replay": {"domain", "ports", "errors", "engines", "guard", "debate"},
    "livedata": {"clock", "domain", "errors", "evidence", "ports", "settings"},
    "operations": {
        "clock",
        "debate",
        "evidence",
        "domain",
        "ports",
        "errors",
        "desk",
        "execution",
        "ledger",
        "replay",
        "bootstrap",
        "guard",
        "staffing",
        "notify",
        "",
        "judgement",
        "pipeline",
        "portfolio_files",
        "settings",
        "settling",
        "views_digest",
        "render_digest",
    },
    "views_digest": {"domain"},
    "render_digest": {"domain"},
    "views": {"domain", "ports", "errors", "debate", "evidence", "ledger", "views_debate"},
    "views_notify": {"domain", "operations"},
    "views_outcomes": {"operations"},
    "views_review": {"domain", "operations", "views_books"},
    "views_books": {"domain", "ports", "execution", "operations", "views", "estimating"},
    "views_data": {"domain", "operations"},
    "views_sweep": {"debate", "domain", "execution", "operations", "settling", "views", "views_books"},
    "views_debate": {"debate", "domain", "views_argument"},
    "views_argument": {"debate", "domain"},
    "estimating": {"debate", "domain", "llm", "staffing"},
    "render": {"", "domain", "operations", "render_crew"},
    "render_crew": {"domain", "views_debate"},
    "render_argument": {"domain", "render_crew"},
    "render_debate": {"domain", "render_argument", "render_calls", "render_crew", "views_debate"},
    "render_calls": {"domain"},
    "render_evidence": {"domain"},
    "bootstrap": {
        "livedata",
        "portfolio_files",
        "yaml_files",
        "moments",
        "notify",
        "domain",
        "ports",
        "errors",
        "clock",
        "settings",
        "desk",
        "evidence",
        "engines",
        "execution",
        "guard",
        "ledger",
        "llm",
        "staffing",
        "debate",
    },
    "cli": {
        *("", "errors", "domain", "bootstrap", "debate", "desk", "pipeline", "settling", "replay", "operations", "views", "views_books"),
        *("views_debate", "render", "execution"),
        *("ledger", "cli_common", "cli_books", "cli_dashboard", "cli_data", "cli_decisions", "cli_mandate", "cli_models", "cli_notify"),
        *("cli_schedule", "cli_sweep"),
    },
    "cli_decisions": {
        *("", "bootstrap", "errors", "render", "render_debate", "render_evidence", "replay", "views", "views_books", "views_debate", "cli_common"),
    },
    "cli_common": {"errors", "domain"},
    "cli_dashboard": {"bootstrap", "cli_common", "errors", "settings"},
    "cli_data": {"", "bootstrap", "domain", "operations", "views", "views_data", "render", "cli_common"},
    "cli_books": {"", "domain", "bootstrap", "operations", "views", "views_books", "render", "cli_common"},
    "cli_mandate": {"", "bootstrap", "operations", "render"},
    "cli_notify": {"", "bootstrap", "notify", "operations", "render", "views_notify", "cli_common"},
    "cli_schedule": {"bootstrap", "cli_common", "domain", "errors", "operations", "render_digest", "views_digest"},
    "cli_models": {"", "errors", "bootstrap", "debate", "desk", "estimating", "pipeline", "views_books", "render", "cli_common"},
    "cli_sweep": {"", "errors", "bootstrap", "desk", "operations", "views", "views_books", "views_sweep", "render", "cli_common", "cli_models"},
    "__main__": {"cli"},
    "demo": {"", "bootstrap", "desk", "operations", "pipeline", "render", "replay", "settings", "views"},
    "__init__": set(),
}
REGISTRIES = {
    "alphaagent.evidence.registry": {"bootstrap"},
    "alphaagent.engines.registry": {"bootstrap", "replay"},
    "alphaagent.llm.registry": {"bootstrap"},
}
GUARD_LIBRARIES = {
    "abc",
    "collections",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "functools",
    "json",
    "re",
    "typing",
    "unicodedata",
    "pydantic",
    "enum",
}


def _imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            found.add(module)
            if module == "alphaagent":
                found |= {f"alphaagent.{name.name}" for name in node.names if (PACKAGE / f"{name.name}.py").exists()}
    return found


def _part(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "migrations" not in path.parts)
DASHBOARD = ROOT / "dashboard"
SEEN_BY_THE_DASHBOARD = {"bootstrap", "clock", "debate", "domain", "errors", "ledger", "operations", "views", "views_argument", "views_books", "views_debate"}
SEEN_BY_THE_DASHBOARD |= {"ports", "views_notify", "views_outcomes", "views_review"}
"""It decides nothing: neither pipeline nor guard nor anything that writes is within its reach."""
SCREENS = sorted(DASHBOARD.rglob("*.py"))
every_screen = pytest.mark.parametrize("path", SCREENS, ids=lambda path: path.relative_to(DASHBOARD).as_posix())


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_a_module_imports_only_what_its_part_may_see(path: Path) -> None:
    part = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    seen = {_part(module) for module in _imports(path) if module.split(".")[0] == "alphaagent"} - {part}
    assert seen - ALLOWED[part] == set()


@every_screen
def test_the_dashboard_sees_what_may_be_read_and_nothing_that_decides(path: Path) -> None:
    seen = {_part(module) for module in _imports(path) if module.split(".")[0] == "alphaagent"} - {""}
    assert seen - SEEN_BY_THE_DASHBOARD == set()


@every_screen
def test_the_dashboard_opens_no_books_to_write(path: Path) -> None:
    called = {node.func.attr for node in _calls(path) if isinstance(node.func, ast.Attribute)}
    writers = {"write", "claim", "remember", "announce", "record_decision", "set_control", "reserve_spend", "book_spend"}
    if "halt" not in path.stem:
        assert called & writers == set()


@every_screen
def test_the_dashboard_neither_asks_the_environment_nor_the_time_nor_catches_everything(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert [word for word in ("os.environ", "getenv") if word in text] == []
    assert not _asks_the_time(path)
    assert not _has_broad_except(path)


@every_screen
def test_the_dashboard_writes_no_html_of_its_own(path: Path) -> None:
    keywords = {keyword.arg for node in _calls(path) for keyword in node.keywords}
    called = {ast.unparse(node.func) for node in _calls(path)}
    assert "unsafe_allow_html" not in keywords
    assert not called & {"st.html", "st.components.v1.html", "st.components.v1.iframe", "st.iframe"}


def _calls(path: Path) -> list[ast.Call]:
    return [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]


@pytest.mark.parametrize("path", sorted((PACKAGE / "guard").rglob("*.py")), ids=lambda path: path.name)
def test_the_guard_can_do_no_io(path: Path) -> None:
    outside = {module.split(".")[0] for module in _imports(path)} - {"alphaagent"}
    assert outside - GUARD_LIBRARIES == set()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_only_named_modules_import_a_registry(path: Path) -> None:
    part = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    for registry, importers in REGISTRIES.items():
        if registry in _imports(path) and path.name != "registry.py":
            assert part in importers


def test_only_settings_reads_the_environment() -> None:
    readers = [
        path.relative_to(PACKAGE).as_posix()
        for path in MODULES
        if "os.environ" in path.read_text(encoding="utf-8") or "getenv" in path.read_text(encoding="utf-8")
    ]
    assert readers == ["settings.py"]


def test_only_the_clock_knows_what_time_it_is() -> None:
    callers = [path.relative_to(PACKAGE).as_posix() for path in MODULES if _asks_the_time(path)]
    assert callers == ["clock.py"]


def _asks_the_time(path: Path) -> bool:
    text = path.read_text(encoding="utf-8")
    return any(call in text for call in ("datetime.now(", "date.today(", "time.time(", "utcnow("))


def test_broad_excepts_stand_in_named_places_only() -> None:
    allowed = {"cli.py", "guard/evaluate.py", "engines/crew/room.py"}
    broad = {path.relative_to(PACKAGE).as_posix() for path in MODULES if _has_broad_except(path)}
    assert broad <= allowed


def _has_broad_except(path: Path) -> bool:
    handlers = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.ExceptHandler)]
    return any(handler.type is None or (isinstance(handler.type, ast.Name) and handler.type.id in ("Exception", "BaseException")) for handler in handlers)


HEAVY = {"pandas", "numpy", "crewai", "httpx", "openai", "sqlmodel", "sqlalchemy", "ta", "yfinance", "streamlit", "feedparser", "exchange_calendars"}
HEAVY |= {"apprise", "apscheduler", "requests"}


def _importers_of(library: str) -> list[str]:
    return [path.relative_to(PACKAGE).as_posix() for path in MODULES if library in {module.split(".")[0] for module in _imports(path)}]


def test_exactly_one_module_imports_crewai() -> None:
    assert _importers_of("crewai") == ["engines/crew/room.py"]


@pytest.mark.parametrize(("library", "module"), [("apprise", "notify/post.py"), ("apscheduler", "operations/alarm.py")])
def test_what_notifications_and_the_schedule_need_is_imported_in_one_place_each(library: str, module: str) -> None:
    assert _importers_of(library) == [module]


def test_a_socket_to_a_model_is_opened_in_one_place() -> None:
    """The wire is no socket: it hands what is sent to its carrier, and network.py is the only one of these that opens any."""
    assert _importers_of("httpx") == ["evidence/live/wire.py", "llm/network.py", "llm/wire.py"]
    assert "httpx.Client(transport=wire)" in (PACKAGE / "llm" / "wire.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "statement", ["import alphaagent", "from alphaagent import cli; cli.run(['--help'])", "from alphaagent import cli; cli.run(['decide', '--help'])"]
)
def test_importing_and_asking_for_help_load_nothing_heavy(statement: str) -> None:
    code = f"import sys\n{statement}\nprint('LOADED', sorted(set({sorted(HEAVY)!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip().splitlines()[-1] == "LOADED []"


def test_deciding_loads_neither_crewai_nor_the_calendar_library(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom alphaagent import cli\n"
        "code = cli.run(['decide', 'AAPL', '--as-of', '2020-03-16', '--engine', 'heuristic', '--dry-run', '--json'])\n"
        "unwanted = {'crewai', 'httpx', 'openai', 'exchange_calendars', 'alembic', 'streamlit', 'yfinance', 'apprise', 'apscheduler'}\n"
        "print('LOADED', code, sorted(unwanted & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT, env={"ALPHAAGENT_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    )
    assert done.stdout.strip().splitlines()[-1] == "LOADED 0 []"


def test_no_module_is_longer_than_can_be_held_in_the_head() -> None:
    long = {path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines()) for path in (*MODULES, *SCREENS)}
    assert {name: lines for name, lines in long.items() if lines > 400} == {}
