"""The instruments that the ledger knows. Their description may change, their identity does not; nothing is derived from a description."""

from collections.abc import Sequence

from sqlalchemy import delete
from sqlmodel import Session, col, select

from alphaagent.domain.market import Instrument
from alphaagent.errors import UsageFault
from alphaagent.ledger import rows
from alphaagent.ledger.schema import InstrumentRow, SymbolAliasRow


def register(session: Session, instrument: Instrument) -> None:
    """Makes an instrument known, or brings its description up to date."""
    if find(session, instrument.id) == instrument:
        return
    session.merge(rows.instrument_row(instrument))
    session.flush()
    session.connection().execute(delete(SymbolAliasRow).where(col(SymbolAliasRow.instrument_id) == instrument.id))
    session.expunge_all()
    session.add_all(SymbolAliasRow(instrument_id=instrument.id, n=n, alias=alias) for n, alias in enumerate(instrument.aliases))
    session.flush()


def find(session: Session, instrument_id: str) -> Instrument | None:
    """The instrument with an id."""
    row = session.get(InstrumentRow, instrument_id)
    if row is None:
        return None
    query = select(SymbolAliasRow.alias).where(SymbolAliasRow.instrument_id == instrument_id).order_by(col(SymbolAliasRow.n))
    return rows.instrument(row, tuple(session.exec(query)))


def instruments(session: Session, ids: Sequence[str]) -> tuple[Instrument, ...]:
    """The instruments with these ids, in their order."""
    return tuple(known for known in (find(session, id_) for id_ in ids) if known is not None)


def refuse_unknown(session: Session, instrument_id: str) -> None:
    """UsageFault unless the instrument has been registered."""
    if session.get(InstrumentRow, instrument_id) is None:
        raise UsageFault(f"the ledger does not know the instrument {instrument_id}", fix="register it first")
