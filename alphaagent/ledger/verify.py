"""The verifier: reads the stored bytes of a ledger again and says what has been tampered with.

It streams over plain read-only SQLite, holds one row at a time, re-serialises nothing, and works beside a process that writes. It stops
at the first broken link, because what a broken log vouches for is worth nothing; everything else is collected. Exit codes:

    0 sound     10 sound, but rows are not anchored (strict)     20 chain broken     21 shorter than or different from an anchor
    22 ledger and log differ     23 postings unbalanced     24 a ruling replays differently     30 cannot be read
"""

import json
import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field

from alphaagent.errors import AlphaAgentError, BooksUnsound, UsageFault
from alphaagent.ledger import audit, crosscheck, database
from alphaagent.ledger.crosscheck import Replay
from alphaagent.ledger.findings import BROKEN, NOT_ANCHORED, SHORT, SOUND, UNREADABLE, Finding
from alphaagent.ports import AuditRef

MAX_FINDINGS = 50
_ANCHOR = re.compile(r"[0-9a-f-]{36} (0|[1-9][0-9]{0,17}) [0-9a-f]{64}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Anchor:
    """A head of the log that was written down somewhere else."""

    ledger_uuid: str
    seq: int
    hash: str

    def line(self) -> str:
        return f"{self.ledger_uuid} {self.seq} {self.hash}"


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What was found; `exit_code` is that of the gravest finding, which has the lowest number."""

    findings: tuple[Finding, ...]
    rows: int
    """Audit rows read."""
    rulings_replayed: int
    head: AuditRef | None
    not_anchored: int
    """Rows after the last anchor that holds: a cut or a rewrite there would not be seen."""
    exit_code: int

    @property
    def sound(self) -> bool:
        return not self.findings


@dataclass(slots=True)
class _Run:
    """The state of one verification."""

    findings: list[Finding] = field(default_factory=list)
    rows: int = 0
    head: AuditRef | None = None
    anchored: int = 0
    replayed: int = 0

    def report(self, strict: bool) -> VerifyReport:
        behind = max(0, (self.head.seq if self.head else 0) - self.anchored)
        code = min((finding.code for finding in self.findings), default=NOT_ANCHORED if strict and behind else SOUND)
        return VerifyReport(tuple(self.findings), self.rows, self.replayed, self.head, behind, code)

    def add(self, found: Iterable[Finding]) -> None:
        for finding in found:
            if len(self.findings) < MAX_FINDINGS:
                self.findings.append(finding)


def verify(url: str, *, anchors: Iterable[Anchor] = (), since: int = 1, strict: bool = False, replay: Replay | None = None) -> VerifyReport:
    """Verifies a ledger from audit row `since` on. What cannot be read is a finding, not an exception; a bad URL is a ConfigFault."""
    path, run = database.database_path(url), _Run()
    try:
        if database.needs_migration(path):
            raise UsageFault(f"{path} is empty, or of an older schema")
        with database.faults(path), closing(database.connect_reader(path)) as connection:
            connection.text_factory = lambda stored: stored.decode("utf-8", "replace")  # a damaged text is a finding, not an error
            connection.execute("BEGIN")
            _examine(connection, run, tuple(anchors), max(1, since), replay)
    except AlphaAgentError as fault:
        run.findings.insert(0, Finding(UNREADABLE, None, fault.message))
        return VerifyReport(tuple(run.findings), run.rows, run.replayed, run.head, 0, UNREADABLE)
    return run.report(strict)


def _examine(connection: sqlite3.Connection, run: _Run, anchors: tuple[Anchor, ...], since: int, replay: Replay | None) -> None:
    state = dict(connection.execute("SELECT key, value FROM control_state WHERE key IN (?, ?)", (audit.UUID_KEY, audit.HEAD_KEY)))
    ledger_uuid = str(state.get(audit.UUID_KEY, ""))
    broken = _chain(connection, run, ledger_uuid, since)
    if broken is not None:
        run.findings.insert(0, broken)
        return
    run.add(_ends(connection, run, ledger_uuid, state.get(audit.HEAD_KEY), anchors))
    run.add(crosscheck.reverse(connection))
    run.add(crosscheck.balances(connection))
    if replay is not None:
        _replay(connection, run, replay)


_ROWS = "SELECT seq, prev, CAST(payload AS BLOB), payload_hash, hash, kind, decision_id, txn_id, at FROM audit_log WHERE seq >= ? ORDER BY seq"


def _chain(connection: sqlite3.Connection, run: _Run, ledger_uuid: str, since: int) -> Finding | None:
    """Follows every link from `since` on to the first that is broken; holds each sound row against the ledger."""
    previous = _hash_at(connection, ledger_uuid, since - 1)
    if previous is None:
        return Finding(BROKEN, since - 1, f"audit row {since - 1} is missing, from which row {since} must follow")
    run.head = AuditRef(since - 1, previous.hex())
    for seq, prev, payload, payload_hash, hash_, *columns in connection.execute(_ROWS, (since,)):
        wrong = _broken(run.head, seq, prev, payload, payload_hash, hash_)
        if wrong:
            return Finding(BROKEN, seq, wrong)
        try:
            run.add(crosscheck.row(connection, json.loads(payload), crosscheck.Columns(seq, *columns)))
        except (ValueError, KeyError, TypeError) as fault:
            return Finding(BROKEN, seq, f"audit row {seq} is no audit payload: {fault!r}")
        run.rows, run.head = run.rows + 1, AuditRef(seq, hash_.hex())
    return None


def _broken(head: AuditRef, seq: int, prev: bytes, payload: bytes, payload_hash: bytes, hash_: bytes) -> str | None:
    """What is wrong with a row that must follow from `head`; its stored hashes are recomputed, not believed."""
    previous = bytes.fromhex(head.hash)
    if seq != head.seq + 1:
        return f"audit row {head.seq + 1} is missing"
    if prev != previous:
        return f"audit row {seq} does not follow from the row before it"
    leaf_hash = audit.leaf(payload)
    if payload_hash != leaf_hash or hash_ != audit.link(seq, previous, leaf_hash):
        return f"audit row {seq} has been changed"
    return None


def _hash_at(connection: sqlite3.Connection, ledger_uuid: str, seq: int) -> bytes | None:
    """The stored hash of a row, or h_0; None where there is no such row."""
    if seq == 0:
        return audit.genesis(ledger_uuid) if ledger_uuid.isascii() else b""
    found = connection.execute("SELECT hash FROM audit_log WHERE seq = ?", (seq,)).fetchone()
    return found[0] if found else None


def _ends(connection: sqlite3.Connection, run: _Run, ledger_uuid: str, remembered: str | None, anchors: tuple[Anchor, ...]) -> Iterator[Finding]:
    """The log's end against what the books remember, and against every anchor."""
    head = run.head or AuditRef(0, "")
    if remembered != audit.head_text(head.seq, bytes.fromhex(head.hash)):
        yield Finding(SHORT, head.seq, f"the log ends at row {head.seq}, which is not the head that the books remember")
    for anchor in anchors:
        found = _hash_at(connection, ledger_uuid, anchor.seq)
        if anchor.ledger_uuid != ledger_uuid:
            yield Finding(SHORT, anchor.seq, f"the anchor is of another ledger, {anchor.ledger_uuid}")
        elif found is None:
            yield Finding(SHORT, anchor.seq, f"the log ends at row {head.seq}; it was anchored at row {anchor.seq}")
        elif found.hex() != anchor.hash:
            yield Finding(SHORT, anchor.seq, f"row {anchor.seq} is not the one that was anchored: the log has been rewritten")
        else:
            run.anchored = max(run.anchored, anchor.seq)


def _replay(connection: sqlite3.Connection, run: _Run, replay: Replay) -> None:
    for finding in crosscheck.replays(connection, replay):
        run.replayed += 1
        run.add([finding] if finding else [])


def anchor_line(url: str) -> str:
    """The log's head as one line, to be kept where whoever can change the database cannot reach. Raises ConfigFault and BooksUnsound."""
    path = database.database_path(url)
    if database.schema_version(path) is None:
        raise UsageFault(f"{path} holds no ledger")
    with database.faults(path), closing(database.connect_reader(path)) as connection:
        connection.execute("BEGIN")
        found = connection.execute("SELECT value FROM control_state WHERE key = ?", (audit.UUID_KEY,)).fetchone()
        if found is None:
            raise BooksUnsound(f"the ledger {path} has lost its identity", fix=audit.FIX)
        seq = connection.execute("SELECT coalesce(max(seq), 0) FROM audit_log").fetchone()[0]
        return Anchor(found[0], seq, (_hash_at(connection, found[0], seq) or b"").hex()).line()


def read_anchors(text: str) -> tuple[Anchor, ...]:
    """The anchors of a text, one `ledger_uuid seq hash` a line; blank lines and lines that start with # are skipped. UsageFault on any other."""
    lines = [(n, line.split()) for n, line in enumerate(text.splitlines(), start=1) if line.strip() and not line.startswith("#")]
    return tuple(_anchor(n, parts) for n, parts in lines)


def _anchor(n: int, parts: list[str]) -> Anchor:
    if len(parts) != 3 or not _ANCHOR.fullmatch(" ".join(parts)):
        raise UsageFault(f"line {n} is no anchor", fix="an anchor is `ledger_uuid seq hash`, as `alphaagent audit anchor` prints it")
    return Anchor(parts[0], int(parts[1]), parts[2])
