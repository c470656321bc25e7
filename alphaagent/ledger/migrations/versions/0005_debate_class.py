"""What a debate may be used for stands beside its decision, so that it can be searched by; and the indexes that a long list needs."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

NO_UPDATE = "CREATE TRIGGER decision_no_update BEFORE UPDATE ON decision BEGIN SELECT RAISE(ABORT, 'decision is append-only'); END"
AT_ONCE = 500
DEBATED = sa.text(
    "SELECT d.id AS id, b.content AS content FROM decision d JOIN blob b ON b.sha256 = d.record_sha256"
    " WHERE d.engine = 'crew' AND d.id > :after ORDER BY d.id LIMIT :most"
)


def upgrade() -> None:
    op.add_column("decision", sa.Column("debate_class", sa.Text(), nullable=True))
    op.execute("DROP TRIGGER IF EXISTS decision_no_update")
    _fill(op.get_bind())
    op.execute(NO_UPDATE)
    op.create_index("ix_audit_log_kind", "audit_log", ["kind", "seq", "decision_id"])
    op.create_index("ix_guard_result_evaluated", "guard_result", ["evaluated_at", "stage", "outcome", "primary_code"])


def _fill(connection: sa.Connection) -> None:
    """The class of every debate on record; the rule engine debates with nobody."""
    after = ""
    while found := connection.execute(DEBATED, {"after": after, "most": AT_ONCE}).all():
        known = [{"id": id_, "found": class_} for id_, content in found if (class_ := _class_in(content)) is not None]
        if known:
            connection.execute(sa.text("UPDATE decision SET debate_class = :found WHERE id = :id"), known)
        after = found[-1].id


def _class_in(content: bytes) -> str | None:
    """What a stored record says; nothing where it is damaged, which `audit verify` tells."""
    try:
        found = json.loads(content)["result"]["debate"]["debate_class"]
        return found if isinstance(found, str) else None
    except (ValueError, KeyError, TypeError):
        return None
