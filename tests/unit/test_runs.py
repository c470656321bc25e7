"""A run's event stream as a file: begun by its first line, bounded in number, and read as what anybody may have written."""

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from alphaagent import runs
from alphaagent.debate.events import Events, both
from alphaagent.runs import RunFiles

RUN = "dec_0123456789abcdef"
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


@pytest.fixture
def files(tmp_path: Path) -> RunFiles:
    return RunFiles.of(tmp_path)


def written(files: RunFiles, content: bytes) -> Path:
    files.folder.mkdir(parents=True, exist_ok=True)
    files.path(RUN).write_bytes(content)
    return files.path(RUN)


def test_what_is_told_can_be_read_again_in_order(files: RunFiles) -> None:
    tell = files.watch(RUN)
    tell("run", ticker="AAPL")
    tell("phase_started", round=1)
    found = files.read(RUN)
    assert found is not None
    assert [(event["event"], event["seq"]) for event in found.events] == [("run", "1"), ("phase_started", "2")]
    assert (found.skipped, found.is_cut) == (0, False)


def test_where_no_model_takes_part_there_is_no_file(files: RunFiles) -> None:
    tell = files.watch(RUN)
    tell("guard", outcome="APPROVE")
    tell("run_failed", code="spend")
    assert not files.folder.exists()


def test_a_run_that_is_held_again_begins_a_new_file(files: RunFiles) -> None:
    for ticker in ("AAPL", "MSFT"):
        files.watch(RUN)("run", ticker=ticker)
    found = files.read(RUN)
    assert found is not None
    assert [event["ticker"] for event in found.events] == ["MSFT"]


def test_the_newest_files_are_kept_and_no_other_file_is_touched(files: RunFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "KEPT_FILES", 3)
    files.folder.mkdir(parents=True)
    (files.folder / "notes.jsonl").write_text("mine")
    for number in range(5):
        name = f"dec_{number:016x}"
        files.watch(name)("run")
        os.utime(files.path(name), (number, number))
    assert sorted(path.name for path in files.folder.iterdir()) == [*(f"dec_{number:016x}.jsonl" for number in (2, 3, 4)), "notes.jsonl"]


def test_a_folder_that_cannot_be_made_disturbs_nobody(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file stands where the folder should be")
    heard: list[str] = []
    tell = both(RunFiles.of(tmp_path).watch, lambda run_id: Events(run_id, heard.append))(RUN)
    tell("run")
    tell("run_completed")
    assert [json.loads(line)["event"] for line in heard] == ["run", "run_completed"]


def test_a_listener_that_fails_leaves_the_file_whole(files: RunFiles) -> None:
    def broken(line: str) -> None:
        raise BrokenPipeError

    tell = both(files.watch, lambda run_id: Events(run_id, broken))(RUN)
    tell("run")
    tell("run_completed")
    found = files.read(RUN)
    assert found is not None
    assert [event["event"] for event in found.events] == ["run", "run_completed"]


@pytest.mark.parametrize("name", ["../../etc/passwd", "dec_0123456789abcdeg", "", "dec_0123456789abcdef\n", "x"])
def test_a_name_that_is_no_decisions_is_neither_read_nor_written(files: RunFiles, name: str) -> None:
    files.watch(name)("run")
    assert files.read(name) is None
    assert not files.folder.exists()


def test_the_half_line_at_the_end_waits_for_its_other_half(files: RunFiles) -> None:
    written(files, b'{"event":"run"}\n{"event":"phase_st')
    found = files.read(RUN)
    assert found is not None
    assert ([event["event"] for event in found.events], found.skipped) == (["run"], 0)


@pytest.mark.parametrize(
    "line",
    [b"not json", b"[1]", b'"run"', b"{}", b'{"event": []}', b"[" * 100_000, b"\xff\xfe", b'{"event": null}', b"", b"9" * 5000],
    ids=lambda line: repr(line[:12]),
)
def test_what_is_no_event_is_left_out_and_counted(files: RunFiles, line: bytes) -> None:
    written(files, b'{"event":"run"}\n' + line + b'\n{"event":"revealed"}\n')
    found = files.read(RUN)
    assert found is not None
    assert ([event["event"] for event in found.events], found.skipped) == (["run", "revealed"], 1)


def test_numbers_stay_the_text_that_was_written(files: RunFiles) -> None:
    written(files, b'{"event":"gap","bull":0.1,"bear":NaN,"n":' + b"9" * 5000 + b"}\n")
    found = files.read(RUN)
    assert found is not None
    (event,) = found.events
    assert (event["bull"], event["bear"], len(event["n"])) == ("0.1", "NaN", 5000)


def test_a_huge_file_is_read_to_its_bound_and_says_so(files: RunFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "MOST_BYTES", 100)
    written(files, b'{"event":"run"}\n' * 1000)
    found = files.read(RUN)
    assert found is not None
    assert (len(found.events), found.is_cut) == (6, True)


def test_a_file_of_too_many_lines_is_read_to_its_bound_and_says_so(files: RunFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "MOST_LINES", 3)
    written(files, b'{"event":"run"}\n' * 10)
    found = files.read(RUN)
    assert found is not None
    assert (len(found.events), found.is_cut) == (3, True)


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(files: RunFiles) -> None:
    files.folder.mkdir(parents=True)
    os.mkfifo(files.path(RUN))
    assert files.read(RUN) is None


def test_runs_are_listed_from_an_instant_on_newest_first_and_no_more_than_asked(files: RunFiles) -> None:
    names = [f"dec_{number:016x}" for number in range(4)]
    for number, name in enumerate(names):
        files.watch(name)("run")
        at = (LONG_AGO + timedelta(hours=number)).timestamp()
        os.utime(files.path(name), (at, at))
    found = files.since(LONG_AGO + timedelta(hours=1), 2)
    assert [(run.run_id, run.changed_at) for run in found] == [
        (names[3], LONG_AGO + timedelta(hours=3)),
        (names[2], LONG_AGO + timedelta(hours=2)),
    ]
    assert RunFiles(files.folder / "none").since(LONG_AGO, 5) == ()
