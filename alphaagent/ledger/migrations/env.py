"""What alembic runs: the revisions, on the connection and inside the transaction that the ledger has already opened."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()
