"""Run slots: one portfolio, instrument, session and slot name is decided once.

A slot is claimed before any evidence is gathered. Whoever finds it claimed waits until it is finished or given up; a claim whose process
is gone, or that has outlived its lease, is taken over by a new token. A decision is written only under the token that still holds the
slot, in the same transaction, so that two processes can never both finish.
"""

import os
import socket
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from uuid import uuid4

from sqlmodel import Session, select

from alphaagent.errors import SlotTaken, UsageFault
from alphaagent.ledger.schema import RunSlotRow
from alphaagent.ledger.units import to_micros
from alphaagent.ports import Claim

LEASE_SECONDS = 1800
"""Longer than the longest debate with a slow local model. A run over many names renews its claims with every debate that begins."""
POLL_SECONDS = 0.2
ENDED = ("Z", "X")
"""Of a process that is dead, but whose parent has not yet asked."""
CLAIMED, DONE = "claimed", "done"


@dataclass(frozen=True, slots=True)
class Process:
    """A running program, told apart from a later one with the same number by its start."""

    host: str
    pid: int
    start: str

    @classmethod
    def current(cls) -> "Process":
        return cls(socket.gethostname(), os.getpid(), _start(os.getpid()))

    def is_gone(self) -> bool:
        """True only where this machine can see that the process has ended."""
        if self.host != socket.gethostname() or sys.platform == "win32":
            return False  # os.kill(pid, 0) would not ask on Windows, it would signal
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            return False
        return bool(self.start) and _start(self.pid) not in ("", self.start)


def _start(pid: int) -> str:
    """The start of a process in clock ticks since boot, where /proc tells it; else empty."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    state, *fields = stat.rpartition(")")[2].split()
    return "ended" if state in ENDED else fields[18]


def try_claim(session: Session, key: str, request_hash: str, now: datetime) -> Claim | str | None:
    """A claim; or the id of the decision that took the slot for the same request; or None while another run holds it."""
    row = session.get(RunSlotRow, key)
    if row is None:
        return _take(session, key, request_hash, now)
    if row.state == DONE:
        return _finished(row, request_hash)
    if not _is_abandoned(row, now):
        return None
    session.delete(row)
    session.flush()
    return _take(session, key, request_hash, now)


def decided(session: Session, key: str) -> str | None:
    """The id of the decision that took a slot; None where it is free, or held by a run that has not decided yet."""
    row = session.get(RunSlotRow, key)
    return row.decision_id if row is not None and row.state == DONE else None


def _finished(row: RunSlotRow, request_hash: str) -> str:
    if row.request_hash != request_hash:
        raise SlotTaken(
            f"this slot was decided by another request: decision {row.decision_id}",
            fix="show that decision, or decide again under another name with --slot NAME",
        )
    return str(row.decision_id)


def _take(session: Session, key: str, request_hash: str, now: datetime) -> Claim:
    me, token = Process.current(), uuid4().hex
    session.add(
        RunSlotRow(key=key, request_hash=request_hash, state=CLAIMED, token=token, host=me.host, pid=me.pid, process_start=me.start, claimed_at=to_micros(now))
    )
    session.flush()
    return Claim(key, token)


def _is_abandoned(row: RunSlotRow, now: datetime) -> bool:
    expired = to_micros(now) - row.claimed_at > LEASE_SECONDS * 1_000_000
    return expired or Process(row.host, row.pid, row.process_start).is_gone()


def held_request(session: Session, claim: Claim) -> str:
    """The request hash of a slot that this claim still holds. UsageFault where it has been lost."""
    return _held(session, claim).request_hash


def finish(session: Session, claim: Claim, decision_id: str) -> None:
    """Ends the slot for good with its decision."""
    row = _held(session, claim)
    row.state, row.decision_id = DONE, decision_id
    session.add(row)
    session.flush()


def _held(session: Session, claim: Claim) -> RunSlotRow:
    row = session.exec(select(RunSlotRow).where(RunSlotRow.key == claim.key, RunSlotRow.token == claim.token, RunSlotRow.state == CLAIMED)).first()
    if row is None:
        raise UsageFault("another run has taken this slot over", fix="repeat the command to see its decision")
    return row


def renew(session: Session, claims: Iterable[Claim], now: datetime) -> None:
    """Begins the lease of slots anew; nothing for one that has been finished or taken over."""
    for claim in claims:
        row = session.get(RunSlotRow, claim.key)
        if row is not None and row.token == claim.token and row.state == CLAIMED:
            row.claimed_at = to_micros(now)
            session.add(row)
    session.flush()


def release(session: Session, claim: Claim) -> None:
    """Gives a slot back after a failed run; nothing where it has been finished or taken over."""
    row = session.get(RunSlotRow, claim.key)
    if row is not None and row.token == claim.token and row.state == CLAIMED:
        session.delete(row)
        session.flush()
