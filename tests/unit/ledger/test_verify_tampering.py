"""Whatever is done to a ledger's file is found, with the exit code that says what kind of thing it was; both verifiers agree on the chain."""

import hashlib
import json
import sqlite3
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from alphaagent.domain.base import canonical
from alphaagent.errors import BooksUnsound, ConfigFault, UsageFault
from alphaagent.ledger.crosscheck import ReplayCase
from alphaagent.ledger.store import SqlStore
from alphaagent.ledger.verify import Anchor, anchor_line, read_anchors, verify
from tests.builders import SteppingClock
from tests.independent_verify import check
from tests.unit.ledger.desks import LEDGER_UUID, ROWS, add_classes, copy_of, make_desk, tampering, url_of


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_desk(tmp_path_factory.mktemp("original"))


@pytest.fixture
def ledger(original: Path, tmp_path: Path) -> Path:
    return copy_of(original, tmp_path)


def code(ledger: Path, **options: object) -> int:
    return verify(url_of(ledger), **options).exit_code  # type: ignore[arg-type]


def change(ledger: Path, *statements: str) -> None:
    with tampering(ledger) as connection:
        for statement in statements:
            assert connection.execute(statement).rowcount != 0, statement


def same_again(case: ReplayCase) -> bytes:
    return canonical(case.ruling)


def test_an_untouched_ledger_is_sound(ledger: Path) -> None:
    report = verify(url_of(ledger), replay=same_again)
    assert (report.exit_code, report.sound, report.rows, report.rulings_replayed, report.not_anchored) == (0, True, ROWS, 6, ROWS)
    assert check(ledger) == 0


def test_strict_wants_every_row_anchored(ledger: Path) -> None:
    anchors = read_anchors(anchor_line(url_of(ledger)))
    assert code(ledger, strict=True) == 10
    assert code(ledger, strict=True, anchors=anchors) == 0
    assert check(ledger, anchor_line(url_of(ledger))) == 0


@pytest.mark.parametrize("since", [1, 2, ROWS, ROWS + 1])
def test_a_part_of_the_log_can_be_verified(ledger: Path, since: int) -> None:
    report = verify(url_of(ledger), since=since)
    assert (report.exit_code, report.rows, report.head and report.head.seq) == (0, ROWS + 1 - since, ROWS)


def test_a_start_beyond_the_log_is_broken(ledger: Path) -> None:
    assert code(ledger, since=ROWS + 2) == 20


CHAIN = {
    "edit a payload": "UPDATE audit_log SET payload = replace(payload, 'REDUCING', 'ACTIVE  ') WHERE seq = 11",
    "edit a payload's hash": "UPDATE audit_log SET payload_hash = zeroblob(32) WHERE seq = 4",
    "edit a link": "UPDATE audit_log SET hash = zeroblob(32) WHERE seq = 4",
    "edit a back link": "UPDATE audit_log SET prev = zeroblob(32) WHERE seq = 4",
    "delete the first": "DELETE FROM audit_log WHERE seq = 1",
    "delete in the middle": "DELETE FROM audit_log WHERE seq = 5",
    "delete in the middle and close the gap": "DELETE FROM audit_log WHERE seq = 5; UPDATE audit_log SET seq = seq - 1 WHERE seq > 5",
    "swap two rows": "UPDATE audit_log SET seq = 99 WHERE seq = 5; UPDATE audit_log SET seq = 5 WHERE seq = 6; UPDATE audit_log SET seq = 6 WHERE seq = 99",
    "insert a row": "INSERT INTO audit_log SELECT 12, hash, kind, decision_id, txn_id, payload, payload_hash, zeroblob(32), at FROM audit_log WHERE seq = 11",
    "copy a row over another": "UPDATE audit_log SET payload = (SELECT payload FROM audit_log WHERE seq = 9) WHERE seq = 8",
    "another identity": "UPDATE control_state SET value = '00000000-0000-0000-0000-000000000000' WHERE key = 'ledger_uuid'",
}


@pytest.mark.parametrize("name", CHAIN)
def test_a_broken_chain_is_20_for_both_verifiers(ledger: Path, name: str) -> None:
    change(ledger, *CHAIN[name].split("; "))
    assert code(ledger) == 20
    assert check(ledger) == 20


