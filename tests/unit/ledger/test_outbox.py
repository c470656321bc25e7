"""The outbox: written with what it tells, claimed by one sender at a time, sent at least once, and given up after eight tries."""

import json
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from alphaagent.domain.base import instant_text
from alphaagent.domain.notice import TOPICS, Claimed, Notice, Routes
from alphaagent.ledger.audit import Event
from alphaagent.ledger.outbox import MOST_TRIES
from alphaagent.ledger.store import SqlStore
from alphaagent.ledger.telling import notices_of
from alphaagent.ledger.verify import read_anchors, verify
from alphaagent.ports import Claim
from tests import builders as build
from tests.builders import AS_OF, SteppingClock, Waits, database_url
from tests.independent_verify import check
from tests.unit.ledger.desks import ROWS, add_debates, add_lots, fill_desk, tampering
from tests.unit.ledger.test_atomicity import ACTS, strike_everywhere

EVERYTHING: Routes = dict.fromkeys(TOPICS, ("phone",))
LEASE = 60.0
PING = Notice("digest", "digest:1", {"title": "ping"})


@pytest.fixture
def clock() -> SteppingClock:
    return SteppingClock()


@pytest.fixture
def store(tmp_path: Path, clock: SteppingClock) -> Iterator[SqlStore]:
    with SqlStore.open(database_url(tmp_path), clock, routes=EVERYTHING) as opened:
        yield opened


def rows(store: SqlStore) -> list[dict[str, Any]]:
    with closing(sqlite3.connect(store.path)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute("SELECT * FROM outbox ORDER BY id")]


def claim(store: SqlStore) -> Claimed | None:
    return store.outbox.claim(("phone",), TOPICS, LEASE)


def claimed(store: SqlStore) -> Claimed:
    found = claim(store)
    assert found is not None
    return found


# What is announced


def test_where_nobody_is_configured_nothing_is_written_and_nobody_who_comes_later_hears_of_the_past(tmp_path: Path, clock: SteppingClock) -> None:
    with SqlStore.open(database_url(tmp_path), clock) as silent:
        fill_desk(silent)
        assert silent.outbox.announce(PING) == 0
        assert rows(silent) == []
    with SqlStore.open(database_url(tmp_path), clock, routes=EVERYTHING) as heard:
        assert claim(heard) is None
        with heard.write() as books:
            books.set_control("ACTIVE", "checked", "operator", AS_OF)
        assert [row["topic"] for row in rows(heard)] == ["control"]


def test_every_act_that_matters_is_told_once_by_its_most_telling_name(store: SqlStore) -> None:
    fill_desk(store)
    add_lots(store)
    add_debates(store)
    placed = [f"order:o-d-{n}:placed" for n in range(4)]
    assert [row["dedupe_key"] for row in rows(store)][:7] == [*placed, "order:o-d-0:filled", "order:o-d-1:expired", "order:o-d-2:rejected"]
    assert [row["topic"] for row in rows(store)][7:] == ["breaker", "frozen", "decision", "failure"]
    assert verify(f"sqlite:///{store.path}").exit_code == 0


def test_each_target_hears_what_it_asked_for(tmp_path: Path, clock: SteppingClock) -> None:
    routes: Routes = {"order": ("chat", "mail"), "decision": ("log",), "block": ("mail",)}
    with SqlStore.open(database_url(tmp_path), clock, routes=routes) as store:
        fill_desk(store)
        heard: dict[str, list[str]] = {}
        for row in rows(store):
            heard.setdefault(row["target"], []).append(row["topic"])
    assert heard == {"chat": ["order"] * 7, "mail": ["order"] * 7, "log": ["decision"] * 4}


