"""The transcripts of debates: kept under their hash, named by the audit row, and missed by both verifiers where they are gone or changed."""

import json
from pathlib import Path

import pytest

from alphaagent.domain.base import sha256_hex
from alphaagent.errors import BooksUnsound
from alphaagent.ledger.store import SqlStore
from alphaagent.ledger.verify import verify
from tests.builders import SteppingClock
from tests.independent_verify import check
from tests.unit.ledger.desks import COMPLETED, FAILED, ROWS, add_debates, make_desk, tampering, url_of


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    path = make_desk(tmp_path)
    with SqlStore.open(url_of(path), SteppingClock()) as store:
        add_debates(store)
    return path


def details(ledger: Path) -> list[dict[str, object]]:
    with tampering(ledger) as connection:
        return [json.loads(payload)["detail"] for (payload,) in connection.execute("SELECT payload FROM audit_log ORDER BY seq")]


def test_a_ledger_with_transcripts_is_sound_for_both_verifiers(ledger: Path) -> None:
    report = verify(url_of(ledger))
    assert (report.exit_code, report.rows) == (0, ROWS + 2)
    assert check(ledger) == 0


def test_only_the_row_of_a_debate_names_a_transcript(ledger: Path) -> None:
    *without, decided, failed = details(ledger)
    assert not any("transcript" in detail for detail in without)
    assert (decided["transcript"], failed["transcript"]) == (sha256_hex(COMPLETED), sha256_hex(FAILED))


@pytest.mark.parametrize("transcript", [COMPLETED, FAILED])
@pytest.mark.parametrize("statement", ["UPDATE blob SET content = CAST(content || ' ' AS BLOB) WHERE sha256 = ?", "DELETE FROM blob WHERE sha256 = ?"])
def test_a_transcript_that_was_changed_or_taken_away_is_22_for_both_verifiers(ledger: Path, transcript: bytes, statement: str) -> None:
    with tampering(ledger) as connection:
        assert connection.execute(statement, (sha256_hex(transcript),)).rowcount == 1
    (finding,) = verify(url_of(ledger)).findings
    assert (finding.code, finding.seq) == (22, ROWS + (1 if transcript == COMPLETED else 2))
    assert check(ledger) == 22


@pytest.mark.parametrize("statement", ["UPDATE blob SET content = x'00' WHERE sha256 = ?", "DELETE FROM blob WHERE sha256 = ?"])
def test_a_transcript_that_is_not_what_it_was_cannot_be_read(ledger: Path, statement: str) -> None:
    with tampering(ledger) as connection:
        connection.execute(statement, (sha256_hex(COMPLETED),))
    with SqlStore.open(url_of(ledger), SteppingClock()) as store, pytest.raises(BooksUnsound, match=sha256_hex(COMPLETED)):
        store.transcript("d-debate")


def test_a_broken_chain_outweighs_a_missing_transcript(ledger: Path) -> None:
    with tampering(ledger) as connection:
        connection.execute("DELETE FROM blob WHERE sha256 = ?", (sha256_hex(COMPLETED),))
        connection.execute("UPDATE audit_log SET hash = zeroblob(32) WHERE seq = ?", (ROWS + 2,))
    assert (verify(url_of(ledger)).exit_code, check(ledger)) == (20, 20)
