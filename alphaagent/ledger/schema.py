"""The tables. Everything that may be stated once is stated once: positions, cash and costs are derived from postings and orders.

Chosen on purpose: STRICT tables with INTEGER, TEXT and BLOB only, so that SQLite itself refuses a float; amounts in millionths, instants
in UTC microseconds, dates as ISO text; hashes as hex text but for the chain, which keeps its raw bytes. `table=True` models do not
validate: values are checked where they are made (units.py, postings.py) and never on the way through here.

The migrations make these tables; a test compares them with this module.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from sqlalchemy import BigInteger, CheckConstraint, ForeignKeyConstraint, Index, Integer, LargeBinary, Text, UniqueConstraint, insert, text
from sqlmodel import Field, Session, SQLModel

VERSIONS = ("0001", "0002", "0003", "0004", "0005")
"""The revisions of the migrations, oldest first."""
VERSION = VERSIONS[-1]

APPEND_ONLY = ("posting", "txn", "audit_log", "guard_result", "decision", "blob", "limits", "opening_lot", "lot_choice", "freeze_event")
"""Tables whose rows a trigger protects from UPDATE and DELETE."""

Big: Any = BigInteger().with_variant(Integer, "sqlite")
_STRICT = {"sqlite_strict": True}


class PortfolioRow(SQLModel, table=True):
    __tablename__ = "portfolio"
    __table_args__: ClassVar[Any] = (UniqueConstraint("name", name="uq_portfolio_name"), _STRICT)
    id: int | None = Field(default=None, primary_key=True, sa_type=Big)
    name: str = Field(sa_type=Text)
    currency: str = Field(sa_type=Text)
    kind: str = Field(sa_type=Text)
    mandate: str = Field(sa_type=Text)
    opened_at: int = Field(sa_type=Big)


class InstrumentRow(SQLModel, table=True):
    __tablename__ = "instrument"
    __table_args__: ClassVar[Any] = (_STRICT,)
    id: str = Field(primary_key=True, sa_type=Text)
    symbol: str = Field(sa_type=Text)
    name: str = Field(sa_type=Text)
    mic: str = Field(sa_type=Text)
    currency: str = Field(sa_type=Text)
    kind: str = Field(sa_type=Text)
    sector: str | None = Field(default=None, sa_type=Text)
    cik: str | None = Field(default=None, sa_type=Text)
    valid_from: str | None = Field(default=None, sa_type=Text)
    valid_to: str | None = Field(default=None, sa_type=Text)


class SymbolAliasRow(SQLModel, table=True):
    __tablename__ = "symbol_alias"
    __table_args__: ClassVar[Any] = (ForeignKeyConstraint(["instrument_id"], ["instrument.id"]), _STRICT)
    instrument_id: str = Field(primary_key=True, sa_type=Text)
    n: int = Field(primary_key=True, sa_type=Big)
    alias: str = Field(sa_type=Text)


class LedgerAccountRow(SQLModel, table=True):
    __tablename__ = "ledger_account"
    __table_args__: ClassVar[Any] = (
        UniqueConstraint("portfolio_id", "kind", "commodity", name="uq_ledger_account"),
        ForeignKeyConstraint(["portfolio_id"], ["portfolio.id"]),
        _STRICT,
    )
    id: int | None = Field(default=None, primary_key=True, sa_type=Big)
    portfolio_id: int = Field(sa_type=Big)
    kind: str = Field(sa_type=Text)
    commodity: str = Field(sa_type=Text)


class BlobRow(SQLModel, table=True):
    __tablename__ = "blob"
    __table_args__: ClassVar[Any] = (_STRICT,)
    sha256: str = Field(primary_key=True, sa_type=Text)
    content: bytes = Field(sa_type=LargeBinary)


class DecisionRow(SQLModel, table=True):
    __tablename__ = "decision"
    __table_args__: ClassVar[Any] = (
        UniqueConstraint("idem_key", name="uq_decision_idem_key"),
        ForeignKeyConstraint(["portfolio_id"], ["portfolio.id"]),
        ForeignKeyConstraint(["record_sha256"], ["blob.sha256"]),
        Index("ix_decision_portfolio_as_of", "portfolio_id", "as_of"),
        Index("ix_decision_ticker_as_of", "ticker", "as_of"),
        _STRICT,
    )
    id: str = Field(primary_key=True, sa_type=Text)
    portfolio_id: int = Field(sa_type=Big)
    idem_key: str = Field(sa_type=Text)
    request_hash: str = Field(sa_type=Text)
    ticker: str = Field(sa_type=Text)
    instrument_id: str = Field(sa_type=Text)
    session: str = Field(sa_type=Text)
    as_of: int = Field(sa_type=Big)
    slot: str = Field(sa_type=Text)
    engine: str = Field(sa_type=Text)
    plan: str | None = Field(sa_type=Text)
    provenance: str = Field(sa_type=Text)
    execution_mode: str = Field(sa_type=Text)
    action: str | None = Field(default=None, sa_type=Text)
    amount_text: str | None = Field(default=None, sa_type=Text)
    sentiment: str | None = Field(default=None, sa_type=Text)
    outcome: str = Field(sa_type=Text)
    code: str = Field(sa_type=Text)
    pack_sha256: str = Field(sa_type=Text)
    record_sha256: str = Field(sa_type=Text)
    program_version: str = Field(sa_type=Text)
    debate_class: str | None = Field(default=None, sa_type=Text)
    """As the record says; None where there was no debate, or one without an exchange."""


class GuardResultRow(SQLModel, table=True):
    __tablename__ = "guard_result"
    __table_args__: ClassVar[Any] = (
        UniqueConstraint("decision_id", "stage", name="uq_guard_result_stage"),
        ForeignKeyConstraint(["decision_id"], ["decision.id"]),
        ForeignKeyConstraint(["snapshot_sha256"], ["blob.sha256"]),
        Index("ix_guard_result_evaluated", "evaluated_at", "stage", "outcome", "primary_code"),
        _STRICT,
    )
    id: int | None = Field(default=None, primary_key=True, sa_type=Big)
    decision_id: str = Field(sa_type=Text)
    stage: str = Field(sa_type=Text)
    outcome: str = Field(sa_type=Text)
    primary_code: str = Field(sa_type=Text)
    quantity_in: int = Field(sa_type=Big)
    quantity_out: int = Field(sa_type=Big)
    price: int | None = Field(default=None, sa_type=Big)
    limits_hash: str = Field(sa_type=Text)
    snapshot_sha256: str = Field(sa_type=Text)
    guard_version: str = Field(sa_type=Text)
    evaluated_at: int = Field(sa_type=Big)
    ruling_json: str = Field(sa_type=Text)
    """The whole ruling in canonical form; the columns above only help a search."""


class OrderRow(SQLModel, table=True):
    __tablename__ = "orders"
    __table_args__: ClassVar[Any] = (
        UniqueConstraint("decision_id", name="uq_orders_decision"),
        ForeignKeyConstraint(["decision_id"], ["decision.id"]),
        ForeignKeyConstraint(["portfolio_id"], ["portfolio.id"]),
        ForeignKeyConstraint(["instrument_id"], ["instrument.id"]),
        CheckConstraint("quantity > 0", name="ck_orders_quantity"),
        Index("ix_orders_status_fill", "status", "fill_session"),
        Index("ix_orders_portfolio", "portfolio_id", "decided_at"),
        _STRICT,
    )
    id: str = Field(primary_key=True, sa_type=Text)
    decision_id: str = Field(sa_type=Text)
    portfolio_id: int = Field(sa_type=Big)
    instrument_id: str = Field(sa_type=Text)
    symbol: str = Field(sa_type=Text)
    side: str = Field(sa_type=Text)
    quantity: int = Field(sa_type=Big)
    """As ordered; what was filled is `filled_quantity`."""
    decision_price: int = Field(sa_type=Big)
    decided_at: int = Field(sa_type=Big)
    fill_session: str = Field(sa_type=Text)
    close_all: int = Field(sa_type=Big)
    reserved: int = Field(sa_type=Big)
    status: str = Field(sa_type=Text)
    filled_quantity: int | None = Field(default=None, sa_type=Big)
    price: int | None = Field(default=None, sa_type=Big)
    closed_at: int | None = Field(default=None, sa_type=Big)


class TxnRow(SQLModel, table=True):
    __tablename__ = "txn"
    __table_args__: ClassVar[Any] = (
        UniqueConstraint("decision_id", name="uq_txn_decision"),
        UniqueConstraint("reverses", name="uq_txn_reverses"),
        UniqueConstraint("action_key", name="uq_txn_action_key"),
        ForeignKeyConstraint(["portfolio_id"], ["portfolio.id"]),
        ForeignKeyConstraint(["decision_id"], ["decision.id"]),
        ForeignKeyConstraint(["reverses"], ["txn.id"]),
        Index("ix_txn_portfolio", "portfolio_id", "trade_at"),
        _STRICT,
    )
    id: int | None = Field(default=None, primary_key=True, sa_type=Big)
    portfolio_id: int = Field(sa_type=Big)
    decision_id: str | None = Field(default=None, sa_type=Text)
    kind: str = Field(sa_type=Text)
    reverses: int | None = Field(default=None, sa_type=Big)
    action_key: str | None = Field(default=None, sa_type=Text)
    """Portfolio, instrument, kind and ex-date of a corporate action: it can be booked once."""
    trade_at: int = Field(sa_type=Big)
    settle_on: str = Field(sa_type=Text)
    created_at: int = Field(sa_type=Big)


class PostingRow(SQLModel, table=True):
    __tablename__ = "posting"
    __table_args__: ClassVar[Any] = (
        ForeignKeyConstraint(["txn_id"], ["txn.id"]),
        ForeignKeyConstraint(["account_id"], ["ledger_account.id"]),
        CheckConstraint("amount <> 0", name="ck_posting_amount"),
        Index("ix_posting_account", "account_id"),
        _STRICT,
    )
    txn_id: int = Field(primary_key=True, sa_type=Big)
    n: int = Field(primary_key=True, sa_type=Big)
    account_id: int = Field(sa_type=Big)
    commodity: str = Field(sa_type=Text)
    amount: int = Field(sa_type=Big)
    settle_on: str = Field(sa_type=Text)


class OpeningLotRow(SQLModel, table=True):
    """What an import says of one lot beside its posting, which has the instrument and the quantity."""

    __tablename__ = "opening_lot"
    __table_args__: ClassVar[Any] = (ForeignKeyConstraint(["txn_id", "n"], ["posting.txn_id", "posting.n"]), _STRICT)
    txn_id: int = Field(primary_key=True, sa_type=Big)
    n: int = Field(primary_key=True, sa_type=Big)
    acquired_on: str = Field(sa_type=Text)
    cost: int = Field(sa_type=Big)


class LotChoiceRow(SQLModel, table=True):
    """How a trade chooses its lots; a trade without a row is first in first out."""

    __tablename__ = "lot_choice"
    __table_args__: ClassVar[Any] = (ForeignKeyConstraint(["txn_id"], ["txn.id"]), _STRICT)
    txn_id: int = Field(primary_key=True, sa_type=Big)
    method: str = Field(sa_type=Text)


class FreezeEventRow(SQLModel, table=True):
    """A name frozen or unfrozen in a portfolio; the last row of a name counts."""

    __tablename__ = "freeze_event"
    __table_args__: ClassVar[Any] = (
        UniqueConstraint("action_key", name="uq_freeze_event_action_key"),
        ForeignKeyConstraint(["portfolio_id"], ["portfolio.id"]),
        ForeignKeyConstraint(["instrument_id"], ["instrument.id"]),
        Index("ix_freeze_event_portfolio", "portfolio_id", "id"),
        _STRICT,
    )
    id: int | None = Field(default=None, primary_key=True, sa_type=Big)
    portfolio_id: int = Field(sa_type=Big)
    instrument_id: str = Field(sa_type=Text)
    state: str = Field(sa_type=Text)
    reason: str = Field(sa_type=Text)
    action_key: str | None = Field(default=None, sa_type=Text)
    at: int = Field(sa_type=Big)


class ModelSpendRow(SQLModel, table=True):
    """What one debate may cost, and then did. A trigger lets a row go from `reserved` to `booked` once, and never away."""

    __tablename__ = "model_spend"
    __table_args__: ClassVar[Any] = (
        CheckConstraint("state = 'booked' OR (state = 'reserved' AND cost IS NULL)", name="ck_model_spend_state"),
        CheckConstraint("reserved >= 0 AND cost >= 0 AND calls >= 0 AND prompt_tokens >= 0 AND completion_tokens >= 0", name="ck_model_spend_amounts"),
        Index("ix_model_spend_day", "day"),
        _STRICT,
    )
    token: str = Field(primary_key=True, sa_type=Text)
    day: str = Field(sa_type=Text)
    portfolio: str = Field(sa_type=Text)
    """By name, like the decision by id: a debate is paid for even where neither comes to be."""
    ticker: str = Field(sa_type=Text)
    provider: str = Field(sa_type=Text)
    model: str = Field(sa_type=Text)
    state: str = Field(sa_type=Text)
    reserved: int | None = Field(default=None, sa_type=Big)
    price_known: int = Field(sa_type=Big)
    calls: int = Field(default=0, sa_type=Big)
    prompt_tokens: int = Field(default=0, sa_type=Big)
    completion_tokens: int = Field(default=0, sa_type=Big)
    cost: int | None = Field(default=None, sa_type=Big)
    decision_id: str | None = Field(default=None, sa_type=Text)
    at: int = Field(sa_type=Big)


class OutboxRow(SQLModel, table=True):
    """What one target is to be told. A trigger keeps what was announced, and lets the rest change until it was sent or is dead."""

    __tablename__ = "outbox"
    __table_args__: ClassVar[Any] = (
        UniqueConstraint("target", "dedupe_key", name="uq_outbox_key"),
        CheckConstraint("sent_at IS NULL OR dead_at IS NULL", name="ck_outbox_end"),
        Index("ix_outbox_open", "id", sqlite_where=text("sent_at IS NULL AND dead_at IS NULL")),
        _STRICT,
    )
    id: int | None = Field(default=None, primary_key=True, sa_type=Big)
    topic: str = Field(sa_type=Text)
    target: str = Field(sa_type=Text)
    dedupe_key: str = Field(sa_type=Text)
    payload: str = Field(sa_type=Text)
    created_at: int = Field(sa_type=Big)
    claimed_until: int | None = Field(default=None, sa_type=Big)
    """Until when nobody else takes it: while it is being sent, and the pause after a failed try."""
    claim_token: str | None = Field(default=None, sa_type=Text)
    attempts: int = Field(default=0, sa_type=Big)
    sent_at: int | None = Field(default=None, sa_type=Big)
    dead_at: int | None = Field(default=None, sa_type=Big)
    last_fault: str | None = Field(default=None, sa_type=Text)


class RunSlotRow(SQLModel, table=True):
    __tablename__ = "run_slot"
    __table_args__: ClassVar[Any] = (ForeignKeyConstraint(["decision_id"], ["decision.id"]), _STRICT)
    key: str = Field(primary_key=True, sa_type=Text)
    request_hash: str = Field(sa_type=Text)
    state: str = Field(sa_type=Text)
    token: str = Field(sa_type=Text)
    host: str = Field(sa_type=Text)
    pid: int = Field(sa_type=Big)
    process_start: str = Field(sa_type=Text)
    claimed_at: int = Field(sa_type=Big)
    decision_id: str | None = Field(default=None, sa_type=Text)


class ControlStateRow(SQLModel, table=True):
    __tablename__ = "control_state"
    __table_args__: ClassVar[Any] = (_STRICT,)
    key: str = Field(primary_key=True, sa_type=Text)
    value: str = Field(sa_type=Text)
    version: int = Field(sa_type=Big)


class LimitsRow(SQLModel, table=True):
    __tablename__ = "limits"
    __table_args__: ClassVar[Any] = (
        ForeignKeyConstraint(["portfolio_id"], ["portfolio.id"]),
        ForeignKeyConstraint(["document_sha256"], ["blob.sha256"]),
        Index("ix_limits_portfolio", "portfolio_id"),
        Index("ix_limits_hash", "hash"),
        _STRICT,
    )
    id: int | None = Field(default=None, primary_key=True, sa_type=Big)
    portfolio_id: int = Field(sa_type=Big)
    hash: str = Field(sa_type=Text)
    document_sha256: str = Field(sa_type=Text)
    at: int = Field(sa_type=Big)


class AuditLogRow(SQLModel, table=True):
    __tablename__ = "audit_log"
    __table_args__: ClassVar[Any] = (
        UniqueConstraint("hash", name="uq_audit_log_hash"),
        Index("ix_audit_log_decision", "decision_id", "kind"),
        Index("ix_audit_log_txn", "txn_id"),
        Index("ix_audit_log_kind", "kind", "seq", "decision_id"),
        _STRICT,
    )
    seq: int = Field(primary_key=True, sa_type=Big)
    prev: bytes = Field(sa_type=LargeBinary)
    kind: str = Field(sa_type=Text)
    decision_id: str | None = Field(default=None, sa_type=Text)
    txn_id: int | None = Field(default=None, sa_type=Big)
    payload: str = Field(sa_type=Text)
    payload_hash: bytes = Field(sa_type=LargeBinary)
    hash: bytes = Field(sa_type=LargeBinary)
    at: int = Field(sa_type=Big)


def insert_rows(session: Session, table: type[SQLModel], values: Sequence[Mapping[str, str | int]]) -> None:
    """Inserts rows of one table, all columns given, at once: an import may have a hundred thousand."""
    if values:
        session.connection().execute(insert(table), values)


def insert_row(session: Session, row: SQLModel) -> None:
    """Inserts a new row, and fills in its generated id, without the session's bookkeeping, which costs several times the statement."""
    values = {name: value for name, value in row.model_dump().items() if value is not None}
    made = session.connection().execute(insert(type(row)), values).inserted_primary_key
    if made is not None and getattr(row, "id", 0) is None:
        row.id = made[0]
