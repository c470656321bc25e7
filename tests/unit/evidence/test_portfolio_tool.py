"""The portfolio as evidence for the CIO alone."""

from dataclasses import replace
from decimal import Decimal as D

from alphaagent.evidence.portfolio_tool import PortfolioView, portfolio_items
from tests.unit.evidence.measure_builders import bars_of, closes_at, gathered

VIEW = PortfolioView(
    name="default",
    currency="USD",
    cash=D("90000.50"),
    equity=D("100000.50"),
    quantity=D("100"),
    price=D("100"),
    pending=D("-20"),
    budget=D("4999.99"),
    risk_profile="medium",
    acted_flags=("restatement:0-1",),
)
G = gathered(bars_of([100.0] * 5))


def test_the_payload_holds_the_book_in_text() -> None:
    (item,) = portfolio_items(G, VIEW)

    assert item.payload == {
        "portfolio": "default",
        "currency": "USD",
        "cash": "90000.5",
        "equity": "100000.5",
        "quantity": "100.0",
        "pending": "-20.0",
        "position_value": "10000.0",
        "position_weight": "0.08",
        "budget": "4999.99",
        "risk_profile": "medium",
        "acted_flags": ["restatement:0-1"],
    }


def test_only_the_cio_sees_it_and_it_is_known_at_the_last_close() -> None:
    (item,) = portfolio_items(G, VIEW)

    assert (item.sides, item.kind, item.source) == (("cio",), "portfolio", "ledger")
    assert item.as_of == item.known_at == closes_at(G.session)


def test_the_weight_counts_pending_orders_and_the_value_does_not() -> None:
    (item,) = portfolio_items(G, replace(VIEW, pending=D(100), equity=D(100_000)))

    assert (item.payload["position_value"], item.payload["position_weight"]) == ("10000.0", "0.2")


def test_a_book_without_equity_has_weights_of_zero() -> None:
    (item,) = portfolio_items(G, replace(VIEW, equity=D(0)))

    assert item.payload["position_weight"] == "0.0"


def test_the_summary_is_one_readable_line() -> None:
    (item,) = portfolio_items(G, VIEW)

    assert item.summary == ("default: NAV 100,000.50 USD, cash 90,000.50, 100.0 shares held (8.0% of NAV with pending orders), budget 4,999.99, medium risk")