def test_the_order_s_facts_are_those_of_the_books(store: SqlStore) -> None:
    fill_desk(store)
    placed, filled = (json.loads(rows(store)[n]["payload"]) for n in (0, 4))
    assert {name: placed[name] for name in ("order", "side", "quantity", "price", "fill_session", "action", "amount", "provenance", "portfolio", "ticker")} == {
        **{"order": "placed", "side": "BUY", "quantity": "10.0", "price": "100.25", "fill_session": "2024-01-04", "action": "BUY", "amount": "1000.0"},
        **{"provenance": "heuristic", "portfolio": "default", "ticker": "XYZ"},
    }
    assert placed["said"].startswith("Momentum is positive")
    assert (filled["order"], filled["price"], filled["at"]) == ("filled", "100.0", instant_text(build.OPEN))


def test_what_is_told_carries_an_anchor_that_holds(store: SqlStore) -> None:
    fill_desk(store)
    anchors = read_anchors("\n".join(json.loads(row["payload"])["anchor"] for row in rows(store)))
    assert [anchor.seq for anchor in anchors] == [3, 4, 5, 6, 7, 8, 9, 11]
    report = verify(f"sqlite:///{store.path}", anchors=anchors)
    assert (report.exit_code, report.not_anchored) == (0, 0)


@pytest.mark.parametrize(("actor", "topic"), [("operator", "control"), ("ann", "control"), ("guard", "breaker"), ("breaker", "breaker")])
def test_a_switch_that_the_program_turned_is_a_breaker(store: SqlStore, actor: str, topic: str) -> None:
    with store.write() as books:
        books.set_control("REDUCING", "drawdown", actor, AS_OF)
    (row,) = rows(store)
    assert (row["topic"], json.loads(row["payload"])["reason"]) == (topic, "drawdown")


def test_a_block_is_told_as_a_block_and_text_is_kept_short_and_inert(store: SqlStore) -> None:
    taken = store.claim("k", "r", Waits())
    assert isinstance(taken, Claim)
    seen = build.snapshot()
    reasoning = "buy\x1b[31m now\u202e " + "x" * 2000
    record = build.record("d-9", snapshot=seen, ruling=build.ruling(seen, outcome="BLOCK"), proposal=build.proposal(reasoning=reasoning))
    with store.write() as books:
        books.create_portfolio("default", currency="USD", kind="paper", mandate="default", cash=Decimal(1), at=AS_OF)
        books.record_decision(taken, record, None)
        books.record_failure("XYZ", "default", "PROVIDER", "lone \ud800 surrogate " + "y" * 2000, AS_OF)
    blocked, failed = (json.loads(row["payload"]) for row in rows(store))
    assert (blocked["codes"], rows(store)[0]["dedupe_key"]) == (["KILL_REDUCING"], "block:d-9:decide")
    assert (len(blocked["said"]), blocked["said"][:12], failed["said"][:16]) == (500, "buy [31m now", "lone   surrogate")


def test_a_pass_and_a_failure_of_several_names_are_one_notice_each() -> None:
    swept = {"decided": ("AAPL", "NVDA"), "undone": {"IBM": "failed NoEvidence"}, "settled": 1}
    (one,) = notices_of(Event("sweep", AS_OF, portfolio="default", detail=swept), "uuid 7 " + "ab" * 32, None)
    assert (one.topic, one.key) == ("sweep", "sweep:" + "ab" * 16)
    assert [one.facts[name] for name in ("decided", "undone", "who")] == [2, 1, "IBM failed NoEvidence"]
    (one,) = notices_of(Event("failure", AS_OF, codes=("SPEND",), detail={"tickers": ["AAPL", "NVDA"]}), "uuid 8 " + "cd" * 32, None, "no money")
    assert (one.topic, one.facts["ticker"], one.facts["said"]) == ("failure", "AAPL, NVDA", "no money")


@pytest.mark.parametrize("name", ["decide", "fill", "expire", "administer", "debate"])
def test_the_notice_and_the_act_are_one_transaction_at_every_statement(store: SqlStore, name: str) -> None:
    before, doing = ACTS[name]
    with store.write() as books:
        books.register(build.XYZ)
        books.create_portfolio("default", currency="USD", kind="paper", mandate="default", cash=Decimal(100_000), at=AS_OF)
    taken = store.claim("k", "r", Waits())
    assert isinstance(taken, Claim)
    for step in before:
        with store.write() as books:
            step(books, taken)
    told = len(rows(store))
    strike_everywhere(store, doing, taken)
    assert len(rows(store)) > told


