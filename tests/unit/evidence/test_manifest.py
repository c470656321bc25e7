"""A manifest is read exactly or refused with the place that is wrong."""

import json
from pathlib import Path
from typing import Any

import pytest

from alphaagent.errors import ConfigFault
from alphaagent.evidence.manifest import read_manifest
from tests.snapshot_folder import RECORDED

FILE: dict[str, Any] = {"path": "bars/ACME.csv", "kind": "bars", "origin": "o", "licence": "l", "sha256": "0" * 64, "bytes": 1}


def manifest(*files: dict[str, Any], **other: Any) -> str:
    return json.dumps({"schema_version": 1, "made_by": "a test", "files": files, **other})


def test_the_recorded_manifest_is_in_order_and_lists_every_listing() -> None:
    listed = read_manifest(RECORDED)
    assert {file.ticker for file in listed.files} == {None, "AAPL", "AMZN", "AZN.L", "GOOG", "META", "MSFT", "NFLX", "NVDA"}
    assert listed.lists("bars/AAPL.csv")
    assert not listed.lists("bars/ACME.csv")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", "JSON"),
        ("[]", "document"),
        (manifest(schema_version=2), "schema_version"),
        (manifest(FILE | {"sha256": "abc"}), "files.0.sha256"),
        (manifest(FILE | {"path": "../secret"}), "files.0.path"),
        (manifest(FILE | {"path": "/etc/passwd"}), "files.0.path"),
        (manifest(FILE | {"path": "bars//ACME.csv"}), "files.0.path"),
        (manifest(FILE | {"colour": "red"}), "files.0.colour"),
        (manifest(FILE, FILE), "twice or out of order"),
        (manifest(FILE, FILE | {"path": "actions/ACME.csv"}), "twice or out of order"),
    ],
)
def test_a_broken_manifest_is_a_configuration_fault_that_says_where(tmp_path: Path, text: str, names: str) -> None:
    (tmp_path / "manifest.json").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigFault, match="manifest") as fault:
        read_manifest(tmp_path)
    assert names in fault.value.message
    assert fault.value.fix


def test_a_missing_manifest_is_a_configuration_fault(tmp_path: Path) -> None:
    with pytest.raises(ConfigFault, match="No such file"):
        read_manifest(tmp_path)
