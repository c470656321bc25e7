"""Decisions: how one is written, and how it comes back byte for byte."""

from sqlmodel import Session, col, select

from alphaagent.domain.base import Json, canonical, decimal_text, fingerprint, sha256_hex
from alphaagent.domain.portfolio import Order, Portfolio
from alphaagent.domain.record import DecisionRecord
from alphaagent.domain.ruling import GuardSnapshot, Ruling
from alphaagent.errors import AlphaAgentError, BooksUnsound
from alphaagent.ledger import catalogue, rows, slots
from alphaagent.ledger.audit import FIX
from alphaagent.ledger.journal import Journal
from alphaagent.ledger.schema import AuditLogRow, BlobRow, DecisionRow, GuardResultRow, OrderRow, PortfolioRow
from alphaagent.ports import AuditRef, Claim, StoredDecision


def record_decision(journal: Journal, portfolio: Portfolio, claim: Claim, record: DecisionRecord, order: Order | None, transcript: bytes | None) -> AuditRef:
    """Blobs, decision, ruling, order, the slot's end and the audit row."""
    refuse_other_order(order, record, portfolio)
    refuse_other_snapshot(record.snapshot, record.ruling)
    refuse_other_transcript(record, transcript)
    request_hash = slots.held_request(journal.session, claim)
    journal.keep(canonical(record))
    journal.keep(canonical(record.snapshot))
    decided = rows.decision_row(record, portfolio.id, claim.key, request_hash)
    ruled = rows.guard_row(record.decision_id, record.ruling)
    journal.insert(decided)
    journal.insert(ruled)
    ordered = _order(journal, order)
    detail = {"record": decided.record_sha256, "session": record.request.session, "slot": record.request.slot, "provenance": record.provenance}
    detail |= kept_transcript(journal, transcript)
    slots.finish(journal.session, claim, record.decision_id)
    return journal.append(
        "decision",
        record.request.as_of,
        portfolio=portfolio.name,
        ticker=record.request.ticker,
        decision_id=record.decision_id,
        proposal=_proposal(record),
        ruling=record.ruling,
        rows=(decided, ruled),
        order=ordered,
        detail=detail,
        said=record.proposal.reasoning if record.proposal else "",
    )


def _order(journal: Journal, order: Order | None) -> OrderRow | None:
    if order is None:
        return None
    catalogue.refuse_unknown(journal.session, order.instrument_id)
    row = rows.order_row(order)
    journal.insert(row)
    return row


def refuse_other_order(order: Order | None, record: DecisionRecord, portfolio: Portfolio) -> None:
    """AlphaAgentError where an order is not this decision's, or has an outcome already."""
    if order is None:
        return
    mine = (order.decision_id, order.portfolio_id, order.instrument_id) == (record.decision_id, portfolio.id, record.instrument_id)
    if not mine or order.price is not None or order.status not in ("pending", "pending_approval"):
        raise AlphaAgentError(f"order {order.id} is not a new order of decision {record.decision_id}")


def refuse_other_snapshot(snapshot: GuardSnapshot, ruling: Ruling) -> None:
    """AlphaAgentError where a ruling was made on something else than the snapshot that is stored with it."""
    if fingerprint(snapshot) != ruling.snapshot_hash:
        raise AlphaAgentError("the ruling was not made on the snapshot that comes with it: its snapshot_hash differs")


def refuse_other_transcript(record: DecisionRecord, transcript: bytes | None) -> None:
    """AlphaAgentError where a transcript is not the one that the record names, or only one of the two is there."""
    given = None if transcript is None else sha256_hex(transcript)
    if given != record.transcript_sha256:
        raise AlphaAgentError(f"the transcript of decision {record.decision_id} is {given}, and its record names {record.transcript_sha256}")


def kept_transcript(journal: Journal, transcript: bytes | None) -> dict[str, str]:
    """What an audit row says of a debate's transcript, which is stored by it; nothing where there was none, so that rows without one stay as they were."""
    return {} if transcript is None else {"transcript": journal.keep(transcript)}


def _proposal(record: DecisionRecord) -> dict[str, Json] | None:
    proposal = record.proposal
    if proposal is None:
        return None
    return {
        "action": proposal.action.value,
        "amount": decimal_text(proposal.amount),
        "sentiment": proposal.sentiment.value,
        "p_up": None if proposal.p_up is None else decimal_text(proposal.p_up),
        "reasoning_hash": sha256_hex(proposal.reasoning.encode("utf-8", "backslashreplace")),
    }


def find(session: Session, decision_id: str) -> StoredDecision | None:
    """A decision with what became of it since."""
    row = session.get(DecisionRow, decision_id)
    if row is None:
        return None
    record = load_record(blob(session, row.record_sha256))
    order = session.exec(select(OrderRow).where(OrderRow.decision_id == decision_id)).first()
    return StoredDecision(record, _audit_ref(session, decision_id), rows.order(order) if order else None, tuple(_rulings(session, record)))


def transcript(session: Session, decision_id: str) -> bytes | None:
    """The transcript of a decision's debate; None where there was none. BooksUnsound where it is missing or changed."""
    row = session.get(DecisionRow, decision_id)
    sha256 = load_record(blob(session, row.record_sha256)).transcript_sha256 if row else None
    return blob(session, sha256) if sha256 else None


def latest(session: Session, ticker: str | None, portfolio: str | None, limit: int) -> tuple[StoredDecision, ...]:
    """The decisions recorded last, newest first."""
    query = select(DecisionRow.id).join(AuditLogRow, col(AuditLogRow.decision_id) == col(DecisionRow.id)).where(AuditLogRow.kind == "decision")
    if ticker is not None:
        query = query.where(DecisionRow.ticker == ticker)
    if portfolio is not None:
        query = query.join(PortfolioRow, col(PortfolioRow.id) == col(DecisionRow.portfolio_id)).where(PortfolioRow.name == portfolio)
    found = (find(session, id_) for id_ in session.exec(query.order_by(col(AuditLogRow.seq).desc()).limit(limit)).all())
    return tuple(decision for decision in found if decision is not None)


def load_record(content: bytes) -> DecisionRecord:
    """The record of stored bytes. BooksUnsound where they do not make one."""
    try:
        return DecisionRecord.model_validate_json(content)
    except ValueError as error:
        raise BooksUnsound(f"a stored decision cannot be read: {error}", fix=FIX) from error


def blob(session: Session, sha256: str) -> bytes:
    """A stored document. BooksUnsound where it is missing or is another one."""
    row = session.get(BlobRow, sha256)
    if row is None or sha256_hex(row.content) != sha256:
        raise BooksUnsound(f"the stored document {sha256} is missing or has been changed", fix=FIX)
    return row.content


def _audit_ref(session: Session, decision_id: str) -> AuditRef:
    query = select(AuditLogRow.seq, AuditLogRow.hash).where(AuditLogRow.decision_id == decision_id, AuditLogRow.kind == "decision")
    row = session.exec(query).first()
    if row is None:
        raise BooksUnsound(f"decision {decision_id} has no audit row", fix=FIX)
    return AuditRef(row[0], row[1].hex())


def _rulings(session: Session, record: DecisionRecord) -> list[tuple[GuardSnapshot, Ruling]]:
    query = select(GuardResultRow).where(GuardResultRow.decision_id == record.decision_id).order_by(col(GuardResultRow.id))
    return [(GuardSnapshot.model_validate_json(blob(session, row.snapshot_sha256)), Ruling.model_validate_json(row.ruling_json)) for row in session.exec(query)]
