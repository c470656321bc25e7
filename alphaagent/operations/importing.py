"""Bringing existing holdings into the books: every row is placed on an instrument and a price, or nothing is booked at all."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path

from alphaagent.desk import BASE_CURRENCY, Desk, create_portfolio
from alphaagent.domain.base import instant_text, sha256_hex
from alphaagent.domain.lots import OpeningLot
from alphaagent.domain.market import Instrument
from alphaagent.domain.portfolio import Portfolio
from alphaagent.domain.text import safe_name
from alphaagent.errors import SourceFault, UsageFault
from alphaagent.execution.marks import mark
from alphaagent.operations.holdings_file import MAX_BYTES, HoldingRow, ImportRefused, RowFault, read_holdings
from alphaagent.ports import AuditRef, Books

MOST = Decimal(10) ** 12
"""In all, of money and of shares."""


@dataclass(frozen=True, slots=True)
class PlacedRow:
    """One lot with what it stands for."""

    line: int
    ticker: str
    lot: OpeningLot
    mark: Decimal

    @property
    def value(self) -> Decimal:
        return self.lot.quantity * self.mark


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """What an import books."""

    portfolio: str
    at: datetime
    rows: tuple[PlacedRow, ...]
    cash: Decimal
    cash_before: Decimal
    """What the portfolio holds already."""
    creates: bool
    source_sha256: str

    @property
    def equity(self) -> Decimal:
        return self.cash_before + self.cash + sum((row.value for row in self.rows), Decimal(0))


def plan_import(desk: Desk, path: Path, name: str, at: datetime) -> ImportPlan:
    """Reads and places every row; writes nothing. Raises UsageFault, ImportRefused where rows cannot be placed."""
    safe_name("--portfolio", name)
    raw = _read(path)
    file = read_holdings(raw, at.date())
    placed, faults = _placed(desk, file.rows, at)
    if file.faults or faults:
        raise ImportRefused(tuple(sorted((*file.faults, *faults), key=lambda fault: fault.line)))
    if not placed and not file.cash:
        raise UsageFault("the file holds neither a lot nor cash", fix="add a row for each lot, and one for cash")
    _refuse_excess(placed, file.cash)
    store = desk.existing_store()
    found, cash = None, Decimal(0)
    if store is not None:
        with store.read() as books:
            found = books.portfolio(name)
            cash = _open_to_import(books, found, at) if found else cash
    return ImportPlan(name, at, placed, file.cash, cash, found is None, sha256_hex(raw))


def _refuse_excess(placed: tuple[PlacedRow, ...], cash: Decimal) -> None:
    """Each row is bounded, and so is what they come to: the books count in millionths. Raises UsageFault."""
    worth = cash + sum((row.lot.cost for row in placed), Decimal(0))
    shares = sum((row.lot.quantity for row in placed), Decimal(0))
    if max(worth, shares) > MOST:
        raise UsageFault(f"the file comes to {max(worth, shares):,.0f} in cost, cash or shares; a portfolio holds at most {MOST:,.0f}", fix="check the units")


def book_import(desk: Desk, plan: ImportPlan) -> AuditRef:
    """Books a plan in one write transaction, which makes the portfolio where there is none."""
    with desk.store().write() as books:
        portfolio = books.portfolio(plan.portfolio)
        if portfolio is None:
            portfolio = create_portfolio(desk, books, plan.portfolio, desk.default_mandate, Decimal(0), plan.at)
        else:
            _open_to_import(books, portfolio, plan.at)
        return books.record_import(portfolio, [row.lot for row in plan.rows], plan.cash, plan.source_sha256, plan.at)


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as fault:
        raise UsageFault(f"{path} cannot be read: {fault.strerror}", fix="name a CSV file") from None


def _open_to_import(books: Books, portfolio: Portfolio, at: datetime) -> Decimal:
    """The cash of a portfolio that has no history yet. Raises UsageFault."""
    account = books.account(portfolio)
    if at < account.book_time:
        raise UsageFault(
            f"{instant_text(at)} lies before the book time of {portfolio.name}, {instant_text(account.book_time)}: a book does not go back",
            fix="give a later --as-of, or import into a new portfolio: --portfolio NAME",
        )
    books.refuse_import(portfolio)
    return account.cash


def _placed(desk: Desk, rows: tuple[HoldingRow, ...], at: datetime) -> tuple[tuple[PlacedRow, ...], list[RowFault]]:
    known: dict[str, tuple[Instrument, Decimal] | tuple[str, str]] = {}
    placed, faults = [], []
    for row in rows:
        if row.ticker not in known:
            known[row.ticker] = _instrument(desk, row.ticker, at)
        match known[row.ticker]:
            case (Instrument() as instrument, Decimal() as price):
                lot = OpeningLot(instrument=instrument, quantity=row.quantity, cost=row.cost, acquired=row.acquired)
                placed.append(PlacedRow(row.line, row.ticker, lot, price))
            case (str() as message, str() as fix):
                faults.append(RowFault(row.line, "ticker", row.ticker, message, fix))
    return tuple(sorted(placed, key=lambda one: (one.lot.acquired, one.line))), faults


def _instrument(desk: Desk, ticker: str, at: datetime) -> tuple[Instrument, Decimal] | tuple[str, str]:
    """The instrument behind a ticker and its price; or why there is none, and the fix."""
    found = desk.market.resolve(ticker, at.date())
    if not found:
        return "it is unknown here", f"known tickers: {', '.join(desk.market.tickers())}"
    if len(found) > 1:
        return "it is ambiguous", f"use one of {', '.join(one.id for one in found)}"
    instrument = found[0]
    if instrument.currency != BASE_CURRENCY:
        return f"it trades in {instrument.currency}", f"a portfolio holds {BASE_CURRENCY} only in this version: leave it out"
    try:
        price = mark(desk.market, instrument, at)
    except SourceFault as fault:
        return fault.message, fault.fix or "restore its prices"
    if price is None:
        return f"it has no price before {instant_text(at)}", "import with a later --as-of, or leave it out"
    return instrument, price
