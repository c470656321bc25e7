"""The books in other programs' forms: rows for a spreadsheet or a data frame, and the text of beancount. Pure.

In beancount every transaction balances as it stands, commodity by commodity, and no lot is priced: a purchase moves money to `Trading` and shares out of
it. The text ends with a balance assertion for each asset, so that beancount itself says whether it has read what the books hold.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, date, timedelta
from decimal import Decimal
from itertools import groupby
from typing import TYPE_CHECKING, Any

from alphaagent.domain.base import decimal_text, instant_text
from alphaagent.domain.text import inert

if TYPE_CHECKING:
    from alphaagent.ledger.export import ExportedPosting

POSTING_COLUMNS = ("txn", "n", "kind", "reverses", "decision_id", "trade_at", "settle_on", "account", "commodity", "symbol", "amount")
POSTING_TEXTS = ("kind", "decision_id", "account", "commodity", "symbol")
ACCOUNTS = {
    "cash": "Assets:{}:Cash",
    "position": "Assets:{}:Positions",
    "equity": "Equity:{}:Owner",
    "trading": "Equity:{}:Trading",
    "suspense": "Equity:{}:Suspense",
    "fee": "Expenses:{}:Fees",
    "realized": "Income:{}:Dividends",
}
"""Our kinds of accounts in beancount's five roots; the portfolio's name stands in the middle."""
LONGEST_COMMODITY = 24
WORDS = ("TRUE", "FALSE", "NULL")
"""What beancount reads as something else than a commodity."""


def posting_document(posting: "ExportedPosting") -> dict[str, Any]:
    """One posting as a flat row; the amount is a decimal string in the commodity's own unit (currency, shares)."""
    return {
        "txn": posting.txn,
        "n": posting.n,
        "kind": posting.kind,
        "reverses": posting.reverses,
        "decision_id": posting.decision_id,
        "trade_at": instant_text(posting.trade_at),
        "settle_on": posting.settle_on.isoformat(),
        "account": posting.account,
        "commodity": posting.commodity,
        "symbol": posting.symbol,
        "amount": decimal_text(posting.amount),
    }


def beancount_lines(portfolio: str, postings: "Iterable[ExportedPosting]") -> Iterator[str]:
    """A portfolio's books as a beancount file, line by line."""
    owner, names = _component(portfolio), _Names()
    held: defaultdict[tuple[str, str], Decimal] = defaultdict(Decimal)
    opened: set[str] = set()
    last = date.min
    yield f"; The postings of the portfolio {inert(portfolio)} of AlphaAgent. Paper books; not advice."
    for _, group in groupby(postings, key=lambda one: one.txn):
        legs = list(group)
        day = max(last, legs[0].trade_at.astimezone(UTC).date())
        last = day
        for leg in legs:
            account = ACCOUNTS[leg.account].format(owner)
            if account not in opened:
                opened.add(account)
                yield f"{day} open {account}"
            yield from names.declared(leg, day)
            held[account, names.of(leg)] += leg.amount
        yield ""
        yield from _transaction(owner, legs, day, names)
    for (account, commodity), amount in sorted(held.items()):
        if account.startswith("Assets:"):
            yield f"{last + timedelta(days=1)} balance {account}  {amount:f} {commodity}"


def _transaction(owner: str, legs: "list[ExportedPosting]", day: date, names: "_Names") -> Iterator[str]:
    first = legs[0]
    yield f'{day} * "{_quoted(first.kind)}" "{_quoted(", ".join(dict.fromkeys(leg.symbol for leg in legs if leg.name)) or "cash")}"'
    yield f'  txn: "{first.txn}"'
    yield f'  at: "{instant_text(first.trade_at)}"'
    if first.decision_id:
        yield f'  decision: "{_quoted(first.decision_id)}"'
    if first.reverses is not None:
        yield f'  reverses: "{first.reverses}"'
    for leg in legs:
        yield f"  {ACCOUNTS[leg.account].format(owner)}  {leg.amount:f} {names.of(leg)}"
    yield ""


class _Names:
    """What beancount may call a commodity: capitals, digits and some points, a capital first; two instruments never get one name."""

    def __init__(self) -> None:
        self._by_id: dict[str, str] = {}
        self._told: set[str] = set()

    def of(self, leg: "ExportedPosting") -> str:
        if leg.commodity not in self._by_id:
            self._by_id[leg.commodity] = self._free(leg)
        return self._by_id[leg.commodity]

    def _free(self, leg: "ExportedPosting") -> str:
        plain = re.sub(r"[^A-Z0-9.-]", "-", leg.symbol.upper()).strip(".-") or "X"
        start = plain if plain[0].isalpha() and len(plain) > 1 and plain not in WORDS else f"X-{plain}"
        taken = set(self._by_id.values())
        tried = (start[: LONGEST_COMMODITY - 3].rstrip(".-") + (f"-{n}" if n else "") for n in range(len(taken) + 1))
        return next(name for name in tried if name not in taken)

    def declared(self, leg: "ExportedPosting", day: date) -> Iterator[str]:
        """The instrument's own line, before it is first used."""
        if leg.name is None or leg.commodity in self._told:
            return
        self._told.add(leg.commodity)
        yield f"{day} commodity {self.of(leg)}"
        yield f'  name: "{_quoted(leg.name)}"'
        yield f'  instrument: "{_quoted(leg.commodity)}"'


def _component(portfolio: str) -> str:
    """The portfolio's name as a part of an account's: letters, digits and dashes, a capital or a digit first."""
    plain = re.sub(r"[^A-Za-z0-9-]", "-", portfolio)
    return plain[0].upper() + plain[1:]


def _quoted(text: str) -> str:
    return inert(text).replace("\\", "\\\\").replace('"', '\\"')
