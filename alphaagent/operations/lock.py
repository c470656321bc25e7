"""One schedule per home: a file that is locked as long as the process lives, and says whose it is.

Chosen on purpose: the system's own lock goes with the process, however that ends, so that no lock is ever left over; the file that stays behind after a
kill says who it was, and nobody has to remove it.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from alphaagent.errors import ConfigFault, UsageFault
from alphaagent.ledger.slots import Process


@contextmanager
def only_one(path: Path, say: Callable[[str], None]) -> Iterator[None]:
    """The lock for the block. UsageFault where another process has it, ConfigFault where the file cannot be made."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+", encoding="utf-8", errors="replace")
    except OSError as fault:
        raise ConfigFault(f"the lock {path} cannot be made: {fault.strerror}", fix="make its folder writable") from None
    with file:
        before = _owner(file)
        if not _locked(file):
            raise UsageFault(f"a schedule runs in this home already{before}", fix="end that one first, or use another ALPHAAGENT_HOME")
        if before:
            say(f"an earlier schedule{before} ended without a word; this one makes up what it missed")
        _write(file, json.dumps({"pid": os.getpid(), "host": Process.current().host}))
        try:
            yield
        finally:
            _write(file, "")


def _owner(file: IO[str]) -> str:
    """Whose the file says it is, in words; empty where nobody's."""
    file.seek(0)
    text = file.read(200)
    try:
        owner = json.loads(text)
        return f", process {int(owner['pid'])} on {str(owner['host'])[:60]}"
    except (ValueError, KeyError, TypeError, OverflowError):
        return ", which the lock does not name" if text.strip() else ""


def _write(file: IO[str], text: str) -> None:
    """Whose it is, as a courtesy: what holds is the lock, also on a disk that is full."""
    with suppress(OSError):
        file.seek(0)
        file.truncate()
        file.write(text)
        file.flush()


if sys.platform == "win32":

    def _locked(file: IO[str]) -> bool:
        import msvcrt

        file.seek(4096)  # beyond what is written there, which stays readable
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:

    def _locked(file: IO[str]) -> bool:
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
