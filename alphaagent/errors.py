"""The exception tree, sorted by what the operator does next: fix the request, wait and retry, or stop and reconcile.

A failure raises one of these; an absence is a value; a refusal is a record. `exit_code` is the command line's.
"""

from typing import Literal


class AlphaAgentError(Exception):
    """Any failure that AlphaAgent names; `fix` says what to do about it."""

    exit_code = 1

    def __init__(self, message: str, *, fix: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix


class UsageFault(AlphaAgentError):
    """Fix the request: an argument, a date, a name."""

    exit_code = 2


class NotBegun(UsageFault):
    """Nothing was begun here: another run holds the slot, or the time was up. The next run completes what this one left."""


class SlotTaken(UsageFault):
    """The slot holds the decision of another request: another engine, plan or configuration. A session is decided once."""


class ConfigFault(UsageFault):
    """Fix the configuration: a file, a key, an environment variable, a folder's permissions."""


class NoEvidence(AlphaAgentError):
    """There is nothing to decide on for this ticker at this instant."""

    exit_code = 3


class SourceFault(AlphaAgentError):
    """One evidence source failed; the run goes on without it where the evidence left allows."""

    exit_code = 3


VendorFaultKind = Literal[
    "rate_limited", "unreachable", "timeout", "refused", "unavailable", "malformed", "too_large", "redirected", "schema", "resting", "not_configured"
]
"""Told to wait; no connection; too slow; 401, 403 and the like; 5xx; unreadable; over a bound; sent elsewhere too often or to where we do not go;
readable and of another shape than agreed; not asked, because it failed too often just now; not asked, because something is missing here."""


class VendorFault(SourceFault):
    """A live vendor failed, and how; `retry_after_seconds` is what it asked for where it told us to wait."""

    def __init__(self, kind: VendorFaultKind, message: str, *, fix: str | None = None, retry_after_seconds: float | None = None) -> None:
        super().__init__(message, fix=fix)
        self.kind = kind
        self.retry_after_seconds = retry_after_seconds


class ProviderFault(AlphaAgentError):
    """The model provider failed, or none is configured; retry or choose another engine.

    `transcript` is the debate as far as it came, where one was begun.
    """

    exit_code = 4

    def __init__(self, message: str, *, fix: str | None = None, transcript: object = None) -> None:
        super().__init__(message, fix=fix)
        self.transcript = transcript


class NotSent(AlphaAgentError):
    """A notification did not reach its target; what was to be sent stays in the outbox and is tried again."""

    exit_code = 4


class SpendRefused(ProviderFault):
    """The money for a debate is not there: a ceiling, a budget, or a part of one would be passed."""


class Halted(AlphaAgentError):
    """The system is halted: an operator must resume it."""

    exit_code = 5


class BooksUnsound(AlphaAgentError):
    """The ledger or the audit trail cannot be trusted: stop and reconcile."""

    exit_code = 5


class ReplayDiffers(AlphaAgentError):
    """A stored decision did not come out the same again."""

    exit_code = 6


class IntakeRefused(AlphaAgentError):
    """A proposal's raw text was refused by the strict parser; `code` is public (stage A of the guard)."""

    exit_code = 4

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class AnswerRefused(AlphaAgentError):
    """A debater's raw text was refused; the message says to the model what to mend."""

    exit_code = 4

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class DebateFault(AlphaAgentError):
    """The debate broke one of its invariants and ends without a proposal; `code` is public."""

    exit_code = 4

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class SeamLoss(DebateFault):
    """What went into a step did not come out of it, by key."""

    def __init__(self, message: str) -> None:
        super().__init__("SEAM_LOSS", message)
