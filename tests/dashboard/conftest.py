"""One home of real runs for all tests of the dashboard, the pages without a browser, and the pages in one."""

import os
import shutil
import socket
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from filelock import FileLock

from tests.dashboard_home import build
from tests.home import start

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page
    from streamlit.testing.v1 import AppTest

CHROMIUM = shutil.which("chromium")
FLAGS = ("no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking", "disable-component-update", "disable-sync")
START_SECONDS = 90


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The folder of the home that all workers share. It is only read: a test that changes something takes `own_home`."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "dashboard-home"
    with FileLock(f"{folder}.lock"):
        if not (folder / "done").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            build(folder)
            with closing(sqlite3.connect(folder / "data" / "alphaagent.db")) as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            (folder / "done").touch()
    return folder


@pytest.fixture
def own_home(recorded: Path, tmp_path: Path) -> Path:
    """A copy of the home for a test that changes it. The log beside the books is empty, and comes and goes with who reads them."""
    return Path(shutil.copytree(recorded, tmp_path / "home", ignore=shutil.ignore_patterns("*-wal", "*-shm")))


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> "Callable[..., AppTest]":
    """Draws a page of a home in this process: `page("today", home)`; further words are its query parameters."""

    def draw(name: str, home: Path, /, **query: str) -> "AppTest":
        from streamlit.testing.v1 import AppTest

        monkeypatch.setenv("ALPHAAGENT_HOME", str(home))
        app = AppTest.from_string(f"from dashboard.shell import show\nshow({name!r})", default_timeout=60)
        app.query_params.update(query)
        return app.run()

    return draw


@contextmanager
def served(home: Path) -> Iterator[str]:
    """The dashboard of a home as `alphaagent dashboard` starts it; its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = start(home, "dashboard", "--port", str(port))
    try:
        _wait_for(f"http://127.0.0.1:{port}/_stcore/health")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.communicate(timeout=20)


def _wait_for(url: str) -> None:
    until = monotonic() + START_SECONDS
    while True:
        try:
            with urlopen(url, timeout=5) as answer:
                assert answer.status == 200
                return
        except (URLError, ConnectionError, TimeoutError):
            assert monotonic() < until, "the dashboard did not start"
            sleep(0.2)


@pytest.fixture(scope="session")
def site(recorded: Path) -> Iterator[str]:
    """The address of the shared home's dashboard."""
    with served(recorded) as address:
        yield address


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """Headless Chromium of the distribution; `.ci/run` installs it."""
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=[f"--{flag}" for flag in FLAGS])
        yield opened
        opened.close()


class Visit:
    """A page in a browser, and everything that it complained of or asked of another machine."""

    def __init__(self, context: "BrowserContext", address: str) -> None:
        self.page: Page = context.new_page()
        self.address = address
        self.faults: list[str] = []
        self.page.on("console", lambda said: self.faults.append(said.text) if said.type == "error" and "404" not in said.text else None)
        self.page.on("response", self._answered)
        self.page.on("pageerror", lambda fault: self.faults.append(str(fault)))
        self.page.on("request", self._seen)

    def _seen(self, request: Any) -> None:
        if not request.url.startswith((self.address, self.address.replace("http", "ws", 1), "data:", "blob:")):
            self.faults.append(f"asked {request.url}")

    def _answered(self, response: Any) -> None:
        # Streamlit looks for its own root below the address of a page first, and finds it one step up.
        if response.status >= 400 and "/_stcore/" not in response.url:
            self.faults.append(f"{response.status} {response.url}")

    def go(self, path: str, heading: str | None = None) -> "Page":
        """Opens a page and waits until it stands still."""
        path = path.removeprefix("today")  # the first page has no path of its own
        self.page.goto(f"{self.address}/{path}")
        self.page.wait_for_selector("h1", timeout=60_000)
        if heading is not None:
            self.page.get_by_role("heading", name=heading, exact=True).first.wait_for(timeout=60_000)
        return self.settled()

    def settled(self) -> "Page":
        """Waits until Streamlit has drawn everything."""
        self.page.wait_for_function("!document.querySelector('[data-testid=\"stStatusWidget\"]')", timeout=60_000)
        self.page.wait_for_function("!document.querySelector('[data-stale=\"true\"]')", timeout=60_000)
        return self.page

    def picture(self, name: str) -> Path | None:
        """Saves a screenshot where the folder of `SCREENSHOTS` says; nowhere without it."""
        folder = os.environ.get("SCREENSHOTS")
        if folder is None:
            return None
        path = Path(folder) / f"{name}.png"
        self.page.screenshot(path=path, full_page=True)
        return path


@pytest.fixture
def visit(browser: "Browser") -> "Iterator[Callable[..., Visit]]":
    """`visit(address)`; `dark=True` and `narrow=True` for a dark screen and a phone."""
    contexts: list[BrowserContext] = []

    def make(address: str, *, dark: bool = False, narrow: bool = False) -> Visit:
        size: Any = {"width": 390, "height": 844} if narrow else {"width": 1280, "height": 900}
        contexts.append(browser.new_context(viewport=size, color_scheme="dark" if dark else "light"))
        return Visit(contexts[-1], address)

    yield make
    for context in contexts:
        context.close()
