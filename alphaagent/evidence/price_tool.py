"""What the price supply says: the measures of `get_price_history` and the quote of `get_market_price`.

Every measure is taken of the adjusted series and reported on the basis of the last bar; only the quote is as traded, which at the
last bar is the same number. A measure that the history is too short for is an `empty` item which says how many bars it needs.
"""

from collections.abc import Sequence
from dataclasses import asdict
from decimal import Decimal
from functools import partial
from typing import Any

from alphaagent.domain.base import measured
from alphaagent.domain.evidence import EvidenceItem, Status
from alphaagent.domain.market import Bar, CorporateAction
from alphaagent.evidence import technicals as t
from alphaagent.evidence.coming import ex_dividend_items
from alphaagent.evidence.gathered import Gathered
from alphaagent.evidence.index_history import COMPARED_SESSIONS, IndexHistory, index_item
from alphaagent.evidence.items import LOST, Measure, lost_item, measure_item, reject_faults, why_not_ok
from alphaagent.evidence.last_price import last_price_items
from alphaagent.evidence.second_source import second_source_items

NOTHING = "no bar is known before this instant"


def price_items(g: Gathered, index: IndexHistory) -> tuple[EvidenceItem, ...]:
    """The items of get_price_history, or one of kind `prices` where the supply was lost. Raises SourceFault on unusable rows.

    After the measures stand `index` and, where a date is stated, `ex_dividend`.
    """
    if g.prices.status in LOST:
        return (lost_item(g, "get_price_history", "prices", g.prices, NOTHING),)
    reject_faults(g.prices.records)
    bars = g.prices.records.bars
    if not bars:
        return (lost_item(g, "get_price_history", "prices", g.prices, NOTHING),)
    known_at, stale = bars[-1].known_at, missing_session(g)
    item = partial(measure_item, g, "get_price_history", g.prices, event_at=known_at, known_at=known_at, stale=stale)
    own = None if stale or g.prices.status is not Status.OK else t.change(t.adjusted_closes(bars, g.prices.records.actions), COMPARED_SESSIONS)
    return (*(item(measure) for measure in measures(bars, g.prices.records.actions)), index_item(g, index, own), *ex_dividend_items(g))


def market_items(g: Gathered) -> tuple[EvidenceItem, ...]:
    """The last close as traded, with its age in sessions; kind `quote` also where there is none. Raises SourceFault on unusable rows.

    Beside it stand `last_price` and `second_source`, where there are such.
    """
    if g.prices.status in LOST:
        return (lost_item(g, "get_market_price", "quote", g.prices, NOTHING),)
    reject_faults(g.prices.records)
    if not g.prices.records.bars:
        return (lost_item(g, "get_market_price", "quote", g.prices, NOTHING),)
    bar = g.prices.records.bars[-1]
    measure = _quote(bar, g.calendar.sessions_between(bar.session, g.session), g.instrument.currency, _doubt(g))
    quote = measure_item(g, "get_market_price", g.prices, measure, event_at=bar.known_at, known_at=bar.known_at, stale=missing_session(g))
    return (quote, *last_price_items(g), *second_source_items(g))


def missing_session(g: Gathered) -> str | None:
    """Says so where the last bar is not that of the last completed session."""
    last = g.prices.records.bars[-1].session
    return None if last == g.session else f"no bar for {g.session}, the last is of {last}"


def measures(bars: Sequence[Bar], actions: Sequence[CorporateAction]) -> tuple[Measure, ...]:
    """All measures of a price history with at least one bar, in the order in which they are shown."""
    closes = t.adjusted_closes(bars, actions)
    recent = t.adjusted(bars[-t.INDICATOR_WINDOW_BARS :], actions)
    return (
        _history(closes, bars),
        _volatility(closes),
        _momentum(closes),
        _trend(closes),
        _drawdown(closes),
        _reversal(closes),
        _technicals(recent, len(bars)),
        _base_rate(closes),
    )


def _history(closes: t.Floats, bars: Sequence[Bar]) -> Measure:
    numbers = {"close": float(closes[-1]), **{f"change_{k}": t.change(closes, k) for k in (5, 21, 63, 252)}}
    numbers |= {"high_252": t.highest(closes, t.YEAR_SESSIONS), "low_252": t.lowest(closes, t.YEAR_SESSIONS)}
    payload = {"sessions": len(bars), "first": str(bars[0].session), "last": str(bars[-1].session), **_texts(numbers)}
    changes = ", ".join(f"{percent(payload[f'change_{k}'])} over {k}" for k in (5, 21, 63, 252) if payload[f"change_{k}"] is not None)
    words = f"{len(bars)} sessions to {payload['last']}, close {price(payload['close'])}" + (f"; {changes} sessions" if changes else "")
    return Measure("history", payload, words)


def _volatility(closes: t.Floats) -> Measure:
    payload: dict[str, Any] = {"sigma": measured(t.annual_sigma(closes)), "sessions": t.SIGMA_SESSIONS}
    missing = _short(closes, t.SIGMA_SESSIONS + 1, "volatility")
    return Measure("volatility", payload, "" if missing else f"Volatility: {share(payload['sigma'])} a year over the last 63 sessions", missing)


