"""Names that are frozen: something happened to them that the program cannot book, so that nothing is traded in them until somebody has looked."""

from datetime import datetime

from sqlmodel import Session, col, or_, select

from alphaagent.domain.base import decimal_text
from alphaagent.domain.market import CorporateAction, Instrument
from alphaagent.domain.portfolio import FrozenName, Portfolio
from alphaagent.errors import UsageFault
from alphaagent.ledger.catalogue import refuse_unknown
from alphaagent.ledger.journal import Journal
from alphaagent.ledger.schema import FreezeEventRow, InstrumentRow, OrderRow
from alphaagent.ledger.units import from_micros, to_micros
from alphaagent.ports import AuditRef

FROZEN, UNFROZEN = "frozen", "unfrozen"


def names(session: Session, portfolio: Portfolio) -> tuple[FrozenName, ...]:
    """The frozen names of a portfolio, in order of their symbols."""
    last: dict[str, tuple[FreezeEventRow, str]] = {}
    query = select(FreezeEventRow, InstrumentRow.symbol).where(FreezeEventRow.portfolio_id == portfolio.id, FreezeEventRow.instrument_id == InstrumentRow.id)
    for event, symbol in session.exec(query.order_by(col(FreezeEventRow.id))):
        last[event.instrument_id] = (event, symbol)
    frozen = [
        FrozenName(instrument_id=event.instrument_id, symbol=symbol, since=from_micros(event.at), reason=event.reason)
        for event, symbol in last.values()
        if event.state == FROZEN
    ]
    return tuple(sorted(frozen, key=lambda name: name.symbol))


def freeze(journal: Journal, portfolio: Portfolio, instrument: Instrument, action: CorporateAction, key: str) -> AuditRef | None:
    """Freezes a name for an action, once; None where this action has been seen already."""
    if journal.session.exec(select(FreezeEventRow.id).where(FreezeEventRow.action_key == key)).first() is not None:
        return None
    refuse_unknown(journal.session, instrument.id)
    row = FreezeEventRow(
        portfolio_id=portfolio.id, instrument_id=instrument.id, state=FROZEN, reason=action.told(), action_key=key, at=to_micros(action.known_at)
    )
    journal.insert(row)
    detail = {"freeze_id": row.id, "action": action.kind, "ex_date": action.ex_date.isoformat(), "value": decimal_text(action.value), "note": action.note}
    return journal.append(FROZEN, action.known_at, portfolio=portfolio.name, ticker=instrument.symbol, rows=(row,), detail=detail)


def unfreeze(journal: Journal, portfolio: Portfolio, instrument_id: str, reason: str, actor: str, at: datetime) -> AuditRef:
    """Lifts a freeze. UsageFault where the name is not frozen."""
    found = [name for name in names(journal.session, portfolio) if name.instrument_id == instrument_id]
    if not found:
        raise UsageFault(f"{instrument_id} is not frozen in portfolio {portfolio.name}", fix="`alphaagent portfolio show` lists what is")
    row = FreezeEventRow(portfolio_id=portfolio.id, instrument_id=instrument_id, state=UNFROZEN, reason=reason, at=to_micros(at))
    journal.insert(row)
    detail = {"freeze_id": row.id, "reason": reason}
    return journal.append(UNFROZEN, at, actor=actor, portfolio=portfolio.name, ticker=found[0].symbol, rows=(row,), detail=detail)


def is_ordered(session: Session, portfolio: Portfolio, instrument: Instrument, at: datetime) -> bool:
    """Whether an order for the name waited at an instant."""
    micros = to_micros(at)
    query = select(OrderRow.id).where(
        OrderRow.portfolio_id == portfolio.id,
        OrderRow.instrument_id == instrument.id,
        OrderRow.decided_at < micros,
        or_(col(OrderRow.closed_at).is_(None), col(OrderRow.closed_at) >= micros),
    )
    return session.exec(query).first() is not None
