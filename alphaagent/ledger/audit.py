"""The audit trail: a hash chain over canonical JSON, of which the exact bytes are stored.

    h_0    = SHA256("alphaagent.audit.genesis.v1" || ledger_uuid)
    leaf_n = SHA256(0x00 || payload_n)
    h_n    = SHA256(0x02 || "alphaagent.audit.v1" || u64be(n) || h_{n-1} || leaf_n)

`ledger_uuid` is the ASCII text of the UUID, 36 characters. An append reads the previous head in its own transaction, costs the same
however long the log is, and refuses to go on from a head that is not the one the books remember: a trail that cannot be trusted
is not written to.
"""

import hashlib
import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import rfc8785
from sqlmodel import Session, col, select

from alphaagent.domain.base import Json, canonical, instant_text
from alphaagent.errors import BooksUnsound
from alphaagent.ledger.schema import AuditLogRow, ControlStateRow, insert_row
from alphaagent.ledger.units import to_micros
from alphaagent.ports import AuditRef

GENESIS = b"alphaagent.audit.genesis.v1"
DOMAIN = b"alphaagent.audit.v1"
LEAF, LINK = b"\x00", b"\x02"
UUID_KEY = "ledger_uuid"
HEAD_KEY = "audit_head"
SYSTEM = "alphaagent"
LARGEST_INTEGER = 2**53 - 1
FIX = "stop, run `alphaagent audit verify`, and restore the ledger from a backup"


@dataclass(frozen=True, slots=True)
class Event:
    """What one audit row says. A long text goes in by its hash only, so that it can be erased without breaking the chain."""

    kind: str
    at: datetime
    """Book time of what happened; when it was recorded is stamped on append."""
    actor: str = SYSTEM
    portfolio: str | None = None
    ticker: str | None = None
    decision_id: str | None = None
    outcome: str | None = None
    codes: tuple[str, ...] = ()
    proposal: Mapping[str, Json] | None = None
    limits_hash: str | None = None
    snapshot: str | None = None
    """SHA-256 of the guard's snapshot."""
    guard_version: str | None = None
    txn_id: int | None = None
    postings_hash: str | None = None
    rows_hash: str | None = None
    """Over the rows that were written with this event and never change (facts.py)."""
    order_hash: str | None = None
    """Over the order's row as this event left it."""
    detail: Mapping[str, Json] = field(default_factory=dict)

    def payload(self, seq: int, recorded_at: datetime) -> bytes:
        """The canonical bytes to be hashed and stored."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        fields |= {"seq": seq, "at": instant_text(self.at), "recorded_at": instant_text(recorded_at)}
        return rfc8785.dumps(_admissible(fields))


def _admissible(value: object) -> Json:
    """The value in NFC, if it holds strings, booleans, nulls and safe integers only; TypeError otherwise."""
    match value:
        case None | bool():
            return value
        case int() if abs(value) <= LARGEST_INTEGER:
            return value
        case str():
            return unicodedata.normalize("NFC", value)
        case Mapping():
            return {str(_admissible(key)): _admissible(item) for key, item in value.items()}
        case list() | tuple():
            return [_admissible(item) for item in value]
        case _:
            raise TypeError(f"an audit payload cannot hold {value!r}")


def genesis(ledger_uuid: str) -> bytes:
    """h_0: the head of an empty log."""
    return hashlib.sha256(GENESIS + ledger_uuid.encode("ascii")).digest()


def leaf(payload: bytes) -> bytes:
    """The hash of one payload's bytes."""
    return hashlib.sha256(LEAF + payload).digest()


def link(seq: int, previous: bytes, leaf_hash: bytes) -> bytes:
    """The hash of one row, which holds everything before it."""
    return hashlib.sha256(LINK + DOMAIN + seq.to_bytes(8, "big") + previous + leaf_hash).digest()


def start(session: Session, ledger_uuid: str) -> None:
    """Writes the identity and the empty head of a new ledger."""
    session.add(ControlStateRow(key=UUID_KEY, value=ledger_uuid, version=1))
    session.add(ControlStateRow(key=HEAD_KEY, value=head_text(0, genesis(ledger_uuid)), version=1))
    session.flush()


def head_text(seq: int, hash_: bytes) -> str:
    """The head as control_state keeps it."""
    return canonical({"seq": seq, "hash": hash_.hex()}).decode()


def append(session: Session, event: Event, recorded_at: datetime) -> AuditRef:
    """The event as the log's next row, in the caller's transaction. BooksUnsound where the log's head is not the remembered one."""
    remembered = session.get(ControlStateRow, HEAD_KEY)
    seq, previous = last(session)
    if remembered is None or remembered.value != head_text(seq, previous):
        raise BooksUnsound(f"the audit trail does not end where the books say: row {seq} is not its remembered head", fix=FIX)
    seq += 1
    payload = event.payload(seq, recorded_at)
    leaf_hash = leaf(payload)
    hash_ = link(seq, previous, leaf_hash)
    insert_row(
        session,
        AuditLogRow(
            seq=seq,
            prev=previous,
            kind=event.kind,
            decision_id=event.decision_id,
            txn_id=event.txn_id,
            payload=payload.decode(),
            payload_hash=leaf_hash,
            hash=hash_,
            at=to_micros(event.at),
        ),
    )
    remembered.value, remembered.version = head_text(seq, hash_), remembered.version + 1
    session.flush()
    return AuditRef(seq, hash_.hex())


def last(session: Session) -> tuple[int, bytes]:
    """Sequence number and hash of the last row; (0, h_0) of an empty log."""
    row = session.exec(select(AuditLogRow.seq, AuditLogRow.hash).order_by(col(AuditLogRow.seq).desc()).limit(1)).first()
    return (row[0], row[1]) if row is not None else (0, genesis(ledger_uuid(session)))


def ledger_uuid(session: Session) -> str:
    """The ledger's identity. BooksUnsound where it is missing."""
    row = session.get(ControlStateRow, UUID_KEY)
    if row is None or not row.value.isascii():
        raise BooksUnsound("the ledger has lost its identity", fix=FIX)
    return row.value


def head_fault(session: Session) -> str | None:
    """What is wrong with the last row, recomputed from its stored bytes; None where nothing is."""
    rows: Sequence[AuditLogRow] = session.exec(select(AuditLogRow).order_by(col(AuditLogRow.seq).desc()).limit(2)).all()
    remembered = session.get(ControlStateRow, HEAD_KEY)
    seq, hash_ = (rows[0].seq, rows[0].hash) if rows else (0, genesis(ledger_uuid(session)))
    if remembered is None or remembered.value != head_text(seq, hash_):
        return f"the audit trail ends at row {seq}, which is not its remembered head"
    return row_fault(rows[0], rows[1].hash if len(rows) > 1 else genesis(ledger_uuid(session)), len(rows)) if rows else None


def row_fault(row: AuditLogRow, previous: bytes, rows: int) -> str | None:
    """What is wrong with one row against the hash of the row before it."""
    leaf_hash = leaf(row.payload.encode())
    if row.prev != previous or (rows == 1 and row.seq != 1):
        return f"audit row {row.seq} does not follow from the row before it"
    if row.payload_hash != leaf_hash or row.hash != link(row.seq, previous, leaf_hash):
        return f"audit row {row.seq} has been changed"
    fields = json.loads(row.payload)
    if (fields["seq"], fields["kind"]) != (row.seq, row.kind):
        return f"audit row {row.seq} says otherwise than its payload"
    return None


def has_started(session: Session) -> bool:
    """Whether the ledger has its identity."""
    return session.get(ControlStateRow, UUID_KEY) is not None
