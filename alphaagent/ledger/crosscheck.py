"""Ledger against log, both ways: what a sound audit row vouches for is still there unchanged, and nothing is there without one.

Plain SQL over the columns of facts.py; one row at a time. The hashes of an audit row cover its rows as they were written; an order is
compared at the event that left it as it is now.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

from alphaagent.domain.base import Json, sha256_hex
from alphaagent.domain.record import DecisionRecord
from alphaagent.domain.ruling import GuardSnapshot, Ruling
from alphaagent.errors import AlphaAgentError
from alphaagent.ledger.facts import FACTS, fact, facts_hash, postings_hash
from alphaagent.ledger.findings import BALANCE, MISMATCH, REPLAY, Finding
from alphaagent.ledger.postings import imbalance
from alphaagent.ledger.units import to_micros

Fields = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Columns:
    """What an audit row says beside its payload, for searches."""

    seq: int
    kind: str
    decision_id: str | None
    txn_id: int | None
    at: int


@dataclass(frozen=True, slots=True)
class ReplayCase:
    """One stored ruling with everything that it was made from."""

    snapshot: GuardSnapshot
    record: DecisionRecord
    ruling: Ruling
    """As stored; `evaluated_at` was the guard's now."""
    limits: bytes | None
    """The mandate document on file under the ruling's limits_hash; None where none is (the record then carries it)."""


Replay = Callable[[ReplayCase], bytes]
"""Evaluates a case again and gives the ruling's canonical bytes."""


def row(connection: sqlite3.Connection, fields: Fields, columns: Columns) -> Iterator[Finding]:
    """What differs between one audit row and the ledger."""
    said = Columns(fields["seq"], fields["kind"], fields["decision_id"], fields["txn_id"], to_micros(datetime.fromisoformat(fields["at"])))
    if said != columns:
        yield Finding(MISMATCH, columns.seq, f"the columns of audit row {columns.seq} differ from its payload")
        return
    for what, logged, found in _compared(connection, fields):
        if logged != found:
            yield Finding(MISMATCH, columns.seq, f"{what} of {fields['kind']} row {columns.seq} differ from the log")
    for sha256 in _documents(connection, fields):
        content = connection.execute("SELECT content FROM blob WHERE sha256 = ?", (sha256,)).fetchone()
        if content is None or sha256_hex(content[0]) != sha256:
            yield Finding(MISMATCH, columns.seq, f"the document {sha256} of row {columns.seq} is missing or has been changed")


def _compared(connection: sqlite3.Connection, fields: Fields) -> Iterator[tuple[str, str | None, str | None]]:
    facts = _facts(connection, fields)
    yield "the rows", fields["rows_hash"], facts_hash(facts) if facts else None
    yield "the postings", fields["postings_hash"], _postings(connection, fields["txn_id"])
    order = _order(connection, fields)
    if order is not None:
        yield "the order", fields["order_hash"], order
    if fields["kind"] == "decision":
        yield "the debate's class", *_debate_class(connection, fields)


def _debate_class(connection: sqlite3.Connection, fields: Fields) -> tuple[str | None, str | None]:
    """The class of a decision's debate by its record, for which the row vouches, and by its column, which came later than the lists of facts.

    A record that is missing or has been changed is told of as a document. The rule engine debates with nobody, so that its records are not opened.
    """
    sha256 = fields["detail"]["record"]
    query = "SELECT d.engine, d.debate_class, b.content FROM decision d LEFT JOIN blob b ON b.sha256 = ? AND d.engine = 'crew' WHERE d.id = ?"
    engine, found, content = connection.execute(query, (sha256, fields["decision_id"])).fetchone() or (None, None, None)
    if engine != "crew":
        return None, found
    if content is None or sha256_hex(content) != sha256:
        return None, None
    debate = json.loads(content)["result"]["debate"]
    return debate and debate["debate_class"], found


