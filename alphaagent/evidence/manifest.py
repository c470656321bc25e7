"""The manifest of a recorded snapshot: what each file is, where it came from, under which licence, and its hash.

A file that the manifest does not list does not exist for the desk; a listed file that cannot be read is a failure, never an absence.
"""

from datetime import date
from pathlib import Path, PurePosixPath
from typing import Literal

from pydantic import Field, ValidationError, field_validator

from alphaagent.domain.base import Frozen
from alphaagent.errors import ConfigFault

MANIFEST_NAME = "manifest.json"
FileKind = Literal["sessions", "instruments", "bars", "actions", "index", "fundamentals", "news", "licence"]


class ManifestFile(Frozen):
    """One file of the snapshot; `rows`, `first` and `last` describe its records and are None for a text."""

    path: str
    kind: FileKind
    ticker: str | None = None
    origin: str
    licence: str
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    bytes: int = Field(ge=0)
    rows: int | None = Field(default=None, ge=0)
    first: date | None = None
    last: date | None = None

    @field_validator("path")
    @classmethod
    def _inside(cls, value: str) -> str:
        path = PurePosixPath(value)
        if path.is_absolute() or ".." in path.parts or "\\" in value or str(path) != value:
            raise ValueError("a path must lie inside the snapshot and be written plainly, with forward slashes")
        return value


class Manifest(Frozen):
    """`manifest.json`, with its files in order of their paths."""

    schema_version: Literal[1]
    made_by: str
    files: tuple[ManifestFile, ...]

    def lists(self, path: str) -> bool:
        return any(file.path == path for file in self.files)


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a snapshot folder. Raises ConfigFault where it is missing or broken."""
    path = folder / MANIFEST_NAME
    fix = "rebuild the snapshot with data/make_snapshot.py, or restore the file from the repository"
    try:
        manifest = Manifest.model_validate_json(path.read_bytes())
    except OSError as fault:
        raise ConfigFault(f"the snapshot's manifest {path} cannot be read: {fault.strerror}", fix=fix) from fault
    except ValidationError as fault:
        raise ConfigFault(f"the snapshot's manifest {path} is broken: {_first_error(fault)}", fix=fix) from fault
    names = [file.path for file in manifest.files]
    if names != sorted(set(names)):
        raise ConfigFault(f"the snapshot's manifest {path} lists a file twice or out of order", fix=fix)
    return manifest


def _first_error(fault: ValidationError) -> str:
    error = fault.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in error["loc"]) or "document"
    return f"{place}: {error['msg']}"
