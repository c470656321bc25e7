"""The last close by a second source, beside the quote: two that agree, two that do not, or why there is only one.

The distance is measured here, of closes of the same session as traded. Two that differ are a conflict with both values and never an average;
which of them is right, nobody here can know.
"""

from datetime import date
from decimal import ROUND_CEILING, Decimal
from typing import Any

from alphaagent.domain.base import measured
from alphaagent.domain.evidence import EvidenceItem, Status
from alphaagent.domain.market import Bar
from alphaagent.evidence.gathered import Gathered, SecondOpinion, Supplied
from alphaagent.evidence.items import Measure, lost_item, measure_item

GAVE_A_CLOSE = (Status.OK, Status.CONFLICT)
_MILLIONTH = Decimal("0.000001")


def second_source_items(g: Gathered) -> tuple[EvidenceItem, ...]:
    """One item of kind `second_source`; none where no second source is configured, or where the first has no bar."""
    second, bars = g.second, g.prices.records.bars
    if second is None or not bars:
        return ()
    why_not = _not_comparable(second, bars[-1].session)
    if second.close is None or why_not:
        status = second.status if second.status is Status.FAILED else Status.EMPTY
        return (lost_item(g, "get_market_price", "second_source", Supplied(second.source, status, note=why_not), ""),)
    return (_compared(g, second, second.close, bars[-1]),)


def _not_comparable(second: SecondOpinion, session: date) -> str | None:
    """Why there is nothing to compare; None where both sources have closed the same session."""
    if second.status not in GAVE_A_CLOSE or second.close is None or second.close <= 0:
        return second.note or f"{second.source} has no close of {session}"
    return None if second.session == session else f"{second.source} has no close of {session}, its last is of {second.session}"


def _compared(g: Gathered, second: SecondOpinion, close: Decimal, bar: Bar) -> EvidenceItem:
    distance = abs(bar.close - close) / close
    payload: dict[str, Any] = {
        "session": str(bar.session),
        "first_source": g.prices.source,
        "close": measured(bar.close),
        "second_source": second.source,
        "second_close": measured(close),
        "distance": measured(distance.quantize(_MILLIONTH, ROUND_CEILING)),
        "tolerance": measured(second.tolerance_fraction),
        "currency": g.instrument.currency,
    }
    apart = distance > second.tolerance_fraction or second.status is Status.CONFLICT
    standing = Supplied(second.source, Status.CONFLICT, note=second.note or "Two sources disagree") if apart else Supplied(second.source, Status.OK)
    measure = Measure("second_source", payload, _words(payload, agree=not apart))
    return measure_item(g, "get_market_price", standing, measure, event_at=bar.known_at, known_at=bar.known_at)


def _words(payload: dict[str, Any], *, agree: bool) -> str:
    both = f"{payload['first_source']} {Decimal(payload['close']):,.2f}, {payload['second_source']} {Decimal(payload['second_close']):,.2f}"
    distance, tolerance = _percent(payload["distance"]), _percent(payload["tolerance"])
    head = f"Two sources agree within {tolerance} on" if agree else "on"
    return f"{head} the close of {payload['session']}: {both} {payload['currency']}, {distance} apart" + ("" if agree else f", {tolerance} allowed")


def _percent(fraction: str) -> str:
    """Rounded up at 0.01%, so that a conflict never reads like what is allowed."""
    return f"{(100 * Decimal(fraction)).quantize(Decimal('0.01'), ROUND_CEILING).normalize():f}%"
