"""What a holding is worth at an instant: the last close known by then, on the share basis of that instant."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal

from alphaagent.domain.market import CorporateAction, Instrument
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
    for action in effective(market, instrument, after, upto):
        if action.kind == "split":
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


def rolled_forward(market: MarketData, account: Account, held: Iterable[Instrument], at: datetime) -> Account:
    """The account with the splits and dividends that took effect after its book time, up to `at`, applied but not booked.

    Deciding and settling book them; looking does not. Without this a look past a split would show a quarter of the holding's value.
    """
    cash, positions = account.cash, {position.instrument_id: position for position in account.positions}
    for instrument in held:
        for action in effective(market, instrument, account.book_time, at):
            position = positions.get(instrument.id)
            if position is None:
                continue
            if action.kind == "split":
                positions[instrument.id] = position.model_copy(update={"quantity": position.quantity * action.value})
            else:
                cash += position.quantity * action.value
    settled = account.settled_cash + (cash - account.cash)
    return account.model_copy(update={"cash": cash, "settled_cash": settled, "positions": tuple(positions.values())})


def effective(market: MarketData, instrument: Instrument, after: datetime, upto: datetime) -> list[CorporateAction]:
    """The actions that take effect in (after, upto]; one of the very day may still lie ahead of an instant before its open."""
    actions = market.actions(instrument, after.date() - timedelta(days=1), upto.date())
    return [action for action in actions if after < action.known_at <= upto]