def test_the_same_thing_is_announced_once(store: SqlStore) -> None:
    assert [store.outbox.announce(PING), store.outbox.announce(PING)] == [1, 0]
    assert len(rows(store)) == 1


# Sending


def test_the_oldest_comes_first_and_is_sent_once(store: SqlStore) -> None:
    for n in range(3):
        store.outbox.announce(Notice("digest", f"digest:{n}", {}))
    keys = []
    while found := claim(store):
        keys.append(found.notice.key)
        assert store.outbox.sent(found)
    assert keys == ["digest:0", "digest:1", "digest:2"]
    assert store.outbox.counts() == {"phone": {"waiting": 0, "sent": 3, "dead": 0}}


def test_a_sender_that_dies_before_it_marks_costs_a_repeat_and_no_loss(store: SqlStore, clock: SteppingClock) -> None:
    store.outbox.announce(PING)
    first = claimed(store)
    assert claim(store) is None
    clock.advance(LEASE)
    again = claimed(store)
    assert (again.notice.key, first.tries, again.tries) == (first.notice.key, 1, 2)
    assert store.outbox.sent(again)
    clock.advance(10 * LEASE)
    assert claim(store) is None


def test_a_sender_whose_lease_is_over_changes_nothing_any_more(store: SqlStore, clock: SteppingClock) -> None:
    store.outbox.announce(PING)
    slow = claimed(store)
    clock.advance(LEASE)
    quick = claimed(store)
    assert (store.outbox.sent(slow), store.outbox.failed(slow, 0, "refused")) == (False, False)
    assert store.outbox.sent(quick)
    assert not store.outbox.sent(quick)


def test_several_senders_at_once_share_the_work(store: SqlStore) -> None:
    for n in range(40):
        store.outbox.announce(Notice("digest", f"digest:{n}", {}))

    def send_all(_: int) -> list[str]:
        keys = []
        while found := claim(store):
            keys.append(found.notice.key)
            assert store.outbox.sent(found)
        return keys

    with ThreadPoolExecutor(4) as pool:
        sent = [key for keys in pool.map(send_all, range(4)) for key in keys]
    assert sorted(sent) == sorted(f"digest:{n}" for n in range(40))


def test_only_what_is_asked_for_is_claimed(store: SqlStore) -> None:
    store.outbox.announce(PING)
    assert store.outbox.claim(("mail",), TOPICS, LEASE) is None
    assert store.outbox.claim(("phone",), ("order",), LEASE) is None
    assert store.outbox.claim((), (), LEASE) is None
    assert claim(store) is not None


def test_a_failed_try_rests_and_lets_the_next_one_pass(store: SqlStore, clock: SteppingClock) -> None:
    store.outbox.announce(PING)
    store.outbox.announce(Notice("digest", "digest:2", {}))
    poison = claimed(store)
    store.outbox.failed(poison, 300, "refused")
    assert claimed(store).notice.key == "digest:2"
    clock.advance(299)
    assert [row["key"] for row in store.outbox.unsent(5) if row["last_fault"] == "refused"] == ["digest:1"]
    clock.advance(1)
    assert claimed(store).notice.key == "digest:1"


def test_after_eight_tries_it_is_a_dead_letter_with_one_audit_row(store: SqlStore, clock: SteppingClock) -> None:
    store.outbox.announce(PING)
    for n in range(MOST_TRIES):
        assert store.outbox.bury(("phone",)) == 0, n
        store.outbox.failed(claimed(store), 0, "refused")
    assert claim(store) is None
    assert [store.outbox.bury(("phone",)), store.outbox.bury(("phone",))] == [1, 0]
    assert store.outbox.counts() == {"phone": {"waiting": 0, "sent": 0, "dead": 1}}
    with closing(sqlite3.connect(store.path)) as connection:
        kinds = connection.execute("SELECT kind, payload FROM audit_log").fetchall()
    assert [kind for kind, _ in kinds] == ["notification_dead"]
    assert json.loads(kinds[0][1])["detail"] == {"topic": "digest", "target": "phone", "key": "digest:1", "attempts": MOST_TRIES}
    assert (verify(f"sqlite:///{store.path}").exit_code, check(store.path)) == (0, 0)


