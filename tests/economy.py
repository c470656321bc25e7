"""What one user's process does once and the tests' process would do thousands of times: read the commands, and bring a new ledger up to date.

Neither changes what is tested. The parser is the same object each time; an empty ledger gets, statement by statement, what the migrations made of
the first one. A ledger with anything in it is migrated as ever, and whoever runs a process of its own gets nothing of this.
"""

import sqlite3
from collections.abc import Callable
from functools import cache

import typer.main
from sqlalchemy import Connection, create_engine

from alphaagent.ledger import database

COMMANDS = cache(typer.main.get_command)
MIGRATION = database.migration


def migration() -> Callable[[Connection], None]:
    """In place of `database.migration`."""

    def upgrade(connection: Connection) -> None:
        if connection.exec_driver_sql("SELECT 1 FROM sqlite_master").first():
            MIGRATION()(connection)
        else:
            for statement in _made():
                connection.exec_driver_sql(statement)

    return upgrade


@cache
def _made() -> tuple[str, ...]:
    """What the migrations make of an empty ledger."""
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        MIGRATION()(connection)
        made = connection.connection.dbapi_connection
        assert isinstance(made, sqlite3.Connection)
        dumped = tuple(made.iterdump())
    engine.dispose()
    return dumped[1:-1]  # without its own transaction
