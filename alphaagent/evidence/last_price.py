"""The last trade that a vendor knows of, beside the quote: it says what happened after the last close and sizes nothing.

Orders are priced on the last close and fill at an open; a trade in between is neither. It is shown only where it is later than that close, and
set against it on the share basis of the trade.
"""

from decimal import Decimal
from typing import Any

from alphaagent.domain.base import instant_text, measured
from alphaagent.domain.evidence import EvidenceItem
from alphaagent.domain.market import Bar, LastPrice
from alphaagent.evidence.gathered import Gathered
from alphaagent.evidence.items import Measure, measure_item


def last_price_items(g: Gathered) -> tuple[EvidenceItem, ...]:
    """One item of kind `last_price`, or none where no trade after the last close is known."""
    bar = g.prices.records.bars[-1]
    trades = [trade for trade in g.prices.records.last_prices if bar.known_at < trade.traded_at < g.as_of and trade.known_at < g.as_of]
    if not trades:
        return ()
    trade = max(trades, key=lambda trade: (trade.traded_at, trade.known_at))
    measure = _measure(g, trade, bar)
    return (measure_item(g, "get_market_price", g.prices, measure, event_at=trade.traded_at, known_at=trade.known_at),)


def _measure(g: Gathered, trade: LastPrice, bar: Bar) -> Measure:
    ratio = _split_ratio(g, trade, bar)
    payload: dict[str, Any] = {
        "price": measured(trade.price),
        "traded_at": instant_text(trade.traded_at),
        "age_seconds": int((g.as_of - trade.traded_at).total_seconds()),
        "currency": g.instrument.currency,
        "session": str(bar.session),
        "close": measured(bar.close / ratio),
        "split_ratio": None if ratio == 1 else measured(ratio),
        "change": measured(trade.price * ratio / bar.close - 1),
    }
    return Measure("last_price", payload, _words(payload))


def _split_ratio(g: Gathered, trade: LastPrice, bar: Bar) -> Decimal:
    """New shares per share of the last close, by the splits that took effect before the trade."""
    ratio = Decimal(1)
    for action in g.prices.records.actions:
        if action.kind == "split" and bar.known_at < action.known_at <= trade.traded_at:
            ratio *= action.value
    return ratio


def _words(payload: dict[str, Any]) -> str:
    basis = f" on the shares after a split of {Decimal(payload['split_ratio']).normalize():f}" if payload["split_ratio"] else ""
    return (
        f"{payload['currency']} {Decimal(payload['price']):,.2f} last traded at {payload['traded_at']}, {payload['age_seconds']} seconds before the decision, "
        f"{Decimal(payload['change']):+.1%} against the close of {payload['session']}{basis}; this is no close, and no order is priced on it"
    )
