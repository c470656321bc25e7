"""All or nothing: an exception at any statement of an act leaves the file as it was, and the act can be repeated."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from sqlalchemy import event

from alphaagent.domain.base import sha256_hex
from alphaagent.domain.market import CorporateAction
from alphaagent.domain.portfolio import OrderStatus
from alphaagent.domain.record import Usage
from alphaagent.domain.spend import SpendAsk
from alphaagent.ledger import spend
from alphaagent.ledger.books import SqlBooks
from alphaagent.ledger.store import SqlStore
from alphaagent.ledger.verify import verify
from alphaagent.ports import Claim
from tests import builders as build
from tests.builders import AS_OF, OPEN, SETTLES, XYZ, SteppingClock, Waits, database_url


class Struck(Exception):
    """The power goes at this statement."""


def decide(books: SqlBooks, claim: Claim) -> None:
    desk = books.portfolio("default")
    assert desk is not None
    books.record_decision(claim, build.record("d-1"), build.order("d-1", desk))


def settle(books: SqlBooks, claim: Claim) -> None:
    (order,) = books.due_orders(None, build.FILL_SESSION)
    seen = build.snapshot("settle")
    books.record_fill(order, seen, build.ruling(seen), price=Decimal(100), fee=Decimal(1), at=OPEN, settle_on=SETTLES)


def expire(books: SqlBooks, claim: Claim) -> None:
    (order,) = books.due_orders(None, build.FILL_SESSION)
    books.record_unfilled(order, OrderStatus.EXPIRED, "no bar", OPEN, None, None)


def act(books: SqlBooks, claim: Claim) -> None:
    desk = books.portfolio("default")
    assert desk is not None
    ex = OPEN + timedelta(days=1)
    books.record_action(desk, XYZ, CorporateAction("split", ex.date(), Decimal(2), ex), ex)


def administer(books: SqlBooks, claim: Claim) -> None:
    desk = books.create_portfolio("other", currency="USD", kind="paper", mandate="default", cash=Decimal(5), at=AS_OF)
    books.deposit(desk, Decimal(5), AS_OF)
    books.record_limits(desk, "h", b"{}", AS_OF)
    books.record_failure("XYZ", "other", "X", "message", AS_OF)
    books.set_control("HALTED", "x", "ann", AS_OF)


def debate(books: SqlBooks, claim: Claim) -> None:
    books.record_decision(claim, build.record("d-1", transcript_sha256=sha256_hex(b"{}")), None, b"{}")
    books.record_failure("XYZ", "default", "PROVIDER", "message", AS_OF, b"[]")


def pay(books: SqlBooks, claim: Claim) -> None:
    ask = SpendAsk(AS_OF.date(), "default", "XYZ", "openai", "gpt-x", Decimal(1))
    reserved = spend.reserve(books._journal, ask, Decimal(5), AS_OF)
    spend.book(books._journal, reserved.token, Usage(calls=1), Decimal("0.5"), "d-1", AS_OF)


ACTS: dict[str, tuple[list[Callable[[SqlBooks, Claim], None]], Callable[[SqlBooks, Claim], None]]] = {
    "decide": ([], decide),
    "fill": ([decide], settle),
    "expire": ([decide], expire),
    "split": ([decide, settle], act),
    "administer": ([], administer),
    "debate": ([], debate),
    "pay": ([], pay),
}


@pytest.mark.parametrize("name", ACTS)
def test_an_exception_at_any_statement_leaves_nothing(tmp_path: Path, name: str) -> None:
    before, doing = ACTS[name]
    url = database_url(tmp_path)
    with SqlStore.open(url, SteppingClock()) as store:
        with store.write() as books:
            books.register(XYZ)
            books.create_portfolio("default", currency="USD", kind="paper", mandate="default", cash=Decimal(100_000), at=AS_OF)
        claim = store.claim("k", "r", Waits())
        assert isinstance(claim, Claim)
        for step in before:
            with store.write() as books:
                step(books, claim)
        struck = strike_everywhere(store, doing, claim)
    assert struck > 5
    assert verify(url).exit_code == 0


def strike_everywhere(store: SqlStore, doing: Callable[[SqlBooks, Claim], None], claim: Claim) -> int:
    """Fails at the first statement, then at the second, and so on, until the act goes through; says how many there were."""
    untouched = content(store.path)
    for n in range(500):
        if not struck_at(store, doing, claim, n):
            assert content(store.path) != untouched
            return n
        assert content(store.path) == untouched, n
    raise AssertionError("an act of more than 500 statements")


def struck_at(store: SqlStore, doing: Callable[[SqlBooks, Claim], None], claim: Claim, n: int) -> bool:
    seen = iter(range(10_000))

    def strike(connection: object, cursor: object, statement: str, *rest: object) -> None:
        if next(seen) == n:
            raise Struck(statement)

    event.listen(store._writer, "after_cursor_execute", strike)
    try:
        with store.write() as books:
            doing(books, claim)
    except Struck:
        return True
    finally:
        event.remove(store._writer, "after_cursor_execute", strike)
    return False


def content(ledger: Path) -> list[str]:
    """Every row of every table, as a reader sees it."""
    with closing(sqlite3.connect(f"{ledger.as_uri()}?mode=ro", uri=True)) as connection:
        return list(connection.iterdump())


def test_an_exception_at_the_commit_leaves_nothing(tmp_path: Path) -> None:
    def strike(connection: object) -> None:
        raise Struck

    with SqlStore.open(database_url(tmp_path), SteppingClock()) as store:
        untouched = content(store.path)
        event.listen(store._writer, "commit", strike)
        with pytest.raises(Struck), store.write() as books:
            books.record_failure("XYZ", "default", "X", "message", AS_OF)
        event.remove(store._writer, "commit", strike)
        assert content(store.path) == untouched
        with store.write() as books:
            assert books.record_failure("XYZ", "default", "X", "message", AS_OF).seq == 1
