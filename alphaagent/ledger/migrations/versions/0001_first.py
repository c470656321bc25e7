"""The first tables, and the triggers that make the append-only ones append-only."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

APPEND_ONLY = ("posting", "txn", "audit_log", "guard_result", "decision", "blob", "limits")
BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    _books()
    _decisions()
    _postings()
    _state()
    for table in APPEND_ONLY:
        for verb in ("UPDATE", "DELETE"):
            op.execute(f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END")


def _books() -> None:
    op.create_table(
        "portfolio",
        sa.Column("id", BIG, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("currency", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("mandate", sa.Text(), nullable=False),
        sa.Column("opened_at", BIG, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name", name="uq_portfolio_name"),
        sqlite_strict=True,
    )
    op.create_table(
        "instrument",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("symbol", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("mic", sa.Text(), nullable=False),
        sa.Column("currency", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("sector", sa.Text(), nullable=True),
        sa.Column("cik", sa.Text(), nullable=True),
        sa.Column("valid_from", sa.Text(), nullable=True),
        sa.Column("valid_to", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sqlite_strict=True,
    )
    op.create_table(
        "symbol_alias",
        sa.Column("instrument_id", sa.Text(), nullable=False),
        sa.Column("n", BIG, nullable=False),
        sa.Column("alias", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("instrument_id", "n"),
        sa.ForeignKeyConstraint(["instrument_id"], ["instrument.id"]),
        sqlite_strict=True,
    )
    op.create_table(
        "ledger_account",
        sa.Column("id", BIG, nullable=False),
        sa.Column("portfolio_id", BIG, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("commodity", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.ForeignKeyConstraint(["portfolio_id"], ["portfolio.id"]),
        sa.UniqueConstraint("portfolio_id", "kind", "commodity", name="uq_ledger_account"),
        sqlite_strict=True,
    )
    op.create_table(
        "blob",
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("sha256"),
        sqlite_strict=True,
    )


def _decisions() -> None:
    op.create_table(
        "decision",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("portfolio_id", BIG, nullable=False),
        sa.Column("idem_key", sa.Text(), nullable=False),
        sa.Column("request_hash", sa.Text(), nullable=False),
        sa.Column("ticker", sa.Text(), nullable=False),
        sa.Column("instrument_id", sa.Text(), nullable=False),
        sa.Column("session", sa.Text(), nullable=False),
        sa.Column("as_of", BIG, nullable=False),
        sa.Column("slot", sa.Text(), nullable=False),
        sa.Column("engine", sa.Text(), nullable=False),
        sa.Column("plan", sa.Text(), nullable=True),
        sa.Column("provenance", sa.Text(), nullable=False),
        sa.Column("execution_mode", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=True),
        sa.Column("amount_text", sa.Text(), nullable=True),
        sa.Column("sentiment", sa.Text(), nullable=True),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("pack_sha256", sa.Text(), nullable=False),
        sa.Column("record_sha256", sa.Text(), nullable=False),
        sa.Column("program_version", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.ForeignKeyConstraint(["portfolio_id"], ["portfolio.id"]),
        sa.ForeignKeyConstraint(["record_sha256"], ["blob.sha256"]),
        sa.UniqueConstraint("idem_key", name="uq_decision_idem_key"),
        sqlite_strict=True,
    )
    op.create_index("ix_decision_portfolio_as_of", "decision", ["portfolio_id", "as_of"])
    op.create_index("ix_decision_ticker_as_of", "decision", ["ticker", "as_of"])
    op.create_table(
        "guard_result",
        sa.Column("id", BIG, nullable=False),
        sa.Column("decision_id", sa.Text(), nullable=False),
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("primary_code", sa.Text(), nullable=False),
        sa.Column("quantity_in", BIG, nullable=False),
        sa.Column("quantity_out", BIG, nullable=False),
        sa.Column("price", BIG, nullable=True),
        sa.Column("limits_hash", sa.Text(), nullable=False),
        sa.Column("snapshot_sha256", sa.Text(), nullable=False),
        sa.Column("guard_version", sa.Text(), nullable=False),
        sa.Column("evaluated_at", BIG, nullable=False),
        sa.Column("ruling_json", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.ForeignKeyConstraint(["decision_id"], ["decision.id"]),
        sa.ForeignKeyConstraint(["snapshot_sha256"], ["blob.sha256"]),
        sa.UniqueConstraint("decision_id", "stage", name="uq_guard_result_stage"),
        sqlite_strict=True,
    )
    op.create_table(
        "orders",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("decision_id", sa.Text(), nullable=False),
        sa.Column("portfolio_id", BIG, nullable=False),
        sa.Column("instrument_id", sa.Text(), nullable=False),
        sa.Column("symbol", sa.Text(), nullable=False),
        sa.Column("side", sa.Text(), nullable=False),
        sa.Column("quantity", BIG, nullable=False),
        sa.Column("decision_price", BIG, nullable=False),
        sa.Column("decided_at", BIG, nullable=False),
        sa.Column("fill_session", sa.Text(), nullable=False),
        sa.Column("close_all", BIG, nullable=False),
        sa.Column("reserved", BIG, nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("filled_quantity", BIG, nullable=True),
        sa.Column("price", BIG, nullable=True),
        sa.Column("closed_at", BIG, nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.ForeignKeyConstraint(["decision_id"], ["decision.id"]),
        sa.ForeignKeyConstraint(["instrument_id"], ["instrument.id"]),
        sa.ForeignKeyConstraint(["portfolio_id"], ["portfolio.id"]),
        sa.UniqueConstraint("decision_id", name="uq_orders_decision"),
        sa.CheckConstraint("quantity > 0", name="ck_orders_quantity"),
        sqlite_strict=True,
    )
    op.create_index("ix_orders_portfolio", "orders", ["portfolio_id", "decided_at"])
    op.create_index("ix_orders_status_fill", "orders", ["status", "fill_session"])
    op.create_table(
        "run_slot",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("request_hash", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("pid", BIG, nullable=False),
        sa.Column("process_start", sa.Text(), nullable=False),
        sa.Column("claimed_at", BIG, nullable=False),
        sa.Column("decision_id", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("key"),
        sa.ForeignKeyConstraint(["decision_id"], ["decision.id"]),
        sqlite_strict=True,
    )


def _postings() -> None:
    op.create_table(
        "txn",
        sa.Column("id", BIG, nullable=False),
        sa.Column("portfolio_id", BIG, nullable=False),
        sa.Column("decision_id", sa.Text(), nullable=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("reverses", BIG, nullable=True),
        sa.Column("action_key", sa.Text(), nullable=True),
        sa.Column("trade_at", BIG, nullable=False),
        sa.Column("settle_on", sa.Text(), nullable=False),
        sa.Column("created_at", BIG, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.ForeignKeyConstraint(["decision_id"], ["decision.id"]),
        sa.ForeignKeyConstraint(["portfolio_id"], ["portfolio.id"]),
        sa.ForeignKeyConstraint(["reverses"], ["txn.id"]),
        sa.UniqueConstraint("action_key", name="uq_txn_action_key"),
        sa.UniqueConstraint("decision_id", name="uq_txn_decision"),
        sa.UniqueConstraint("reverses", name="uq_txn_reverses"),
        sqlite_strict=True,
    )
    op.create_index("ix_txn_portfolio", "txn", ["portfolio_id", "trade_at"])
    op.create_table(
        "posting",
        sa.Column("txn_id", BIG, nullable=False),
        sa.Column("n", BIG, nullable=False),
        sa.Column("account_id", BIG, nullable=False),
        sa.Column("commodity", sa.Text(), nullable=False),
        sa.Column("amount", BIG, nullable=False),
        sa.Column("settle_on", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("txn_id", "n"),
        sa.ForeignKeyConstraint(["account_id"], ["ledger_account.id"]),
        sa.ForeignKeyConstraint(["txn_id"], ["txn.id"]),
        sa.CheckConstraint("amount <> 0", name="ck_posting_amount"),
        sqlite_strict=True,
    )
    op.create_index("ix_posting_account", "posting", ["account_id"])


def _state() -> None:
    op.create_table(
        "control_state",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("version", BIG, nullable=False),
        sa.PrimaryKeyConstraint("key"),
        sqlite_strict=True,
    )
    op.create_table(
        "limits",
        sa.Column("id", BIG, nullable=False),
        sa.Column("portfolio_id", BIG, nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("document_sha256", sa.Text(), nullable=False),
        sa.Column("at", BIG, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.ForeignKeyConstraint(["document_sha256"], ["blob.sha256"]),
        sa.ForeignKeyConstraint(["portfolio_id"], ["portfolio.id"]),
        sqlite_strict=True,
    )
    op.create_index("ix_limits_hash", "limits", ["hash"])
    op.create_index("ix_limits_portfolio", "limits", ["portfolio_id"])
    op.create_table(
        "audit_log",
        sa.Column("seq", BIG, nullable=False),
        sa.Column("prev", sa.LargeBinary(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("decision_id", sa.Text(), nullable=True),
        sa.Column("txn_id", BIG, nullable=True),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("payload_hash", sa.LargeBinary(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("at", BIG, nullable=False),
        sa.PrimaryKeyConstraint("seq"),
        sa.UniqueConstraint("hash", name="uq_audit_log_hash"),
        sqlite_strict=True,
    )
    op.create_index("ix_audit_log_decision", "audit_log", ["decision_id", "kind"])
    op.create_index("ix_audit_log_txn", "audit_log", ["txn_id"])
