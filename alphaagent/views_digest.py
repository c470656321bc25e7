"""The morning digest as a document. Pure: a digest goes in, plain values come out."""

from decimal import Decimal
from typing import Any

from alphaagent.domain.base import decimal_text, instant_text
from alphaagent.domain.digest import Digest, Named, PortfolioNight
from alphaagent.domain.portfolio import Order

Document = dict[str, Any]


def digest_document(digest: Digest) -> Document:
    """The public JSON of `digest`."""
    return {
        "at": instant_text(digest.at),
        "session": digest.session.isoformat(),
        "since": instant_text(digest.since),
        "next_open": instant_text(digest.next_open),
        "control": {"state": digest.control, "sources": list(digest.control_sources), "reason": digest.control_reason or None},
        "books_fault": digest.books_fault,
        "spent_usd": decimal_text(digest.spent),
        "ceiling_usd": None if digest.ceiling is None else decimal_text(digest.ceiling),
        "unsent": digest.unsent,
        "portfolios": [_portfolio(one, digest) for one in digest.portfolios],
        "anchor": digest.anchor,
    }


def _portfolio(night: PortfolioNight, digest: Digest) -> Document:
    return {
        "portfolio": night.name,
        "currency": night.currency,
        "equity": None if night.equity is None else decimal_text(round(night.equity, 6)),
        "cash": decimal_text(night.cash),
        "positions": night.positions,
        "spent_usd": decimal_text(night.spent),
        "to_fill": [_order(order) for order in night.to_fill],
        "changed": [*(_order(order) for order in night.ended), *(_named(act) for act in night.acts)],
        "decided": {action: night.actions[action] for action in sorted(night.actions)},
        "holds": night.actions.get("HOLD", 0),
        "blocked": [_named(one) for one in night.blocks],
        "failed": [_named(one) for one in night.failures],
        "frozen": list(night.frozen),
        "prices": _prices(night, digest),
    }


def _order(order: Order) -> Document:
    price: Decimal = order.decision_price if order.price is None else order.price
    return {
        "order_id": order.id,
        "ticker": order.symbol,
        "side": order.side,
        "quantity": decimal_text(order.quantity),
        "status": order.status.value,
        "price": decimal_text(price),
        "fill_session": order.fill_session.isoformat(),
    }


def _named(one: Named) -> Document:
    return {"ticker": one.ticker or None, "status": one.word}


def _prices(night: PortfolioNight, digest: Digest) -> Document | None:
    """The name whose prices end first, where it is behind; null where all are there or none matters."""
    if night.oldest_prices is None:
        return None
    ticker, last = night.oldest_prices
    return {"ticker": ticker, "last_session": last.isoformat() if last else None, "behind": last is None or last < digest.session}
