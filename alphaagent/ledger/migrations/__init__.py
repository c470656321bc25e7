"""The schema's history, as alembic revisions. They are frozen: a change of a table is a new revision, never an edit."""