def _facts(connection: sqlite3.Connection, fields: Fields) -> list[list[Json]]:
    """The facts that the event wrote, in the order in which it hashed them."""
    decision, detail = fields["decision_id"], fields["detail"]
    found: list[list[Json]] = []
    match fields["kind"]:
        case "portfolio_created":
            found = _select(connection, "portfolio", "name = ?", fields["portfolio"])
        case "limits_changed":
            found = _select(connection, "limits", "id = ?", detail["limits_id"])
        case "decision":
            found = _select(connection, "decision", "id = ?", decision) + _select(connection, "guard_result", "decision_id = ? AND stage = 'decide'", decision)
        case "fill" | "unfilled":
            found = _select(connection, "guard_result", "decision_id = ? AND stage = 'settle'", decision)
            found += _select(connection, "lot_choice", "txn_id = ?", fields["txn_id"])
        case "import":
            found = _select(connection, "opening_lot", "txn_id = ? ORDER BY n", fields["txn_id"])
        case "frozen" | "unfrozen":
            found = _select(connection, "freeze_event", "id = ?", detail["freeze_id"])
        case "spend":
            found = _select(connection, "model_spend", "token = ?", detail["token"])
        case _:
            pass
    return found + (_select(connection, "txn", "id = ?", fields["txn_id"]) if fields["txn_id"] is not None else [])


def _select(connection: sqlite3.Connection, table: str, where: str, value: str | int | None) -> list[list[Json]]:
    query = f"SELECT {', '.join(FACTS[table])} FROM {table} WHERE {where}"
    return [fact(table, found) for found in connection.execute(query, (value,))]


def _postings(connection: sqlite3.Connection, txn_id: int | None) -> str | None:
    if txn_id is None:
        return None
    query = (
        "SELECT p.n, a.portfolio_id, a.kind, p.commodity, p.amount, p.settle_on, a.commodity FROM posting p"
        " JOIN ledger_account a ON a.id = p.account_id WHERE p.txn_id = ? ORDER BY p.n"
    )
    found = connection.execute(query, (txn_id,)).fetchall()
    astray = any(posting[3] != posting[6] for posting in found)
    return "in an account of another commodity" if astray else postings_hash(posting[:6] for posting in found)


def _order(connection: sqlite3.Connection, fields: Fields) -> str | None:
    """The hash of the decision's order where this event must have left it as it is now; "none" where there is none."""
    if fields["kind"] not in ("decision", "fill", "unfilled"):
        return None
    found = _select(connection, "orders", "decision_id = ?", fields["decision_id"])
    if not found:
        return None if fields["order_hash"] is None else "none"
    closed = found[0][-1] is not None
    if closed and fields["kind"] == "decision" and fields["order_hash"] is not None:
        return None
    return facts_hash(found)


def _documents(connection: sqlite3.Connection, fields: Fields) -> Iterator[str]:
    if fields["snapshot"] is not None:
        yield fields["snapshot"]
    if "transcript" in fields["detail"]:
        yield fields["detail"]["transcript"]
    match fields["kind"]:
        case "decision":
            yield fields["detail"]["record"]
        case "failure":
            yield fields["detail"]["message_hash"]
        case "sweep":
            yield fields["detail"]["report"]
        case "limits_changed":
            found = connection.execute("SELECT document_sha256 FROM limits WHERE id = ?", (fields["detail"]["limits_id"],)).fetchone()
            yield from found or ()
        case _:
            pass


_UNVOUCHED = (
    ("decision", "SELECT d.id FROM decision d WHERE NOT EXISTS (SELECT 1 FROM audit_log a WHERE a.decision_id = d.id AND a.kind = 'decision')"),
    (
        "ruling of decision",
        "SELECT g.decision_id FROM guard_result g WHERE NOT EXISTS (SELECT 1 FROM audit_log a WHERE a.decision_id = g.decision_id"
        " AND ((g.stage = 'decide' AND a.kind = 'decision') OR (g.stage = 'settle' AND a.kind IN ('fill', 'unfilled'))))",
    ),
    ("transaction", "SELECT t.id FROM txn t WHERE NOT EXISTS (SELECT 1 FROM audit_log a WHERE a.txn_id = t.id)"),
    ("posting of transaction", "SELECT p.txn_id FROM posting p WHERE NOT EXISTS (SELECT 1 FROM txn t WHERE t.id = p.txn_id)"),
    (
        "end of order",
        "SELECT o.id FROM orders o WHERE (o.closed_at IS NOT NULL OR o.status NOT IN ('pending', 'pending_approval'))"
        " AND NOT EXISTS (SELECT 1 FROM audit_log a WHERE a.decision_id = o.decision_id AND a.kind IN ('fill', 'unfilled'))",
    ),
    ("order", "SELECT o.id FROM orders o WHERE NOT EXISTS (SELECT 1 FROM decision d WHERE d.id = o.decision_id)"),
    (
        "lot of transaction",
        "SELECT o.txn_id FROM opening_lot o WHERE NOT EXISTS (SELECT 1 FROM audit_log a WHERE a.txn_id = o.txn_id AND a.kind = 'import')",
    ),
    (
        "choice of lots of transaction",
        "SELECT c.txn_id FROM lot_choice c WHERE NOT EXISTS (SELECT 1 FROM audit_log a WHERE a.txn_id = c.txn_id AND a.kind = 'fill')",
    ),
    ("freeze", "SELECT count(*) FROM freeze_event HAVING count(*) <> (SELECT count(*) FROM audit_log WHERE kind IN ('frozen', 'unfrozen'))"),
    ("mandate", "SELECT count(*) FROM limits HAVING count(*) <> (SELECT count(*) FROM audit_log WHERE kind = 'limits_changed')"),
    ("spend", "SELECT count(*) FROM model_spend WHERE state <> 'reserved' HAVING count(*) <> (SELECT count(*) FROM audit_log WHERE kind = 'spend')"),
    ("portfolio", "SELECT count(*) FROM portfolio HAVING count(*) <> (SELECT count(*) FROM audit_log WHERE kind = 'portfolio_created')"),
)


