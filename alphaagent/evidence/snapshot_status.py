"""Is the snapshot what its manifest says? One line per file, for `alphaagent data status`."""

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal

from alphaagent.domain.base import sha256_hex
from alphaagent.evidence.manifest import MANIFEST_NAME, ManifestFile, read_manifest

FileState = Literal["ok", "missing", "unreadable", "changed", "unlisted"]


@dataclass(frozen=True, slots=True)
class FileStatus:
    """One file of the snapshot against its manifest; an unlisted file has nothing but its path."""

    path: str
    state: FileState
    kind: str | None = None
    ticker: str | None = None
    rows: int | None = None
    first: date | None = None
    last: date | None = None
    origin: str | None = None
    licence: str | None = None


def snapshot_status(folder: Path) -> tuple[FileStatus, ...]:
    """Every listed file and every file beside them, in order of path. Raises ConfigFault on a broken manifest."""
    manifest = read_manifest(folder)
    present = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}
    unlisted = present - {file.path for file in manifest.files} - {MANIFEST_NAME}
    statuses = [_status(folder, file) for file in manifest.files] + [FileStatus(path, "unlisted") for path in unlisted]
    return tuple(sorted(statuses, key=lambda status: status.path))


def _status(folder: Path, file: ManifestFile) -> FileStatus:
    return FileStatus(
        path=file.path,
        state=_state(folder / file.path, file.sha256),
        kind=file.kind,
        ticker=file.ticker,
        rows=file.rows,
        first=file.first,
        last=file.last,
        origin=file.origin,
        licence=file.licence,
    )


def _state(path: Path, sha256: str) -> FileState:
    try:
        return "ok" if sha256_hex(path.read_bytes()) == sha256 else "changed"
    except FileNotFoundError:
        return "missing"
    except OSError:
        return "unreadable"
