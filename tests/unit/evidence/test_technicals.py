"""The price measures: adjusted by what is known, right against TA-Lib, and missing where there is nothing to measure."""

from datetime import date
from itertools import pairwise

import numpy as np
import pytest
import talib
from hypothesis import given, settings
from hypothesis import strategies as st

from alphaagent.errors import SourceFault
from alphaagent.evidence import technicals as t
from tests.unit.evidence.measure_builders import bar, bars_of, dividend, split, walk

MONDAY, TUESDAY, WEDNESDAY = date(2010, 1, 4), date(2010, 1, 5), date(2010, 1, 6)


def series(closes: np.ndarray, seed: int = 3) -> t.Series:
    """A series with ranges of a percent or so around its closes."""
    spread = np.abs(np.random.default_rng(seed).normal(0, 0.01, (2, len(closes))))
    return t.Series(closes * (1 + spread[0]), closes * (1 - spread[1]), closes, np.ones(len(closes)))


def tail(whole: t.Series) -> t.Series:
    return t.Series(*(column[-t.INDICATOR_WINDOW_BARS :] for column in (whole.highs, whole.lows, whole.closes, whole.volumes)))


def test_a_split_divides_the_prices_before_it_and_multiplies_the_volumes() -> None:
    got = t.adjusted([bar(MONDAY, 400, high=404, low=396), bar(TUESDAY, 101)], [split(TUESDAY, "4")])

    assert got.closes.tolist() == [100, 101]
    assert (got.highs[0], got.lows[0]) == (101, 99)
    assert got.volumes.tolist() == [4000, 1000]


def test_a_dividend_scales_the_prices_before_it_and_leaves_the_volumes() -> None:
    got = t.adjusted([bar(MONDAY, 100), bar(TUESDAY, 99), bar(WEDNESDAY, 99)], [dividend(TUESDAY, "1")])

    assert got.closes == pytest.approx([99, 99, 99])
    assert got.volumes.tolist() == [1000, 1000, 1000]


def test_a_dividend_on_the_day_of_a_split_is_on_the_new_shares() -> None:
    got = t.adjusted_closes([bar(MONDAY, 400), bar(TUESDAY, 99)], [split(TUESDAY, "4"), dividend(TUESDAY, "1")])

    assert got == pytest.approx([99, 99])


@pytest.mark.parametrize("day", [MONDAY, date(2010, 1, 7)])
def test_an_action_at_the_first_bar_or_after_the_last_changes_nothing(day: date) -> None:
    bars = [bar(MONDAY, 100), bar(TUESDAY, 101), bar(WEDNESDAY, 102)]

    assert t.adjusted_closes(bars, [split(day, "4"), dividend(day, "3")]).tolist() == [100, 101, 102]


def test_an_action_on_a_day_without_trading_counts_from_the_next_bar() -> None:
    assert t.adjusted_closes([bar(MONDAY, 200), bar(WEDNESDAY, 100)], [split(TUESDAY, "2")]).tolist() == [100, 100]


def test_the_last_few_bars_adjust_as_they_do_within_the_whole_history() -> None:
    bars = bars_of(walk(400))
    actions = [split(bars[50].session, "3"), dividend(bars[140].session, "1.5"), split(bars[300].session, "2"), dividend(bars[350].session, "0.7")]

    assert t.adjusted_closes(bars[-260:], actions) == pytest.approx(t.adjusted_closes(bars, actions)[-260:], rel=1e-12)


@pytest.mark.parametrize(("action", "word"), [(dividend(TUESDAY, "100"), "dividend"), (split(TUESDAY, "0"), "split")])
def test_an_action_that_leaves_no_value_is_a_fault_of_the_source(action: object, word: str) -> None:
    with pytest.raises(SourceFault, match=f"{word} of 2010-01-05"):
        t.adjusted_closes([bar(MONDAY, 100), bar(TUESDAY, 100)], [action])  # type: ignore[list-item]


def test_a_close_of_zero_is_a_fault_of_the_source() -> None:
    with pytest.raises(SourceFault, match="not positive"):
        t.adjusted_closes([bar(MONDAY, 0)], [])


@settings(max_examples=30, deadline=None)
@given(place=st.integers(1, 299), ratio=st.sampled_from(["2", "7", "20", "0.1", "1.0027455"]))
def test_a_split_changes_no_return_and_no_sigma(place: int, ratio: str) -> None:
    closes = walk(300)
    bars = bars_of(closes)
    traded = closes.copy()
    traded[:place] *= float(ratio)
    after = t.adjusted_closes(bars_of(traded), [split(bars[place].session, ratio)])

    assert after == pytest.approx(closes, rel=1e-9)
    assert t.annual_sigma(after) == pytest.approx(t.annual_sigma(closes))


