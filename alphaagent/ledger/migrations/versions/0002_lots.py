"""Lots that are brought in, how a trade chose its lots, and names that are frozen."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

APPEND_ONLY = ("opening_lot", "lot_choice", "freeze_event")
BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "opening_lot",
        sa.Column("txn_id", BIG, nullable=False),
        sa.Column("n", BIG, nullable=False),
        sa.Column("acquired_on", sa.Text(), nullable=False),
        sa.Column("cost", BIG, nullable=False),
        sa.PrimaryKeyConstraint("txn_id", "n"),
        sa.ForeignKeyConstraint(["txn_id", "n"], ["posting.txn_id", "posting.n"]),
        sqlite_strict=True,
    )
    op.create_table(
        "lot_choice",
        sa.Column("txn_id", BIG, nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("txn_id"),
        sa.ForeignKeyConstraint(["txn_id"], ["txn.id"]),
        sqlite_strict=True,
    )
    op.create_table(
        "freeze_event",
        sa.Column("id", BIG, nullable=False),
        sa.Column("portfolio_id", BIG, nullable=False),
        sa.Column("instrument_id", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("action_key", sa.Text(), nullable=True),
        sa.Column("at", BIG, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.ForeignKeyConstraint(["portfolio_id"], ["portfolio.id"]),
        sa.ForeignKeyConstraint(["instrument_id"], ["instrument.id"]),
        sa.UniqueConstraint("action_key", name="uq_freeze_event_action_key"),
        sqlite_strict=True,
    )
    op.create_index("ix_freeze_event_portfolio", "freeze_event", ["portfolio_id", "id"])
    for table in APPEND_ONLY:
        for verb in ("UPDATE", "DELETE"):
            op.execute(f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END")