def test_a_sender_that_dies_every_time_makes_a_dead_letter_too(store: SqlStore, clock: SteppingClock) -> None:
    store.outbox.announce(PING)
    for _ in range(MOST_TRIES):
        claimed(store)
        clock.advance(LEASE - 1)
        assert store.outbox.bury(("phone",)) == 0
        clock.advance(1)
    assert claim(store) is None
    assert store.outbox.bury(("phone",)) == 1


def test_what_waits_for_a_target_that_was_removed_is_given_up_after_a_day(store: SqlStore, clock: SteppingClock) -> None:
    store.outbox.announce(PING)
    clock.advance(24 * 3600 - 60)
    assert store.outbox.bury(("mail",)) == 0, "the file may be changed once more"
    clock.advance(60)
    assert store.outbox.bury(("phone", "mail")) == 0
    assert [store.outbox.bury(("mail",)), store.outbox.bury(())] == [1, 0]
    assert store.outbox.counts() == {"phone": {"waiting": 0, "sent": 0, "dead": 1}}
    assert verify(f"sqlite:///{store.path}").exit_code == 0


def test_a_payload_that_somebody_made_unreadable_holds_nothing_up(store: SqlStore) -> None:
    store.outbox.announce(PING)
    for text in ("{", "[1]"):
        with closing(sqlite3.connect(store.path)) as connection, connection:
            connection.execute("DROP TRIGGER IF EXISTS outbox_no_update")
            connection.execute("UPDATE outbox SET payload = ?, claimed_until = NULL", (text,))
        assert claimed(store).notice.facts == {}


# The table


@pytest.mark.parametrize(
    "change",
    ["topic = 'order'", "target = 'me'", "dedupe_key = 'x'", "payload = '{}'", "created_at = 0", "attempts = attempts - 1", "id = 99"],
)
def test_what_was_announced_stays_as_it_was_announced(store: SqlStore, change: str) -> None:
    store.outbox.announce(PING)
    with closing(sqlite3.connect(store.path)) as connection, pytest.raises(sqlite3.IntegrityError, match="sent once"):
        connection.execute(f"UPDATE outbox SET {change}")


def test_what_is_sent_cannot_be_unsent_and_nothing_is_deleted(store: SqlStore) -> None:
    store.outbox.announce(PING)
    store.outbox.sent(claimed(store))
    with closing(sqlite3.connect(store.path)) as connection:
        with pytest.raises(sqlite3.IntegrityError, match="sent once"):
            connection.execute("UPDATE outbox SET sent_at = NULL")
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute("DELETE FROM outbox")


def test_the_verifier_asks_nothing_of_the_outbox(store: SqlStore) -> None:
    fill_desk(store)
    with tampering(store.path) as connection:
        connection.execute("DROP TABLE outbox")
    report = verify(f"sqlite:///{store.path}")
    assert (report.exit_code, report.rows, check(store.path)) == (0, ROWS, 0)


def test_what_the_schedule_wrote_down_is_there_after_a_restart(store: SqlStore, clock: SteppingClock) -> None:
    assert store.remembered("sweep:XNYS") is None
    for value in ("a", "b"):
        store.remember("sweep:XNYS", value)
    with SqlStore.open(f"sqlite:///{store.path}", clock) as again:
        assert again.remembered("sweep:XNYS") == "b"
    with store.read() as books:
        assert books.soundness_fault() is None
    clock.at += timedelta(days=1)
    assert verify(f"sqlite:///{store.path}").exit_code == 0
