"""What the books say, read straight from the database with plain SQL and added up anew: nothing of the product's own reading is used here."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

MILLION = Decimal(1_000_000)
ENDED = ("filled", "rejected", "expired")
CENT = Decimal("0.01")
OF_DECISION = "p.name, d.ticker, d.session, d.action, d.amount_text, d.outcome, d.code, d.provenance, d.id"
OF_ORDER = "p.name, o.symbol, d.session, o.side, o.quantity, o.fill_session, o.status, o.filled_quantity, o.price"


@dataclass(frozen=True)
class Slot:
    """One portfolio, name and session."""

    portfolio: str
    ticker: str
    session: str


@dataclass(frozen=True)
class Reading:
    """A database at rest."""

    path: Path

    def rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)) as connection:
            return connection.execute(statement, values).fetchall()

    def decisions(self, until: str = "9999") -> list[tuple[Any, ...]]:
        """Every decision of a sweep up to a session."""
        return self.rows(
            f"SELECT {OF_DECISION} FROM decision d JOIN portfolio p ON p.id = d.portfolio_id WHERE d.slot = 'sweep' AND d.session <= ? ORDER BY 1, 3, 2", until
        )

    def orders(self, until: str = "9999") -> list[tuple[Any, ...]]:
        """Every order, with the session after which it was decided and what became of it."""
        return self.rows(
            f"SELECT {OF_ORDER} FROM orders o JOIN decision d ON d.id = o.decision_id JOIN portfolio p ON p.id = o.portfolio_id"
            " WHERE d.session <= ? ORDER BY 1, 3, 2",
            until,
        )

    def held(self, until: str = "9999") -> dict[tuple[str, str, str], int]:
        """Cash and shares of every portfolio in millionths, as the postings up to the end of a day add up."""
        found = self.rows(
            "SELECT p.name, a.kind, b.commodity, sum(b.amount) FROM posting b JOIN txn t ON t.id = b.txn_id JOIN ledger_account a ON a.id = b.account_id"
            " JOIN portfolio p ON p.id = a.portfolio_id WHERE a.kind IN ('cash', 'position') AND t.trade_at < ? GROUP BY 1, 2, 3",
            _midnight_after(until),
        )
        return {(name, kind, commodity): amount for name, kind, commodity, amount in found if amount}

    def undone(self) -> list[tuple[Slot, str]]:
        """Every failure and skip that the audit trail has on record, in a row of a sweep."""
        found = []
        for (payload,) in self.rows("SELECT payload FROM audit_log WHERE kind = 'sweep' ORDER BY seq"):
            row = json.loads(payload)
            found += [(Slot(row["portfolio"], ticker, row["at"][:10]), why) for ticker, why in row["detail"]["undone"].items()]
        return found

    def traded(self) -> dict[str, Decimal]:
        """The value filled, by the session after which it was decided."""
        found: Counter[str] = Counter()
        for *_, session, _side, _quantity, _fill, status, filled, price in self.orders():
            if status == "filled":
                found[session] += filled * price
        return {session: amount / MILLION / MILLION for session, amount in found.items()}


def _midnight_after(day: str) -> int:
    return int(datetime.fromisoformat(f"{day}T00:00:00").replace(tzinfo=UTC).timestamp() + 86_400) * 1_000_000 if day != "9999" else 2**62


def wrong(books: Reading, slots: Iterable[Slot], last: str) -> list[str]:
    """Everything that does not hold in books that have been settled past the session `last`: one line each."""
    return [*_slots(books, set(slots)), *_orders(books, last), *_trades(books), *_balance(books)]


def _slots(books: Reading, slots: set[Slot]) -> Iterable[str]:
    decided = Counter(Slot(*row[:3]) for row in books.decisions())
    yield from (f"{slot} has {count} decisions" for slot, count in decided.items() if count > 1)
    yield from (f"{slot} was never asked for" for slot in decided.keys() - slots)
    on_record = {slot for slot, _ in books.undone()}
    for slot in slots - decided.keys():
        yield f"{slot} has no decision, and its failure is {'on record' if slot in on_record else 'on no record'}"
    claimed = books.rows("SELECT key FROM run_slot WHERE state <> 'done'")
    yield from (f"the slot {key} is still claimed" for (key,) in claimed)


def _orders(books: Reading, last: str) -> Iterable[str]:
    """No slot has two orders, every approved trade has its one, and each came to its end in its own session."""
    placed = Counter(Slot(*row[:3]) for row in books.orders())
    yield from (f"{slot} has {count} orders" for slot, count in placed.items() if count > 1)
    for name, ticker, session, *_ in books.rows(
        f"SELECT {OF_DECISION} FROM decision d JOIN portfolio p ON p.id = d.portfolio_id JOIN guard_result g ON g.decision_id = d.id AND g.stage = 'decide'"
        " WHERE g.outcome <> 'BLOCK' AND g.quantity_out > 0 AND d.id NOT IN (SELECT decision_id FROM orders)"
    ):
        yield f"the trade of {name} in {ticker} on {session} was approved and has no order"
    for symbol, session, status, closed_at in books.rows("SELECT symbol, fill_session, status, closed_at FROM orders WHERE fill_session <= ?", last):
        if status not in ENDED:
            yield f"the order of {symbol} for {session} is {status}"
        elif _day(closed_at) != session:
            yield f"the order of {symbol} for {session} ended on {_day(closed_at)}"


def _day(micros: int) -> str:
    return datetime.fromtimestamp(micros / 1_000_000, UTC).date().isoformat()


def _trades(books: Reading) -> Iterable[str]:
    """Every fill is booked once, nothing else is, and cash and shares are what the fills make of them."""
    filled = {row[0] for row in books.rows("SELECT decision_id FROM orders WHERE status = 'filled'")}
    booked = Counter(row[0] for row in books.rows("SELECT decision_id FROM txn WHERE kind = 'trade'"))
    yield from (f"the fill of {one} is booked {booked[one]} times" for one in filled if booked[one] != 1)
    yield from (f"a trade is booked for {one}, which was not filled" for one in booked.keys() - filled)
    expected, found = _added_up(books), {key: Decimal(amount) for key, amount in books.held().items()}
    for key in expected.keys() | found.keys():
        if abs(expected.get(key, Decimal(0)) - found.get(key, Decimal(0))) > CENT * MILLION * (key[1] == "cash"):
            yield f"{key} is {found.get(key)} in the postings and {expected.get(key)} by orders and events"


def _added_up(books: Reading) -> dict[tuple[str, str, str], Decimal]:
    """Cash and shares from what is not a trade, the fills of the orders, and the fees."""
    total: dict[tuple[str, str, str], Decimal] = {}

    def add(key: tuple[str, str, str], amount: Decimal) -> None:
        total[key] = total.get(key, Decimal(0)) + amount

    parts = (
        "SELECT p.name, a.kind, b.commodity, b.amount, t.kind FROM posting b JOIN txn t ON t.id = b.txn_id"
        " JOIN ledger_account a ON a.id = b.account_id JOIN portfolio p ON p.id = a.portfolio_id"
    )
    for name, account, commodity, amount, kind in books.rows(parts):
        if kind != "trade" and account in ("cash", "position"):
            add((name, account, commodity), Decimal(amount))
        elif kind == "trade" and account == "fee":
            add((name, "cash", commodity), Decimal(-amount))
    fills = "SELECT p.name, o.instrument_id, p.currency, o.side, o.filled_quantity, o.price FROM orders o JOIN portfolio p ON p.id = o.portfolio_id"
    for name, instrument, currency, side, quantity, price in books.rows(f"{fills} WHERE o.status = 'filled'"):
        sign = 1 if side == "BUY" else -1
        add((name, "position", instrument), Decimal(sign * quantity))
        add((name, "cash", currency), Decimal(-sign * quantity * price) / MILLION)
    return {key: amount for key, amount in total.items() if amount}


def _balance(books: Reading) -> Iterable[str]:
    for txn, commodity, amount in books.rows("SELECT txn_id, commodity, sum(amount) FROM posting GROUP BY 1, 2 HAVING sum(amount) <> 0"):
        yield f"transaction {txn} is off by {amount} millionths of {commodity}"


def different(one: Reading, other: Reading, until: str = "9999") -> list[str]:
    """Where two books differ in decisions, orders, cash or shares: one line each."""
    lines = []
    for what in ("decisions", "orders"):
        left, right = getattr(one, what)(until), getattr(other, what)(until)
        lines += [f"{what}: {row} stands only on one side" for row in sorted(set(left) ^ set(right), key=str)]
    left_held, right_held = one.held(until), other.held(until)
    for key in sorted(left_held.keys() | right_held.keys()):
        if left_held.get(key) != right_held.get(key):
            lines.append(f"{key}: {left_held.get(key)} and {right_held.get(key)}")
    return lines


def columns(rows: Sequence[Sequence[object]]) -> str:
    """A table in plain text."""
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[place]) for row in texts) for place in range(len(texts[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in texts)
