"""Several processes at one ledger: one slot is decided once, cash is spent once, and a kill loses nothing that was acknowledged."""

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from decimal import Decimal
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from alphaagent.clock import WallClock
from alphaagent.domain.record import Usage
from alphaagent.domain.spend import SpendAsk
from alphaagent.errors import ProviderFault
from alphaagent.ledger.store import SqlStore
from alphaagent.ledger.verify import verify
from alphaagent.ports import Claim
from tests import builders as build
from tests.builders import AS_OF, XYZ, Waits, database_url

SPAWN = multiprocessing.get_context("spawn")
FORKED = multiprocessing.get_context("forkserver")
FORKED.set_forkserver_preload([__name__])
"""Processes out of one that has loaded the ledger and opened none, so that eight of them do not load it eight times."""
PROCESSES = 8
JOIN_SECONDS = 120
ROOT = Path(__file__).parents[2]


def run_all(work: Callable[..., None], url: str, count: int) -> list[tuple[str, str]]:
    """Runs a worker in several processes that start together; what they reported."""
    barrier, reports = FORKED.Barrier(count), FORKED.Queue()
    workers = [FORKED.Process(target=work, args=(url, n, barrier, reports)) for n in range(count)]
    for worker in workers:
        worker.start()
    found = [reports.get(timeout=JOIN_SECONDS) for _ in workers]
    for worker in workers:
        worker.join(JOIN_SECONDS)
        assert worker.exitcode == 0
    return found


def race_for_slot(url: str, n: int, barrier: Barrier, reports: "Queue[tuple[str, str]]") -> None:
    barrier.wait()
    with SqlStore.open(url, WallClock()) as store:
        with store.write() as books:
            books.register(XYZ)
            if books.portfolio("default") is None:
                books.create_portfolio("default", currency="USD", kind="paper", mandate="default", cash=Decimal(100_000), at=AS_OF)
        held = store.claim("one-slot", "r", time.sleep)
        if not isinstance(held, Claim):
            reports.put(("stored", held.record.decision_id))
            return
        time.sleep(0.3)  # the evidence and the debate
        with store.write() as books:
            books.record_decision(held, build.record(f"d-{n}"), None)
        reports.put(("made", f"d-{n}"))


def test_eight_processes_make_one_decision_on_a_ledger_that_none_of_them_had(tmp_path: Path) -> None:
    url = database_url(tmp_path)
    found = run_all(race_for_slot, url, PROCESSES)
    assert sorted(how for how, _ in found) == ["made"] + ["stored"] * (PROCESSES - 1)
    assert len({decision_id for _, decision_id in found}) == 1
    assert verify(url).exit_code == 0


def spend(url: str, n: int, barrier: Barrier, reports: "Queue[tuple[str, str]]") -> None:
    bought = 0
    with SqlStore.open(url, WallClock()) as store:
        barrier.wait()
        for attempt in range(5):
            name = f"d-{n}-{attempt}"
            held = store.claim(name, "r", time.sleep)
            assert isinstance(held, Claim)
            with store.write() as books:
                desk = books.portfolio("default")
                assert desk is not None
                state = books.account(desk)
                affordable = state.settled_cash - state.reserved() >= 1000
                books.record_decision(held, build.record(name), build.order(name, desk, reserved=Decimal(1000)) if affordable else None)
                bought += affordable
    reports.put(("bought", str(bought)))


def test_cash_for_ten_orders_makes_ten_orders(tmp_path: Path) -> None:
    url = database_url(tmp_path)
    with SqlStore.open(url, WallClock()) as store, store.write() as books:
        books.register(XYZ)
        books.create_portfolio("default", currency="USD", kind="paper", mandate="default", cash=Decimal(10_999), at=AS_OF)
    found = run_all(spend, url, PROCESSES // 2)
    assert sum(int(count) for _, count in found) == 10
    assert verify(url).exit_code == 0


def reserve(url: str, n: int, barrier: Barrier, reports: "Queue[tuple[str, str]]") -> None:
    asked = SpendAsk(AS_OF.date(), "default", "XYZ", "openai", "gpt-x", Decimal(1))
    with SqlStore.open(url, WallClock()) as store:
        barrier.wait()
        try:
            token = store.reserve_spend(asked, Decimal("3.5")).token
            if n % 2:  # the others end with their reservation open, as if they had died
                store.book_spend(token, Usage(calls=1), Decimal(1), None)
            reports.put(("reserved", token))
        except ProviderFault:
            reports.put(("refused", ""))


def test_a_ceiling_for_three_lets_three_of_eight_processes_spend(tmp_path: Path) -> None:
    url = database_url(tmp_path)
    with SqlStore.open(url, WallClock()) as store:
        found = run_all(reserve, url, PROCESSES)
        assert sorted(how for how, _ in found) == ["refused"] * (PROCESSES - 3) + ["reserved"] * 3
        spent = store.spent_on(AS_OF.date())
        assert spent.booked + spent.reserved == 3
    assert verify(url).exit_code == 0


def claim_and_hang(url: str, ready: "Queue[str]") -> None:
    with SqlStore.open(url, WallClock()) as store:
        held = store.claim("one-slot", "r", time.sleep)
        assert isinstance(held, Claim)
        ready.put(held.token)
        time.sleep(JOIN_SECONDS)


@pytest.mark.parametrize("reaped", [True, False])
def test_the_slot_of_a_killed_run_is_taken_over_at_once(tmp_path: Path, reaped: bool) -> None:
    url, ready = database_url(tmp_path), SPAWN.Queue()
    worker = SPAWN.Process(target=claim_and_hang, args=(url, ready))
    worker.start()
    lost = ready.get(timeout=JOIN_SECONDS)
    with SqlStore.open(url, WallClock()) as store:
        with pytest.raises(AssertionError, match="for ever"):
            store.claim("one-slot", "r", Waits(limit=2))
        assert worker.pid is not None
        os.kill(worker.pid, signal.SIGKILL)
        if reaped:
            worker.join(JOIN_SECONDS)
        held = store.claim("one-slot", "r", Waits(then=lambda: time.sleep(0.05)))
    worker.join(JOIN_SECONDS)
    assert isinstance(held, Claim)
    assert held.token != lost


WRITER = """
import sys
from itertools import count
from alphaagent.clock import WallClock
from alphaagent.ledger.store import SqlStore
from tests.builders import AS_OF
with SqlStore.open(sys.argv[1], WallClock()) as store:
    for n in count():
        with store.write() as books:
            ref = books.record_failure("XYZ", "default", "X", f"message {n}", AS_OF)
        print(ref.seq, ref.hash, flush=True)
"""


def test_a_kill_at_any_moment_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    url, chance, acknowledged = database_url(tmp_path), random.Random(7), []
    for _ in range(4):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, url], stdout=subprocess.PIPE, text=True, cwd=ROOT)
        assert writer.stdout is not None
        acknowledged.append(writer.stdout.readline().split())
        time.sleep(chance.uniform(0.0, 0.4))
        writer.kill()
        acknowledged += [line.split() for line in writer.stdout.read().splitlines() if len(line.split()) == 2]
        writer.wait()
        writer.stdout.close()
        report = verify(url)
        assert (report.exit_code, report.head and report.head.seq >= int(acknowledged[-1][0])) == (0, True)
    with SqlStore.open(url, WallClock()) as store, store.read() as books:
        assert books.soundness_fault() is None
        rows = dict(books._session.connection().exec_driver_sql("SELECT seq, lower(hex(hash)) FROM audit_log").all())
    assert all(rows[int(seq)] == digest for seq, digest in acknowledged)
