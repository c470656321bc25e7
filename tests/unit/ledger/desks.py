"""A small ledger with one of everything in it, and ways to tamper with it as someone who owns the file can."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

from alphaagent.domain.base import sha256_hex
from alphaagent.domain.debate import DebateSummary, EngineResult
from alphaagent.domain.lots import OpeningLot
from alphaagent.domain.market import CorporateAction
from alphaagent.domain.portfolio import OrderStatus
from alphaagent.domain.record import Usage
from alphaagent.domain.spend import SpendAsk
from alphaagent.ledger.schema import APPEND_ONLY
from alphaagent.ledger.store import SqlStore
from alphaagent.ports import Claim
from tests import builders as build
from tests.builders import AS_OF, OPEN, SETTLES, XYZ, SteppingClock, Waits

ROWS = 11
LEDGER_UUID = "6f1c7c1e-0f53-4c0e-9c53-0d5a7a5f0001"


def fill_desk(store: SqlStore) -> None:
    """Eleven audit rows: every kind of event, a filled, an expired, a refused and a pending order."""
    claims = [store.claim(f"k-{n}", "r", Waits()) for n in range(4)]
    settle = build.snapshot("settle")
    with store.write() as books:
        books.register(XYZ)
        desk = books.create_portfolio("default", currency="USD", kind="paper", mandate="default", cash=Decimal(100_000), at=AS_OF)
        books.record_limits(desk, build.ruling(settle).limits_hash, b'{"name":"default"}', AS_OF)
        orders = [build.order(f"d-{n}", desk) for n in range(4)]
        for n, (claim, order) in enumerate(zip(claims, orders, strict=True)):
            assert isinstance(claim, Claim)
            books.record_decision(claim, build.record(f"d-{n}"), order)
        books.record_fill(orders[0], settle, build.ruling(settle), price=Decimal(100), fee=Decimal(1), at=OPEN, settle_on=SETTLES)
        books.record_unfilled(orders[1], OrderStatus.EXPIRED, "no bar", OPEN, None, None)
        books.record_unfilled(orders[2], OrderStatus.REJECTED, "refused", OPEN, settle, build.ruling(settle, outcome="BLOCK"))
        ex = OPEN + timedelta(days=1)
        books.record_action(desk, XYZ, CorporateAction("dividend", ex.date(), Decimal("0.5"), ex), ex)
        books.set_control("REDUCING", "drawdown", "breaker", ex)


def add_lots(store: SqlStore) -> None:
    """Another portfolio with imported lots, of which the name is then frozen: three audit rows."""
    ex = OPEN + timedelta(days=1)
    with store.write() as books:
        moved = books.create_portfolio("moved", currency="USD", kind="paper", mandate="default", cash=Decimal(0), at=AS_OF)
        lots = [OpeningLot(instrument=XYZ, quantity=Decimal(n), cost=Decimal(90), acquired=AS_OF.date()) for n in (1, 2)]
        books.record_import(moved, lots, Decimal(25), "0" * 64, AS_OF)
        books.record_action(moved, XYZ, CorporateAction("unknown", ex.date(), Decimal(0), ex, note="spin_off"), ex)


COMPLETED, FAILED = b'{"status":"completed"}', b'{"status":"failed"}'


def add_debates(store: SqlStore) -> None:
    """A decision that was debated and a debate that failed: two audit rows."""
    claim = store.claim("k-debate", "r", Waits())
    assert isinstance(claim, Claim)
    with store.write() as books:
        books.record_decision(claim, build.record("d-debate", provenance="crew", transcript_sha256=sha256_hex(COMPLETED)), None, COMPLETED)
        books.record_failure("XYZ", "default", "PROVIDER", "no answer", AS_OF, FAILED)


def add_classes(store: SqlStore) -> None:
    """A debate that was classed and one without an exchange: two audit rows."""
    for name, plan, found in (("earned", "standard", "earned"), ("quick", "quick", None)):
        claim = store.claim(f"k-{name}", "r", Waits())
        assert isinstance(claim, Claim)
        debate = DebateSummary(plan=plan, rounds=(), outcome=None, debate_class=found, flags=())  # type: ignore[arg-type]
        result = EngineResult(engine="crew", proposal_text="{}", bull_case=build.case("bull"), bear_case=build.case("bear"), debate=debate)
        with store.write() as books:
            books.record_decision(claim, build.record(f"d-{name}", provenance="crew", result=result), None)


def add_spend(store: SqlStore) -> None:
    """What was spent on two debates, one that has no price, and one whose process died: three audit rows."""
    for model, most, cost in (("small", "1", "0.25"), ("large", "2", "1.5"), ("free", None, None)):
        ask = SpendAsk(AS_OF.date(), "default", "XYZ", "openai", model, Decimal(most) if most else None)
        usage = Usage(calls=3, prompt_tokens=900, completion_tokens=100)
        store.book_spend(store.reserve_spend(ask, None).token, usage, Decimal(cost) if cost else None, "d-0")
    store.reserve_spend(SpendAsk(AS_OF.date(), "default", "XYZ", "openai", "large", Decimal(2)), None)


def make_desk(folder: Path) -> Path:
    """The ledger as one plain file, closed and checkpointed."""
    with SqlStore.open(build.database_url(folder), SteppingClock(), ledger_uuid=LEDGER_UUID) as store:
        fill_desk(store)
    return folder / "ledger.db"


def copy_of(ledger: Path, folder: Path) -> Path:
    return Path(shutil.copy(ledger, folder / "ledger.db"))


@contextmanager
def tampering(ledger: Path) -> Iterator[sqlite3.Connection]:
    """The file in the hands of its owner: no triggers, no foreign keys."""
    with closing(sqlite3.connect(ledger, isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys=OFF")
        for table in (*APPEND_ONLY, "model_spend"):
            for verb in ("update", "delete"):
                connection.execute(f"DROP TRIGGER IF EXISTS {table}_no_{verb}")
        yield connection


def url_of(ledger: Path) -> str:
    return f"sqlite:///{ledger}"
