"""Checking the audit trail: the verifier with the operator's anchors, and the guard's rulings made again."""

from collections.abc import Sequence
from pathlib import Path

from alphaagent.domain.base import canonical
from alphaagent.errors import UsageFault
from alphaagent.ledger.crosscheck import ReplayCase
from alphaagent.ledger.verify import Anchor, VerifyReport, read_anchors, verify
from alphaagent.replay import rule_again


def examine(url: str, anchor_files: Sequence[str], since: int, *, strict: bool, replay: bool) -> VerifyReport:
    """The verifier's report on a ledger. Raises UsageFault on an anchor file that cannot be read."""
    anchors = [anchor for name in anchor_files for anchor in _anchors(Path(name))]
    return verify(url, anchors=anchors, since=since, strict=strict, replay=_again if replay else None)


def _anchors(path: Path) -> tuple[Anchor, ...]:
    try:
        return read_anchors(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as fault:
        raise UsageFault(f"--anchor {path} cannot be read: {fault}", fix="give a file made by `alphaagent audit anchor`") from None


def _again(case: ReplayCase) -> bytes:
    return canonical(rule_again(case.record, case.snapshot, case.ruling))
