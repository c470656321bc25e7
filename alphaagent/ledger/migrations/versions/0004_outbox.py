"""What is to be told to whom: written with what it tells, sent later, and never away."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
ANNOUNCED = ("id", "topic", "target", "dedupe_key", "payload", "created_at")
"""What was announced stays as it was announced."""


def upgrade() -> None:
    op.create_table(
        "outbox",
        sa.Column("id", BIG, nullable=False),
        sa.Column("topic", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("dedupe_key", sa.Text(), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("created_at", BIG, nullable=False),
        sa.Column("claimed_until", BIG, nullable=True),
        sa.Column("claim_token", sa.Text(), nullable=True),
        sa.Column("attempts", BIG, nullable=False),
        sa.Column("sent_at", BIG, nullable=True),
        sa.Column("dead_at", BIG, nullable=True),
        sa.Column("last_fault", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("target", "dedupe_key", name="uq_outbox_key"),
        sa.CheckConstraint("sent_at IS NULL OR dead_at IS NULL", name="ck_outbox_end"),
        sqlite_strict=True,
    )
    op.create_index("ix_outbox_open", "outbox", ["id"], sqlite_where=sa.text("sent_at IS NULL AND dead_at IS NULL"))
    same = f"({', '.join(f'NEW.{column}' for column in ANNOUNCED)}) IS ({', '.join(f'OLD.{column}' for column in ANNOUNCED)})"
    op.execute(
        "CREATE TRIGGER outbox_no_update BEFORE UPDATE ON outbox"
        f" WHEN NOT (OLD.sent_at IS NULL AND OLD.dead_at IS NULL AND NEW.attempts >= OLD.attempts AND {same})"
        " BEGIN SELECT RAISE(ABORT, 'outbox is sent once'); END"
    )
    op.execute("CREATE TRIGGER outbox_no_delete BEFORE DELETE ON outbox BEGIN SELECT RAISE(ABORT, 'outbox is append-only'); END")