LEDGER = {
    "an order's quantity": "UPDATE orders SET quantity = quantity + 1 WHERE id = 'o-d-3'",
    "a filled order's price": "UPDATE orders SET price = price - 1 WHERE id = 'o-d-0'",
    "a filled order opened again": "UPDATE orders SET status = 'pending', closed_at = NULL, price = NULL, filled_quantity = NULL WHERE id = 'o-d-0'",
    "a pending order called off": "UPDATE orders SET status = 'cancelled', closed_at = 1 WHERE id = 'o-d-3'",
    "a pending order's status alone": "UPDATE orders SET status = 'filled' WHERE id = 'o-d-3'",
    "an order taken away": "DELETE FROM orders WHERE id = 'o-d-3'",
    "a ruling's outcome": "UPDATE guard_result SET outcome = 'APPROVE' WHERE outcome = 'BLOCK'",
    "a ruling's text": "UPDATE guard_result SET ruling_json = replace(ruling_json, 'pass', 'block') WHERE id = 1",
    "a ruling taken away": "DELETE FROM guard_result WHERE stage = 'settle' AND decision_id = 'd-0'",
    "a ruling put in": "INSERT INTO guard_result SELECT 99, 'd-3', 'settle', outcome, primary_code, quantity_in, quantity_out, price, limits_hash,"
    " snapshot_sha256, guard_version, evaluated_at, ruling_json FROM guard_result WHERE id = 1",
    "a decision's action": "UPDATE decision SET action = 'SELL' WHERE id = 'd-1'",
    "a decision put in": "INSERT INTO decision SELECT 'd-9', portfolio_id, 'k-9', request_hash, ticker, instrument_id, session, as_of, slot, engine, plan,"
    " provenance, execution_mode, action, amount_text, sentiment, outcome, code, pack_sha256, record_sha256, program_version, debate_class FROM decision"
    " WHERE id = 'd-1'",
    "a debate's class where there was none": "UPDATE decision SET debate_class = 'earned' WHERE id = 'd-1'",
    "a balanced pair of postings": "UPDATE posting SET amount = amount * 2 WHERE txn_id = 1",
    "a settlement date": "UPDATE posting SET settle_on = '2030-01-01' WHERE txn_id = 2 AND n = 1",
    "a transaction's time": "UPDATE txn SET trade_at = trade_at + 1 WHERE id = 2",
    "a transaction taken away": "DELETE FROM posting WHERE txn_id = 3; DELETE FROM txn WHERE id = 3",
    "a transaction put in": "INSERT INTO txn SELECT 9, portfolio_id, NULL, kind, NULL, NULL, trade_at, settle_on, created_at FROM txn WHERE id = 1;"
    " INSERT INTO posting SELECT 9, n, account_id, commodity, amount, settle_on FROM posting WHERE txn_id = 1",
    "an account's kind": "UPDATE ledger_account SET kind = 'suspense' WHERE kind = 'fee'",
    "an account's commodity": "UPDATE ledger_account SET commodity = 'EUR' WHERE kind = 'fee'",
    "a mandate": "UPDATE limits SET hash = 'other'",
    "a mandate put in": "INSERT INTO limits SELECT 9, portfolio_id, 'loose', document_sha256, at FROM limits",
    "a portfolio's mandate": "UPDATE portfolio SET mandate = 'aggressive'",
    "a portfolio put in": "INSERT INTO portfolio SELECT 9, 'ghost', currency, kind, mandate, opened_at FROM portfolio",
    "a stored document": "UPDATE blob SET content = CAST(content || ' ' AS BLOB) WHERE sha256 = (SELECT record_sha256 FROM decision WHERE id = 'd-1')",
    "a stored snapshot taken away": "DELETE FROM blob WHERE sha256 = (SELECT snapshot_sha256 FROM guard_result WHERE stage = 'settle' LIMIT 1)",
    "the kill switch": "UPDATE control_state SET value = replace(value, 'REDUCING', 'ACTIVE') WHERE key = 'kill_switch'",
    "the kill switch taken away": "DELETE FROM control_state WHERE key = 'kill_switch'",
    "an audit row's kind column": "UPDATE audit_log SET kind = 'deposit' WHERE seq = 11",
    "an audit row's time column": "UPDATE audit_log SET at = at + 1 WHERE seq = 11",
    "an audit row's decision column": "UPDATE audit_log SET decision_id = 'd-3' WHERE seq = 9",
}


