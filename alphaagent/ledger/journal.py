"""The pen of the ledger: the few ways in which a row comes to be, and the audit row that vouches for it.

Rows are flushed one by one, in the order of the calls, so that what stands in the file after any interruption is a whole transaction or none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

from sqlalchemy import text
from sqlmodel import Session, SQLModel, col, select

from alphaagent.domain.base import Json, sha256_hex
from alphaagent.domain.notice import NOBODY, Routes
from alphaagent.domain.portfolio import Portfolio
from alphaagent.domain.ruling import Ruling
from alphaagent.ledger import audit, telling
from alphaagent.ledger.facts import fact_of, facts_hash, postings_hash
from alphaagent.ledger.postings import Leg, imbalance, refuse_imbalance
from alphaagent.ledger.schema import BlobRow, LedgerAccountRow, OrderRow, PostingRow, TxnRow, insert_row, insert_rows
from alphaagent.ledger.units import to_micros
from alphaagent.ports import AuditRef, Clock

TxnKind = Literal["trade", "deposit", "withdrawal", "import", "split", "dividend", "merger"]


@dataclass(frozen=True, slots=True)
class Booked:
    """A transaction that has been written, and the hash of its postings."""

    txn: TxnRow
    postings_hash: str


class Journal:
    """Writes rows in the session's transaction; the clock only stamps when, and `routes` say who is to hear of what."""

    def __init__(self, session: Session, clock: Clock, routes: Routes = NOBODY) -> None:
        self.session = session
        self._clock = clock
        self._routes = routes

    def insert(self, row: SQLModel) -> None:
        insert_row(self.session, row)

    def update(self, row: SQLModel) -> None:
        """A row that was read in this session and has been changed."""
        self.session.add(row)
        self.session.flush()

    def keep(self, document: bytes) -> str:
        """Stores a document under its SHA-256, once."""
        sha256 = sha256_hex(document)
        if self.session.exec(select(BlobRow.sha256).where(BlobRow.sha256 == sha256)).first() is None:
            self.insert(BlobRow(sha256=sha256, content=document))
        return sha256

    def book(
        self,
        portfolio: Portfolio,
        kind: TxnKind,
        legs: Sequence[Leg],
        at: datetime,
        settle_on: date,
        *,
        decision_id: str | None = None,
        action_key: str | None = None,
    ) -> Booked:
        """One transaction with its postings. BooksUnsound where they do not balance."""
        refuse_imbalance(legs)
        txn = TxnRow(
            portfolio_id=portfolio.id,
            kind=kind,
            decision_id=decision_id,
            action_key=action_key,
            trade_at=to_micros(at),
            settle_on=settle_on.isoformat(),
            created_at=to_micros(self._clock.now()),
        )
        self.insert(txn)
        lines = [(n, leg.commodity, leg.amount, leg.settle_on.isoformat(), leg.kind) for n, leg in enumerate(legs, start=1)]
        accounts = {key: self._account(portfolio, *key) for key in dict.fromkeys((leg.kind, leg.commodity) for leg in legs)}
        postings: list[dict[str, str | int]] = [
            {"txn_id": txn.id or 0, "n": n, "account_id": accounts[kind_, commodity], "commodity": commodity, "amount": amount, "settle_on": settles}
            for n, commodity, amount, settles, kind_ in lines
        ]
        insert_rows(self.session, PostingRow, postings)
        return Booked(txn, postings_hash((n, portfolio.id, kind_, commodity, amount, settles) for n, commodity, amount, settles, kind_ in lines))

    def _account(self, portfolio: Portfolio, kind: str, commodity: str) -> int:
        query = select(LedgerAccountRow).where(
            LedgerAccountRow.portfolio_id == portfolio.id, LedgerAccountRow.kind == kind, LedgerAccountRow.commodity == commodity
        )
        row = self.session.exec(query).first()
        if row is None:
            row = LedgerAccountRow(portfolio_id=portfolio.id, kind=kind, commodity=commodity)
            self.insert(row)
        return row.id or 0

    def append(
        self,
        kind: str,
        at: datetime,
        *,
        actor: str = audit.SYSTEM,
        portfolio: str | None = None,
        ticker: str | None = None,
        decision_id: str | None = None,
        codes: tuple[str, ...] = (),
        proposal: Mapping[str, Json] | None = None,
        limits_hash: str | None = None,
        ruling: Ruling | None = None,
        rows: Sequence[SQLModel] = (),
        more: Sequence[list[Json]] = (),
        booked: Booked | None = None,
        order: OrderRow | None = None,
        detail: Mapping[str, Json] | None = None,
        said: str = "",
    ) -> AuditRef:
        """The audit row of one act, with the hashes of the rows that the act wrote; `more` are facts of rows that were written at once.

        Whoever is to hear of the act finds it in the outbox, with what somebody `said` about it.
        """
        facts = [*(fact_of(row) for row in rows), *more, *((fact_of(booked.txn),) if booked else ())]
        event = audit.Event(
            kind=kind,
            at=at,
            actor=actor,
            portfolio=portfolio,
            ticker=ticker,
            decision_id=decision_id,
            outcome=ruling.outcome.value if ruling else None,
            codes=ruling.codes if ruling else codes,
            proposal=proposal,
            limits_hash=ruling.limits_hash if ruling else limits_hash,
            snapshot=ruling.snapshot_hash if ruling else None,
            guard_version=ruling.guard_version if ruling else None,
            txn_id=booked.txn.id if booked else None,
            postings_hash=booked.postings_hash if booked else None,
            rows_hash=facts_hash(facts) if facts else None,
            order_hash=facts_hash([fact_of(order)]) if order else None,
            detail=detail or {},
        )
        now = self._clock.now()
        ref = audit.append(self.session, event, now)
        if self._routes:
            anchor = f"{audit.ledger_uuid(self.session)} {ref.seq} {ref.hash}"
            telling.post(self.session, self._routes, telling.notices_of(event, anchor, order, said), now)
        return ref


def is_booked(session: Session, action_key: str) -> bool:
    """Whether a corporate action has been booked already."""
    return session.exec(select(TxnRow.id).where(TxnRow.action_key == action_key)).first() is not None


def last_fault(session: Session) -> str | None:
    """What is wrong with the last transaction's balance; None where nothing is."""
    last = session.exec(select(TxnRow.id).order_by(col(TxnRow.id).desc()).limit(1)).first()
    if last is None:
        return None
    amounts = session.exec(select(PostingRow.commodity, PostingRow.amount).where(PostingRow.txn_id == last)).all()
    off = imbalance([(commodity, amount) for commodity, amount in amounts])
    return f"transaction {last} does not balance" if off or not amounts else None


def schema_version(session: Session) -> str:
    """The revision that the database says it has."""
    return str(session.connection().execute(text("SELECT version_num FROM alembic_version")).scalar())
