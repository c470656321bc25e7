"""What a holding is worth at an instant: the last close known by then, on the share basis of that instant."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal

from alphaagent.domain.market import Instrument
from alphaagent.domain.portfolio import Account
from alphaagent.errors import NoEvidence
from alphaagent.ports import MarketData


def mark(market: MarketData, instrument: Instrument, at: datetime) -> Decimal | None:
    """The last close before `at` as traded, divided by the splits that took effect since; None where no close is known."""
    quote = market.quote(instrument, at)
    if quote is None:
        return None
    return quote.price / split_ratio(market, instrument, after=quote.known_at, upto=at)


def split_ratio(market: MarketData, instrument: Instrument, *, after: datetime, upto: datetime) -> Decimal:
    """New shares per old share over the splits that take effect in (after, upto]; 1 where there are none."""
    ratio = Decimal(1)
    for action in market.actions(instrument, after.date(), upto.date()):
        if action.kind == "split" and after < action.known_at <= upto:
            ratio *= action.value
    return ratio


def equity(account: Account, held: Iterable[Instrument], marks: Mapping[str, Decimal | None]) -> Decimal:
    """NAV: cash plus every holding at its mark. Raises NoEvidence where a holding has none: a guess would size every order."""
    names = {instrument.id: instrument.symbol for instrument in held}
    total = account.cash
    for position in account.positions:
        price = marks.get(position.instrument_id)
        if price is None:
            symbol = names.get(position.instrument_id, position.symbol)
            raise NoEvidence(f"the holding {symbol} has no price, so the portfolio has no NAV", fix=f"supply prices of {symbol}")
        total += position.quantity * price
    return total
