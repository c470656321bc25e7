"""The digest fits one screen, whatever there is to tell, and says the same in words as in JSON."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from alphaagent.domain.digest import Digest, Named, PortfolioNight
from alphaagent.domain.portfolio import Order, OrderStatus
from alphaagent.render_digest import COLUMNS, ROWS, digest_lines, digest_title
from alphaagent.views_digest import digest_document
from tests.fakes import order

ANCHOR = f"6f1c7c1e-0f53-4c0e-9c53-0d5a7a5f0001 4711 {'ab' * 32}"


def night(name: str = "default", **changes: Any) -> PortfolioNight:
    plain: dict[str, Any] = {
        **{"name": name, "currency": "USD", "equity": Decimal("101234.567"), "cash": Decimal(45000), "positions": 5, "to_fill": (), "ended": ()},
        **{"acts": (), "actions": {}, "blocks": (), "failures": (), "frozen": (), "spent": Decimal("0.42"), "oldest_prices": ("AAPL", date(2026, 1, 5))},
    }
    return PortfolioNight(**(plain | changes))


def digest(*portfolios: PortfolioNight, **changes: Any) -> Digest:
    plain: dict[str, Any] = {
        **{"at": datetime(2026, 1, 6, 13, 30, tzinfo=UTC), "session": date(2026, 1, 5), "since": datetime(2026, 1, 5, 14, 30, tzinfo=UTC)},
        **{"next_open": datetime(2026, 1, 6, 14, 30, tzinfo=UTC), "control": "ACTIVE", "control_sources": (), "control_reason": "", "books_fault": None},
        **{"anchor": ANCHOR, "spent": Decimal("0.42"), "ceiling": Decimal(5), "unsent": 0, "portfolios": portfolios},
    }
    return Digest(**(plain | changes))


def filled(**changes: Any) -> Order:
    return order(status=OrderStatus.FILLED, price=Decimal("151.25"), **changes)


BUSY = night(
    to_fill=(order(), order(symbol="BETA", side="SELL", quantity=Decimal("12.5"))),
    ended=(filled(), order(status=OrderStatus.EXPIRED)),
    acts=(Named("ACME", "split"), Named("", "deposit")),
    actions={"HOLD": 25, "BUY": 3, "none": 1},
    blocks=(Named("TSLA", "PRICE_MOVED"),),
    failures=(Named("GOOG", "PROVIDER"),),
    frozen=("XYZ",),
)


def test_an_ordinary_morning() -> None:
    document = digest_document(digest(BUSY))
    assert [digest_title(document), *digest_lines(document)] == [
        "Digest of 2026-01-06 13:30: session 2026-01-05, next open 2026-01-06 14:30 UTC",
        "ACTIVE",
        "models 0.42 USD of 5.00 | all sent | books sound",
        "",
        "default: NAV 101,234.57 USD, cash 45,000.00, 5 positions, models 0.42 USD",
        "  to fill     2: BUY 10 ACME ~100.00, SELL 12.5 BETA ~100.00",
        "  changed     4: BUY 10 ACME at 151.25, BUY 10 ACME expired, ACME split, deposit",
        "  decided    29: 3 BUY, 25 HOLD, 1 none",
        "  blocked     1: TSLA PRICE_MOVED",
        "  failed      1: GOOG PROVIDER",
        "  frozen      1: XYZ",
        "  prices    to 2026-01-05, the last session",
        "",
        f"anchor {ANCHOR}",
    ]
    assert (document["portfolios"][0]["holds"], document["control"]["reason"]) == (25, None)


def test_a_quiet_morning_has_the_same_lines() -> None:
    lines = digest_lines(digest_document(digest(night(oldest_prices=None))))
    assert lines[4:9] == ["  to fill     0", "  changed     0", "  decided     0", "  blocked     0", "  failed      0"]
    assert lines[9] == "  prices    nothing is held or ordered"


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"control": "HALTED", "control_sources": ("database", "file"), "control_reason": "strange prices"}, "HALTED by database and file: strange prices"),
        ({"books_fault": "audit row 3 has been changed"}, "models 0.42 USD of 5.00 | all sent | BOOKS UNSOUND: audit row 3 has been changed"),
        ({"ceiling": None, "unsent": 3}, "models 0.42 USD | 3 not sent | books sound"),
    ],
)
def test_what_is_wrong_stands_at_the_top(changes: dict[str, Any], line: str) -> None:
    assert line in digest_lines(digest_document(digest(night(), **changes)))[:2]


@pytest.mark.parametrize(
    ("oldest", "told", "behind"),
    [
        (("IBM", date(2025, 12, 30)), "of IBM only to 2025-12-30", True),
        (("IBM", None), "of IBM unknown", True),
        (("IBM", date(2026, 1, 5)), "to 2026-01-05, the last session", False),
    ],
)
def test_the_oldest_prices_are_named(oldest: tuple[str, date | None], told: str, behind: bool) -> None:
    document = digest_document(digest(night(oldest_prices=oldest)))
    assert document["portfolios"][0]["prices"]["behind"] is behind
    assert f"  prices    {told}" in digest_lines(document)


def test_a_holding_without_a_price_has_no_nav() -> None:
    lines = digest_lines(digest_document(digest(night(equity=None))))
    assert "default: NAV unknown, a price is missing, cash 45,000.00, 5 positions, models" in lines[3]


def test_before_the_first_portfolio_it_says_so() -> None:
    assert "no portfolio yet" in digest_lines(digest_document(digest()))


def rows_on(lines: list[str]) -> int:
    """How many rows a terminal of 80 columns needs."""
    return sum(max(1, -(-len(line) // COLUMNS)) for line in lines)


FLOOD = night(
    name="a" * 40,
    to_fill=tuple(order(symbol=f"NAME{n}", quantity=Decimal("123456.123456")) for n in range(100)),
    ended=tuple(filled(symbol=f"NAME{n}") for n in range(100)),
    acts=tuple(Named(f"NAME{n}", "x" * 300) for n in range(100)),
    actions={f"ACTION{n}": 1000 for n in range(50)},
    blocks=tuple(Named(f"NAME{n}", "A_VERY_LONG_CODE" * 20) for n in range(100)),
    failures=tuple(Named("\x1b[31m" + "n" * 200, "PROVIDER") for _ in range(100)),
    frozen=tuple(f"NAME{n}" for n in range(200)),
    equity=Decimal(10) ** 15,
)


@pytest.mark.parametrize("count", [1, 3, 4, 30, 100])
@pytest.mark.parametrize("what", [FLOOD, BUSY])
def test_it_fits_one_screen(count: int, what: PortfolioNight) -> None:
    document = digest_document(digest(*[what] * count, control="HALTED", control_reason="r\n" * 500, control_sources=("database",), books_fault="f" * 500))
    lines = [digest_title(document), *digest_lines(document)]
    assert rows_on(lines) <= (24 if count == 1 else ROWS)
    assert [line for line in lines if len(line) > COLUMNS and not line.startswith("anchor ")] == []
    assert all(line.isprintable() for line in lines)


def test_what_has_no_room_is_counted() -> None:
    lines = digest_lines(digest_document(digest(FLOOD)))
    assert lines[4] == "  to fill   100: BUY 123456.123456 NAME0 ~100.00, and 99 more"
    many = digest_lines(digest_document(digest(*[BUSY] * 40)))
    assert "default: 1 frozen, 1 failed, 1 blocked, 2 to fill, 4 changed, 29 decided (25 HO…" in many
    assert "and 8 more: --portfolio NAME" in many
