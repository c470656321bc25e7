"""What the audit trail keeps of one pass over a watchlist: who ended how, and by hash everything that was said of it."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Swept:
    """One pass over one portfolio."""

    decided: tuple[str, ...]
    repeated: tuple[str, ...]
    undone: Mapping[str, str]
    """Per ticker that was skipped or failed, how: `skipped NotBegun`, `failed NoEvidence`."""
    settled: int
    """How many orders and corporate actions were due."""
    unpaid: tuple[str, ...]
    """Whose debate the money did not reach."""
    screened_out: tuple[str, ...]
    reduce_only: tuple[str, ...]
    report: bytes
    """The whole of it, canonical JSON."""

    @property
    def changes_nothing(self) -> bool:
        return not self.decided and self.settled == 0
