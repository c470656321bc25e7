"""The items of get_price_history and get_market_price: the payloads, what is missing, stale or lost."""

from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pytest

from alphaagent.domain.evidence import EvidenceItem, Status
from alphaagent.domain.market import RowFault
from alphaagent.errors import SourceFault
from alphaagent.evidence.gathered import Gathered
from alphaagent.evidence.price_tool import market_items
from alphaagent.evidence.price_tool import price_items as items_with_index
from tests.unit.evidence.measure_builders import CALENDAR, NO_INDEX, bars_of, closes_at, dividend, gathered, split, walk

KINDS = ("history", "volatility", "momentum", "trend", "drawdown", "reversal", "technicals", "base_rate")


def price_items(g: Gathered) -> tuple[EvidenceItem, ...]:
    """What is said of the name itself; the index has tests of its own."""
    return tuple(item for item in items_with_index(g, NO_INDEX) if item.kind != "index")


def by_kind(g: Gathered) -> dict[str, EvidenceItem]:
    return {item.kind: item for item in price_items(g)}


def rising(length: int = 300) -> Gathered:
    """Closes 1, 2, 3 ... so that every lag can be read off."""
    return gathered(bars_of([float(n) for n in range(1, length + 1)]))


def test_every_measure_is_one_item_that_both_sides_see() -> None:
    items = price_items(rising())

    assert tuple(item.kind for item in items) == KINDS
    assert {item.tool for item in items} == {"get_price_history"}
    assert {item.sides for item in items} == {("bull", "bear")}
    assert {item.status for item in items} == {Status.OK}


def test_items_are_dated_at_the_last_close_and_name_their_source() -> None:
    g = rising()

    assert {(item.as_of, item.known_at, item.source) for item in price_items(g)} == {(closes_at(g.session), closes_at(g.session), "prices-test")}


def test_the_payloads_count_sessions_back_from_the_last_bar() -> None:
    items = by_kind(rising(300))

    assert items["momentum"].payload == {"p_21": "279.0", "p_252": "48.0"}
    assert items["reversal"].payload == {"close": "300.0", "p_5": "295.0"}
    assert items["trend"].payload == {"close": "300.0", "sma50": "275.5", "sma200": "200.5"}
    assert items["drawdown"].payload == {"close": "300.0", "high_252": "300.0", "drawdown": "0.0"}
    assert items["base_rate"].payload == {"horizon": 20, "windows": 14, "ups": 14, "p0": "0.705882"}
    assert items["volatility"].payload["sessions"] == 63


def test_the_history_says_what_it_spans_and_how_it_moved() -> None:
    g = rising(300)

    assert by_kind(g)["history"].payload == {
        "sessions": 300,
        "first": "2010-01-04",
        "last": str(g.session),
        "close": "300.0",
        "change_5": "0.016949",
        "change_21": "0.075269",
        "change_63": "0.265823",
        "change_252": "5.25",
        "high_252": "300.0",
        "low_252": "49.0",
    }


def test_the_drawdown_is_counted_from_the_highest_close_of_252_sessions() -> None:
    closes = [10.0] * 300
    closes[20], closes[200] = 100.0, 40.0

    assert by_kind(gathered(bars_of(closes)))["drawdown"].payload == {"close": "10.0", "high_252": "40.0", "drawdown": "0.75"}


def test_summaries_read_as_a_sentence() -> None:
    items = by_kind(rising(300))

    assert items["momentum"].summary == "12-1 momentum: +481.2% from 252 to 21 sessions ago"
    assert items["base_rate"].summary == "Base rate: 14 of 14 windows of 20 sessions ended higher, p0 70.6%"
    assert items["history"].summary.startswith("300 sessions to ")


@pytest.mark.parametrize(
    ("kind", "needed", "names"),
    [
        ("volatility", 64, ("sigma",)),
        ("momentum", 253, ("p_21", "p_252")),
        ("trend", 200, ("sma200",)),
        ("drawdown", 253, ("high_252", "drawdown")),
        ("reversal", 6, ("p_5",)),
        ("technicals", 200, ("rsi14", "macd", "macd_signal", "macd_hist", "atr14", "adx14")),
        ("base_rate", 21, ("p0",)),
    ],
)
def test_a_measure_appears_with_the_bar_that_it_needs_and_is_empty_before(kind: str, needed: int, names: tuple[str, ...]) -> None:
    enough, short = (by_kind(gathered(bars_of(walk(length))))[kind] for length in (needed, needed - 1))

    assert enough.status is Status.OK
    assert None not in enough.payload.values()
    assert short.status is Status.EMPTY
    assert [short.payload[name] for name in names] == [None] * len(names)
    assert f"{needed} bars, there are {needed - 1}" in short.summary or f"need {needed} bars, there are {needed - 1}" in short.summary


def test_one_bar_is_a_history_of_one_session() -> None:
    history = by_kind(rising(1))["history"]

    assert history.status is Status.OK
    assert history.payload["change_5"] is None
    assert history.summary == "1 sessions to 2010-01-04, close 1.00"


