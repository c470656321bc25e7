"""Between the desk's nouns and the tables' rows: one function each way, exact both ways."""

from datetime import date
from decimal import Decimal

from alphaagent.domain.base import canonical, decimal_text, sha256_hex
from alphaagent.domain.market import Instrument
from alphaagent.domain.portfolio import Order, OrderStatus, Portfolio, PortfolioKind
from alphaagent.domain.record import DecisionRecord
from alphaagent.domain.ruling import Ruling
from alphaagent.ledger.schema import DecisionRow, GuardResultRow, InstrumentRow, OrderRow, PortfolioRow
from alphaagent.ledger.units import from_micros, from_units, rounded_units, to_micros, to_units


def portfolio(row: PortfolioRow) -> Portfolio:
    kind: PortfolioKind = row.kind  # type: ignore[assignment]
    return Portfolio(id=row.id or 0, name=row.name, currency=row.currency, kind=kind, mandate=row.mandate, opened_at=from_micros(row.opened_at))


def instrument_row(instrument: Instrument) -> InstrumentRow:
    return InstrumentRow(
        id=instrument.id,
        symbol=instrument.symbol,
        name=instrument.name,
        mic=instrument.mic,
        currency=instrument.currency,
        kind=instrument.kind,
        sector=instrument.sector,
        cik=instrument.cik,
        valid_from=instrument.valid_from.isoformat() if instrument.valid_from else None,
        valid_to=instrument.valid_to.isoformat() if instrument.valid_to else None,
    )


def instrument(row: InstrumentRow, aliases: tuple[str, ...]) -> Instrument:
    fields = {name: getattr(row, name) for name in ("id", "symbol", "name", "mic", "currency", "kind", "sector", "cik", "valid_from", "valid_to")}
    return Instrument.model_validate({**fields, "aliases": aliases})


def order_row(order: Order) -> OrderRow:
    return OrderRow(
        id=order.id,
        decision_id=order.decision_id,
        portfolio_id=order.portfolio_id,
        instrument_id=order.instrument_id,
        symbol=order.symbol,
        side=order.side,
        quantity=to_units(order.quantity),
        decision_price=to_units(order.decision_price),
        decided_at=to_micros(order.decided_at),
        fill_session=order.fill_session.isoformat(),
        close_all=int(order.close_all),
        reserved=to_units(order.reserved),
        status=order.status.value,
    )


def order(row: OrderRow) -> Order:
    """The order as it is now: once filled, its quantity and price are the fill's and nothing is reserved."""
    closed = row.closed_at is not None
    return Order(
        id=row.id,
        decision_id=row.decision_id,
        portfolio_id=row.portfolio_id,
        instrument_id=row.instrument_id,
        symbol=row.symbol,
        side=row.side,
        quantity=from_units(row.quantity if row.filled_quantity is None else row.filled_quantity),
        decision_price=from_units(row.decision_price),
        status=OrderStatus(row.status),
        decided_at=from_micros(row.decided_at),
        fill_session=date.fromisoformat(row.fill_session),
        price=_optional(row.price),
        close_all=bool(row.close_all),
        reserved=Decimal(0) if closed else from_units(row.reserved),
    )


def order_as_pending(row: OrderRow) -> Order:
    """The order as it was before it was closed."""
    if row.closed_at is None:
        return order(row)
    return order(row).model_copy(
        update={"status": OrderStatus.PENDING, "quantity": from_units(row.quantity), "price": None, "reserved": from_units(row.reserved)}
    )


def _optional(units: int | None) -> Decimal | None:
    return None if units is None else from_units(units)


def decision_row(record: DecisionRecord, portfolio_id: int, idem_key: str, request_hash: str) -> DecisionRow:
    request, proposal = record.request, record.proposal
    return DecisionRow(
        id=record.decision_id,
        portfolio_id=portfolio_id,
        idem_key=idem_key,
        request_hash=request_hash,
        ticker=request.ticker,
        instrument_id=record.instrument_id,
        session=request.session,
        as_of=to_micros(request.as_of),
        slot=request.slot,
        engine=record.result.engine,
        plan=request.plan,
        provenance=record.provenance,
        execution_mode=record.execution_mode,
        action=proposal.action.value if proposal else None,
        amount_text=decimal_text(proposal.amount) if proposal else None,
        sentiment=proposal.sentiment.value if proposal else None,
        outcome=record.ruling.outcome.value,
        code=record.ruling.code,
        pack_sha256=record.pack.sha256,
        record_sha256=sha256_hex(canonical(record)),
        program_version=record.program_version,
        debate_class=record.result.debate.debate_class if record.result.debate else None,
    )


def guard_row(decision_id: str, ruling: Ruling) -> GuardResultRow:
    return GuardResultRow(
        decision_id=decision_id,
        stage=ruling.stage,
        outcome=ruling.outcome.value,
        primary_code=ruling.code,
        quantity_in=rounded_units(ruling.quantity_in),
        quantity_out=rounded_units(ruling.quantity_out),
        price=None if ruling.price is None else rounded_units(ruling.price),
        limits_hash=ruling.limits_hash,
        snapshot_sha256=ruling.snapshot_hash,
        guard_version=ruling.guard_version,
        evaluated_at=to_micros(ruling.evaluated_at),
        ruling_json=canonical(ruling).decode(),
    )
