"""The fixture of every test of the whole path."""

from pathlib import Path

import pytest

from tests.home import Home


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Home:
    """An empty home folder with the shipped configuration and snapshot."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("ALPHAAGENT_HOME", str(folder))
    monkeypatch.chdir(folder)
    return Home(folder, capsys)
