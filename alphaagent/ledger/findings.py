"""The verifier's findings and their exit codes, gravest first."""

from dataclasses import dataclass

SOUND, NOT_ANCHORED, BROKEN, SHORT, MISMATCH, BALANCE, REPLAY, UNREADABLE = 0, 10, 20, 21, 22, 23, 24, 30


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, and the audit row at which it shows where there is one."""

    code: int
    seq: int | None
    message: str
