"""The event stream of every debate as a file of the home, so that a run can be followed while it goes on and found again afterwards.

Chosen on purpose: one file a run, named by its decision, `data/runs/dec_....jsonl`, and the newest of them only. A file begins with the line `run`, so
where no model takes part there is none. That a line could not be written disturbs nothing: the books have everything. Whoever reads such a file
trusts nothing of it: it is bounded, may end in half a line, and anybody may have written to it.
"""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from alphaagent.debate.events import Events

KEPT_FILES = 200
MOST_BYTES = 2_000_000
"""Of one file; what comes after them is not read."""
MOST_LINES = 4_000
NAME = re.compile(r"dec_[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class RunFile:
    """What a run has told so far. Every value in `events` is foreign: numbers are the text that stands there."""

    run_id: str
    changed_at: datetime
    """When its last line was written."""
    events: tuple[dict[str, Any], ...]
    skipped: int
    """Lines that are no event, the half line at the end not counted."""
    is_cut: bool
    """Whether there is more than is read."""


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The folder of them."""

    folder: Path

    @classmethod
    def of(cls, home: Path) -> "RunFiles":
        return cls(home / "data" / "runs")

    def watch(self, run_id: str) -> Events:
        """The stream of a run, written to its file."""
        return Events(run_id, _Writer(self, run_id)) if NAME.fullmatch(run_id) else Events(run_id)

    def path(self, run_id: str) -> Path:
        return self.folder / f"{run_id}.jsonl"

    def begin(self, run_id: str) -> None:
        """Makes room for a new file, and takes away an older one of the same run: who still writes to that writes to nobody."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.path(run_id).unlink(missing_ok=True)
        for path, _ in self._newest_first()[KEPT_FILES - 1 :]:
            path.unlink(missing_ok=True)

    def since(self, instant: datetime, most: int) -> tuple[RunFile, ...]:
        """The runs that have told something since an instant, newest first."""
        names = [path.stem for path, changed in self._newest_first() if changed >= instant.timestamp()]
        found = (self.read(name) for name in names[:most])
        return tuple(run for run in found if run is not None)

    def read(self, run_id: str) -> RunFile | None:
        """A run's file; None where there is none, or where it cannot be read."""
        if not NAME.fullmatch(run_id):
            return None
        try:
            if not self.path(run_id).is_file():
                return None
            with self.path(run_id).open("rb") as file:
                content = file.read(MOST_BYTES + 1)
            changed = self.path(run_id).stat().st_mtime
        except OSError:
            return None
        lines = content[:MOST_BYTES].split(b"\n")[:-1]
        events = tuple(event for line in lines[:MOST_LINES] if (event := _event(line)) is not None)
        skipped = min(len(lines), MOST_LINES) - len(events)
        return RunFile(run_id, datetime.fromtimestamp(changed, UTC), events, skipped, len(content) > MOST_BYTES or len(lines) > MOST_LINES)

    def _newest_first(self) -> list[tuple[Path, float]]:
        return sorted(self._files(), key=lambda pair: (-pair[1], pair[0].name))

    def _files(self) -> Iterator[tuple[Path, float]]:
        with suppress(OSError):
            for path in self.folder.iterdir():
                if path.suffix == ".jsonl" and NAME.fullmatch(path.stem):
                    with suppress(FileNotFoundError):
                        yield path, path.stat().st_mtime


class _Writer:
    """Appends lines to a run's file, from the line `run` on."""

    def __init__(self, files: RunFiles, run_id: str) -> None:
        self._files, self._run_id = files, run_id
        self._begun = False

    def __call__(self, line: str) -> None:
        if not self._begun:
            if json.loads(line)["event"] != "run":
                return
            self._files.begin(self._run_id)
            self._begun = True
        with self._files.path(self._run_id).open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(line + "\n")


def _event(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line.decode("utf-8", "replace"), parse_float=str, parse_int=str, parse_constant=str)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and isinstance(found.get("event"), str) else None
