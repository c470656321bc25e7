"""The fixture of every test of the whole path."""

import contextlib
import io
import shutil
from pathlib import Path

import pytest

from alphaagent.cli import run
from tests.home import Home


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Home:
    """An empty home folder with the shipped configuration and snapshot."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("ALPHAAGENT_HOME", str(folder))
    monkeypatch.chdir(folder)
    return Home(folder, capsys)


@pytest.fixture(scope="session")
def books(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data folders made once and copied: in `pending` NVDA was decided on 2020-07-31, in `settled` that order has been filled."""
    folder = tmp_path_factory.mktemp("books")
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()):
        patch.setenv("ALPHAAGENT_HOME", str(folder))
        assert run(["decide", "NVDA", "--as-of", "2020-07-31"]) == 0
        shutil.copytree(folder / "data", folder / "pending")
        assert run(["settle", "--as-of", "2020-08-03"]) == 0
    (folder / "data").rename(folder / "settled")
    return folder


@pytest.fixture
def pending(home: Home, books: Path) -> Home:
    """A home with books and one pending order of NVDA."""
    shutil.copytree(books / "pending", home.folder / "data")
    return home


@pytest.fixture
def opened(home: Home, books: Path) -> Home:
    """A home with books in which nothing is due."""
    shutil.copytree(books / "settled", home.folder / "data")
    return home
