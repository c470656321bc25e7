"""What is kept of a file is what stands in it now, and nobody's changes to what was read."""

from pathlib import Path

import pytest

from alphaagent.errors import ConfigFault
from alphaagent.evidence.lexicon import Lexicon
from alphaagent.yaml_files import read_yaml


def test_a_file_that_was_changed_is_another_document(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("key: 1\n", encoding="utf-8")
    assert read_yaml(path) == {"key": 1}
    path.write_text("key: 2\n", encoding="utf-8")
    assert read_yaml(path) == {"key": 2}
    assert read_yaml(path, texts=True) == {"key": "2"}


def test_what_a_reader_does_to_a_document_stays_with_him(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("key: {inner: [1, 2]}\n", encoding="utf-8")
    read_yaml(path)["key"]["inner"].append(3)
    assert read_yaml(path) == {"key": {"inner": [1, 2]}}


def test_the_same_slip_in_two_files_is_told_of_each(tmp_path: Path) -> None:
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text("key: 1\nkey: 2\n", encoding="utf-8")
        with pytest.raises(ConfigFault, match=f"{name}: the key key stands twice"):
            read_yaml(tmp_path / name)


def test_a_broken_file_is_named_with_the_line(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("key: [1\n", encoding="utf-8")
    with pytest.raises(ConfigFault, match=r'a\.yaml", line 2'):
        read_yaml(tmp_path / "a.yaml")


def test_a_lexicon_is_the_same_as_long_as_its_document_is() -> None:
    document = read_yaml(Path(__file__).parents[2] / "config" / "lexicon.yaml")
    first = Lexicon.parse(document, "lexicon.yaml")
    assert Lexicon.parse(document, "lexicon.yaml") is first
    document["full_move_percent"]["price"] += 1
    changed = Lexicon.parse(document, "lexicon.yaml")
    assert changed.full_move_percent["price"] == first.full_move_percent["price"] + 1
    assert changed.fingerprint() != first.fingerprint()
