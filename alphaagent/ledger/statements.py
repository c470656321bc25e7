"""One memory of compiled statements for every ledger of a process.

SQLAlchemy keeps what it has compiled by the dialect object, of which every engine makes one of its own: reading and writing one ledger,
or opening the next, would compile every statement anew. Here all dialects of a ledger are equal, so that each statement is compiled once.
"""

from typing import Any

from sqlalchemy.dialects import registry
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

URL = "sqlite+ledger://"
KEPT_STATEMENTS = 500
OPTIONS: dict[str, Any] = {"compiled_cache": LRUCache(KEPT_STATEMENTS)}
"""Options of an engine that shares the memory."""


class LedgerDialect(SQLiteDialect_pysqlite):
    """SQLite as every ledger speaks it: any two of these compile alike."""

    supports_statement_cache = True

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))


registry.register("sqlite.ledger", __name__, LedgerDialect.__name__)
