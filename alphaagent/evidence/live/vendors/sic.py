"""The SEC's industry codes (SIC, four digits) as the desk's sectors.

A company chooses its code itself and seldom changes it, so a sector is coarse: it says which tests mean something and which names move together.
The names are those of the snapshot; money in the widest sense (banks, lenders, brokers) is one sector, because borrowing is its trade.
"""

from bisect import bisect_right

SECTORS: tuple[tuple[int, str | None], ...] = (
    (0, None),
    (100, "Agriculture"),
    (1000, "Materials"),
    (1220, "Energy"),  # coal, oil and gas with their services
    (1400, "Materials"),
    (1500, "Construction"),
    (2000, "Consumer goods"),  # food, drink, tobacco, clothes
    (2400, "Materials"),  # wood
    (2500, "Consumer goods"),  # furniture
    (2600, "Materials"),  # paper
    (2700, "Media"),  # publishers, printers
    (2800, "Materials"),  # chemicals
    (2830, "Health care"),  # drugs
    (2840, "Consumer goods"),  # soap, cosmetics
    (2850, "Materials"),
    (2900, "Energy"),  # refineries
    (3000, "Materials"),
    (3020, "Consumer goods"),  # shoes
    (3030, "Materials"),
    (3100, "Consumer goods"),  # leather
    (3200, "Materials"),  # glass, cement, steel
    (3400, "Industrials"),
    (3570, "Technology"),  # computers
    (3580, "Industrials"),
    (3630, "Consumer goods"),  # household appliances
    (3640, "Industrials"),
    (3650, "Consumer goods"),  # television sets
    (3660, "Technology"),  # communications equipment, semiconductors
    (3690, "Industrials"),
    (3710, "Autos"),
    (3720, "Industrials"),  # aircraft, ships, railways, instruments
    (3840, "Health care"),  # medical instruments
    (3860, "Industrials"),
    (3900, "Consumer goods"),
    (4000, "Transport"),
    (4800, "Telecoms"),
    (4830, "Media"),  # broadcasters, cable
    (4890, "Telecoms"),
    (4900, "Utilities"),
    (4950, "Industrials"),  # waste
    (4960, "Utilities"),
    (5000, "Wholesale"),
    (5200, "Retail"),
    (6000, "Banks"),
    (6300, "Insurance"),
    (6500, "Real estate"),
    (6700, "Holdings"),
    (6798, "Real estate"),  # investment trusts of property
    (6799, "Holdings"),
    (7000, "Leisure"),  # hotels
    (7200, "Services"),
    (7310, "Media"),  # advertising
    (7320, "Services"),
    (7370, "Internet"),
    (7371, "Technology"),  # software
    (7380, "Services"),
    (7800, "Media"),  # films and their rental
    (7900, "Leisure"),
    (8000, "Health care"),
    (8100, "Services"),
    (8731, "Health care"),  # research for others, nearly all of it medical
    (8732, "Services"),
    (9000, None),
)
"""From which code on a sector reaches, in ascending order; None where a code says nothing."""

_STARTS = [first for first, _ in SECTORS]


def sector_of(code: str) -> str | None:
    """The sector of a code; None where it is no code or says nothing."""
    if not (code.isascii() and code.isdigit() and len(code) <= 4):
        return None
    return SECTORS[bisect_right(_STARTS, int(code)) - 1][1]