@pytest.mark.parametrize("seed", range(8))
def test_the_indicators_agree_with_talib_over_full_history(seed: int) -> None:
    whole = series(walk(2700, seed))
    got = t.indicators(tail(whole))
    high, low, close = whole.highs, whole.lows, whole.closes
    macd = talib.MACD(close, 12, 26, 9)
    bands = talib.BBANDS(close, 20, 2, 2)

    assert got.rsi14 == pytest.approx(talib.RSI(close, 14)[-1], abs=1e-5)
    assert (got.macd, got.macd_signal, got.macd_hist) == pytest.approx([line[-1] for line in macd], abs=1e-5)
    assert got.atr14 == pytest.approx(talib.ATR(high, low, close, 14)[-1], rel=1e-5)
    assert got.adx14 == pytest.approx(talib.ADX(high, low, close, 14)[-1], abs=1e-4)
    assert (got.bb_upper, got.bb_middle, got.bb_lower) == pytest.approx([band[-1] for band in bands], rel=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_the_first_indicators_reported_already_agree_with_talib(seed: int) -> None:
    young = series(walk(t.WARM_UP_BARS, seed))
    got = t.indicators(young)

    assert got.rsi14 == pytest.approx(talib.RSI(young.closes, 14)[-1], abs=0.01)
    assert got.macd_hist == pytest.approx(talib.MACD(young.closes)[2][-1], abs=0.01)
    assert got.atr14 == pytest.approx(talib.ATR(young.highs, young.lows, young.closes, 14)[-1], rel=1e-4)
    assert got.adx14 == pytest.approx(talib.ADX(young.highs, young.lows, young.closes, 14)[-1], abs=0.01)


@pytest.mark.parametrize("window", [50, 200])
def test_the_averages_agree_with_talib(window: int) -> None:
    closes = walk(300)

    assert t.mean_of_last(closes, window) == pytest.approx(talib.SMA(closes, window)[-1])


@pytest.mark.parametrize("length", [1, 2, 5, 13, 14, 19])
def test_too_few_bars_for_any_indicator_give_none_instead_of_an_error(length: int) -> None:
    assert set(vars_of(t.indicators(series(walk(length))))) == {None}


def test_before_the_warm_up_atr_and_adx_are_missing_and_not_zero_and_rsi_is_not_early() -> None:
    got = t.indicators(series(walk(t.WARM_UP_BARS - 1)))

    assert (got.rsi14, got.macd, got.atr14, got.adx14) == (None, None, None, None)
    assert got.bb_middle is not None


def test_a_series_that_does_not_move_has_no_strength_and_no_direction() -> None:
    got = t.indicators(t.Series(*(np.full(260, 50.0) for _ in range(4))))

    assert (got.rsi14, got.adx14) == (None, None)
    assert (got.atr14, got.macd) == (0, 0)


def test_a_flat_series_stays_flat_when_the_adjustment_leaves_rounding_in_it() -> None:
    bars = bars_of([0.7] * 100 + [0.1] * 160)

    assert t.indicators(t.adjusted(bars, [split(bars[100].session, "7")])).rsi14 is None


def vars_of(got: t.Indicators) -> tuple[float | None, ...]:
    return tuple(getattr(got, name) for name in t.Indicators.__slots__)


def test_sigma_is_the_sample_deviation_of_63_log_returns_times_the_root_of_252() -> None:
    closes = np.array([100.0] + [100.0, 110.0] * 31 + [100.0, 110.0])[:64]
    returns = [np.log(b / a) for a, b in pairwise(closes)]
    mean = sum(returns) / 63
    expected = (sum((r - mean) ** 2 for r in returns) / 62) ** 0.5 * 252**0.5

    assert t.annual_sigma(closes) == pytest.approx(expected)
    assert t.annual_sigma(closes[1:]) is None


def test_only_the_last_63_returns_make_sigma() -> None:
    closes = walk(300)

    assert t.annual_sigma(closes) == t.annual_sigma(closes[-64:])


@pytest.mark.parametrize(("length", "windows"), [(1, 0), (20, 0), (21, 1), (40, 1), (41, 2), (2700, 134)])
def test_base_rate_windows_do_not_overlap_and_end_at_the_last_bar(length: int, windows: int) -> None:
    assert t.up_windows(np.arange(1.0, length + 1)) == (windows, windows)


def test_an_unchanged_close_is_not_up() -> None:
    assert t.up_windows(np.full(61, 10.0)) == (3, 0)


def test_the_base_rate_is_drawn_to_one_half() -> None:
    assert t.base_rate(0, 0) == 0.5
    assert t.base_rate(20, 20) == 0.75