def _momentum(closes: t.Floats) -> Measure:
    enough = not (missing := _short(closes, t.YEAR_SESSIONS + 1, "12-1 momentum"))
    payload = _texts({"p_21": t.back(closes, 21) if enough else None, "p_252": t.back(closes, t.YEAR_SESSIONS)})
    words = f"12-1 momentum: {percent(_ratio(payload, 'p_21', 'p_252'))} from 252 to 21 sessions ago" if enough else ""
    return Measure("momentum", payload, words, missing)


def _trend(closes: t.Floats) -> Measure:
    payload = _texts({"close": float(closes[-1]), "sma50": t.mean_of_last(closes, 50), "sma200": t.mean_of_last(closes, 200)})
    if missing := _short(closes, 200, "the 200-session average"):
        return Measure("trend", payload, "", missing)
    of_price, of_average = _ratio(payload, "close", "sma200"), _ratio(payload, "sma50", "sma200")
    return Measure("trend", payload, f"Trend: close {percent(of_price)} and 50-session average {percent(of_average)} against the 200-session average")


def _drawdown(closes: t.Floats) -> Measure:
    close, missing = float(closes[-1]), _short(closes, t.YEAR_SESSIONS + 1, "the drawdown")
    high = None if missing else t.highest(closes, t.YEAR_SESSIONS)
    payload = _texts({"close": close, "high_252": high, "drawdown": None if high is None else 1 - close / high})
    words = "" if missing else f"Drawdown: {share(payload['drawdown'])} below the highest close of 252 sessions ({price(payload['high_252'])})"
    return Measure("drawdown", payload, words, missing)


def _reversal(closes: t.Floats) -> Measure:
    payload = _texts({"close": float(closes[-1]), "p_5": t.back(closes, 5)})
    missing = _short(closes, 6, "the 5-session change")
    return Measure("reversal", payload, "" if missing else f"Last 5 sessions: {percent(_ratio(payload, 'close', 'p_5'))}", missing)


def _technicals(recent: t.Series, bars: int) -> Measure:
    payload = _texts(asdict(t.indicators(recent)))
    if bars < t.WARM_UP_BARS:
        return Measure("technicals", payload, "", f"RSI, MACD, ATR and ADX need {t.WARM_UP_BARS} bars, there are {bars}")
    strength = "RSI and ADX undefined, the price did not move" if payload["rsi14"] is None else f"RSI {short(payload['rsi14'])}, ADX {short(payload['adx14'])}"
    bands = f"Bollinger bands {price(payload['bb_lower'])} to {price(payload['bb_upper'])}"
    return Measure("technicals", payload, f"{strength}, MACD histogram {short(payload['macd_hist'])}, ATR {short(payload['atr14'])}, {bands}")


def _base_rate(closes: t.Floats) -> Measure:
    windows, ups = t.up_windows(closes)
    missing = _short(closes, t.BASE_RATE_HORIZON_SESSIONS + 1, "the base rate")
    payload: dict[str, Any] = {"horizon": t.BASE_RATE_HORIZON_SESSIONS, "windows": windows, "ups": ups}
    payload["p0"] = None if missing else measured(t.base_rate(windows, ups))
    words = "" if missing else f"Base rate: {ups} of {windows} windows of 20 sessions ended higher, p0 {share(payload['p0'])}"
    return Measure("base_rate", payload, words, missing)


def _doubt(g: Gathered) -> dict[str, str]:
    """Why the supply itself is not sound: what the guard goes by (E12). A session that is missing from a sound one is told by its age alone."""
    return {} if g.prices.status is Status.OK else {"doubt": why_not_ok(g.prices)}


def _quote(bar: Bar, age: int, currency: str, doubt: dict[str, str]) -> Measure:
    payload: dict[str, Any] = {"price": measured(bar.close), "session": str(bar.session), "age_sessions": age, "currency": currency, **doubt}
    return Measure("quote", payload, f"{currency} {price(payload['price'])} at the close of {bar.session}, {age} sessions old")


def _short(closes: t.Floats, needed: int, what: str) -> str | None:
    """Says so where there are fewer bars than a measure needs."""
    return f"{what} needs {needed} bars, there are {len(closes)}" if len(closes) < needed else None


def _texts(numbers: dict[str, float | None]) -> dict[str, Any]:
    return {name: measured(number) for name, number in numbers.items()}


def _ratio(payload: dict[str, Any], upper: str, lower: str) -> Decimal:
    return Decimal(payload[upper]) / Decimal(payload[lower]) - 1


def percent(fraction: str | Decimal) -> str:
    """A change, signed: `+31.2%`."""
    return f"{Decimal(fraction):+.1%}"


def share(fraction: str | Decimal) -> str:
    """A level: `31.2%`."""
    return f"{Decimal(fraction):.1%}"


def price(amount: str | Decimal) -> str:
    return f"{Decimal(amount):,.2f}"


def short(number: str | Decimal) -> str:
    return f"{Decimal(number):.2f}"
