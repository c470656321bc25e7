"""A second verifier, from the definition of the audit chain alone: standard library only, no code of the product.

It follows the chain, and looks for the transcript of every debate that a row names.

    h_0    = SHA256("alphaagent.audit.genesis.v1" || ledger_uuid)
    leaf_n = SHA256(0x00 || payload_n)
    h_n    = SHA256(0x02 || "alphaagent.audit.v1" || u64be(n) || h_{n-1} || leaf_n)

Usage: independent_verify.py DATABASE [ANCHORS]    exit 0 sound, 20 chain broken, 21 differs from an anchor,
                                                           22 a transcript is missing or changed, 30 cannot be read
"""

import json
import sqlite3
import struct
import sys
from hashlib import sha256
from pathlib import Path


def check(database: Path, anchors: str = "") -> int:
    """The exit code for a database file and a text of `ledger_uuid seq hash` lines."""
    wanted = {}
    for line in anchors.splitlines():
        uuid, number, digest = line.split()
        wanted[int(number)] = (uuid, digest)
    try:
        connection = sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)
        connection.text_factory = bytes
        try:
            return follow(connection, wanted)
        finally:
            connection.close()
    except sqlite3.Error:
        return 30


def follow(connection: sqlite3.Connection, wanted: dict[int, tuple[str, str]]) -> int:
    (uuid,) = connection.execute("SELECT value FROM control_state WHERE key = 'ledger_uuid'").fetchone()
    head = sha256(b"alphaagent.audit.genesis.v1" + uuid).digest()
    seen, transcripts = {0: head.hex()}, []
    rows = connection.execute("SELECT seq, prev, payload, payload_hash, hash FROM audit_log ORDER BY seq")
    for count, (number, prev, payload, payload_hash, digest) in enumerate(rows, start=1):
        leaf = sha256(b"\x00" + payload).digest()
        expected = sha256(b"\x02" + b"alphaagent.audit.v1" + struct.pack(">Q", count) + head + leaf).digest()
        if (number, prev, payload_hash, digest) != (count, head, leaf, expected) or not canonical(payload, count):
            return 20
        head = digest
        if count in wanted:
            seen[count] = head.hex()
        transcripts += [value for key, value in json.loads(payload)["detail"].items() if key == "transcript"]
    if not all(seen.get(number) == digest and name == uuid.decode() for number, (name, digest) in wanted.items()):
        return 21
    return 0 if all(stored(connection, name) for name in transcripts) else 22


def stored(connection: sqlite3.Connection, name: str) -> bool:
    """Whether a document is there whose SHA-256 is its name."""
    return [sha256(content).hexdigest() for (content,) in connection.execute("SELECT content FROM blob WHERE sha256 = ?", (name,))] == [name]


def canonical(payload: bytes, number: int) -> bool:
    """Whether the bytes are in the canonical form and carry their own number; enough of RFC 8785 for strings and integers."""
    value = json.loads(payload)
    return value["seq"] == number and json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode() == payload


if __name__ == "__main__":
    sys.exit(check(Path(sys.argv[1]), Path(sys.argv[2]).read_text(encoding="utf-8") if len(sys.argv) > 2 else ""))
