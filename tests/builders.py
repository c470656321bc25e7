"""Small valid records for tests: a proposal, a snapshot, a ruling, an order and a whole decision, each overridable where a test cares."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from alphaagent.domain.base import fingerprint
from alphaagent.domain.debate import Case, CaseLine, EngineResult
from alphaagent.domain.evidence import EvidencePack, Status, evidence_item
from alphaagent.domain.market import Instrument
from alphaagent.domain.portfolio import Order, OrderStatus, Portfolio
from alphaagent.domain.proposal import Action, Sentiment, TradeProposal
from alphaagent.domain.record import DecisionRecord, Request
from alphaagent.domain.ruling import GuardSnapshot, Outcome, RuleTrace, Ruling

AS_OF = datetime(2024, 1, 3, 21, 0, 1, tzinfo=UTC)
OPEN = datetime(2024, 1, 4, 14, 30, tzinfo=UTC)
SESSION = date(2024, 1, 3)
FILL_SESSION = date(2024, 1, 4)
SETTLES = date(2024, 1, 5)
MANDATE = {"name": "default", "max_order_fraction": "0.05"}
XYZ = Instrument(id="XNAS:XYZ", symbol="XYZ", name="Xyz Inc.", aliases=("XYZ.O", "XYZ-A"), mic="XNAS", currency="USD", kind="common", sector="Tech")
ABC = Instrument(id="XNYS:ABC", symbol="ABC", name="Abc Corp.", mic="XNYS", currency="USD", kind="etf", valid_from=date(2001, 2, 3))


@dataclass
class SteppingClock:
    """A clock that stands still until it is told to move."""

    at: datetime = datetime(2024, 1, 3, 22, 0, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at

    def advance(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


@dataclass
class Waits:
    """A `wait` that records what it was asked and may do something at each call."""

    calls: list[float] = field(default_factory=list)
    then: Callable[[], None] | None = None
    limit: int = 50

    def __call__(self, seconds: float) -> None:
        self.calls.append(seconds)
        if len(self.calls) > self.limit:
            raise AssertionError("waits for ever")
        if self.then is not None:
            self.then()


def database_url(folder: Path) -> str:
    return f"sqlite:///{folder / 'ledger.db'}"


def proposal(action: str = "BUY", amount: str = "1000", **changes: Any) -> TradeProposal:
    fields: dict[str, Any] = {
        "action": Action(action),
        "amount": Decimal(amount),
        "sentiment": Sentiment.BULLISH,
        "reasoning": "Momentum is positive; the café figures (naïve) agree.",
        "p_up": Decimal("0.58"),
    }
    return TradeProposal(**{**fields, **changes})


def snapshot(stage: str = "decide", **changes: Any) -> GuardSnapshot:
    fields: dict[str, Any] = {
        "stage": stage,
        "ticker": "XYZ",
        "candidates": (XYZ.id,),
        "instrument_id": XYZ.id,
        "symbol": "XYZ",
        "provenance": "heuristic",
        "execution_mode": "live",
        "portfolio_kind": "paper",
        "control_state": "ACTIVE",
        "books_checked": True,
        "book_time": AS_OF,
        "price": Decimal("100.25"),
        "equity": Decimal(100_000),
        "settled_cash": Decimal(100_000),
        "held": Decimal(0),
    }
    return GuardSnapshot(**{**fields, **changes})


def ruling(of: GuardSnapshot, quantity: str = "10", *, side: str | None = "BUY", outcome: str = "APPROVE", **changes: Any) -> Ruling:
    blocked = outcome == "BLOCK"
    fields: dict[str, Any] = {
        "stage": of.stage,
        "outcome": Outcome(outcome),
        "code": "KILL_REDUCING" if blocked else "OK",
        "codes": ("KILL_REDUCING",) if blocked else ("OK",),
        "rules": (RuleTrace(id="H4", verdict="pass", value="1002.5", limit="5000.0"),),
        "side": side,
        "quantity_in": Decimal(quantity),
        "quantity_out": Decimal(0) if blocked else Decimal(quantity),
        "price": of.price,
        "close_all": False,
        "evaluated_at": AS_OF if of.stage == "decide" else OPEN,
        "limits_hash": fingerprint(MANDATE),
        "snapshot_hash": fingerprint(of),
        "guard_version": "1",
    }
    return Ruling(**{**fields, **changes})


def pack(ticker: str = "XYZ") -> EvidencePack:
    item = evidence_item(
        decision_as_of=AS_OF,
        ticker=ticker,
        tool="get_price_history",
        kind="momentum",
        event_at=AS_OF - timedelta(seconds=1),
        known_at=AS_OF - timedelta(seconds=1),
        source="snapshot",
        status=Status.OK,
        summary="momentum 0.12",
        payload={"value": "0.12", "bars": 60, "gaps": [], "rescaled": False, "note": None},
    )
    return EvidencePack(ticker=ticker, instrument_id=XYZ.id, as_of=AS_OF, session=SESSION.isoformat(), items=(item,)).sealed()


def case(side: str) -> Case:
    line = CaseLine(text=f"the {side} point", factor="momentum", weight="0.5", evidence_ids=())
    return Case(side=side, label="mechanical read", summary="in short", no_case=None, lines=(line,), holes=(), evidence_ids=())


def record(decision_id: str = "d-1", *, portfolio: str = "default", as_of: datetime = AS_OF, slot: str = "manual", **changes: Any) -> DecisionRecord:
    seen = changes.pop("snapshot", None) or snapshot()
    fields: dict[str, Any] = {
        "program_version": "0.1.0",
        "decision_id": decision_id,
        "request": Request(
            ticker="XYZ", as_of=as_of, session=SESSION.isoformat(), engine="auto", plan="standard", portfolio=portfolio, slot=slot, configuration="c" * 64
        ),
        "instrument_id": XYZ.id,
        "provenance": "heuristic",
        "execution_mode": "live",
        "pack": pack(),
        "result": EngineResult(engine="heuristic", proposal_text="{}", bull_case=case("bull"), bear_case=case("bear"), score="0.31"),
        "proposal": proposal(),
        "snapshot": seen,
        "mandate": MANDATE,
        "ruling": ruling(seen),
    }
    return DecisionRecord(**{**fields, **changes})


def order(decision_id: str, portfolio: Portfolio, *, side: str = "BUY", quantity: str = "10", decided_at: datetime = AS_OF, **changes: Any) -> Order:
    fields: dict[str, Any] = {
        "id": f"o-{decision_id}",
        "decision_id": decision_id,
        "portfolio_id": portfolio.id,
        "instrument_id": XYZ.id,
        "symbol": "XYZ",
        "side": side,
        "quantity": Decimal(quantity),
        "decision_price": Decimal("100.25"),
        "status": OrderStatus.PENDING,
        "decided_at": decided_at,
        "fill_session": FILL_SESSION,
        "reserved": Decimal("1003.5") if side == "BUY" else Decimal(0),
    }
    return Order(**{**fields, **changes})