def reverse(connection: sqlite3.Connection) -> Iterator[Finding]:
    """What stands in the ledger without a row in the log."""
    for what, query in _UNVOUCHED:
        for (name,) in connection.execute(query + " LIMIT 5"):
            yield Finding(MISMATCH, None, f"{what} {name} has no row in the log")
    yield from _kill_switch(connection)


def _kill_switch(connection: sqlite3.Connection) -> Iterator[Finding]:
    last = connection.execute("SELECT payload FROM audit_log WHERE kind = 'control_changed' ORDER BY seq DESC LIMIT 1").fetchone()
    logged = json.loads(last[0])["detail"]["state"] if last else "ACTIVE"
    stored = connection.execute("SELECT value FROM control_state WHERE key = 'kill_switch'").fetchone()
    if stored is None or f'"state":"{logged}"' not in stored[0]:
        yield Finding(MISMATCH, None, f"the kill switch is not {logged}, as the log says")


def balances(connection: sqlite3.Connection) -> Iterator[Finding]:
    """Transactions that do not sum to zero in some commodity, or that have no postings."""
    reading = connection.execute("SELECT txn_id, commodity, amount FROM posting ORDER BY txn_id, n")
    for txn_id, group in groupby(reading, key=itemgetter(0)):
        if imbalance([(commodity, amount) for _, commodity, amount in group]):
            yield Finding(BALANCE, None, f"transaction {txn_id} does not balance")
    for (txn_id,) in connection.execute("SELECT t.id FROM txn t WHERE NOT EXISTS (SELECT 1 FROM posting p WHERE p.txn_id = t.id) LIMIT 5"):
        yield Finding(BALANCE, None, f"transaction {txn_id} has no postings")


def replays(connection: sqlite3.Connection, replay: Replay) -> Iterator[Finding | None]:
    """One result per stored ruling: None where it comes out the same again."""
    query = (
        "SELECT g.decision_id, g.stage, CAST(g.ruling_json AS BLOB), s.content, r.content,"
        " (SELECT b.content FROM limits l JOIN blob b ON b.sha256 = l.document_sha256 WHERE l.hash = g.limits_hash LIMIT 1)"
        " FROM guard_result g JOIN decision d ON d.id = g.decision_id"
        " JOIN blob s ON s.sha256 = g.snapshot_sha256 JOIN blob r ON r.sha256 = d.record_sha256 ORDER BY g.id"
    )
    for decision_id, stage, *stored in connection.execute(query):
        reason = _replayed(replay, *stored)
        yield Finding(REPLAY, None, f"the ruling of stage {stage} of decision {decision_id} {reason}") if reason else None


def _replayed(replay: Replay, stored: bytes, snapshot: bytes, record: bytes, limits: bytes | None) -> str | None:
    """Why a stored ruling does not come out the same again; None where it does."""
    try:
        case = ReplayCase(GuardSnapshot.model_validate_json(snapshot), DecisionRecord.model_validate_json(record), Ruling.model_validate_json(stored), limits)
        return None if replay(case) == stored else "comes out differently"
    except (ValueError, AlphaAgentError) as fault:
        return f"cannot be replayed: {fault}"
