"""A home with a few sessions of made-up prices, and books that a test fills by hand: what was earned can be reckoned on paper."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from alphaagent.bootstrap import Workplace
from alphaagent.clock import WallClock
from alphaagent.domain.market import Instrument
from alphaagent.domain.portfolio import Portfolio
from alphaagent.ledger import postings
from alphaagent.ledger.store import SqlStore
from alphaagent.settings import load_settings
from tests.snapshot_folder import ACTION_HEADER, BAR_HEADER, INSTRUMENTS, RECORDED, recorded_calendar, write_folder

CALENDAR = recorded_calendar()
DAYS = [day for day in CALENDAR.sessions if date(2018, 12, 3) <= day <= date(2018, 12, 14) and day != date(2018, 12, 5)]
"""The sessions that have prices: nine of them."""


def closes(day: int) -> datetime:
    return CALENDAR.closes(DAYS[day])


def opens(day: int) -> datetime:
    return CALENDAR.opens(DAYS[day])


def write_prices(home: Path, prices: Mapping[str, Sequence[object]], actions: Mapping[str, str] | None = None, index: Sequence[object] = ()) -> Path:
    """A snapshot with these closes from the first day on; a bar opens, rises to and falls to its close."""
    files: dict[str, str | bytes] = {
        "sessions.csv": (RECORDED / "sessions.csv").read_bytes(),
        "instruments.csv": INSTRUMENTS + "".join(f"XNAS:{name},{name},,{name} Inc.,XNAS,USD,common,{_sector(name)},,,\n" for name in prices),
    }
    for name, series in prices.items():
        rows = (f"{day},{price},{price},{price},{price},1000000\n" for day, price in zip(DAYS, series, strict=False) if price is not None)
        files[f"bars/{name}.csv"] = BAR_HEADER + "".join(rows)
        files[f"actions/{name}.csv"] = ACTION_HEADER + (actions or {}).get(name, "")
    if index:
        files["index/SPX.csv"] = "date,close\n" + "".join(f"{day},{close}\n" for day, close in zip(DAYS, index, strict=False))
    write_folder(home / "data" / "snapshot", files)
    return home


def _sector(name: str) -> str:
    return "Goods" if name < "M" else ""


@cache
def empty_ledger() -> bytes:
    """The file of a ledger in which nothing has happened: to make one takes longer than most tests."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.db"
        SqlStore.open(f"sqlite:///{path}", WallClock()).close()
        return path.read_bytes()


class Books:
    """Books that are filled act by act."""

    def __init__(self, home: Path, cash: object = 1000, at: datetime | None = None) -> None:
        (home / "data" / "alphaagent.db").write_bytes(empty_ledger())
        self.workplace = Workplace(load_settings({"ALPHAAGENT_HOME": str(home)}, cwd=home), only_looks=True)
        self.store: SqlStore = self.workplace.store()
        with self.store.write() as books:
            opening = Decimal(str(cash))
            self.portfolio: Portfolio = books.create_portfolio("default", currency="USD", kind="paper", mandate="default", cash=opening, at=at or closes(0))

    def instrument(self, ticker: str) -> Instrument:
        (found,) = self.workplace.desk.market.resolve(ticker, DAYS[0])
        return found

    def trade(self, side: Literal["BUY", "SELL"], ticker: str, shares: int, price: object, at: datetime, fee: object = 0) -> None:
        """A fill without the decision behind it."""
        amount, paid = (int(Decimal(str(value)) * 1_000_000) for value in (price, fee))
        with self.store.write() as books:
            books.register(self.instrument(ticker))
            legs = postings.trade(side, f"XNAS:{ticker}", "USD", quantity=shares * 1_000_000, price=amount, fee=paid, settle_on=at.date())
            books._journal.book(self.portfolio, "trade", legs, at, at.date())

    def act(self, ticker: str, day: int) -> None:
        """Books what a company did on a day."""
        with self.store.write() as books:
            instrument = self.instrument(ticker)
            for action in self.workplace.desk.market.actions(instrument, DAYS[day - 1], DAYS[day]):
                books.record_action(self.portfolio, instrument, action, opens(day))

    def pay(self, amount: object, at: datetime) -> None:
        """The owner pays in, or takes out where it is below zero."""
        value = Decimal(str(amount))
        with self.store.write() as books:
            if value > 0:
                books.deposit(self.portfolio, value, at)
            else:
                books.withdraw(self.portfolio, -value, at)