def test_a_split_leaves_every_measure_as_it_was() -> None:
    closes = [float(f"{close:.4f}") for close in walk(400)]
    traded = [Decimal(str(close)) * (4 if place < 150 else 1) for place, close in enumerate(closes)]
    bars = bars_of(closes)
    before = [item.payload for item in price_items(gathered(bars))]
    after = [item.payload for item in price_items(gathered(bars_of([float(close) for close in traded]), (split(bars[150].session, "4"),)))]

    assert after == before


def test_a_dividend_is_part_of_the_return() -> None:
    bars = bars_of([100.0] * 10)
    item = by_kind(gathered(bars, (dividend(bars[7].session, "1"),)))["reversal"]

    assert item.payload == {"close": "100.0", "p_5": "99.0"}


def test_a_split_after_the_last_bar_does_not_touch_it() -> None:
    bars = bars_of([100.0] * 10)
    later = split(CALENDAR.next_session(bars[-1].session), "2")

    assert price_items(gathered(bars, (later,))) == price_items(gathered(bars))


def test_a_flat_series_has_no_rsi_and_says_why() -> None:
    flat = [replace(bar, high=bar.close, low=bar.close) for bar in bars_of([50.0] * 260)]
    item = by_kind(gathered(tuple(flat)))["technicals"]

    assert (item.payload["rsi14"], item.payload["adx14"], item.payload["atr14"]) == (None, None, "0.0")
    assert item.summary.startswith("RSI and ADX undefined, the price did not move")


def test_a_missing_last_session_makes_every_item_stale_and_is_named() -> None:
    bars = bars_of(walk(30))
    g = gathered(bars, session=CALENDAR.next_session(bars[-1].session))
    items = (*price_items(g), *market_items(g))

    assert {item.status for item in items} == {Status.STALE}
    assert all(item.summary.startswith(f"no bar for {g.session}, the last is of {bars[-1].session}") for item in items)
    assert {item.known_at for item in items} == {bars[-1].known_at}


@pytest.mark.parametrize("status", [Status.FAILED, Status.EMPTY])
def test_a_lost_supply_is_one_item_with_the_reason(status: Status) -> None:
    g = gathered(session=date(2020, 3, 2), prices=status, note="the vendor did not answer")
    (item,) = price_items(g)
    (quote,) = market_items(g)

    assert (item.kind, item.status, item.payload) == ("prices", status, {"reason": "the vendor did not answer"})
    assert (quote.kind, quote.status, quote.payload) == ("quote", status, {"reason": "the vendor did not answer"})
    assert item.as_of == item.known_at == datetime(2020, 3, 2, 21, tzinfo=UTC)


def test_a_supply_without_a_bar_is_empty() -> None:
    (item,) = price_items(gathered(session=date(2020, 3, 2)))

    assert (item.status, item.payload) == (Status.EMPTY, {"reason": "no bar is known before this instant"})


def test_a_supply_in_conflict_marks_every_item() -> None:
    items = price_items(gathered(bars_of(walk(30)), prices=Status.CONFLICT, note="two vendors disagree"))

    assert {item.status for item in items} == {Status.CONFLICT}
    assert all(item.summary.startswith("two vendors disagree: ") for item in items)


@pytest.mark.parametrize("tool", [price_items, market_items])
def test_unusable_rows_are_a_fault_that_names_the_first(tool: object) -> None:
    faults = tuple(RowFault(f"row {n}", "close is missing", None) for n in range(1, 6))
    with pytest.raises(SourceFault, match=r"5 unusable rows: row 1: close is missing; .*row 3: close is missing; and 2 more"):
        tool(gathered(bars_of(walk(30)), faults=faults))  # type: ignore[operator]


def test_the_quote_is_the_last_close_as_traded() -> None:
    bars = bars_of([float(n) for n in np.arange(100, 110)])
    (item,) = market_items(gathered(bars, (split(bars[5].session, "2"),)))

    assert item.payload == {"price": "109.0", "session": str(bars[-1].session), "age_sessions": 0, "currency": "USD"}
    assert item.sides == ("cio",)


def test_a_stale_quote_says_how_many_sessions_old_it_is() -> None:
    (item,) = market_items(gathered(bars_of([10.0] * 5), session=date(2010, 1, 13)))

    assert (item.status, item.payload["age_sessions"], "doubt" in item.payload) == (Status.STALE, 3, False)


@pytest.mark.parametrize(("status", "note", "doubt"), [(Status.CONFLICT, "it was rewritten", "it was rewritten"), (Status.STALE, None, "prices-test is stale")])
@pytest.mark.parametrize("session", [None, date(2010, 1, 13)])
def test_a_quote_of_a_supply_in_doubt_says_so_whatever_its_age(status: Status, note: str | None, doubt: str, session: date | None) -> None:
    (item,) = market_items(gathered(bars_of([10.0] * 5), session=session, prices=status, note=note))

    assert (item.status, item.payload["doubt"]) == (status, doubt)


def test_the_same_records_give_the_same_items() -> None:
    assert price_items(gathered(bars_of(walk(400)))) == price_items(gathered(bars_of(walk(400))))
