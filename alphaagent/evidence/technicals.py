"""Price series on today's basis and the measures over them: pure, numpy in and floats out.

Bars are as traded; the series is adjusted here and only by the actions given, so that its last bar is what was traded (the
back-adjustment of CRSP and of the vendors' `adjusted close`). A measure with too few bars, or none by its definition, is None.

The indicators are those of `ta`, taken over a bounded window and with its traps shut: it leaves zeros where ATR and ADX are not
warm yet, raises on short input, calls a flat series overbought (RSI 100) and starts RSI, ATR and ADX from other seeds than
Wilder's. So nothing smoothed is reported before `WARM_UP_BARS`, when the seed no longer shows.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from alphaagent.domain.market import Bar, CorporateAction
from alphaagent.errors import SourceFault

if TYPE_CHECKING:
    import pandas as pd

Floats = npt.NDArray[np.float64]

YEAR_SESSIONS = 252
SIGMA_SESSIONS = 63
BOLLINGER_SESSIONS = 20
BASE_RATE_HORIZON_SESSIONS = 20
BASE_RATE_PRIOR_WINDOWS = 20
"""Weight of the even prior in the base rate, in windows."""

INDICATOR_WINDOW_BARS = 260
"""Bars that `ta` sees, at most. Over them RSI, MACD, ATR and ADX come within 1e-5 of their values over full history."""

WARM_UP_BARS = 200
"""Bars before a smoothed indicator is reported: from here on RSI and ADX are within 0.01 of TA-Lib's (measured: 0.0003)."""

FLAT = 1e-12
"""Relative range below which a series has not moved but for rounding in the adjustment."""


@dataclass(frozen=True, slots=True)
class Series:
    """Adjusted series, oldest first, all of one length: prices per share of the last bar's basis, volume in such shares."""

    highs: Floats
    lows: Floats
    closes: Floats
    volumes: Floats

    def __len__(self) -> int:
        return len(self.closes)


@dataclass(frozen=True, slots=True)
class Indicators:
    """The last values. RSI and ADX in [0, 100]; MACD, ATR and the bands in price units."""

    rsi14: float | None
    macd: float | None
    macd_signal: float | None
    macd_hist: float | None
    atr14: float | None
    adx14: float | None
    bb_upper: float | None
    bb_middle: float | None
    bb_lower: float | None


def adjusted(bars: Sequence[Bar], actions: Sequence[CorporateAction]) -> Series:
    """The bars on the basis of the last one; of the last few bars it is the end of what it is of all of them.

    Before a split of ratio r prices are divided and volumes multiplied by r; before a dividend D prices are multiplied by
    1 - D / close of the session before. Actions after the last bar do not touch it. Raises SourceFault where a close is not
    positive or an action leaves no value.
    """
    price, shares = _factors(bars, actions)
    return Series(
        highs=np.array([float(bar.high) for bar in bars]) * price,
        lows=np.array([float(bar.low) for bar in bars]) * price,
        closes=_closes(bars) * price,
        volumes=np.array([bar.volume for bar in bars], dtype=np.float64) * shares,
    )


def adjusted_closes(bars: Sequence[Bar], actions: Sequence[CorporateAction]) -> Floats:
    """The closes of `adjusted` alone, at a third of its cost. Raises SourceFault as it does."""
    return np.asarray(_closes(bars) * _factors(bars, actions)[0])


def _closes(bars: Sequence[Bar]) -> Floats:
    closes = np.array([float(bar.close) for bar in bars])
    if not (closes > 0).all():
        raise SourceFault("a closing price is not positive", fix="correct the bar at the source")
    return closes


def _factors(bars: Sequence[Bar], actions: Sequence[CorporateAction]) -> tuple[Floats, Floats]:
    """What each bar's price and volume are multiplied by: the product of the steps that lie after it."""
    price, shares = np.ones(len(bars)), np.ones(len(bars))
    for action in actions:
        place = bisect_left(bars, action.ex_date, key=lambda bar: bar.session)
        if not 0 < place < len(bars):
            continue
        if action.kind == "split":
            ratio = float(_positive(action.value, action))
            price[place - 1] /= ratio
            shares[place - 1] *= ratio
        elif action.kind == "dividend":
            basis = bars[place - 1].close / _split_on(action, actions)
            price[place - 1] *= float(_positive(1 - action.value / basis, action))
    return _from_the_end(price), _from_the_end(shares)


def _split_on(dividend: CorporateAction, actions: Sequence[CorporateAction]) -> Decimal:
    """The ratio of a split on a dividend's own ex-date, which its cash amount already counts in."""
    ratio = Decimal(1)
    for action in actions:
        if action.kind == "split" and action.ex_date == dividend.ex_date:
            ratio *= _positive(action.value, action)
    return ratio