@pytest.mark.parametrize("name", LEDGER)
def test_a_ledger_that_differs_from_the_log_is_22(ledger: Path, name: str) -> None:
    change(ledger, *LEDGER[name].split("; "))
    assert code(ledger) == 22
    assert check(ledger) == 0


@pytest.mark.parametrize("found", ["'theater'", "NULL"])
def test_another_class_of_a_debate_than_its_record_says_is_22(ledger: Path, found: str) -> None:
    with SqlStore.open(url_of(ledger), SteppingClock()) as store:
        add_classes(store)
    assert code(ledger) == 0
    change(ledger, f"UPDATE decision SET debate_class = {found} WHERE id = 'd-earned'")
    (finding,) = verify(url_of(ledger)).findings
    assert (finding.code, finding.message) == (22, f"the debate's class of decision row {ROWS + 1} differ from the log")


def test_a_debates_record_that_was_changed_is_told_once(ledger: Path) -> None:
    with SqlStore.open(url_of(ledger), SteppingClock()) as store:
        add_classes(store)
    change(ledger, "UPDATE blob SET content = x'7b' WHERE sha256 = (SELECT record_sha256 FROM decision WHERE id = 'd-earned')")
    assert [finding.code for finding in verify(url_of(ledger)).findings] == [22]


def test_one_edited_posting_differs_from_the_log_and_does_not_balance(ledger: Path) -> None:
    change(ledger, "UPDATE posting SET amount = amount + 1 WHERE txn_id = 2 AND n = 1")
    assert {finding.code for finding in verify(url_of(ledger)).findings} == {22, 23}


