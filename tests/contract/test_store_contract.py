"""What any Store must do, whatever it keeps its books in. A new one joins by a line in STORES."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from alphaagent.domain.base import canonical, sha256_hex
from alphaagent.domain.market import CorporateAction
from alphaagent.domain.portfolio import Account, Order, OrderStatus, Portfolio
from alphaagent.domain.record import DecisionRecord, Usage
from alphaagent.domain.spend import SpendAsk, SpendLimit, SpendTotal
from alphaagent.domain.sweep import Swept
from alphaagent.errors import AlphaAgentError, ProviderFault, SpendRefused, UsageFault
from alphaagent.ledger.store import SqlStore
from alphaagent.ports import AuditRef, Books, Claim, Store, StoredDecision
from tests import builders as build
from tests.builders import ABC, AS_OF, FILL_SESSION, OPEN, SETTLES, XYZ, SteppingClock, Waits

STORES: dict[str, Callable[[Path, SteppingClock], Store]] = {"sqlite": lambda folder, clock: SqlStore.open(build.database_url(folder), clock)}


@pytest.fixture
def clock() -> SteppingClock:
    return SteppingClock()


@pytest.fixture(params=sorted(STORES))
def store(request: pytest.FixtureRequest, tmp_path: Path, clock: SteppingClock) -> Iterator[Store]:
    made = STORES[request.param](tmp_path, clock)
    yield made
    made.close()  # type: ignore[attr-defined]


@pytest.fixture
def desk(store: Store) -> Portfolio:
    with store.write() as books:
        books.register(XYZ)
        return books.create_portfolio("default", currency="USD", kind="paper", mandate="default", cash=Decimal(100_000), at=AS_OF - timedelta(seconds=1))


def claimed(store: Store, key: str = "k", request_hash: str = "r") -> Claim:
    claim = store.claim(key, request_hash, Waits())
    assert isinstance(claim, Claim)
    return claim


def decide(store: Store, desk: Portfolio, decision_id: str = "d-1", *, ordered: bool = True, **order: object) -> Order | None:
    made = build.order(decision_id, desk, **order) if ordered else None  # type: ignore[arg-type]
    claim = claimed(store, key=f"k-{decision_id}")
    with store.write() as books:
        books.record_decision(claim, build.record(decision_id, as_of=made.decided_at if made else AS_OF), made)
    return made


def fill(store: Store, order: Order, *, price: str = "100", fee: str = "1", at: datetime = OPEN, settle_on: date = SETTLES, quantity: str = "10") -> AuditRef:
    seen = build.snapshot("settle", book_time=at)
    with store.write() as books:
        ruled = build.ruling(seen, quantity, side=order.side)
        return books.record_fill(order, seen, ruled, price=Decimal(price), fee=Decimal(fee), at=at, settle_on=settle_on)


def account(store: Store, desk: Portfolio, at: datetime | None = None) -> Account:
    with store.read() as books:
        return books.account(desk, at=at)


# Portfolios


def test_a_portfolio_opens_with_its_cash(store: Store, desk: Portfolio) -> None:
    state = account(store, desk)
    assert (state.cash, state.settled_cash, state.positions, state.pending) == (100_000, 100_000, (), ())
    assert state.book_time == desk.opened_at == AS_OF - timedelta(seconds=1)
    with store.read() as books:
        assert books.portfolio("default") == desk
        assert books.portfolios() == (desk,)
        assert books.portfolio("other") is None


def test_a_name_is_taken_once(store: Store, desk: Portfolio) -> None:
    with pytest.raises(UsageFault), store.write() as books:
        books.create_portfolio("default", currency="USD", kind="paper", mandate="default", cash=Decimal(1), at=AS_OF)


def test_a_portfolio_may_open_empty(store: Store) -> None:
    with store.write() as books:
        desk = books.create_portfolio("empty", currency="USD", kind="backtest", mandate="backtest", cash=Decimal(0), at=AS_OF)
    assert (account(store, desk).cash, account(store, desk).book_time) == (0, AS_OF)


def test_money_comes_and_goes(store: Store, desk: Portfolio) -> None:
    with store.write() as books:
        books.deposit(desk, Decimal("50.25"), AS_OF)
        books.withdraw(desk, Decimal("100.25"), AS_OF)
    assert account(store, desk).cash == 99_950
    for amount in ("0", "-1"):
        with pytest.raises(UsageFault), store.write() as books:
            books.deposit(desk, Decimal(amount), AS_OF)
    for amount in ("0", "-1", "99950.01"):
        with pytest.raises(UsageFault), store.write() as books:
            books.withdraw(desk, Decimal(amount), AS_OF)


# Decisions


def test_a_decision_comes_back_byte_for_byte(store: Store, desk: Portfolio) -> None:
    decide(store, desk)
    stored = store.decision("d-1")
    assert stored is not None
    assert canonical(stored.record) == canonical(build.record("d-1"))
    assert stored.rulings == ((stored.record.snapshot, stored.record.ruling),)
    assert stored.order == build.order("d-1", desk)
    assert store.decision("d-2") is None


def test_a_decision_without_a_proposal_or_an_order_is_stored_too(store: Store, desk: Portfolio) -> None:
    claim = claimed(store)
    with store.write() as books:
        ref = books.record_decision(claim, build.record("d-1", proposal=None), None)
    stored = store.decision("d-1")
    assert stored is not None
    assert (stored.order, stored.record.proposal, stored.audit) == (None, None, ref)


def test_decisions_are_listed_newest_first_and_filtered(store: Store, desk: Portfolio) -> None:
    for name in ("d-1", "d-2", "d-3"):
        decide(store, desk, name, ordered=False)
    assert [found.record.decision_id for found in store.decisions(limit=2)] == ["d-3", "d-2"]
    assert len(store.decisions(ticker="XYZ", portfolio="default")) == 3
    assert not store.decisions(ticker="ABC")
    assert not store.decisions(portfolio="other")


TRANSCRIPT = b'{"schema_version":1,"status":"completed"}'


def debated(decision_id: str = "d-1", transcript: bytes = TRANSCRIPT) -> DecisionRecord:
    return build.record(decision_id, provenance="crew", transcript_sha256=sha256_hex(transcript))


def test_the_transcript_of_a_debate_comes_back_byte_for_byte(store: Store, desk: Portfolio) -> None:
    claim = claimed(store)
    with store.write() as books:
        books.record_decision(claim, debated(), build.order("d-1", desk), TRANSCRIPT)
    stored = store.decision("d-1")
    assert stored is not None
    assert stored.record.transcript_sha256 == sha256_hex(TRANSCRIPT)
    assert store.transcript("d-1") == TRANSCRIPT


def test_without_a_debate_there_is_no_transcript(store: Store, desk: Portfolio) -> None:
    decide(store, desk)
    assert store.transcript("d-1") is None
    assert store.transcript("d-2") is None


@pytest.mark.parametrize("case", ["another", "none given", "none named"])
def test_a_transcript_that_the_record_does_not_name_is_refused(store: Store, desk: Portfolio, case: str) -> None:
    claim = claimed(store)
    record = build.record("d-1") if case == "none named" else debated()
    given = {"another": TRANSCRIPT + b" ", "none given": None, "none named": TRANSCRIPT}[case]
    with pytest.raises(AlphaAgentError, match="transcript of decision d-1"), store.write() as books:
        books.record_decision(claim, record, None, given)
    assert store.decision("d-1") is None


def test_two_decisions_may_have_the_same_transcript_and_a_failure_too(store: Store, desk: Portfolio) -> None:
    for name in ("d-1", "d-2"):
        claim = claimed(store, key=name)
        with store.write() as books:
            books.record_decision(claim, debated(name), None, TRANSCRIPT)
            books.record_failure("XYZ", "default", "PROVIDER", "outage", AS_OF, TRANSCRIPT)
    assert store.transcript("d-1") == store.transcript("d-2") == TRANSCRIPT


def test_an_order_of_another_decision_or_an_unknown_instrument_is_refused(store: Store, desk: Portfolio) -> None:
    claim = claimed(store)
    for order in (build.order("d-9", desk), build.order("d-1", desk, portfolio_id=99), build.order("d-1", desk, status=OrderStatus.FILLED)):
        with pytest.raises(AlphaAgentError, match="not a new order"), store.write() as books:
            books.record_decision(claim, build.record("d-1"), order)
    with pytest.raises(UsageFault, match="does not know"), store.write() as books:
        books.record_decision(claim, build.record("d-1", instrument_id=ABC.id), build.order("d-1", desk, instrument_id=ABC.id))


def test_a_ruling_on_another_snapshot_is_refused(store: Store, desk: Portfolio) -> None:
    claim = claimed(store)
    other = build.ruling(build.snapshot(price=Decimal(1)))
    with pytest.raises(AlphaAgentError), store.write() as books:
        books.record_decision(claim, build.record("d-1", ruling=other), None)


def test_a_failed_write_leaves_nothing(store: Store, desk: Portfolio) -> None:
    claim = claimed(store)

    def write_then_fail() -> None:
        with store.write() as books:
            books.record_decision(claim, build.record("d-1"), build.order("d-1", desk))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_then_fail()
    assert store.decision("d-1") is None
    assert not account(store, desk).pending
    with store.write() as books:
        books.record_decision(claim, build.record("d-1"), None)


# Orders


def test_a_pending_order_reserves_cash_and_a_fill_moves_it(store: Store, desk: Portfolio) -> None:
    order = decide(store, desk)
    assert order is not None
    assert account(store, desk).reserved() == Decimal("1003.5")
    fill(store, order)
    state = account(store, desk)
    assert (state.cash, state.settled_cash, state.reserved(), state.book_time) == (98_999, 98_999, 0, OPEN)
    assert [(held.symbol, held.quantity, held.cost) for held in state.positions] == [("XYZ", 10, 1001)]
    stored = store.decision("d-1")
    assert stored is not None
    assert stored.order is not None
    assert (stored.order.status, stored.order.price, stored.order.quantity) == (OrderStatus.FILLED, 100, 10)
    assert [ruled.stage for _, ruled in stored.rulings] == ["decide", "settle"]


def test_a_fill_is_for_what_the_guard_let_through(store: Store, desk: Portfolio) -> None:
    order = decide(store, desk)
    assert order is not None
    fill(store, order, quantity="4")
    assert account(store, desk).held(XYZ.id) == 4


def test_proceeds_settle_on_their_date(store: Store, desk: Portfolio) -> None:
    bought = decide(store, desk)
    assert bought is not None
    fill(store, bought)
    later = OPEN + timedelta(days=1)
    sold = decide(store, desk, "d-2", side="SELL", decided_at=OPEN + timedelta(hours=1), fill_session=SETTLES)
    assert sold is not None
    fill(store, sold, price="110", at=later, settle_on=date(2024, 1, 8))
    state = account(store, desk)
    assert (state.cash, state.settled_cash, state.positions) == (100_098, 98_999, ())
    assert account(store, desk, datetime.fromisoformat("2024-01-08T00:00:00+00:00")).settled_cash == 100_098


def test_the_state_at_an_instant_is_what_was_made_up_to_it(store: Store, desk: Portfolio) -> None:
    order = decide(store, desk)
    assert order is not None
    fill(store, order)
    before = account(store, desk, OPEN - timedelta(microseconds=1))
    assert (before.cash, before.positions, before.pending, before.book_time) == (100_000, (), (order,), AS_OF)
    assert account(store, desk, AS_OF - timedelta(microseconds=1)).pending == ()
    assert account(store, desk, OPEN) == account(store, desk)


def test_an_order_has_one_end(store: Store, desk: Portfolio) -> None:
    order = decide(store, desk)
    assert order is not None
    fill(store, order)
    with pytest.raises(UsageFault):
        fill(store, order)
    with pytest.raises(UsageFault), store.write() as books:
        books.record_unfilled(order, OrderStatus.EXPIRED, "late", OPEN, None, None)


def test_shares_that_are_not_there_are_never_sold(store: Store, desk: Portfolio) -> None:
    order = decide(store, desk, side="SELL")
    assert order is not None
    with pytest.raises(AlphaAgentError, match="are held"):
        fill(store, order)


def test_an_order_can_expire_or_be_refused_at_settlement(store: Store, desk: Portfolio) -> None:
    first, second = decide(store, desk, "d-1"), decide(store, desk, "d-2")
    assert first is not None
    assert second is not None
    seen = build.snapshot("settle")
    refused = build.ruling(seen, outcome="BLOCK")
    with pytest.raises(AlphaAgentError), store.write() as books:
        books.record_fill(second, seen, refused, price=Decimal(1), fee=Decimal(0), at=OPEN, settle_on=SETTLES)
    with store.write() as books:
        books.record_unfilled(first, OrderStatus.EXPIRED, "no bar", OPEN, None, None)
        books.record_unfilled(second, OrderStatus.REJECTED, "halted", OPEN, seen, refused)
    assert account(store, desk).pending == ()
    stored = [store.decision(name) for name in ("d-1", "d-2")]
    assert [found.order.status for found in stored if found and found.order] == ["expired", "rejected"]
    assert [len(found.rulings) for found in stored if found] == [1, 2]


def test_orders_fall_due_at_their_session_oldest_first(store: Store, desk: Portfolio) -> None:
    decide(store, desk, "d-b", decided_at=AS_OF + timedelta(seconds=1))
    decide(store, desk, "d-a", decided_at=AS_OF)
    decide(store, desk, "d-c", fill_session=FILL_SESSION + timedelta(days=1))
    with store.read() as books:
        assert [order.decision_id for order in books.due_orders(desk, FILL_SESSION)] == ["d-a", "d-b"]
        assert len(books.due_orders(None, FILL_SESSION + timedelta(days=1))) == 3
        assert books.due_orders(None, FILL_SESSION - timedelta(days=1)) == ()


# Corporate actions and instruments


def action(kind: str, value: str, known_at: datetime = OPEN + timedelta(days=1)) -> CorporateAction:
    return CorporateAction(kind, known_at.date(), Decimal(value), known_at)  # type: ignore[arg-type]


def test_a_split_and_a_dividend_are_booked_once_on_what_was_held(store: Store, desk: Portfolio) -> None:
    order = decide(store, desk)
    assert order is not None
    fill(store, order)
    late = OPEN + timedelta(days=3)
    with store.write() as books:
        assert books.record_action(desk, XYZ, action("split", "4"), late) is not None
        assert books.record_action(desk, XYZ, action("split", "4"), late) is None
        assert books.record_action(desk, XYZ, action("dividend", "0.245", OPEN + timedelta(days=2)), late) is not None
        assert books.record_action(desk, ABC, action("split", "4"), late) is None
    state = account(store, desk)
    assert (state.held(XYZ.id), state.cash, state.positions[0].cost) == (40, Decimal("99008.8"), 1001)
    assert account(store, desk, OPEN).held(XYZ.id) == 10


def test_shares_bought_at_the_open_of_the_ex_date_get_neither(store: Store, desk: Portfolio) -> None:
    order = decide(store, desk)
    assert order is not None
    fill(store, order)
    with store.write() as books:
        assert books.record_action(desk, XYZ, action("split", "4", OPEN), OPEN) is None
        assert books.record_action(desk, XYZ, action("dividend", "1", OPEN), OPEN) is None


def test_instruments_are_known_once_and_may_change_their_name(store: Store, desk: Portfolio) -> None:
    order = decide(store, desk)
    assert order is not None
    fill(store, order)
    renamed = XYZ.model_copy(update={"symbol": "XYZ2", "aliases": ("XYZ",)})
    with store.write() as books:
        books.register(XYZ)
        assert books.held_instruments(desk) == (XYZ,)
        books.register(renamed)
        assert books.held_instruments(desk) == (renamed,)
        assert books.account(desk).positions[0].symbol == "XYZ2"


# Kill switch and mandates


def test_a_new_ledger_is_active_and_a_change_is_recorded_once(store: Store, desk: Portfolio) -> None:
    with store.write() as books:
        control = books.control()
        assert control is not None
        assert control.state == "ACTIVE"
        assert books.set_control("ACTIVE", "again", "ann", AS_OF) is None
        first = books.set_control("HALTED", "fire", "ann", AS_OF)
        assert first is not None
        assert books.set_control("HALTED", "fire again", "bob", AS_OF) is None
        changed = books.control()
        assert changed is not None
        assert (changed.state, changed.reason, changed.changed_at) == ("HALTED", "fire", AS_OF)
        resumed = books.set_control("ACTIVE", "out", "ann", AS_OF)
        assert resumed is not None
        assert resumed.seq == first.seq + 1


def test_a_mandate_is_put_on_file_when_it_changes(store: Store, desk: Portfolio) -> None:
    with store.write() as books:
        assert books.limits_on_file(desk) is None
        assert books.record_limits(desk, "a", b"{}", AS_OF) is not None
        assert books.record_limits(desk, "a", b"{}", AS_OF) is None
        assert books.record_limits(desk, "b", b"{1}", AS_OF) is not None
        assert books.record_limits(desk, "a", b"{}", AS_OF) is not None
        assert books.limits_on_file(desk) == "a"


def test_every_act_appends_exactly_one_audit_row(store: Store, desk: Portfolio) -> None:
    seen = build.snapshot("settle")

    def acts(books: Books) -> Iterator[AuditRef | None]:
        first, second = build.order("d-1", desk), build.order("d-2", desk)
        yield books.deposit(desk, Decimal(1), AS_OF)
        yield books.record_limits(desk, "a", b"{}", AS_OF)
        yield books.record_failure("XYZ", "default", "PROVIDER", "outage \ud800", AS_OF)
        yield books.record_failure("XYZ", "default", "PROVIDER", "no answer", AS_OF, TRANSCRIPT)
        yield books.record_failure(["XYZ", "ABC"], "default", "SPEND", "no money", AS_OF)
        yield books.record_sweep("default", SWEPT, AS_OF)
        yield books.set_control("REDUCING", "drawdown", "breaker", AS_OF)
        yield books.record_decision(claims[0], build.record("d-1"), first)
        yield books.record_decision(claims[1], build.record("d-2"), second)
        yield books.record_fill(first, seen, build.ruling(seen), price=Decimal(1), fee=Decimal(0), at=OPEN, settle_on=SETTLES)
        yield books.record_unfilled(second, OrderStatus.CANCELLED, "operator", OPEN, None, None)
        booked = books.record_action(desk, XYZ, action("dividend", "1"), OPEN + timedelta(days=1))
        yield booked.audit if booked else None

    claims = [claimed(store, key=key) for key in "ab"]
    with store.write() as books:
        refs = []
        for ref in acts(books):
            refs.append(ref)
            assert books.soundness_fault() is None
    assert [ref.seq for ref in refs if ref] == list(range(2, 14))


SWEPT = Swept(decided=("XYZ",), repeated=(), undone={"ABC": "failed NoEvidence"}, settled=0, unpaid=(), screened_out=(), reduce_only=(), report=b"{}")
IDLE = replace(SWEPT, decided=(), repeated=("XYZ",))


@pytest.mark.parametrize(
    ("then", "is_written"),
    [
        (IDLE, False),
        (replace(IDLE, undone={}), True),
        (replace(IDLE, undone={"ABC": "skipped NotBegun"}), True),
        (replace(IDLE, settled=1), True),
        (SWEPT, True),
    ],
    ids=["the same failure", "mended", "another failure", "something was settled", "something was decided"],
)
def test_a_pass_leaves_a_row_where_there_is_something_new_to_say(store: Store, desk: Portfolio, then: Swept, is_written: bool) -> None:
    with store.write() as books:
        assert books.record_sweep("default", SWEPT, AS_OF) is not None
        assert books.record_sweep("other", SWEPT, AS_OF) is not None
        assert (books.record_sweep("default", then, AS_OF) is not None) == is_written


def test_a_pass_that_only_repeats_leaves_no_row(store: Store, desk: Portfolio) -> None:
    with store.write() as books:
        assert books.record_sweep("default", replace(IDLE, undone={}), AS_OF) is None


# What model calls cost

DAY = date(2024, 1, 3)
USED = Usage(calls=4, prompt_tokens=1200, completion_tokens=300)


def ask(most: str | None = "1", day: date = DAY) -> SpendAsk:
    return SpendAsk(day, "default", "XYZ", "openai", "gpt-x", None if most is None else Decimal(most))


def test_a_day_begins_with_nothing_spent(store: Store) -> None:
    assert store.spent_on(DAY) == SpendTotal()


BUDGET = SpendLimit("the budget of growth", Decimal(2), "raise it")


@pytest.mark.parametrize(("portfolio", "is_refused"), [("growth", True), ("default", False)])
def test_a_limit_is_over_its_own_portfolio(store: Store, portfolio: str, is_refused: bool) -> None:
    of_growth = replace(ask("1.5"), portfolio="growth")
    store.reserve_spend(of_growth, Decimal(5), (BUDGET,))
    asked = replace(ask("1"), portfolio=portfolio)
    if not is_refused:
        store.reserve_spend(asked, Decimal(5), (BUDGET,))
        assert (store.spent_on(DAY).reserved, store.spent_on(DAY, "growth").reserved) == (Decimal("2.5"), Decimal("1.5"))
        return
    with pytest.raises(SpendRefused, match=r"the budget of growth of 2 USD for 2024-01-03 \(UTC\) would be passed: 0.0 is spent, 1.5 is reserved") as refused:
        store.reserve_spend(asked, Decimal(5), (BUDGET,))
    assert refused.value.fix == "raise it"


def test_under_a_limit_alone_a_model_without_a_price_is_refused(store: Store) -> None:
    with pytest.raises(SpendRefused, match="the budget of growth of 2 USD a day cannot be kept without one"):
        store.reserve_spend(ask(None), None, (BUDGET,))


def test_a_reservation_holds_its_most_until_it_is_booked(store: Store) -> None:
    ref = store.reserve_spend(ask("1.5"), Decimal(5))
    assert ref.day == DAY
    assert store.spent_on(DAY) == SpendTotal(reserved=Decimal("1.5"), open=1)
    store.book_spend(ref.token, USED, Decimal("0.25"), "d-1")
    assert store.spent_on(DAY) == SpendTotal(Decimal("0.25"), Decimal(0), 4, 1200, 300, 0)
    assert store.spent_on(DAY + timedelta(days=1)) == SpendTotal()


def test_spent_reserved_and_asked_may_reach_the_ceiling_and_not_pass_it(store: Store) -> None:
    spent = store.reserve_spend(ask("3"), Decimal(5))
    store.book_spend(spent.token, USED, Decimal("2.5"), None)
    store.reserve_spend(ask("1"), Decimal(5))
    with pytest.raises(ProviderFault) as refused:
        store.reserve_spend(ask("1.500001"), Decimal(5))
    for part in ("5 USD", "2024-01-03", "2.5 is spent", "1.0 is reserved", "1.500001"):
        assert part in refused.value.message
    for part in ("ALPHAAGENT_DAILY_SPEND_USD", "next UTC day"):
        assert part in (refused.value.fix or "")
    store.reserve_spend(ask("1.5"), Decimal(5))
    store.reserve_spend(ask("5", DAY + timedelta(days=1)), Decimal(5))
    assert store.spent_on(DAY).reserved == Decimal("2.5")


def test_a_ceiling_of_nothing_lets_only_free_models_through(store: Store) -> None:
    store.reserve_spend(ask("0"), Decimal(0))
    with pytest.raises(ProviderFault):
        store.reserve_spend(ask("0.0000001"), Decimal(0))


def test_without_a_ceiling_everything_is_recorded(store: Store) -> None:
    for most in ("1000000", "1000000", None):
        store.reserve_spend(ask(most), None)
    assert store.spent_on(DAY) == SpendTotal(reserved=Decimal(2_000_000), unpriced=1, open=3)


def test_a_model_without_a_price_is_refused_under_a_ceiling(store: Store) -> None:
    with pytest.raises(ProviderFault, match=r"openai/gpt-x has no price in prices\.yaml"):
        store.reserve_spend(ask(None), Decimal(5))
    assert store.spent_on(DAY) == SpendTotal()


def test_what_is_booked_without_a_price_counts_at_its_most_where_that_was_known(store: Store) -> None:
    for most in ("2", None):
        store.book_spend(store.reserve_spend(ask(most), None).token, USED, None, None)
    assert store.spent_on(DAY) == SpendTotal(Decimal(0), Decimal(2), 8, 2400, 600, 2)
    with pytest.raises(ProviderFault):
        store.reserve_spend(ask("3.5"), Decimal(5))


def test_a_reservation_is_booked_once(store: Store) -> None:
    token = store.reserve_spend(ask(), None).token
    store.book_spend(token, USED, Decimal("0.5"), None)
    with pytest.raises(AlphaAgentError, match="booked before"):
        store.book_spend(token, USED, Decimal("0.5"), None)
    with pytest.raises(AlphaAgentError, match="booked before"):
        store.release_spend(token)
    with pytest.raises(AlphaAgentError, match="never reserved"):
        store.book_spend("unknown", USED, Decimal("0.5"), None)
    assert store.spent_on(DAY).booked == Decimal("0.5")


def test_a_released_reservation_is_booked_as_nothing(store: Store) -> None:
    store.release_spend(store.reserve_spend(ask(), Decimal(1)).token)
    store.release_spend(store.reserve_spend(ask(None), None).token)
    assert store.spent_on(DAY) == SpendTotal()
    store.reserve_spend(ask(), Decimal(1))


def test_what_cost_more_than_was_reserved_is_booked_as_it_was(store: Store) -> None:
    store.book_spend(store.reserve_spend(ask("1"), Decimal(1)).token, USED, Decimal("1.25"), None)
    assert store.spent_on(DAY).booked == Decimal("1.25")
    with pytest.raises(ProviderFault):
        store.reserve_spend(ask("0"), Decimal(1))


def test_a_fraction_of_a_millionth_is_rounded_up(store: Store) -> None:
    store.book_spend(store.reserve_spend(ask(), None).token, USED, Decimal("0.00000015"), None)
    assert store.spent_on(DAY).booked == Decimal("0.000001")


@pytest.mark.parametrize("amount", ["-0.01", "NaN", "Infinity"])
def test_what_is_no_amount_is_neither_reserved_nor_booked(store: Store, amount: str) -> None:
    token = store.reserve_spend(ask(), None).token
    for act in (lambda: store.reserve_spend(ask(amount), Decimal(5)), lambda: store.book_spend(token, USED, Decimal(amount), None)):
        with pytest.raises(AlphaAgentError):
            act()
    with pytest.raises(AlphaAgentError, match="less than nothing"):
        store.book_spend(token, Usage(calls=-1), Decimal(0), None)
    assert store.spent_on(DAY) == SpendTotal(reserved=Decimal(1), open=1)


def test_every_booking_appends_exactly_one_audit_row_and_a_reservation_none(store: Store, desk: Portfolio) -> None:
    first, second = store.reserve_spend(ask(), None), store.reserve_spend(ask(), None)
    refs = [store.book_spend(first.token, USED, Decimal(1), "d-1"), store.release_spend(second.token)]
    assert [ref.seq for ref in refs] == [2, 3]
    with store.read() as books:
        assert books.soundness_fault() is None


def test_eight_threads_at_a_ceiling_for_three(store: Store) -> None:
    gate = threading.Barrier(8)

    def race(_: int) -> bool:
        gate.wait()
        try:
            return bool(store.reserve_spend(ask("1"), Decimal("3.5")))
        except ProviderFault:
            return False

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(race, range(8))) == 3
    assert store.spent_on(DAY).reserved == 3


# Slots


def test_the_same_request_gets_the_stored_decision(store: Store, desk: Portfolio) -> None:
    claim = claimed(store)
    with store.write() as books:
        books.record_decision(claim, build.record("d-1"), None)
    again = store.claim("k", "r", Waits())
    assert isinstance(again, StoredDecision)
    assert again.record.decision_id == "d-1"


def test_another_request_for_a_taken_slot_is_refused_and_told_why(store: Store, desk: Portfolio) -> None:
    claim = claimed(store)
    with store.write() as books:
        books.record_decision(claim, build.record("d-1"), None)
    with pytest.raises(UsageFault, match="d-1") as refused:
        store.claim("k", "other", Waits())
    assert "--slot" in (refused.value.fix or "")


def test_a_released_slot_is_free_again_and_its_claim_is_worth_nothing(store: Store, desk: Portfolio) -> None:
    claim = claimed(store)
    store.release(claim)
    with pytest.raises(UsageFault, match="taken this slot"), store.write() as books:
        books.record_decision(claim, build.record("d-1"), None)
    assert claimed(store).token != claim.token


def test_a_finished_slot_cannot_be_released(store: Store, desk: Portfolio) -> None:
    claim = claimed(store)
    with store.write() as books:
        books.record_decision(claim, build.record("d-1"), None)
    store.release(claim)
    assert isinstance(store.claim("k", "r", Waits()), StoredDecision)


def test_a_second_run_waits_for_the_first_to_release(store: Store, desk: Portfolio) -> None:
    first = claimed(store)
    waits = Waits(then=lambda: store.release(first))
    assert isinstance(store.claim("k", "r", waits), Claim)
    assert len(waits.calls) == 1


def test_a_second_run_waits_for_the_decision_of_the_first(store: Store, desk: Portfolio) -> None:
    first = claimed(store)

    def finish() -> None:
        with store.write() as books:
            books.record_decision(first, build.record("d-1"), None)

    assert isinstance(store.claim("k", "r", Waits(then=finish)), StoredDecision)


def test_a_run_that_goes_on_renews_its_claims(store: Store, desk: Portfolio, clock: SteppingClock) -> None:
    first, other = claimed(store), claimed(store, key="other")

    def an_hour_with_a_debate_each_ten_minutes() -> None:
        clock.advance(600)
        store.renew([first, other])

    waits = Waits(then=an_hour_with_a_debate_each_ten_minutes, limit=6)
    with pytest.raises(AssertionError, match="for ever"):
        store.claim("k", "r", waits)
    with store.write() as books:
        books.record_decision(first, build.record("d-1"), None)
    store.renew([first])
    assert isinstance(store.claim("k", "r", Waits()), StoredDecision)


def test_a_slot_says_what_was_decided_in_it(store: Store, desk: Portfolio) -> None:
    assert store.decided_in("k") is None
    claim = claimed(store)
    assert store.decided_in("k") is None
    with store.write() as books:
        books.record_decision(claim, build.record("d-1"), None)
    found = store.decided_in("k")
    assert found is not None
    assert found.record.decision_id == "d-1"


def test_a_claim_that_outlived_its_lease_is_taken_over_and_can_no_longer_finish(store: Store, desk: Portfolio, clock: SteppingClock) -> None:
    first = claimed(store)
    second = store.claim("k", "r", Waits(then=lambda: clock.advance(600)))
    assert isinstance(second, Claim)
    with pytest.raises(UsageFault), store.write() as books:
        books.record_decision(first, build.record("d-1"), None)
    store.release(first)
    with store.write() as books:
        books.record_decision(second, build.record("d-2"), None)
    assert store.decision("d-1") is None
