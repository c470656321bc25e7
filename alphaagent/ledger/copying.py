"""Copies of a ledger's file, made and put in place so that each is whole or not there.

SQLite's own backup is used, which copies one state of a database that others write to; a plain copy of the file would leave out what stands in the log
beside it. A copy is verified before it counts as one.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from alphaagent.errors import BooksUnsound, ConfigFault, UsageFault
from alphaagent.ledger import database
from alphaagent.ledger.verify import VerifyReport, verify

BESIDE = ("-wal", "-shm")
PAGES_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Copied:
    """A copy that was made, and what the verifier says of it."""

    path: Path
    bytes: int
    report: VerifyReport


def integrity_fault(path: Path) -> str | None:
    """What SQLite itself finds wrong with a file; None where nothing is."""
    with database.faults(path), closing(database.connect_reader(path)) as connection:
        found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(5)")]
    return None if found == ["ok"] else "; ".join(found)


def copy(source: Path, target: Path) -> Copied:
    """The state of a ledger in a new file. Raises UsageFault where the target exists or cannot be made, BooksUnsound where the copy does not verify."""
    if target.exists():
        raise UsageFault(f"{target} exists already", fix="name a new file: a backup never takes another one's place")
    with _made(target) as half:
        with database.faults(source), closing(database.connect_reader(source)) as reader, closing(sqlite3.connect(half)) as writer:
            reader.backup(writer, pages=PAGES_AT_ONCE)
            writer.execute("PRAGMA journal_mode=DELETE")  # one file, beside which looking at it leaves nothing
        report = sound(half)
        _to_disk(half)
        half.rename(target)
    return Copied(target, target.stat().st_size, report)


def sound(path: Path) -> VerifyReport:
    """The verifier's report on a file. Raises BooksUnsound where it finds anything."""
    report = verify(f"{database.PREFIX}{path}")
    if report.findings:
        raise BooksUnsound(f"{path} does not verify: {report.findings[0].message}", fix="run `alphaagent audit verify`, and use another copy")
    return report


def settle_log(path: Path) -> None:
    """Brings everything into the file itself, so that it may be moved alone."""
    with database.faults(path), closing(sqlite3.connect(path)) as connection:
        busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        raise UsageFault(f"somebody else has {path} open", fix="end every other command first")
    _to_disk(path)


def put_aside(path: Path, aside: Path) -> None:
    """Moves a ledger away with what stands beside it. Nobody may be writing: the write lock is held while it moves."""
    if aside.exists():
        raise UsageFault(f"{aside} exists already", fix="move it away first")
    with database.faults(path), closing(sqlite3.connect(path, timeout=database.BUSY_TIMEOUT_MILLISECONDS / 1000, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        for suffix in ("", *BESIDE):
            beside = Path(f"{path}{suffix}")
            if beside.exists():
                beside.rename(f"{aside}{suffix}")
        holder.execute("ROLLBACK")


@contextmanager
def _made(target: Path) -> Iterator[Path]:
    """A file beside the target that is gone afterwards, unless it has become the target."""
    half = target.with_name(f".{target.name}.half")
    try:
        half.unlink(missing_ok=True)
        yield half
    except OSError as fault:
        raise ConfigFault(f"{target} cannot be written: {fault.strerror}", fix="choose another folder, or mend its permissions") from None
    finally:
        for suffix in ("", *BESIDE):
            Path(f"{half}{suffix}").unlink(missing_ok=True)


def _to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
