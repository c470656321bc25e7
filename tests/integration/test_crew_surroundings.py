"""A debate in a process of its own: it leaves the user's folders alone, hears nothing from a stray .env, speaks to nobody but its model, and ends."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.crew_home import AS_OF, KEY, SCRIPTED, bounds
from tests.crew_script import crew
from tests.home import CHECKOUT, Home, start
from tests.scripted_provider import ScriptedProvider, Status

EXIT_LAG = 0.5
"""Of the time that the decision itself took, on however busy a machine. CrewAI's telemetry takes twice that time to give up."""
GUARD = """
import atexit, os, socket
from pathlib import Path
log = Path(os.environ["GUARD_LOG"])
log.write_text("watching\\n")
def note(word, host):
    if host not in (None, "", "127.0.0.1", "localhost", "::1", b"127.0.0.1"):
        with log.open("a") as stream:
            stream.write(f"{word} {host!r}\\n")
        raise OSError("refused by the test")
look_up, connect, connect_ex = socket.getaddrinfo, socket.socket.connect, socket.socket.connect_ex
def watched_look_up(host, *args, **kwargs):
    note("look-up", host)
    return look_up(host, *args, **kwargs)
def watched_connect(self, address):
    note("connect", address[0] if isinstance(address, tuple) else None)
    return connect(self, address)
def watched_connect_ex(self, address):
    note("connect", address[0] if isinstance(address, tuple) else None)
    return connect_ex(self, address)
socket.getaddrinfo, socket.socket.connect, socket.socket.connect_ex = watched_look_up, watched_connect, watched_connect_ex
@atexit.register
def told():
    names = ("OPENAI_API_BASE", "OPENAI_BASE_URL", "STRAY")
    with log.open("a") as stream:
        stream.write("".join(f"left {name}\\n" for name in names if name in os.environ))
"""


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder with the guard that Python loads at its start, and with the user's home folder."""
    folder = tmp_path / "outside"
    (folder / "guard").mkdir(parents=True)
    (folder / "guard" / "sitecustomize.py").write_text(GUARD, encoding="utf-8")
    return folder


def run(home: Home, provider: ScriptedProvider, outside: Path, user_home: Path, **variables: str) -> tuple[dict[str, Any], int, str, float]:
    """One decision: its document, exit code, stderr, and the time from the document to the end of the process by the time before."""
    began = time.monotonic()
    process = start(
        home.folder,
        "decide",
        "AAPL",
        "--as-of",
        AS_OF,
        "--json",
        HOME=str(user_home),
        GUARD_LOG=str(outside / "log"),
        PYTHONPATH=f"{outside / 'guard'}{os.pathsep}{CHECKOUT}",
        **{**SCRIPTED, "ALPHAAGENT_LLM_BASE_URL": provider.base_url, **variables},
    )
    assert process.stdout
    line = process.stdout.readline()
    told = time.monotonic()
    rest, err = process.communicate(timeout=120)
    lag = (time.monotonic() - told) / (told - began)
    assert rest == ""
    return json.loads(line), process.returncode, err, lag


def stray_env(folder: Path) -> None:
    (folder / ".env").write_text(
        "OPENAI_API_BASE=http://203.0.113.9/v1\nOPENAI_BASE_URL=http://203.0.113.9/v1\nSTRAY=1\nCREWAI_TRACING_ENABLED=true\n", encoding="utf-8"
    )


@pytest.mark.parametrize("kind", ["a file", "empty"])
def test_a_debate_touches_neither_home_nor_cwd_nor_anybody_else(home: Home, outside: Path, kind: str) -> None:
    user_home = outside / "user"
    if kind == "a file":
        user_home.write_text("", encoding="utf-8")
    else:
        user_home.mkdir()
    stray_env(home.folder)
    bounds(home)
    with ScriptedProvider(crew()) as provider:
        document, code, err, lag = run(home, provider, outside, user_home)
        assert (code, document["fallback_reason"], len(provider.requests)) == (0, None, 3), err
    assert {re.sub(r"\.db.*|/dec_.*", "", name) for name in home.files()} == {".env", "config", "config/debate.yaml", "data", "data/alphaagent", "data/runs"}
    assert (sorted(user_home.rglob("*")) if user_home.is_dir() else [], user_home.exists()) == ([], True)
    assert (outside / "log").read_text(encoding="utf-8") == "watching\n"
    assert lag < EXIT_LAG


def test_a_debate_that_fails_says_so_in_json_and_nowhere_else_on_stdout(home: Home, outside: Path) -> None:
    """And makes no home for a user who has none, though CrewAI was loaded, rehearsed and asked."""
    stray_env(home.folder)
    bounds(home)
    with ScriptedProvider(lambda _: Status(500)) as provider:
        document, code, err, lag = run(home, provider, outside, outside / "user", ALLOW_HEURISTIC_FALLBACK="false")
    assert (code, document["error"]["code"]) == (4, "ProviderFault")
    assert document["error"]["message"].startswith("http: ")
    assert "Traceback" not in err
    assert KEY not in err
    assert {re.sub(r"\.db.*|/dec_.*", "", name) for name in home.files()} == {".env", "config", "config/debate.yaml", "data", "data/alphaagent", "data/runs"}
    assert not (outside / "user").exists()
    assert (outside / "log").read_text(encoding="utf-8") == "watching\n"
    assert lag < EXIT_LAG


def test_without_a_debate_crewai_is_not_loaded(home: Home) -> None:
    code = "import sys; from alphaagent.cli import run; run(['decide', 'AAPL', '--as-of', '2020-02-05', '--dry-run']); sys.exit('crewai' in sys.modules)"
    env = {name: value for name, value in os.environ.items() if not name.startswith("ALPHAAGENT_")}
    env |= {"ALPHAAGENT_HOME": str(home.folder), "PYTHONPATH": str(CHECKOUT)}
    assert subprocess.run([sys.executable, "-c", code], env=env, cwd=home.folder, stdout=subprocess.DEVNULL, check=False).returncode == 0
