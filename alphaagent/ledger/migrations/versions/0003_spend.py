"""What model calls cost: reserved before a debate, booked once after it."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
RESERVED = ("token", "day", "portfolio", "ticker", "provider", "model", "reserved", "at")
"""What a reservation said stays as it was said."""


def upgrade() -> None:
    op.create_table(
        "model_spend",
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("day", sa.Text(), nullable=False),
        sa.Column("portfolio", sa.Text(), nullable=False),
        sa.Column("ticker", sa.Text(), nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reserved", BIG, nullable=True),
        sa.Column("price_known", BIG, nullable=False),
        sa.Column("calls", BIG, nullable=False),
        sa.Column("prompt_tokens", BIG, nullable=False),
        sa.Column("completion_tokens", BIG, nullable=False),
        sa.Column("cost", BIG, nullable=True),
        sa.Column("decision_id", sa.Text(), nullable=True),
        sa.Column("at", BIG, nullable=False),
        sa.PrimaryKeyConstraint("token"),
        sa.CheckConstraint("state = 'booked' OR (state = 'reserved' AND cost IS NULL)", name="ck_model_spend_state"),
        sa.CheckConstraint("reserved >= 0 AND cost >= 0 AND calls >= 0 AND prompt_tokens >= 0 AND completion_tokens >= 0", name="ck_model_spend_amounts"),
        sqlite_strict=True,
    )
    op.create_index("ix_model_spend_day", "model_spend", ["day"])
    same = f"({', '.join(f'NEW.{column}' for column in RESERVED)}) IS ({', '.join(f'OLD.{column}' for column in RESERVED)})"
    op.execute(
        f"CREATE TRIGGER model_spend_no_update BEFORE UPDATE ON model_spend WHEN NOT (OLD.state = 'reserved' AND NEW.state = 'booked' AND {same})"
        " BEGIN SELECT RAISE(ABORT, 'model_spend is booked once'); END"
    )
    op.execute("CREATE TRIGGER model_spend_no_delete BEFORE DELETE ON model_spend BEGIN SELECT RAISE(ABORT, 'model_spend is append-only'); END")
