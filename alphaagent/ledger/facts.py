"""What the log vouches for: the columns of each row that an audit row's hashes cover, in an order that never changes.

The lists are frozen with version 1 of the log. A later revision that adds a column leaves them alone, or old rows would no longer verify.
The verifier reads the same columns by plain SQL, so that the hash of a row does not depend on who computes it.
"""

from collections.abc import Iterable, Sequence

from sqlmodel import SQLModel

from alphaagent.domain.base import Json, fingerprint

FACTS: dict[str, tuple[str, ...]] = {
    "portfolio": ("id", "name", "currency", "kind", "mandate", "opened_at"),
    "decision": (
        *("id", "portfolio_id", "idem_key", "request_hash", "ticker", "instrument_id", "session", "as_of", "slot", "engine", "plan", "provenance"),
        *("execution_mode", "action", "amount_text", "sentiment", "outcome", "code", "pack_sha256", "record_sha256", "program_version"),
    ),
    "guard_result": (
        *("decision_id", "stage", "outcome", "primary_code", "quantity_in", "quantity_out", "price", "limits_hash", "snapshot_sha256"),
        *("guard_version", "evaluated_at", "ruling_json"),
    ),
    "orders": (
        *("id", "decision_id", "portfolio_id", "instrument_id", "symbol", "side", "quantity", "decision_price", "decided_at", "fill_session"),
        *("close_all", "reserved", "status", "filled_quantity", "price", "closed_at"),
    ),
    "txn": ("id", "portfolio_id", "decision_id", "kind", "reverses", "action_key", "trade_at", "settle_on", "created_at"),
    "opening_lot": ("txn_id", "n", "acquired_on", "cost"),
    "lot_choice": ("txn_id", "method"),
    "freeze_event": ("id", "portfolio_id", "instrument_id", "state", "reason", "action_key", "at"),
    "model_spend": (
        *("token", "day", "portfolio", "ticker", "provider", "model", "state", "reserved", "price_known", "calls", "prompt_tokens", "completion_tokens"),
        *("cost", "decision_id", "at"),
    ),
    "limits": ("id", "portfolio_id", "hash", "document_sha256", "at"),
}

Value = str | int | None


def fact(table: str, values: Sequence[Value]) -> list[Json]:
    """A row as the log sees it: its table, then every value as text."""
    return [table, *(None if value is None else str(value) for value in values)]


def fact_of(row: SQLModel) -> list[Json]:
    """The fact of a row that has been flushed."""
    table = str(type(row).__tablename__)
    return fact(table, [getattr(row, column) for column in FACTS[table]])


def facts_hash(facts: Iterable[list[Json]]) -> str:
    """One hash over several rows, in order."""
    return fingerprint(list(facts))


def postings_hash(postings: Iterable[Sequence[Value]]) -> str:
    """One hash over a transaction's postings: (n, portfolio, kind, commodity, amount, settle_on) of each, in order of n."""
    return fingerprint([fact("posting", posting) for posting in postings])
