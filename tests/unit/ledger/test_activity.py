"""Counts and sums over decisions and orders: by session key, of this portfolio, and only of what waits or was filled."""

from datetime import timedelta
from decimal import Decimal
from pathlib import Path

from alphaagent.domain.portfolio import Activity, Asked, OrderStatus, Portfolio
from alphaagent.domain.record import Request
from alphaagent.ledger.store import SqlStore
from alphaagent.ports import Claim
from tests import builders as build
from tests.builders import ABC, AS_OF, OPEN, SESSION, SETTLES, XYZ, SteppingClock, Waits, database_url

D = Decimal
NEXT = SESSION + timedelta(days=1)


def decided(
    store: SqlStore, desk: Portfolio, name: str, *, minutes: int = 0, slot: str = "manual", side: str | None = "BUY", quantity: str = "10", session: str = ""
) -> None:
    """One decision, with an order where a side is given."""
    at = AS_OF + timedelta(minutes=minutes)
    claim = store.claim(name, "r", Waits())
    assert isinstance(claim, Claim)
    made = build.record(name, as_of=at, slot=slot, portfolio=desk.name)
    if session:
        made = made.model_copy(update={"request": Request(**{**dict(made.request), "session": session})})
    order = build.order(name, desk, side=side, quantity=quantity, decided_at=at) if side else None
    with store.write() as books:
        books.record_decision(claim, made, order)


def test_activity_of_a_session(tmp_path: Path) -> None:
    with SqlStore.open(database_url(tmp_path), SteppingClock()) as store:
        with store.write() as books:
            books.register(XYZ)
            desk, other = (
                books.create_portfolio(name, currency="USD", kind="paper", mandate="default", cash=D(100_000), at=AS_OF) for name in ("default", "other")
            )
        decided(store, desk, "d-1")
        decided(store, desk, "d-2", minutes=5, side="SELL", quantity="4")
        decided(store, desk, "d-3", minutes=6, slot="sweep", quantity="20")
        decided(store, desk, "d-4", minutes=7, slot="sweep-close", side=None)
        decided(store, desk, "d-5", minutes=8, slot="again", side=None)
        decided(store, desk, "d-6", minutes=9, quantity="30")
        decided(store, other, "o-1", minutes=1, quantity="99")
        decided(store, desk, "n-1", minutes=60 * 20, session=NEXT.isoformat(), quantity="7")
        later = AS_OF + timedelta(days=2)
        with store.write() as books:
            settle = build.snapshot("settle")
            books.record_fill(build.order("d-1", desk), settle, build.ruling(settle), price=D(100), fee=D(0), at=OPEN, settle_on=SETTLES)
            books.record_unfilled(build.order("d-6", desk), OrderStatus.EXPIRED, "no bar", OPEN, None, None)
        with store.read() as books:
            seen = books.activity(desk, XYZ.id, SESSION, later)
            assert (seen.opening_orders, seen.reducing_orders, seen.ticker_proposals) == (2, 1, 4)
            assert seen.turnover == 30 * D("100.25")
            assert seen.ticker_orders == (
                Asked(side="BUY", asked=D(10), ordered=D(10)),
                Asked(side="SELL", asked=D(10), ordered=D(4)),
                Asked(side="BUY", asked=D(10), ordered=D(20)),
            )
            assert seen.recent_notionals == tuple(D(quantity) * D("100.25") for quantity in (7, 20, 10))
            assert (seen.last_buy_at, seen.last_sell_session) == (AS_OF + timedelta(hours=20), SESSION)
            assert books.activity(desk, XYZ.id, NEXT, later).opening_orders == 1
            early = books.activity(desk, XYZ.id, SESSION, AS_OF + timedelta(minutes=9))
            assert (early.opening_orders, early.last_buy_at) == (3, AS_OF + timedelta(minutes=9))
            about_another = books.activity(desk, ABC.id, SESSION, later)
            assert (about_another.opening_orders, about_another.ticker_orders, about_another.last_buy_at, about_another.ticker_proposals) == (2, (), None, 0)
            assert books.activity(desk, XYZ.id, SESSION, AS_OF - timedelta(days=9)) == Activity()
