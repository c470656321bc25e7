"""What the originals do not say about each company in the snapshot. A further ticker joins by one entry here.

Splits are (effective date, new shares per old share). The sector is our own coarse word, not a vendor's classification.
"""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal


@dataclass(frozen=True)
class Company:
    """One company: what it is called, where it trades, and its splits inside the recorded range."""

    symbol: str
    spoken: str
    name: str
    mic: str
    sector: str
    cik: str
    listed: date
    splits: tuple[tuple[date, Decimal], ...]
    aliases: tuple[str, ...] = ()


COMPANIES = (
    Company(
        symbol="AAPL",
        spoken="Apple",
        name="Apple Inc.",
        mic="XNAS",
        sector="Technology",
        cik="0000320193",
        listed=date(1980, 12, 12),
        splits=((date(2014, 6, 9), Decimal(7)), (date(2020, 8, 31), Decimal(4))),
    ),
    Company(
        symbol="NVDA",
        spoken="Nvidia",
        name="NVIDIA Corporation",
        mic="XNAS",
        sector="Technology",
        cik="0001045810",
        listed=date(1999, 1, 22),
        splits=((date(2021, 7, 20), Decimal(4)),),
    ),
)
