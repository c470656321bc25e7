"""A decision record as the pipeline makes it: the engine on a pack, the guard on its text, and the order that follows."""

from datetime import date
from decimal import Decimal
from typing import Any

from alphaagent.domain.debate import EngineResult
from alphaagent.domain.evidence import EvidencePack
from alphaagent.domain.portfolio import Activity, Order, OrderStatus
from alphaagent.domain.record import DecisionRecord, Request
from alphaagent.domain.ruling import GuardSnapshot, Provenance
from alphaagent.engines.heuristic.engine import HeuristicEngine
from alphaagent.guard.evaluate import evaluate
from alphaagent.guard.intake import read_proposal
from alphaagent.guard.mandate import Mandate
from alphaagent.ports import StoredDecision
from tests.fakes import AUDIT
from tests.pack_builder import AS_OF

MANDATE = Mandate.parse("default", {}, "a test")
SESSION, FILL = date(2020, 3, 16), date(2020, 3, 17)


def snapshot(pack: EvidencePack, result: EngineResult, **changes: Any) -> GuardSnapshot:
    portfolio = pack.find("get_portfolio")[0].payload
    plain: dict[str, Any] = {
        "stage": "decide",
        "ticker": "ACME",
        "candidates": ("XNAS:ACME",),
        "instrument_id": "XNAS:ACME",
        "symbol": "ACME",
        "names": ("ACME",),
        "instrument_kind": "common",
        "listed": True,
        "quote_currency": "USD",
        "portfolio_currency": "USD",
        "decided_at": AS_OF,
        "prior_close": Decimal(100),
        "bar_volume": 1_000_000,
        "flat_bars": 0,
        "median_volume": Decimal(1_000_000),
        "median_dollar_volume": Decimal(100_000_000),
        "cash": Decimal(100_000),
        "sector_exposure": Decimal(0),
        "gross_exposure": Decimal(0),
        "activity": Activity(),
        "scheduled": False,
        "reduce_only": False,
        "budget": Decimal(portfolio["budget"]),
        "evidence_count": 9,
        "evidence_age_sessions": 0,
        "tainted": (),
        "debate_class": "none",
        "provenance": "heuristic",
        "execution_mode": "live",
        "portfolio_kind": "paper",
        "control_state": "ACTIVE",
        "books_checked": True,
        "book_time": AS_OF,
        "approved_limits_hash": MANDATE.limits_hash,
        "calendar_first": date(2013, 1, 2),
        "calendar_last": date(2023, 10, 19),
        "last_completed_session": SESSION,
        "bar_session": SESSION,
        "fill_session": FILL,
        "price": Decimal(100),
        "equity": Decimal(portfolio["equity"]),
        "settled_cash": Decimal(100_000),
        "reserved_cash": Decimal(0),
        "held": Decimal(portfolio["quantity"]),
        "pending_buy": Decimal(0),
        "pending_sell": Decimal(0),
        "base_rate": Decimal(result.base_rate) if result.base_rate else None,
        "rule_driven": result.rule_driven,
    }
    return GuardSnapshot.model_validate(plain | changes)


def record(pack: EvidencePack, *, text: str | None = None, provenance: Provenance = "heuristic", reason: str | None = None, **shown: Any) -> DecisionRecord:
    """The record of a pack; `text` replaces what the engine said, `shown` what the guard sees."""
    result = HeuristicEngine().decide(pack)
    result = result if text is None else result.model_copy(update={"proposal_text": text})
    seen = snapshot(pack, result, **({"provenance": provenance} | shown))
    return DecisionRecord(
        program_version="0",
        decision_id="dec_0123456789abcdef",
        request=Request(ticker="ACME", as_of=AS_OF, session=str(SESSION), engine="auto", plan=None, portfolio="default", slot="manual", configuration="c"),
        instrument_id="XNAS:ACME",
        provenance=provenance,
        execution_mode="live",
        fallback_reason=reason,
        pack=pack,
        result=result,
        proposal=read_proposal(result.proposal_text, "ACME"),
        snapshot=seen,
        mandate=MANDATE.record(),
        ruling=evaluate(result.proposal_text, seen, MANDATE, AS_OF),
    )


def stored(made: DecisionRecord, status: OrderStatus = OrderStatus.PENDING, price: Decimal | None = None, **settled: Any) -> StoredDecision:
    """The record in the books, with its order where the ruling makes one; `settled` adds a ruling of that stage."""
    ruling, rulings = made.ruling, [(made.snapshot, made.ruling)]
    if settled:
        rulings.append((made.snapshot, ruling.model_copy(update={"stage": "settle"} | settled)))
    placed = None
    if ruling.side and ruling.quantity_out and ruling.price:
        placed = Order(
            id="ord_0123456789abcdef",
            decision_id=made.decision_id,
            portfolio_id=1,
            instrument_id=made.instrument_id,
            symbol="ACME",
            side=ruling.side,
            quantity=ruling.quantity_out,
            decision_price=ruling.price,
            status=status,
            decided_at=AS_OF,
            fill_session=FILL,
            price=price,
        )
    return StoredDecision(made, AUDIT, placed, tuple(rulings))