def _positive(value: Decimal, action: CorporateAction) -> Decimal:
    if value <= 0:
        raise SourceFault(f"the {action.kind} of {action.ex_date} ({action.value}) leaves no value", fix="correct the action at the source")
    return value


def _from_the_end(steps: Floats) -> Floats:
    return np.asarray(np.cumprod(steps[::-1])[::-1])


def back(closes: Floats, sessions: int) -> float | None:
    """The close so many sessions before the last one."""
    return float(closes[-1 - sessions]) if len(closes) > sessions else None


def change(closes: Floats, sessions: int) -> float | None:
    """Simple return over the last so many sessions."""
    before = back(closes, sessions)
    return None if before is None else float(closes[-1]) / before - 1


def mean_of_last(closes: Floats, sessions: int) -> float | None:
    """The simple moving average at the last bar."""
    return float(closes[-sessions:].mean()) if len(closes) >= sessions else None


def highest(closes: Floats, sessions: int) -> float | None:
    """The highest close of the last so many sessions."""
    return float(closes[-sessions:].max()) if len(closes) >= sessions else None


def lowest(closes: Floats, sessions: int) -> float | None:
    """The lowest close of the last so many sessions."""
    return float(closes[-sessions:].min()) if len(closes) >= sessions else None


def annual_sigma(closes: Floats) -> float | None:
    """Sample standard deviation of the last 63 log returns, annualised by sqrt(252); a fraction. Needs 64 bars."""
    if len(closes) <= SIGMA_SESSIONS:
        return None
    returns = np.diff(np.log(closes[-SIGMA_SESSIONS - 1 :]))
    return float(returns.std(ddof=1) * np.sqrt(YEAR_SESSIONS))


def up_windows(closes: Floats) -> tuple[int, int]:
    """Windows of 20 sessions, not overlapping, counted back from the last bar; and how many of them ended strictly higher."""
    ends = closes[::-1][::BASE_RATE_HORIZON_SESSIONS]
    return max(len(ends) - 1, 0), int((ends[:-1] > ends[1:]).sum())


def base_rate(windows: int, ups: int) -> float:
    """The up-rate drawn to one half by a prior of 20 windows (the mean of a beta posterior)."""
    return (ups + BASE_RATE_PRIOR_WINDOWS / 2) / (windows + BASE_RATE_PRIOR_WINDOWS)


def indicators(series: Series) -> Indicators:
    """RSI 14, MACD 12/26/9, ATR 14, ADX 14 (Wilder 1978; Appel) and Bollinger 20/2 at the last bar, by `ta`."""
    import pandas as pd
    from ta.momentum import RSIIndicator
    from ta.trend import MACD, ADXIndicator
    from ta.volatility import AverageTrueRange

    upper, middle, lower = _bollinger(series.closes)
    if len(series) < WARM_UP_BARS:
        return Indicators(None, None, None, None, None, None, upper, middle, lower)
    high, low, close = (pd.Series(column[-INDICATOR_WINDOW_BARS:]) for column in (series.highs, series.lows, series.closes))
    macd = MACD(close)
    still = _flat(series.closes[-INDICATOR_WINDOW_BARS:])
    return Indicators(
        rsi14=None if still else _last(RSIIndicator(close).rsi()),
        macd=_last(macd.macd()),
        macd_signal=_last(macd.macd_signal()),
        macd_hist=_last(macd.macd_diff()),
        atr14=_last(AverageTrueRange(high, low, close).average_true_range()),
        adx14=None if still else _last(ADXIndicator(high, low, close).adx()),
        bb_upper=upper,
        bb_middle=middle,
        bb_lower=lower,
    )


def _bollinger(closes: Floats) -> tuple[float | None, float | None, float | None]:
    """Upper, middle and lower band; exact from 20 bars on, so no warm-up."""
    import pandas as pd
    from ta.volatility import BollingerBands

    if len(closes) < BOLLINGER_SESSIONS:
        return None, None, None
    bands = BollingerBands(pd.Series(closes[-BOLLINGER_SESSIONS:]), window=BOLLINGER_SESSIONS)
    return _last(bands.bollinger_hband()), _last(bands.bollinger_mavg()), _last(bands.bollinger_lband())


def _flat(closes: Floats) -> bool:
    """Whether nothing moved: strength is gains against losses and direction is one move against the other, and there are none."""
    return bool(np.ptp(closes) <= FLAT * closes[-1])


def _last(column: "pd.Series[float]") -> float:
    return float(column.iloc[-1])
