"""Looking after the ledger's file: is it sound, bring it up to date, back it up, put a backup in its place.

Chosen on purpose: a restored ledger is HALTED. It does not know which orders and messages left after the backup, and nothing is ordered again before a
person has compared and said so with `alphaagent resume`.
"""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from alphaagent.errors import UsageFault
from alphaagent.ledger import copying, database
from alphaagent.ledger.copying import Copied
from alphaagent.ledger.schema import VERSION
from alphaagent.ledger.store import SqlStore
from alphaagent.ledger.verify import VerifyReport, anchor_line, verify
from alphaagent.ports import Clock


@dataclass(frozen=True, slots=True)
class Condition:
    """What a ledger's file is like."""

    path: Path
    bytes: int
    schema: str
    current_schema: str
    file_fault: str | None
    report: VerifyReport

    @property
    def exit_code(self) -> int:
        return self.report.exit_code or (30 if self.file_fault else 0)


@dataclass(frozen=True, slots=True)
class Restored:
    """A backup that is the ledger now."""

    path: Path
    rows: int
    set_aside: Path | None
    """Where the ledger that was there before is; None where there was none."""


def check(url: str) -> Condition:
    """Reads everything. Raises UsageFault where there are no books."""
    path = _existing(url)
    return Condition(path, path.stat().st_size, database.schema_version(path) or "none", VERSION, copying.integrity_fault(path), verify(url))


def upgrade(url: str, clock: Clock) -> tuple[str, str]:
    """The schema before and after. Raises UsageFault where there are no books."""
    before = database.schema_version(_existing(url)) or "none"
    SqlStore.open(url, clock).close()
    return before, VERSION


def backup(url: str, target: Path) -> tuple[Copied, str]:
    """A verified copy in a new file, and the anchor line of what is in it."""
    made = copying.copy(_existing(url), target)
    return made, anchor_line(f"{database.PREFIX}{target}")


def restore(url: str, source: Path, clock: Clock, *, replace: bool, actor: str) -> Restored:
    """Puts a backup in the ledger's place, HALTED; what was there before is kept beside it. Raises UsageFault and BooksUnsound, and then changed nothing."""
    path = database.database_path(url)
    if not source.is_file():
        raise UsageFault(f"there is no file {source}", fix="name a file that `alphaagent db backup` made")
    if path.exists() and not replace:
        raise UsageFault(f"there are books at {path}", fix="add --replace: they are kept beside the restored ones")
    now = clock.now()
    ready = path.with_name(f".{path.name}.restored")
    ready.unlink(missing_ok=True)
    try:
        rows = copying.copy(source, ready).report.rows
        _halted(ready, source, clock, actor, now)
        aside = path.with_name(f"{path.name}.before-{now:%Y%m%dT%H%M%SZ}") if path.exists() else None
        if aside is not None:
            copying.put_aside(path, aside)
        ready.rename(path)
    finally:
        for suffix in ("", *copying.BESIDE):
            Path(f"{ready}{suffix}").unlink(missing_ok=True)
    return Restored(path, rows, aside)


def _halted(ready: Path, source: Path, clock: Clock, actor: str, now: datetime) -> None:
    """Brings a copy up to date and stops it, in its own audit trail."""
    with SqlStore.open(f"{database.PREFIX}{ready}", clock) as store, store.write() as books:
        books.set_control("HALTED", f"restored from the backup {source.name}: compare orders and messages sent since, then resume", actor, now)
    copying.settle_log(ready)


def _existing(url: str) -> Path:
    path = database.database_path(url)
    if not path.exists():
        raise UsageFault(f"there are no books yet at {url}", fix="run `alphaagent decide TICKER` first, or set ALPHAAGENT_HOME")
    return path