def test_a_log_that_vouches_for_unbalanced_postings_is_23(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("alphaagent.ledger.journal.refuse_imbalance", lambda legs: None)
    monkeypatch.setattr("alphaagent.ledger.postings.deposit", lambda amount, currency, on: postings.legs(on, ("cash", currency, amount)))
    from alphaagent.ledger import postings

    assert code(make_desk(tmp_path)) == 23


def test_a_ruling_that_comes_out_differently_is_24(ledger: Path) -> None:
    report = verify(url_of(ledger), replay=lambda case: canonical(case.ruling) + (b"!" if case.ruling.stage == "settle" else b""))
    assert (report.exit_code, len(report.findings), report.rulings_replayed) == (24, 2, 6)


def test_a_replay_that_cannot_be_made_is_24_with_its_reason(ledger: Path) -> None:
    def refuse(case: ReplayCase) -> bytes:
        raise ConfigFault("guard version 1 is needed")

    report = verify(url_of(ledger), replay=refuse)
    assert (report.exit_code, "guard version 1 is needed" in report.findings[0].message) == (24, True)


def test_a_replay_is_given_the_mandate_on_file(ledger: Path) -> None:
    seen: list[ReplayCase] = []
    verify(url_of(ledger), replay=lambda case: seen.append(case) or b"")  # type: ignore[func-returns-value]
    assert {case.limits for case in seen} == {b'{"name":"default"}'}


def cut(ledger: Path, after: int, *, thorough: bool) -> None:
    """Cuts the log's tail; a thorough forger also takes away what it vouched for and mends the remembered head."""
    with tampering(ledger) as connection:
        connection.execute("DELETE FROM audit_log WHERE seq > ?", (after,))
        if thorough:
            head = connection.execute("SELECT hash FROM audit_log WHERE seq = ?", (after,)).fetchone()[0]
            connection.execute("UPDATE control_state SET value = ? WHERE key = 'audit_head'", (f'{{"hash":"{head.hex()}","seq":{after}}}',))
            connection.execute("UPDATE control_state SET value = replace(value, 'REDUCING', 'ACTIVE') WHERE key = 'kill_switch'")
            connection.execute("DELETE FROM posting WHERE txn_id = 3")
            connection.execute("DELETE FROM txn WHERE id = 3")


def test_a_cut_tail_shows_by_the_remembered_head(ledger: Path) -> None:
    anchor = anchor_line(url_of(ledger))
    cut(ledger, 10, thorough=False)
    assert code(ledger) == 21
    assert (check(ledger), check(ledger, anchor)) == (0, 21)


def test_a_thorough_cut_shows_by_an_anchor_only(ledger: Path) -> None:
    anchor = anchor_line(url_of(ledger))
    cut(ledger, 9, thorough=True)
    assert code(ledger) == 0
    assert code(ledger, anchors=read_anchors(anchor)) == 21
    assert (check(ledger), check(ledger, anchor)) == (0, 21)


def rewrite(ledger: Path, start: int) -> None:
    """Changes the payload of one row and computes every hash after it again."""
    with tampering(ledger) as connection:
        rows = connection.execute("SELECT seq, prev, payload FROM audit_log WHERE seq >= ? ORDER BY seq", (start,)).fetchall()
        head = rows[0][1]
        for seq, _, payload in rows:
            text = payload.replace('"actor":"alphaagent"', '"actor":"mallory"')
            leaf = hashlib.sha256(b"\0" + text.encode()).digest()
            new = hashlib.sha256(b"\2alphaagent.audit.v1" + struct.pack(">Q", seq) + head + leaf).digest()
            connection.execute("UPDATE audit_log SET prev=?, payload=?, payload_hash=?, hash=? WHERE seq=?", (head, text, leaf, new, seq))
            head = new
        remembered = json.dumps({"hash": head.hex(), "seq": rows[-1][0]}, separators=(",", ":"))
        connection.execute("UPDATE control_state SET value = ? WHERE key = 'audit_head'", (remembered,))


def test_a_full_rewrite_shows_by_an_anchor_after_its_start_only(ledger: Path) -> None:
    with tampering(ledger) as connection:
        early, late = (Anchor(LEDGER_UUID, seq, connection.execute("SELECT hash FROM audit_log WHERE seq=?", (seq,)).fetchone()[0].hex()) for seq in (3, 10))
    rewrite(ledger, 5)
    assert code(ledger) == 0
    assert code(ledger, anchors=[early]) == 0
    assert code(ledger, anchors=[early, late]) == 21
    assert (check(ledger), check(ledger, early.line()), check(ledger, late.line())) == (0, 0, 21)


def test_a_forged_payload_that_is_no_event_is_20(ledger: Path) -> None:
    with tampering(ledger) as connection:
        previous = connection.execute("SELECT hash FROM audit_log WHERE seq = 10").fetchone()[0]
        for text in ("[]", "{}", "not json"):
            leaf = hashlib.sha256(b"\0" + text.encode()).digest()
            digest = hashlib.sha256(b"\2alphaagent.audit.v1" + struct.pack(">Q", 11) + previous + leaf).digest()
            connection.execute("UPDATE audit_log SET payload = ?, payload_hash = ?, hash = ? WHERE seq = 11", (text, leaf, digest))
            assert code(ledger) == 20


def test_an_anchor_of_another_ledger_is_21(ledger: Path) -> None:
    assert code(ledger, anchors=[Anchor("0" * 36, 0, "0" * 64)]) == 21


def test_every_bit_of_every_payload_counts(ledger: Path) -> None:
    with tampering(ledger) as connection:
        rows = connection.execute("SELECT seq, CAST(payload AS BLOB), payload_hash FROM audit_log").fetchall()
    missed = [
        (seq, bit)
        for seq, payload, payload_hash in rows
        for bit in range(8 * len(payload))
        if hashlib.sha256(b"\0" + flipped(payload, bit)).digest() == payload_hash
    ]
    assert not missed


def flipped(payload: bytes, bit: int) -> bytes:
    changed = bytearray(payload)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


@pytest.mark.parametrize("seq", range(1, ROWS + 1))
def test_flipped_bits_in_the_file_are_found(ledger: Path, seq: int) -> None:
    with tampering(ledger) as connection:
        payload = connection.execute("SELECT CAST(payload AS BLOB) FROM audit_log WHERE seq = ?", (seq,)).fetchone()[0]
        for bit in range(seq, 8 * len(payload), 397):
            connection.execute("UPDATE audit_log SET payload = CAST(? AS TEXT) WHERE seq = ?", (flipped(payload, bit), seq))
            assert code(ledger) == 20, bit
        connection.execute("UPDATE audit_log SET payload = CAST(? AS TEXT) WHERE seq = ?", (payload, seq))
    assert code(ledger) == 0


@pytest.mark.parametrize("column", ["prev", "payload_hash", "hash"])
def test_a_flipped_bit_in_any_hash_is_found(ledger: Path, column: str) -> None:
    with tampering(ledger) as connection:
        for seq in range(1, ROWS + 1):
            stored = connection.execute(f"SELECT {column} FROM audit_log WHERE seq = ?", (seq,)).fetchone()[0]
            connection.execute(f"UPDATE audit_log SET {column} = ? WHERE seq = ?", (flipped(stored, 7 * seq), seq))
            assert code(ledger) == 20
            connection.execute(f"UPDATE audit_log SET {column} = ? WHERE seq = ?", (stored, seq))


# Things that cannot be read


def test_a_missing_file_is_30_and_is_not_made(tmp_path: Path) -> None:
    assert code(tmp_path / "none.db") == 30
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("content", [b"", b"not a database, but long enough to look like one", b"SQLite format 3\x00" + b"\xff" * 200])
def test_what_is_no_ledger_is_30(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "ledger.db").write_bytes(content)
    assert code(tmp_path / "ledger.db") == 30


def test_a_truncated_file_is_never_sound(ledger: Path) -> None:
    whole = ledger.read_bytes()
    for part in (0.2, 0.5, 0.9):
        ledger.write_bytes(whole[: int(len(whole) * part)])
        assert code(ledger) in (20, 21, 22, 23, 30)


def test_a_newer_schema_is_30(ledger: Path) -> None:
    change(ledger, "UPDATE alembic_version SET version_num = '9999'")
    assert code(ledger) == 30


def test_a_url_that_is_not_sqlite_is_a_fault_of_the_caller() -> None:
    with pytest.raises(ConfigFault):
        verify("postgresql://user:secret@host/db")


# Anchors


def test_an_anchor_is_one_line_and_comes_back(ledger: Path) -> None:
    line = anchor_line(url_of(ledger))
    (anchor,) = read_anchors(f"# kept on another host\n\n{line}\n")
    assert (anchor.ledger_uuid, anchor.seq, anchor.line()) == (LEDGER_UUID, ROWS, line)


@pytest.mark.parametrize("text", ["x", "a b c", f"{LEDGER_UUID} -1 {'0' * 64}", f"{LEDGER_UUID} 1 {'g' * 64}", f"{LEDGER_UUID} 1 {'0' * 64} more"])
def test_what_is_no_anchor_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(UsageFault, match="line 2"):
        read_anchors("# head\n" + text)


# The O(1) check


def soundness(ledger: Path) -> str | None:
    with SqlStore.open(url_of(ledger), SteppingClock()) as store, store.read() as books:
        return books.soundness_fault()


CHECKS: dict[str, Callable[[sqlite3.Connection], object]] = {
    "head's payload": lambda db: db.execute("UPDATE audit_log SET payload = payload || ' ' WHERE seq = 11"),
    "head's hash": lambda db: db.execute("UPDATE audit_log SET hash = zeroblob(32) WHERE seq = 11"),
    "head's back link": lambda db: db.execute("UPDATE audit_log SET prev = zeroblob(32) WHERE seq = 11"),
    "the row before": lambda db: db.execute("UPDATE audit_log SET hash = zeroblob(32) WHERE seq = 10"),
    "a cut tail": lambda db: db.execute("DELETE FROM audit_log WHERE seq = 11"),
    "an emptied log": lambda db: db.execute("DELETE FROM audit_log"),
    "the remembered head": lambda db: db.execute("DELETE FROM control_state WHERE key = 'audit_head'"),
    "the last balance": lambda db: db.execute("UPDATE posting SET amount = amount + 1 WHERE txn_id = 3 AND n = 1"),
    "the last postings": lambda db: db.execute("DELETE FROM posting WHERE txn_id = 3"),
}


@pytest.mark.parametrize("name", CHECKS)
def test_the_quick_check_sees(ledger: Path, name: str) -> None:
    assert soundness(ledger) is None
    with tampering(ledger) as connection:
        CHECKS[name](connection)
    assert soundness(ledger) is not None


def test_a_trail_that_cannot_be_trusted_is_not_written_to(ledger: Path) -> None:
    change(ledger, "DELETE FROM audit_log WHERE seq = 11")
    with SqlStore.open(url_of(ledger), SteppingClock()) as store, pytest.raises(BooksUnsound), store.write() as books:
        books.record_failure("XYZ", "default", "X", "x", SteppingClock().now())
